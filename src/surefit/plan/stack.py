"""Training stacks: what each does with memory, from stacks.toml, and what follows for one run."""

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from surefit.models.facts import ModelFacts
from surefit.plan.tape import LayerShape, Software
from surefit.plan.tape.shape import LossKind
from surefit.recipe.schema import AdapterMethod, AnyMethod, QloraMethod

OWN = "surefit"
_FILE = Path(__file__).parent / "stacks.toml"
_GATED = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
_FUSED = ("qkv_proj", "o_proj", "gate_up_proj", "down_proj")


@dataclass(frozen=True)
class Stack:
    """A row of stacks.toml; its comments say what each field means."""

    name: str
    title: str
    versions: str
    source: str
    upcasts: bool
    adapter: tuple[int, int]
    double: bool | Literal["recipe"]
    loss: Literal["trained", "whole", "chunked", "fused", "chunked_head"]
    outputs_kept: bool
    optimizer_bytes: float | Literal["own"]
    optimizer_copies: int
    gradients: Literal["dropped", "stay"]
    reentrant: bool
    offloaded: bool
    many: Literal["fsdp", "ddp", "single"]
    fills: bool
    load: Literal["stream", "whole"]
    chunk: int = 256

    def double_quantised(self, method: AnyMethod) -> bool:
        """Whether the scales of 4-bit numbers are quantised as well."""
        if not isinstance(method, QloraMethod):
            return False
        return method.double_quantization if self.double == "recipe" else bool(self.double)

    def adapter_bytes(self, method: AnyMethod) -> int:
        """Bytes of an adapter's number."""
        return self.adapter[0 if isinstance(method, QloraMethod) else 1]

    def state_bytes(self, width: int) -> float:
        """Bytes of the optimizer's state for a trained number of `width` bytes."""
        return 2.0 * width if self.optimizer_bytes == "own" else float(self.optimizer_bytes)


@functools.cache
def stacks(file: Path = _FILE) -> dict[str, Stack]:
    """Every stack of a file, by its name."""
    rows: dict[str, dict[str, Any]] = tomllib.loads(file.read_text())
    return {
        name: Stack(name=name, **row | {"adapter": tuple(row["adapter"])})
        for name, row in rows.items()
    }


def layer_shape(facts: ModelFacts) -> LayerShape:
    """A layer's shape for the tape; an unknown architecture is taken for a Llama of its sizes."""
    found = {one.name: (one.inputs, one.outputs) for one in facts.block_linears}
    query, key = facts.heads * facts.head_dim, facts.kv_heads * facts.head_dim
    if set(found) not in (set(_GATED), set(_FUSED)):
        hidden, inner = facts.hidden_size, facts.intermediate_size
        usual = ((hidden, query), (hidden, key), (hidden, key), (query, hidden))
        deep = ((hidden, inner), (hidden, inner), (inner, hidden))
        found = dict(zip(_GATED, (*usual, *deep), strict=True))
    four = facts.norms_per_block == 4
    return LayerShape(
        hidden=facts.hidden_size,
        query=query,
        key=key,
        heads=facts.heads,
        intermediate=facts.intermediate_size,
        matrices=tuple((name, *sizes) for name, sizes in found.items()),
        norms_before=not facts.norms_come_after,
        norms_after=facts.norms_come_after or four,
        query_key_norm=facts.query_key_norm,
        casts_after_norm=facts.model_type.startswith("gemma"),
        softcap=facts.attention == "eager",
    )


def software(
    stack: Stack,
    facts: ModelFacts,
    method: AnyMethod,
    *,
    width: int,
    targets: tuple[str, ...],
    checkpointing: bool,
    masked: bool = False,
    half_precision: bool = False,
) -> Software:
    """What a stack does in a run.

    Args:
        width: bytes of a number in the arithmetic.
        masked: a mask is in use, so that shared keys are repeated for every head.
        half_precision: float16, not bfloat16.
    """
    quantised = isinstance(method, QloraMethod)
    between = 4 if quantised and stack.upcasts else width
    adapter = isinstance(method, AdapterMethod)
    kinds: dict[str, LossKind] = {"trained": "whole", "chunked": "chunked", "fused": "fused"}
    whole: LossKind = "kept" if stack.outputs_kept else "whole"
    return Software(
        residual=between,
        compute=width,
        weight=width,
        adapter=stack.adapter_bytes(method) if adapter else width,
        attention="eager" if facts.attention == "eager" else "fused",
        half_precision=half_precision,
        quantised=quantised,
        double_quantised=stack.double_quantised(method),
        fused_adapters=stack.name == "unsloth",
        repeats_keys=masked,
        full=not adapter,
        rank=method.rank if isinstance(method, AdapterMethod) else 0,
        dropout=isinstance(method, AdapterMethod) and method.dropout > 0,
        targets=frozenset(targets),
        checkpointing="none" if not checkpointing else "offloaded" if stack.offloaded else "layers",
        reentrant=stack.reentrant,
        loss=kinds.get(stack.loss, whole),
        chunk=stack.chunk,
        head_width=between,
        caps_logits=facts.caps_logits,
        masked=masked,
    )
