"""Why a plan does not fit, and what to do: one set of words for every face and every command."""

from collections.abc import Sequence
from typing import NamedTuple

from surefit.plan.plan import AccountItem, Plan
from surefit.units import bytes_text

_MOST_WAYS = 3


class NotFitting(NamedTuple):
    """What falls short, what is behind it, and something to change."""

    what: str
    why: str
    next_step: str


def why_not_fitting(plan: Plan) -> NotFitting | None:
    """The words for a plan that does not fit; None for any other.

    Memory, disk, time or money: named is what falls short, as the verdict says it.
    """
    if plan.verdict != "does_not_fit":
        return None
    what = f"the plan does not fit: {plan.verdict_reason}"
    if plan.low_bytes > plan.budget_bytes:
        otherwise = "choose a smaller model, or a machine with more memory"
        return NotFitting(
            what, _largest(plan.account) or plan.peak_moment, _ways(plan, otherwise, memory=True)
        )
    if sum(item.bytes for item in plan.disk) > plan.disk_free_bytes:
        folder = plan.hardware.disk_folder
        return NotFitting(
            what,
            f"runs are written to {folder}; {_largest(plan.disk)}",
            _ways(plan, "free some space there", memory=False)
            + ", or set SUREFIT_HOME to a folder on another disk",
        )
    return NotFitting(
        what,
        "a run that cannot end inside its limits would cost all of them and give nothing",
        _ways(plan, "raise the limit, or set `goal.epochs` lower", memory=False),
    )


def _largest(items: Sequence[AccountItem]) -> str:
    largest = max(items, key=lambda item: item.bytes, default=None)
    if largest is None:
        return ""
    return f"the largest part is {largest.item}, {bytes_text(largest.bytes)}: {largest.why}"


def _ways(plan: Plan, otherwise: str, *, memory: bool) -> str:
    """The ways out that were planned for real, the first ones."""
    ways = []
    for way in plan.way_out[:_MOST_WAYS]:
        notes = [bytes_text(way.peak_bytes)] if memory else []
        notes += ["same result"] if way.same_result else ["changes the result"]
        ways.append(f"set `{way.change}` ({', '.join(notes)})")
    return ", or ".join(ways) or otherwise
