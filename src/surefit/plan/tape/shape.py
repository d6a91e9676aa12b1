"""What a step over sizes needs to know: the shape of a layer, and what the software does with it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from surefit.plan.tape.tensors import Parameter

Checkpointing = Literal["none", "layers", "offloaded"]
LossKind = Literal["whole", "kept", "chunked", "fused", "chunked_head"]


@dataclass(frozen=True)
class LayerShape:
    """One layer of a decoder.

    Args:
        matrices: (name, inputs, outputs) of each, such as `q_proj`; `qkv_proj` and `gate_up_proj` where fused.
        gated: two matrices into the feed-forward part, not one.
        parallel: attention and feed-forward read the same input.
        layer_norm: norms that subtract the mean, in one kernel that keeps its input.
        norms_after: norms of each part's output beside (4 norms) or in place of (2) those before.
    """

    hidden: int
    query: int
    key: int
    heads: int
    intermediate: int
    matrices: tuple[tuple[str, int, int], ...]
    gated: bool = True
    parallel: bool = False
    layer_norm: bool = False
    norms_before: bool = True
    norms_after: bool = False
    query_key_norm: bool = False
    casts_after_norm: bool = False
    softcap: bool = False

    @cached_property
    def linears(self) -> dict[str, tuple[int, int]]:
        """Name -> (inputs, outputs)."""
        return {name: (inputs, outputs) for name, inputs, outputs in self.matrices}


@dataclass(frozen=True)
class Software:
    """What the training stack does with a layer; resolved from stacks.toml for one run.

    Args:
        residual: bytes of a number between layers; `compute`: of the arithmetic in matrices.
        adapter: bytes of an adapter's number.
        weight: bytes of an unquantised weight; `autocast`: weights wider than the arithmetic.
        clones_output: peft copies the output of a 4-bit layer before it adds to it.
        fused_adapters: adapters inside one autograd function that keeps its input only.
    """

    residual: int
    compute: int
    weight: int
    adapter: int
    attention: Literal["fused", "eager"] = "fused"
    half_precision: bool = False
    autocast: bool = False
    quantised: bool = False
    double_quantised: bool = False
    clones_output: bool = True
    fused_adapters: bool = False
    repeats_keys: bool = False
    full: bool = False
    rank: int = 0
    dropout: bool = False
    targets: frozenset[str] = field(default_factory=frozenset)
    checkpointing: Checkpointing = "layers"
    reentrant: bool = False
    loss: LossKind = "whole"
    chunk: int = 256
    head_width: int = 2
    caps_logits: bool = False
    litgpt: bool = False
    masked: bool = False


@dataclass
class Weights:
    """The parameters of one layer, so that gradients find their place."""

    matrices: dict[str, Parameter]
    adapters: dict[str, tuple[Parameter, Parameter]]
    norm: Parameter


def weights_of(shape: LayerShape, software: Software) -> Weights:
    """Parameters of a layer; their own memory is counted elsewhere."""
    full, rank = software.full, software.rank
    matrices = {
        name: Parameter(i * o, software.weight, full) for name, (i, o) in shape.linears.items()
    }
    adapters = {
        name: (
            Parameter(i * rank, software.adapter, True),
            Parameter(o * rank, software.adapter, True),
        )
        for name, (i, o) in shape.linears.items()
        if name in software.targets and rank
    }
    return Weights(matrices, adapters, Parameter(shape.hidden, software.weight, full))
