"""Llama and what is built the same way: Mistral, SmolLM, Granite (its multipliers hold nothing)."""

from surefit.models.families.family import (
    Block,
    Config,
    Family,
    Sizes,
    attention_linears,
    biases,
    gated_linears,
    linears,
    norms,
)


def llama_block(sizes: Sizes, config: Config) -> Block:
    """Separate projections, a gated feed-forward part, two norms; biases as the config says."""
    shapes = linears({**attention_linears(sizes), **gated_linears(sizes)})
    vectors = {
        **norms(sizes, "input_layernorm", "post_attention_layernorm"),
        **biases(shapes, "self_attn.", bool(config.get("attention_bias"))),
        **biases(shapes, "mlp.", bool(config.get("mlp_bias"))),
    }
    return Block(shapes, vectors)


LLAMA = Family(("llama",), "LlamaForCausalLM", llama_block)
MISTRAL = Family(("mistral",), "MistralForCausalLM", llama_block)
GRANITE = Family(("granite",), "GraniteForCausalLM", llama_block)
SMOLLM3 = Family(("smollm3",), "SmolLM3ForCausalLM", llama_block, tied_by_default=True)
