"""The verdict on a plan, in one sentence."""

from dataclasses import dataclass

from surefit.hardware.machine import Device
from surefit.plan.parts import Estimate
from surefit.plan.plan import AccountItem, Range, Verdict
from surefit.units import bytes_text, seconds_text


@dataclass(frozen=True)
class Judgement:
    """A verdict and its reason."""

    verdict: Verdict
    reason: str


def judge(
    memory: Estimate,
    device: Device,
    disk: tuple[AccountItem, ...],
    disk_free: int,
    seconds: Range | None,
    limit: tuple[float, str] | None,
    lengths_known: bool,
) -> Judgement:
    """Memory first, then disk, then time: the first that surely fails decides."""
    short = judge_memory(memory, device)
    if short.verdict == "does_not_fit":
        return short
    needed = sum(one.bytes for one in disk)
    if needed > disk_free:
        return Judgement(
            "does_not_fit",
            f"the disk is too full: the run writes up to {bytes_text(needed)}, "
            f"{bytes_text(disk_free)} are free",
        )
    if limit is not None and seconds is not None and seconds.low > limit[0]:
        return Judgement(
            "does_not_fit", f"it would take at least {seconds_text(seconds.low)}, and {limit[1]}"
        )
    if not lengths_known and short.verdict == "tight":
        return Judgement(
            "unknown",
            "the rows' lengths are not known; "
            + short.reason
            + ", if every row is as long as allowed",
        )
    return short


def judge_memory(memory: Estimate, device: Device) -> Judgement:
    """`does_not_fit` only when the lower end is over the budget, `fits` if the upper is inside."""
    free = device.free_bytes
    place = f"{device.name}" if device.kind == "cuda" else "this machine's memory"
    peak, low, high = (bytes_text(size) for size in (memory.peak, memory.low, memory.high))
    if memory.low > free:
        return Judgement(
            "does_not_fit",
            f"{peak} needed (at least {low}), {bytes_text(free)} free on {place}; the peak is "
            f"{memory.moment}",
        )
    if memory.high <= free:
        return Judgement(
            "fits", f"{peak} needed (at most {high}) of {bytes_text(free)} free on {place}"
        )
    return Judgement(
        "tight",
        f"{peak} needed, between {low} and {high}, and {bytes_text(free)} free on {place}: "
        "the rehearsal will tell",
    )
