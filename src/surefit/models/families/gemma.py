"""Gemma 1, 2 and 3 (text). 2 and 3 have four norms; 2 caps its scores, which sdpa cannot."""

from surefit.models.families.family import Block, Config, Family, Sizes, norms
from surefit.models.families.llama import llama_block

_FOUR_NORMS = (
    "input_layernorm",
    "post_attention_layernorm",
    "pre_feedforward_layernorm",
    "post_feedforward_layernorm",
)


def gemma_block(sizes: Sizes, config: Config) -> Block:
    """A Llama block; only the attention may have biases."""
    return llama_block(sizes, {"attention_bias": config.get("attention_bias")})


def gemma2_block(sizes: Sizes, config: Config) -> Block:
    """A Gemma block with norms before and after both parts."""
    plain = gemma_block(sizes, config)
    return Block(plain.linears, {**plain.vectors, **norms(sizes, *_FOUR_NORMS)})


def gemma3_block(sizes: Sizes, config: Config) -> Block:
    """A Gemma 2 block with a norm over each query and key head."""
    plain = gemma2_block(sizes, config)
    extra = {"self_attn.q_norm.weight": sizes.head_dim, "self_attn.k_norm.weight": sizes.head_dim}
    return Block(plain.linears, {**plain.vectors, **extra})


GEMMA = Family(
    ("gemma",), "GemmaForCausalLM", gemma_block, tied_by_default=True, default_head_dim=256
)
GEMMA2 = Family(
    ("gemma2",),
    "Gemma2ForCausalLM",
    gemma2_block,
    tied_by_default=True,
    default_head_dim=256,
    attention="eager",
    caps_logits_by_default=True,
    norms_per_block=4,
)
GEMMA3 = Family(
    ("gemma3_text",),
    "Gemma3ForCausalLM",
    gemma3_block,
    tied_by_default=True,
    default_head_dim=256,
    norms_per_block=4,
    query_key_norm=True,
)
