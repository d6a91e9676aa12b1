"""Where the losses go and how long it will take: one way to tell for every face."""

from collections.abc import Sequence
from typing import Literal

Trend = Literal["falling", "flat", "rising"]
TREND_LOSSES = 20
_FEWEST_LOSSES = 4
_FLAT_SHARE = 0.01


def trend_of(losses: Sequence[float]) -> Trend | None:
    """Whether the newer half of the last 20 losses lies below the older half; None: too few."""
    last = losses[-TREND_LOSSES:]
    if len(last) < _FEWEST_LOSSES:
        return None
    half = len(last) // 2
    before, after = sum(last[:half]) / half, sum(last[half:]) / (len(last) - half)
    if abs(after - before) <= _FLAT_SHARE * abs(before):
        return "flat"
    return "falling" if after < before else "rising"


def seconds_left(pace: Sequence[tuple[float, int]], steps: int) -> float | None:
    """Time to the last step at the pace of the last ones; None where there is no pace yet.

    Args:
        pace: (time, step) of the last steps, oldest first.
        steps: steps in all.
    """
    if len(pace) < 2:
        return None
    (first_time, first_step), (last_time, last_step) = pace[0], pace[-1]
    if last_step <= first_step:
        return None
    return max(0.0, (steps - last_step) * (last_time - first_time) / (last_step - first_step))
