"""RunView: everything there is to say about a run at one moment, folded from its events and files."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from surefit.diagnose.diagnosis import Diagnosis
from surefit.runs import (
    AnyEvent,
    Checkpoint,
    ExitStatus,
    Metric,
    Note,
    Phase,
    Problem,
    Result,
    RunFolder,
    RunState,
    Status,
)
from surefit.supervise.trend import TREND_LOSSES, Trend, seconds_left, trend_of


class RunView(BaseModel):
    """A run now. The same object behind terminal, JSON and page."""

    model_config = ConfigDict(frozen=True)

    id: str
    folder: str
    state: RunState
    cause: str | None = None
    watched: bool = Field(False, description="A supervisor lives.")
    alive: bool = Field(False, description="The worker lives.")
    evidence: tuple[str, ...] = Field(
        (), description="What the state rests on, where it is not on record."
    )
    created: float
    started: float | None = Field(None, description="When the worker was started.")
    ended: float | None = None
    phase: Phase | None = Field(
        None, description="The innermost phase that runs, with its progress."
    )
    metric: Metric | None = Field(None, description="The last figures of training.")
    eval_metric: Metric | None = None
    first_loss: float | None = None
    trend: Trend | None = Field(None, description="Of the last 20 losses.")
    seconds_left: float | None = None
    checkpoints: tuple[Checkpoint, ...] = ()
    notes: tuple[Note, ...] = ()
    problem: Problem | None = None
    exit: ExitStatus | None = None
    result: Result | None = None
    diagnosis: Diagnosis | None = None

    @property
    def run(self) -> RunFolder:
        """The run's folder."""
        return RunFolder(Path(self.folder))

    @property
    def unwatched(self) -> str | None:
        """What to say where nobody watches the run, such as after a kill of its supervisor; else None."""
        return "; ".join(self.evidence) if self.evidence and not self.watched else None

    @property
    def step(self) -> int | None:
        """Optimizer steps done."""
        return self.metric.step if self.metric else None

    @property
    def steps(self) -> int | None:
        """Optimizer steps in all."""
        return self.metric.steps if self.metric else None


class Story:
    """The events of a run, taken in one by one."""

    def __init__(self) -> None:
        self.state, self.cause = RunState.CREATED, None
        self.created: float | None = None
        self.started: float | None = None
        self.ended: float | None = None
        self.metric: Metric | None = None
        self.eval_metric: Metric | None = None
        self.first_loss: float | None = None
        self.problem: Problem | None = None
        self.notes: list[Note] = []
        self.checkpoints: list[Checkpoint] = []
        self._phases: list[Phase] = []
        self._losses: list[float] = []
        self._pace: list[tuple[float, int]] = []

    state: RunState
    cause: str | None

    def see(self, event: AnyEvent) -> None:
        """Take in one event."""
        self.created = self.created or event.time
        if isinstance(event, Status):
            self._status(event)
        elif isinstance(event, Phase):
            self._phase(event)
        elif isinstance(event, Metric):
            self._metric(event)
        elif isinstance(event, Checkpoint):
            self.checkpoints.append(event)
        elif isinstance(event, Problem):
            self.problem = event
        else:
            self.notes.append(event)

    @property
    def phase(self) -> Phase | None:
        """The innermost phase that runs."""
        return self._phases[-1] if self._phases and not self.state.is_final else None

    @property
    def trend(self) -> Trend | None:
        """Where the last losses go."""
        return trend_of(self._losses)

    @property
    def seconds_left(self) -> float | None:
        """Time to the last step at the pace of the last ones; None where there is no pace yet."""
        if self.metric is None or self.state.is_final:
            return None
        return seconds_left(self._pace, self.metric.steps)

    def _status(self, event: Status) -> None:
        self.state, self.cause = event.state, event.cause
        if event.state is RunState.QUEUED:  # another worker: what the last one was at is history
            self.problem, self._phases, self._pace = None, [], []
        if event.state in (RunState.REHEARSING, RunState.TRAINING):
            self.started = self.started or event.time
        self.ended = event.time if event.state.is_final else None

    def _phase(self, event: Phase) -> None:
        self._phases = [one for one in self._phases if one.name != event.name]
        if event.status != "ended":
            self._phases.append(event)

    def _metric(self, event: Metric) -> None:
        if event.split == "eval":
            self.eval_metric = event
            return
        self.metric = event
        self._pace = [*self._pace, (event.time, event.step)][-TREND_LOSSES:]
        if event.loss is not None:
            self.first_loss = event.loss if self.first_loss is None else self.first_loss
            self._losses = [*self._losses, event.loss][-TREND_LOSSES:]
