"""OLMo 2: norms after both parts instead of before, and over all query and key heads at once."""

from surefit.models.families.family import Block, Config, Family, Sizes, norms
from surefit.models.families.llama import llama_block


def olmo2_block(sizes: Sizes, config: Config) -> Block:
    """Llama's matrices with OLMo 2's norms."""
    plain = llama_block(sizes, {"attention_bias": config.get("attention_bias")})
    vectors = {path: length for path, length in plain.vectors.items() if path.endswith(".bias")}
    after = norms(sizes, "post_attention_layernorm", "post_feedforward_layernorm")
    heads = {"self_attn.q_norm.weight": sizes.query, "self_attn.k_norm.weight": sizes.key}
    return Block(plain.linears, {**vectors, **after, **heads})


OLMO2 = Family(
    ("olmo2",), "Olmo2ForCausalLM", olmo2_block, norms_come_after=True, query_key_norm=True
)
