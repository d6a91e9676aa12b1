"""What memory and time depend on: a model, a method and one way to run it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from surefit.models.facts import LinearShape, ModelFacts
from surefit.plan.lengths import Lengths
from surefit.plan.plan import Strategy
from surefit.plan.stack import OWN, Stack, stacks
from surefit.recipe.schema import AnyMethod, DoraMethod, FullMethod, QloraMethod


@dataclass(frozen=True)
class Setup:
    """One candidate of the planner's search.

    Args:
        allocator: whether freed blocks are kept for the next step (fast, more memory) or returned
            to the system at once (slower, little more memory than what is in use). CPU only.
        strategy, ranks: how many processes train together, and what each of them holds.
        packing: rows are joined into lines of the longest length; `lengths` are then those of the
            lines, and a sequence of the batch is a line.
        offload: shares wait in the machine's memory.
        stack: the software that trains.
        capability: of the GPU, such as 8.9; context_bytes: what its driver takes, where that is known.
    """

    facts: ModelFacts
    method: AnyMethod
    targets: tuple[str, ...]
    lengths: Lengths
    device: Literal["cpu", "cuda"]
    precision: Literal["float32", "bfloat16"]
    layout: Literal["flat", "padded"]
    micro_batch: int
    checkpointing: bool
    batch: int
    allocator: Literal["keep", "return"] = "keep"
    strategy: Strategy = "single"
    ranks: int = 1
    packing: bool = False
    offload: bool = False
    stack: Stack = field(default_factory=lambda: stacks()[OWN])
    capability: float | None = None
    context_bytes: int | None = None

    @property
    def by_length(self) -> bool:
        """Whether the rows of a step pass sorted by length: the same step, with less padding."""
        return self.layout == "padded" and self.ranks == 1 and self.batch > self.micro_batch

    @property
    def shares(self) -> int:
        """Into how many parts weights, gradients and optimizer are split."""
        return self.ranks if self.strategy == "fsdp" else 1

    @property
    def rank_batch(self) -> int:
        """Sequences of an optimizer step that one rank trains."""
        return self.batch // self.ranks

    @property
    def passes(self) -> float:
        """Passes of a rank in an optimizer step; a batch larger than the data is never filled."""
        rows = min(self.rank_batch, -(-self.lengths.rows // self.ranks))
        return rows / min(self.micro_batch, rows)

    @property
    def is_full(self) -> bool:
        """Whether every parameter is trained."""
        return isinstance(self.method, FullMethod)

    @property
    def number_bytes(self) -> int:
        """Bytes of a number in weights and arithmetic."""
        return 4 if self.precision == "float32" else 2

    @property
    def weight_bytes(self) -> int:
        """Bytes of the base model in memory: 4-bit numbers with their scales where it is quantised.

        bitsandbytes: two numbers a byte, a scale for 64 of them. Double quantisation keeps that as a
        byte and four bytes for 256 of these; without it a scale takes four bytes.
        """
        counts, method = self.facts.parameters, self.method
        if not isinstance(method, QloraMethod):
            return counts.total * self.number_bytes
        scale = 1 / 64 + 4 / (64 * 256) if method.double_quantization else 4 / 64
        rest = (counts.total - counts.linear) * self.number_bytes
        return round(counts.linear * (0.5 + scale)) + rest

    @property
    def trained_number_bytes(self) -> int:
        """Bytes of a trained number: peft keeps adapters in float32 beside bfloat16 weights."""
        return self.number_bytes if self.is_full else self.stack.adapter_bytes(self.method)

    @property
    def is_masked(self) -> bool:
        """Whether a mask is in use: a single row needs none, its attention is causal as it stands."""
        return self.packing or min(self.micro_batch, self.lengths.rows) > 1

    @cached_property
    def adapted(self) -> tuple[LinearShape, ...]:
        """The linear layers of one block that get an adapter."""
        return tuple(one for one in self.facts.block_linears if one.name in self.targets)

    @cached_property
    def trained_parameters(self) -> int:
        """Parameters that get a gradient: all, or rank x (inputs + outputs) an adapted layer."""
        if isinstance(self.method, FullMethod):
            return self.facts.parameters.total
        per_block = sum(one.inputs + one.outputs for one in self.adapted) * self.method.rank
        if isinstance(self.method, DoraMethod):  # the length of each output's weights
            per_block += sum(one.outputs for one in self.adapted)
        return per_block * self.facts.layers

    @cached_property
    def worst_positions(self) -> tuple[int, int, int]:
        """(at least, probably, at most) positions of the largest micro-batch, padding included."""
        count = min(self.micro_batch, self.lengths.rows)
        if not self.lengths.known:
            return count, count * self.lengths.longest, count * self.lengths.longest
        if self.layout == "padded":
            filled = count * self.lengths.longest
            return filled, filled, filled
        return self.lengths.worst_of_passes(count)

    @cached_property
    def worst_tokens(self) -> tuple[int, int, int]:
        """(at least, probably, at most) tokens of the largest micro-batch, padding left out."""
        least, usual, most = self.lengths.worst_of_passes(self.micro_batch)
        return (least, usual, most) if self.lengths.known else (1, most, most)

    @cached_property
    def usual_positions(self) -> float:
        """Positions of an average micro-batch, padding included."""
        count = min(self.micro_batch, self.lengths.rows)
        if self.layout == "flat":
            return count * self.lengths.mean
        if self.by_length:
            step = min(self.batch, self.lengths.rows)
            return count * max(self.lengths.sorted_width(count, step), self.lengths.mean)
        return count * self.lengths.expected_longest(count)

    def line_length(self, positions: float) -> float:
        """Positions that attend to each other: the whole line when flat, a row when padded."""
        return (
            positions
            if self.layout == "flat"
            else positions / min(self.micro_batch, self.lengths.rows)
        )
