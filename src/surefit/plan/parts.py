"""Parts of a memory account with their intervals, and the moment in which they sum to a peak."""

from collections.abc import Sequence
from dataclasses import dataclass

from surefit.plan.plan import AccountItem


@dataclass(frozen=True)
class Part:
    """An item with its interval, in bytes."""

    item: str
    bytes: int
    low: int
    high: int
    why: str

    def as_item(self) -> AccountItem:
        """The item without its interval."""
        return AccountItem(item=self.item, bytes=self.bytes, why=self.why)


@dataclass(frozen=True)
class Estimate:
    """The peak, its interval, its moment and its parts; the parts sum to the peak.

    Args:
        moments: moment -> (bytes, low, high), of every moment that was looked at.
    """

    moment: str
    parts: tuple[Part, ...]
    peak: int
    low: int
    high: int
    moments: tuple[tuple[str, int, int, int], ...] = ()


def exact(item: str, size: float, why: str) -> Part:
    """A part whose size is known."""
    return Part(item, round(size), round(size), round(size), why)


def sum_parts(moment: str, parts: Sequence[Part]) -> Estimate:
    """A moment from its parts."""
    return Estimate(
        moment,
        tuple(parts),
        sum(one.bytes for one in parts),
        sum(one.low for one in parts),
        sum(one.high for one in parts),
    )


def largest(estimates: Sequence[Estimate]) -> Estimate:
    """The largest moment, with the ends of all moments together."""
    top = max(estimates, key=lambda one: one.peak)
    return Estimate(
        top.moment,
        top.parts,
        top.peak,
        max(one.low for one in estimates),
        max(one.high for one in estimates),
        tuple((one.moment, one.peak, one.low, one.high) for one in estimates),
    )
