"""The receipt of a run: time and money by phase, and what was lost to which cause."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from surefit.plan.plan import Plan
from surefit.runs import AnyEvent, Checkpoint, Metric, Note, Phase, RunFolder, RunState, Status
from surefit.supervise.bundle import Scrubber
from surefit.supervise.limits import dollars_of
from surefit.supervise.spent import worker_spans
from surefit.supervise.view import RunView


class Line(BaseModel):
    """A phase: the time in which it was the innermost one, over all workers."""

    model_config = ConfigDict(frozen=True)

    name: str
    seconds: float
    dollars: float | None


class Loss(BaseModel):
    """What an interruption cost: the work after the last checkpoint, which had to be done again."""

    model_config = ConfigDict(frozen=True)

    cause: str
    seconds: float
    steps: int
    dollars: float | None


class Receipt(BaseModel):
    """Where the time and the money of a run went. `as_text` is fit to be sent to somebody else."""

    model_config = ConfigDict(frozen=True)

    run: str
    state: RunState
    cause: str | None
    machine: str
    surefit_version: str
    began: float
    ended: float | None
    workers: int = Field(description="Workers that the run has had.")
    seconds: float = Field(description="In which the run had a worker: what is paid for.")
    dollars: float | None = Field(description="Null where the price is not known.")
    dollars_per_hour: float | None
    phases: tuple[Line, ...]
    waiting_seconds: float = Field(description="In the queue, without a worker.")
    paused_seconds: float = Field(
        description="With a worker that waited, such as for room on the disk."
    )
    lost: tuple[Loss, ...]


def receipt_of(run: RunFolder, view: RunView, plan: Plan) -> Receipt:
    """Add up the events of a run. Texts are without names and secrets: a receipt is shown to others."""
    clean = Scrubber().text
    events = [event for _, event in run.read_events()]
    last = events[-1].time if events else view.created
    spans = [(start, end or last) for start, end in worker_spans(events)]
    seconds = sum(end - start for start, end in spans)
    shares = innermost_seconds(events, last)
    told = sum(shares.values())
    if seconds - told > 0.5:
        shares["between phases"] = seconds - told
    return Receipt(
        run=run.id,
        state=view.state,
        cause=clean(view.cause) if view.cause else None,
        machine=f"{plan.hardware.name}: {', '.join(plan.devices)}",
        surefit_version=plan.surefit_version,
        began=view.created,
        ended=view.ended,
        workers=len(spans),
        seconds=round(seconds, 1),
        dollars=dollars_of(plan, seconds),
        dollars_per_hour=plan.dollars_per_hour,
        phases=tuple(
            Line(name=name, seconds=round(value, 1), dollars=dollars_of(plan, value))
            for name, value in shares.items()
        ),
        waiting_seconds=round(max(0.0, last - view.created - seconds), 1) if spans else 0.0,
        paused_seconds=sum(_paused(event) for event in events),
        lost=tuple(
            one.model_copy(update={"cause": clean(one.cause)}) for one in losses(events, plan)
        ),
    )


def innermost_seconds(events: Iterable[AnyEvent], last: float) -> dict[str, float]:
    """Seconds by phase, each moment counted once, for the innermost phase that ran."""
    shares: dict[str, float] = {}
    open_phases: list[str] = []
    since = 0.0

    def credit(now: float) -> None:
        if open_phases:
            name = open_phases[-1]
            shares[name] = shares.get(name, 0.0) + max(0.0, now - since)

    for event in events:
        if isinstance(event, Phase) and event.status != "progress":
            credit(event.time)
            since = event.time
            if event.status == "started":
                open_phases.append(event.name)
            elif event.name in open_phases:
                del open_phases[open_phases.index(event.name) :]
        elif isinstance(event, Status) and (event.state.is_final or event.state is RunState.QUEUED):
            credit(event.time)
            open_phases.clear()
    credit(last)
    return shares


def losses(events: Iterable[AnyEvent], plan: Plan) -> list[Loss]:
    """For every interruption, the steps and the time since the last checkpoint."""
    found: list[Loss] = []
    kept_step, kept_time, step, began = 0, 0.0, 0, 0.0
    for event in events:
        if isinstance(event, Checkpoint):
            kept_step, kept_time = event.step, event.time
        elif isinstance(event, Metric) and event.split == "train":
            step = event.step
        elif isinstance(event, Note) and event.topic == "resumed":
            step = kept_step
        elif isinstance(event, Status):
            if event.state in (RunState.REHEARSING, RunState.TRAINING) and not began:
                began = kept_time = event.time
            interrupted = event.state.is_final and event.state is not RunState.DONE
            if began and (interrupted or event.state is RunState.QUEUED):
                seconds = event.time - max(kept_time, began)
                if step > kept_step or kept_step == 0:
                    found.append(_loss(event.cause, seconds, step - kept_step, plan))
                began = 0.0
    return found


def _loss(cause: str | None, seconds: float, steps: int, plan: Plan) -> Loss:
    return Loss(
        cause=cause or "not on record",
        seconds=round(max(0.0, seconds), 1),
        steps=max(0, steps),
        dollars=dollars_of(plan, max(0.0, seconds)),
    )


def _paused(event: AnyEvent) -> float:
    """Seconds that a worker says to have waited for room."""
    if not isinstance(event, Note) or event.topic != "disk":
        return 0.0
    waited: Any = event.details.get("seconds", 0.0)
    return float(waited) if isinstance(waited, int | float) else 0.0
