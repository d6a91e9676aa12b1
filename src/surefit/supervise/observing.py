"""The state of a run from evidence: its events, and which of its processes live."""

import time
from dataclasses import dataclass, field

from surefit.diagnose.diagnosis import Diagnosis
from surefit.errors import OutsideError
from surefit.runs import AnyEvent, ExitStatus, Result, RunFolder, RunState
from surefit.runs.tail import EventTail
from surefit.supervise.lost import lost_words
from surefit.supervise.records import SupervisorRecord
from surefit.supervise.spawning import spawn_supervisor
from surefit.supervise.view import RunView, Story

_BIRTH_SECONDS = 10.0  # between the appearance of a run and its supervisor's first record
_RECOVERY_SECONDS = 5.0


def observe(run: RunFolder, *, recover: bool = True) -> RunView:
    """A run now.

    A run that goes on by its events, while neither its supervisor nor its worker lives, is `lost`.
    Where only the supervisor died, a new one is started: it takes the same worker over, or writes down
    how the run ended.

    Args:
        run: the run.
        recover: whether a new supervisor may be started.
    """
    return Observer(run, recover=recover).look()


@dataclass
class Observer:
    """Looks at one run again and again; reads only what was added."""

    run: RunFolder
    recover: bool = True
    story: Story = field(default_factory=Story)
    heard: list[tuple[int, AnyEvent]] | None = None  # gets the events that were read

    _next_recovery: float = 0.0

    def __post_init__(self) -> None:
        self.tail = EventTail(self.run.events)

    def look(self) -> RunView:
        """The run now."""
        life = _life(self.run)  # before the events: an end that comes meanwhile is then on record
        self.take_events()
        if self.story.state.is_final and self.story.state is not RunState.LOST:
            return self._view(self.story.state, self.story.cause, life)
        if life.watched or (life.record is None and self._is_new()):
            return self._view(self.story.state, self.story.cause, life, _between(life))
        if self.story.state is RunState.LOST and not life.alive:
            return self._view(self.story.state, self.story.cause, life)
        return self._unwatched(life)

    def take_events(self) -> None:
        """Read the events that were added."""
        for number, event in self.tail.poll():
            self.story.see(event)
            if self.heard is not None:
                self.heard.append((number, event))

    def _unwatched(self, life: "_Life") -> RunView:
        evidence = (
            [lost_words(self.run)]
            if not life.alive
            else ["the supervisor is gone, the worker lives and trains on"]
        )
        if self.recover and life.record is not None and time.monotonic() >= self._next_recovery:
            self._next_recovery = time.monotonic() + _RECOVERY_SECONDS
            evidence.append(_recovered(self.run))
        if life.alive:
            return self._view(self.story.state, self.story.cause, life, evidence)
        return self._view(RunState.LOST, evidence[0], life, evidence)

    def _is_new(self) -> bool:
        return time.time() - _born(self.run) < _BIRTH_SECONDS

    def _view(
        self, state: RunState, cause: str | None, life: "_Life", evidence: list[str] | None = None
    ) -> RunView:
        run, story = self.run, self.story
        over = state.is_final
        return RunView(
            id=run.id,
            folder=str(run.path),
            state=state,
            cause=cause,
            watched=life.watched and not over,
            alive=life.alive and not over,
            evidence=tuple(evidence or ()),
            created=story.created or _born(run),
            started=story.started,
            ended=story.ended,
            phase=story.phase if not over else None,
            metric=story.metric,
            eval_metric=story.eval_metric,
            first_loss=story.first_loss,
            trend=story.trend,
            seconds_left=story.seconds_left if not over else None,
            checkpoints=tuple(one for one in story.checkpoints if (run.path / one.folder).exists()),
            notes=tuple(story.notes),
            problem=story.problem,
            exit=run.read(run.exit, ExitStatus) if over else None,
            result=run.read(run.result, Result) if state is RunState.DONE else None,
            diagnosis=run.read(run.diagnosis, Diagnosis) if over else None,
        )


@dataclass(frozen=True)
class _Life:
    record: SupervisorRecord | None
    watched: bool
    alive: bool


def _between(life: _Life) -> list[str]:
    """What to add while the worker has ended and the supervisor has not yet said how."""
    if life.alive or life.record is None or life.record.job is None:
        return []
    return ["the worker has ended; its supervisor is writing down how"]


def _life(run: RunFolder) -> _Life:
    record = run.read(run.supervisor, SupervisorRecord)
    if record is None:
        return _Life(None, watched=False, alive=False)
    worker = record.worker
    return _Life(record, record.identity.is_alive(), worker is not None and worker.is_alive())


def _recovered(run: RunFolder) -> str:
    """Start a new supervisor, and say so; where it cannot be started, say that."""
    try:
        spawn_supervisor(run)
    except OutsideError as error:
        return f"a new supervisor could not be started: {error.why}"
    return "a new supervisor was started"


def _born(run: RunFolder) -> float:
    for file in (run.plan, run.recipe, run.path):
        try:
            return file.stat().st_mtime
        except OSError:
            continue
    return time.time()
