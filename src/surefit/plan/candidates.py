"""Every way to run a recipe that the person left open, and the search for the fastest that fits."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from surefit.hardware.machine import Device, Hardware
from surefit.models.facts import ModelFacts
from surefit.plan.lengths import Lengths
from surefit.plan.memory import estimate_memory
from surefit.plan.parts import Estimate
from surefit.plan.refusals import resolve_targets
from surefit.plan.setup import Setup
from surefit.plan.strategy import Ranks
from surefit.plan.work import allocator_slowdown, operations_per_step, pass_seconds
from surefit.recipe.batches import divisors
from surefit.recipe.schema import AdapterMethod, FullMethod, Recipe

# A line's mask grows with its square: 4,096 x 4,096 float32 numbers are 64 MiB, once a layer.
FLAT_LINE_TOKENS = 4096
_ASSUMED_RATE = 1e11  # only to compare candidates where the device's speed is not known
_LONGEST_SEARCH = 24  # divisors of a batch; the largest are as fast as each other


@dataclass(frozen=True)
class Candidate:
    """A way to run, its memory, and its relative cost in seconds a step."""

    setup: Setup
    cost: float

    @cached_property
    def memory(self) -> Estimate:
        """Worked out when somebody asks: most candidates are slower than one that fits."""
        return estimate_memory(self.setup)


def choose_device(hardware: Hardware, ranks: int = 1) -> Device:
    """What one rank trains on: the GPU with the most free memory; without one, its part of the CPU.

    Of several GPUs the fullest decides: every rank needs the same.
    """
    gpus = [one for one in hardware.devices if one.kind == "cuda"]
    if gpus:
        emptiest = sorted(gpus, key=lambda one: one.free_bytes, reverse=True)
        return emptiest[min(ranks, len(gpus)) - 1]
    cpu = next(one for one in hardware.devices if one.kind == "cpu")
    return cpu.model_copy(update={"free_bytes": cpu.free_bytes // ranks})


def candidates(
    recipe: Recipe, facts: ModelFacts, device: Device, lengths: Lengths, ranks: Ranks
) -> list[Candidate]:
    """All ways to run this recipe on this device, or on one of several alike."""
    how = recipe.how
    share = recipe.goal.batch // ranks.number
    sizes = [how.micro_batch] if how.micro_batch else divisors(share)[:_LONGEST_SEARCH]
    recompute = (
        [how.gradient_checkpointing] if how.gradient_checkpointing is not None else [False, True]
    )
    allocators = ["keep", "return"] if device.kind == "cpu" else ["keep"]
    return [
        _candidate(recipe, facts, device, lengths, ranks, size, layout, checkpointing, allocator)
        for size in sizes
        for layout in _layouts(recipe, facts, lengths, size)
        for checkpointing in recompute
        for allocator in allocators
    ]


def _layouts(recipe: Recipe, facts: ModelFacts, lengths: Lengths, micro_batch: int) -> list[str]:
    if recipe.how.packing:
        return ["flat"]
    if recipe.how.layout:
        return [recipe.how.layout]
    if not facts.isolates_flat_rows:
        return ["padded"]
    fits_a_line = lengths.worst_of_passes(micro_batch)[-1] <= FLAT_LINE_TOKENS or micro_batch == 1
    return ["flat", "padded"] if fits_a_line else ["padded"]


def choose_precision(recipe: Recipe, device: Device) -> str:
    """As asked; else bfloat16 where the device is fast in it and no trained weight is kept in it.

    bfloat16 keeps 8 bits: a weight of 0.02 moves in steps of 1e-4, and most updates of a small
    learning rate round to nothing. Adapters stay in float32 beside bfloat16 weights, a fully
    trained model does not: the starter model at 5e-5 ended at a loss of 0.028 on its evaluation
    rows in float32 and of 5.5 in bfloat16, same rows, same steps.
    """
    if recipe.how.precision:
        return recipe.how.precision
    trains_weights = isinstance(recipe.method, FullMethod) and device.kind == "cpu"
    return "bfloat16" if device.bf16_is_fast and not trains_weights else "float32"


def _candidate(
    recipe: Recipe,
    facts: ModelFacts,
    device: Device,
    lengths: Lengths,
    ranks: Ranks,
    micro_batch: int,
    layout: str,
    checkpointing: bool,
    allocator: str,
) -> Candidate:
    method = recipe.method
    setup = Setup(
        facts=facts,
        method=method,
        targets=resolve_targets(method, facts) if isinstance(method, AdapterMethod) else (),
        lengths=lengths,
        device=device.kind,
        precision=choose_precision(recipe, device),  # type: ignore[arg-type]
        layout=layout,  # type: ignore[arg-type]
        micro_batch=micro_batch,
        checkpointing=checkpointing,
        batch=recipe.goal.batch,
        allocator=allocator,  # type: ignore[arg-type]
        strategy=ranks.strategy,
        ranks=ranks.number,
        packing=recipe.how.packing,
    )
    rate = device.flops or _ASSUMED_RATE
    cost = operations_per_step(setup) / rate + setup.passes * pass_seconds(setup)
    return Candidate(setup, cost * allocator_slowdown(setup))


def choose(found: Sequence[Candidate], budget: int) -> Candidate:
    """The cheapest that surely fits; else the cheapest that may fit; else the smallest."""
    by_cost = sorted(found, key=lambda one: one.cost)
    for limit in ("high", "low"):
        for one in by_cost:
            if getattr(one.memory, limit) <= budget:
                return one
    return min(found, key=lambda one: (one.memory.high, one.cost))
