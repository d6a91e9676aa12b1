"""A family of architectures: which tensors a block has, and what its code does with them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from surefit.models.facts import LinearShape

Config = Mapping[str, Any]


@dataclass(frozen=True)
class Sizes:
    """The numbers that shape a decoder, read from `config.json`."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    vocabulary: int

    @property
    def query(self) -> int:
        """Width of all query heads together."""
        return self.heads * self.head_dim

    @property
    def key(self) -> int:
        """Width of all key (or value) heads together."""
        return self.kv_heads * self.head_dim


@dataclass(frozen=True)
class Block:
    """The tensors of one layer, by their path below `model.layers.<i>.`."""

    linears: Mapping[str, LinearShape]
    vectors: Mapping[str, int]

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every tensor, by its path."""
        matrices = {
            f"{path}.weight": (one.outputs, one.inputs) for path, one in self.linears.items()
        }
        return {**matrices, **{path: (length,) for path, length in self.vectors.items()}}


@dataclass(frozen=True)
class Family:
    """How one group of architectures counts.

    Args:
        model_types: values of `model_type` in `config.json`.
        architecture: the class that trains as a causal language model.
        block: the tensors of a layer, from sizes and config.
        tied_by_default: what the library assumes where `tie_word_embeddings` is absent.
        default_head_dim: what it assumes where `head_dim` is absent; None: hidden size / heads.
        attention: the kernel that computes it rightly; `eager` where scores are capped.
        isolates_flat_rows: position ids that restart at 0 make a block-diagonal mask. Read in the
            library's masking code; every rehearsal measures it on the live model before training.
        caps_logits_by_default: whether it caps logits where `final_logit_softcapping` is absent.
        norms_come_after: whether a part's output is normed and its input is not.
        norms_per_block: norms over the hidden size in one layer.
    """

    model_types: tuple[str, ...]
    architecture: str
    block: Callable[[Sizes, Config], Block]
    tied_by_default: bool = False
    default_head_dim: int | None = None
    attention: Literal["sdpa", "eager"] = "sdpa"
    isolates_flat_rows: bool = True
    norms_per_block: int = 2
    norms_come_after: bool = False
    query_key_norm: bool = False
    caps_logits_by_default: bool = False
    fused_projections: bool = False


def linears(shapes: Mapping[str, tuple[int, int]]) -> dict[str, LinearShape]:
    """Linear layers from path -> (inputs, outputs)."""
    return {
        path: LinearShape(name=path.rsplit(".", 1)[-1], inputs=inputs, outputs=outputs)
        for path, (inputs, outputs) in shapes.items()
    }


def attention_linears(sizes: Sizes) -> dict[str, tuple[int, int]]:
    """Separate query, key, value and output projections: path -> (inputs, outputs)."""
    return {
        "self_attn.q_proj": (sizes.hidden, sizes.query),
        "self_attn.k_proj": (sizes.hidden, sizes.key),
        "self_attn.v_proj": (sizes.hidden, sizes.key),
        "self_attn.o_proj": (sizes.query, sizes.hidden),
    }


def gated_linears(sizes: Sizes) -> dict[str, tuple[int, int]]:
    """The three matrices of a gated feed-forward part: path -> (inputs, outputs)."""
    return {
        "mlp.gate_proj": (sizes.hidden, sizes.intermediate),
        "mlp.up_proj": (sizes.hidden, sizes.intermediate),
        "mlp.down_proj": (sizes.intermediate, sizes.hidden),
    }


def norms(sizes: Sizes, *names: str) -> dict[str, int]:
    """Norm weights over the hidden size: path -> length."""
    return {f"{name}.weight": sizes.hidden for name in names}


def biases(shapes: Mapping[str, LinearShape], part: str, wanted: bool) -> dict[str, int]:
    """Biases of the linears below `part`, where the config wants them: path -> length."""
    if not wanted:
        return {}
    return {f"{path}.bias": one.outputs for path, one in shapes.items() if path.startswith(part)}
