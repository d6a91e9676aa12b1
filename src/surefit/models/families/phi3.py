"""Phi-3 and Phi-4: q, k, v in one matrix, gate and up in another."""

from surefit.models.families.family import Block, Config, Family, Sizes, linears, norms


def phi3_block(sizes: Sizes, _config: Config) -> Block:
    """Fused projections, two norms, no biases."""
    shapes = {
        "self_attn.qkv_proj": (sizes.hidden, sizes.query + 2 * sizes.key),
        "self_attn.o_proj": (sizes.query, sizes.hidden),
        "mlp.gate_up_proj": (sizes.hidden, 2 * sizes.intermediate),
        "mlp.down_proj": (sizes.intermediate, sizes.hidden),
    }
    return Block(linears(shapes), norms(sizes, "input_layernorm", "post_attention_layernorm"))


PHI3 = Family(("phi3",), "Phi3ForCausalLM", phi3_block, fused_projections=True)
