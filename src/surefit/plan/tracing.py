"""What a trace is asked and what it answers. Data only: it is the worker's package that traces.

`python -m surefit.train.trace` reads a TraceRequest from its standard input and writes a
TraceResult to its standard output, both as JSON.
"""

import hashlib
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from surefit.recipe.schema import AnyMethod

PACKAGES = ("surefit", "torch", "transformers", "peft", "bitsandbytes")
Number = Literal["float32", "bfloat16", "float16"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class TraceRequest(_Record):
    """A model and one way to train it, in the worker's words.

    The fields from `upcast` on are what frameworks do differently; their defaults are what the
    worker of this package does.
    """

    config: dict[str, Any] = Field(description="The fields of `config.json`.")
    method: AnyMethod = Field(discriminator="type")
    targets: tuple[str, ...] = Field((), description="Linear layers with an adapter.")
    device: Literal["cpu", "cuda"] = "cuda"
    precision: Number = Field(description="Format of the weights that are not quantised.")
    layout: Literal["flat", "padded"] = "flat"
    lengths: tuple[int, ...] = Field(description="Tokens of the rows of the largest micro-batch.")
    packing: bool = False
    trained_share: float = Field(1.0, description="Share of the tokens that carry a loss.")
    gradient_checkpointing: bool = False
    accumulation: int = 1
    max_gradient_norm: float = 1.0
    attention: Literal["sdpa", "eager", "flash_attention_2"] = "sdpa"
    kernel: Literal["efficient", "flash", "math"] = Field(
        "flash", description="What sdpa takes on a GPU: flash from compute capability 8.0 on."
    )
    always_masked: bool = Field(
        False,
        description="A mask is made for a single row too (transformers 4.53 to 4.57, masking_utils).",
    )
    upcast: bool = Field(
        False,
        description="peft.prepare_model_for_kbit_training: everything unquantised in float32.",
    )
    adapter_precision: Number = "float32"
    autocast: Number | None = None
    loss: Literal["targets", "full", "chunked"] = Field(
        "targets",
        description="Logits of the trained tokens, of every token as transformers' own loss "
        "makes them, or of one chunk at a time.",
    )
    loss_chunk: int = 256
    keeps_outputs: bool = Field(
        False, description="Whether the model's outputs live on through the backward pass."
    )
    optimizer: Literal["fused", "foreach", "loop", "adam8bit"] = "fused"
    keeps_gradients: bool = Field(
        False, description="Gradients are set to zero after a step instead of being freed."
    )
    input_gradients: bool = Field(
        False,
        description="The embeddings' output asks for a gradient (enable_input_require_grads).",
    )
    compute_capability: float = 8.0
    expandable_segments: bool = True
    evaluate: bool = Field(True, description="Whether an evaluation follows the steps.")
    whole: bool = Field(False, description="Trace every layer, however many there are.")

    def key(self, versions: dict[str, str]) -> str:
        """The name of its answer in the cache: everything that changes it."""
        text = self.model_dump_json() + repr(sorted(versions.items()))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


class Alive(_Record):
    """Tensors alike, alive at the peak."""

    what: str = Field(description="What they are: an account's item, an operation, shape and type.")
    item: str
    bytes: int
    count: int


class PhasePeak(_Record):
    """The peaks of one phase, in bytes."""

    phase: str
    allocated: int
    reserved: int


class TraceResult(_Record):
    """Peaks of a traced run, in bytes on the device; outside of it is only the driver's context."""

    allocated: int = Field(description="The most that tensors hold, blocks rounded to 512 bytes.")
    reserved: int = Field(description="The most that the caching allocator takes for it.")
    moment: str
    account: dict[str, int] = Field(description="The peak by item; its values sum to `allocated`.")
    alive: tuple[Alive, ...]
    phases: tuple[PhasePeak, ...]
    layers: int
    traced_layers: int
    kernels: tuple[str, ...] = Field(
        (), description="Kernels with allocations of their own, and where that was read."
    )
    warnings: tuple[str, ...] = ()
    seconds: float
    versions: dict[str, str]


def versions() -> dict[str, str]:
    """What a trace depends on, by package; read from their metadata, without importing them."""
    return {name: _version(name) for name in PACKAGES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
