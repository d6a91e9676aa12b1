"""Where a run is stopped: hours, and dollars as time x price. Told at 80 %, stopped at 100 %."""

from dataclasses import dataclass

from surefit.plan.plan import Plan
from surefit.units import dollars_text, seconds_text

WARN_SHARE = 0.8


@dataclass(frozen=True)
class Limit:
    """A limit, brought to seconds of a worker's life. `whole` is the limit as the person gave it."""

    field: str
    seconds: float
    whole: str

    def reached_words(self) -> str:
        """Why the run stops now."""
        return f"the limit of {self.whole} (`{self.field}`) is reached"

    def near_words(self, spent: float) -> str:
        """The warning."""
        left = seconds_text(max(0.0, self.seconds - spent))
        return f"the run stops in {left}: `{self.field}` is {self.whole}"


def limits_of(plan: Plan) -> tuple[Limit, ...]:
    """The limits of a run, the one that is reached first in front."""
    found = []
    if plan.limit_seconds is not None:
        found.append(Limit("limits.hours", plan.limit_seconds, seconds_text(plan.limit_seconds)))
    if plan.limit_dollars is not None and plan.dollars_per_hour:
        seconds = plan.limit_dollars / plan.dollars_per_hour * 3600
        whole = (
            f"{dollars_text(plan.limit_dollars)} at {dollars_text(plan.dollars_per_hour)} an hour"
        )
        found.append(Limit("limits.dollars", seconds, whole))
    return tuple(sorted(found, key=lambda limit: limit.seconds))


def dollars_of(plan: Plan, seconds: float) -> float | None:
    """What a time costs, all devices; None where the price is not known."""
    return None if plan.dollars_per_hour is None else plan.dollars_per_hour * seconds / 3600
