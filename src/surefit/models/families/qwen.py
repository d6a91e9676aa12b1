"""Qwen 2 and 2.5 (biases on q, k, v) and Qwen 3 (norms on queries and keys instead)."""

from surefit.models.families.family import Block, Config, Family, Sizes
from surefit.models.families.llama import llama_block


def qwen2_block(sizes: Sizes, _config: Config) -> Block:
    """A Llama block whose q, k and v projections always have a bias."""
    plain = llama_block(sizes, {})
    names = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")
    extra = {f"{name}.bias": plain.linears[name].outputs for name in names}
    return Block(plain.linears, {**plain.vectors, **extra})


def qwen3_block(sizes: Sizes, config: Config) -> Block:
    """A Llama block with a norm over each query and key head."""
    plain = llama_block(sizes, {"attention_bias": config.get("attention_bias")})
    extra = {"self_attn.q_norm.weight": sizes.head_dim, "self_attn.k_norm.weight": sizes.head_dim}
    return Block(plain.linears, {**plain.vectors, **extra})


QWEN2 = Family(("qwen2",), "Qwen2ForCausalLM", qwen2_block)
QWEN3 = Family(
    ("qwen3",), "Qwen3ForCausalLM", qwen3_block, default_head_dim=128, query_key_norm=True
)
