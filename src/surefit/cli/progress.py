"""What a run is doing now, folded from its events: the figures behind every progress display."""

from collections import deque
from dataclasses import dataclass, field

from surefit.runs import AnyEvent, Checkpoint, Metric, Phase, PhaseName, RunState, Status
from surefit.supervise.trend import TREND_LOSSES, Trend, seconds_left, trend_of

PHASE_WORDS: dict[PhaseName, str] = {
    "download": "fetch the model",
    "import": "load the libraries",
    "load_tokenizer": "load the tokenizer",
    "load_model": "load the model",
    "prepare_data": "open the data",
    "rehearsal": "rehearse",
    "first_step": "first step",
    "train": "train",
    "eval": "evaluate",
    "save": "save",
    "merge": "merge",
    "push": "push",
    "verify": "reload and compare",
}
QUIET_TOPICS = frozenset({"memory"})  # notes whose figures are for programs


@dataclass
class PhaseLine:
    """One phase as it is shown."""

    name: PhaseName
    began: float
    done: float | None = None
    total: float | None = None
    unit: str | None = None
    seconds: float | None = None
    depth: int = 0

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self.seconds is not None

    @property
    def share(self) -> float | None:
        """How much of it is done, where that is known."""
        return self.done / self.total if self.done is not None and self.total else None


@dataclass
class Progress:
    """The state of one run, brought up to date event by event."""

    state: RunState = RunState.CREATED
    cause: str | None = None
    phases: list[PhaseLine] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    eval_loss: float | None = None
    last: Metric | None = None
    checkpoint: Checkpoint | None = None
    _pace: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=TREND_LOSSES))

    def see(self, event: AnyEvent) -> None:
        """Take in one event."""
        if isinstance(event, Status):
            self.state, self.cause = event.state, event.cause
        elif isinstance(event, Phase):
            self._phase(event)
        elif isinstance(event, Metric):
            self._metric(event)
        elif isinstance(event, Checkpoint):
            self.checkpoint = event

    @property
    def current(self) -> PhaseLine | None:
        """The phase that is running: the innermost."""
        return next((one for one in reversed(self.phases) if not one.ended), None)

    @property
    def seconds_left(self) -> float | None:
        """Time to the last step at the pace of the last ones; None where there is no pace yet."""
        return seconds_left(self._pace, self.last.steps) if self.last else None

    @property
    def trend(self) -> Trend | None:
        """Where the last losses go."""
        return trend_of(self.losses)

    def _phase(self, event: Phase) -> None:
        if event.status == "started":
            depth = sum(not one.ended for one in self.phases)
            self.phases.append(PhaseLine(event.name, event.time, depth=depth))
            return
        line = next(
            (one for one in reversed(self.phases) if one.name == event.name and not one.ended), None
        )
        if line is None:
            line = PhaseLine(event.name, event.time)
            self.phases.append(line)
        if event.done is not None:
            line.done, line.total, line.unit = event.done, event.total, event.unit
        if event.status == "ended":
            line.seconds = event.seconds if event.seconds is not None else event.time - line.began

    def _metric(self, event: Metric) -> None:
        if event.split == "eval":
            self.eval_loss = event.loss
            return
        self.last = event
        self._pace.append((event.time, event.step))
        if event.loss is not None:
            self.losses.append(event.loss)
