"""A plan as data for the faces: what to draw, in which order, with shares worked out."""

from dataclasses import dataclass

from surefit.plan.not_fitting import NotFitting, why_not_fitting
from surefit.plan.plan import Decision, Plan, WayOut
from surefit.units import bytes_text, seconds_text


@dataclass(frozen=True)
class Bar:
    """One component against the budget."""

    label: str
    size: str
    share: float
    why: str


@dataclass(frozen=True)
class PlanView:
    """One screen: verdict first."""

    verdict: str
    reason: str
    bars: tuple[Bar, ...]
    peak: str
    interval: str
    budget: str
    moment: str
    disk: tuple[Bar, ...]
    time: str | None
    time_reason: str | None
    decisions: tuple[Decision, ...]
    warnings: tuple[Decision, ...]
    way_out: tuple[WayOut, ...]
    not_fitting: NotFitting | None


def view_plan(plan: Plan) -> PlanView:
    """Everything that a face shows of a plan; drawing is the face's."""
    seconds = plan.seconds
    return PlanView(
        verdict=plan.verdict.replace("_", " "),
        reason=plan.verdict_reason,
        bars=tuple(
            Bar(one.item, bytes_text(one.bytes), one.bytes / max(1, plan.budget_bytes), one.why)
            for one in plan.account
            if one.bytes
        ),
        peak=bytes_text(plan.peak_bytes),
        interval=f"{bytes_text(plan.low_bytes)} to {bytes_text(plan.high_bytes)}",
        budget=bytes_text(plan.budget_bytes),
        moment=plan.peak_moment,
        disk=tuple(
            Bar(one.item, bytes_text(one.bytes), one.bytes / max(1, plan.disk_free_bytes), one.why)
            for one in plan.disk
        ),
        time=f"{seconds_text(seconds.low)} to {seconds_text(seconds.high)}" if seconds else None,
        time_reason=seconds.reason if seconds else None,
        decisions=plan.decisions,
        warnings=tuple(one for one in plan.decisions if one.reason.startswith("warning")),
        way_out=plan.way_out,
        not_fitting=why_not_fitting(plan),
    )
