"""How many processes train together, and what each of them holds."""

from typing import NamedTuple

from surefit.data.report import DatasetReport
from surefit.errors import RecipeError
from surefit.hardware.machine import Hardware
from surefit.plan.plan import Strategy
from surefit.recipe.batches import divisors
from surefit.recipe.schema import QloraMethod, Recipe
from surefit.units import plural


class Ranks(NamedTuple):
    """A strategy and its number of processes."""

    strategy: Strategy
    number: int


def resolve_ranks(recipe: Recipe, hardware: Hardware) -> Ranks:
    """The strategy and its ranks: as asked, else one process.

    `ddp` and `fsdp` take every GPU unless told how many; on a CPU only a person knows.
    """
    how, gpus = recipe.how, count_gpus(hardware)
    count = how.ranks or (gpus if how.strategy in ("ddp", "fsdp") and gpus else 1)
    return Ranks(how.strategy or ("ddp" if count > 1 else "single"), count)


def count_gpus(hardware: Hardware) -> int:
    """GPUs of this machine."""
    return sum(1 for one in hardware.devices if one.kind == "cuda")


def refuse_ranks(recipe: Recipe, hardware: Hardware, report: DatasetReport) -> None:
    """Check strategy and ranks against each other, the machine, the batch and the rows.

    Raises:
        RecipeError: with the field and values that would work.
    """
    strategy, count = resolve_ranks(recipe, hardware)
    gpus = count_gpus(hardware)
    _together(strategy, count, gpus)
    if gpus and count > gpus:
        raise RecipeError(
            f"{count} ranks need {count} GPUs, and this machine has {gpus}",
            "each rank trains on a GPU of its own",
            f"set `how.ranks: {gpus}`, or leave it out",
            where="how.ranks",
        )
    if count > report.usable > 0:
        raise RecipeError(
            f"{count} ranks cannot share {plural(report.usable, 'row')}",
            "each rank trains rows of its own, and some would never get one",
            f"set `how.ranks: {report.usable}` or less, or add rows to {recipe.data.train}",
            where="how.ranks",
        )
    _batch(recipe, count)
    if strategy == "fsdp" and isinstance(recipe.method, QloraMethod):
        raise RecipeError(
            "the 4-bit weights of qlora cannot be shared out by this version",
            "`how.strategy: fsdp` cuts each weight by its rows, and packed 4-bit numbers have none",
            "set `method: {type: lora}`, or `how.strategy: ddp` where the 4-bit model fits in each rank",
            where="how.strategy",
        )
    if recipe.how.offload and (strategy != "fsdp" or not gpus):
        why = (
            "on a CPU everything is in the machine's memory already"
            if not gpus
            else "only the shares of `how.strategy: fsdp` can wait outside of the device"
        )
        next_step = "leave `how.offload` out" + (
            "" if not gpus else ", or set `how.strategy: fsdp`"
        )
        raise RecipeError(
            "`how.offload` has nothing to offload here", why, next_step, where="how.offload"
        )


def _together(strategy: Strategy, count: int, gpus: int) -> None:
    if strategy == "single" and count > 1:
        raise RecipeError(
            f"`how.strategy: single` is one process, and `how.ranks` asks for {count}",
            "the two contradict each other",
            "set `how.strategy: ddp` (a whole model in each rank) or `fsdp` (a share in each)",
            where="how.strategy",
        )
    if strategy != "single" and count < 2:
        only = "there is one GPU" if gpus == 1 else "on a CPU the number of ranks is yours to say"
        next_step = "leave `how.strategy` out" + (", or set `how.ranks: 2`" if not gpus else "")
        raise RecipeError(
            f"`how.strategy: {strategy}` needs two ranks or more",
            f"with one process there is nobody to share with; {only}",
            next_step,
            where="how.strategy",
        )


def _batch(recipe: Recipe, count: int) -> None:
    batch, micro = recipe.goal.batch, recipe.how.micro_batch
    if batch % count:
        near = -(-batch // count) * count
        raise RecipeError(
            f"a batch of {batch} cannot be split evenly over {count} ranks",
            "every rank trains the same number of rows in a step",
            f"set `goal.batch: {near}`, or another `how.ranks`",
            where="goal.batch",
        )
    if micro is not None and (batch // count) % micro:
        share = batch // count
        possible = divisors(share)
        near = min(possible, key=lambda size: abs(size - micro))
        raise RecipeError(
            f"a batch of {batch} on {count} ranks cannot be made of micro-batches of {micro}",
            f"each rank trains {plural(share, 'row')} of a step: a multiple of `how.micro_batch`",
            f"set `how.micro_batch: {near}`, or leave it out",
            where="how.micro_batch",
        )
