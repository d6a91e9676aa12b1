"""The course of a run: which state the worker's phases mean, and only legal moves on record."""

from surefit.runs import Note, Phase, PhaseName, RunFolder, RunState, Status, check_move
from surefit.runs.state import MOVES

_FORWARD = (
    RunState.QUEUED,
    RunState.REHEARSING,
    RunState.TRAINING,
    RunState.VERIFYING,
    RunState.DONE,
)


class Course:
    """The state of one run. Appends a Status event at each move, never an illegal one."""

    def __init__(self, run: RunFolder, state: RunState) -> None:
        self._run = run
        self.state = state
        self._running: set[PhaseName] = set()
        self._trained = False
        self._wanted = state

    def move(self, target: RunState, cause: str | None = None) -> None:
        """Go to a state, through those in between where the table asks for them.

        Raises:
            IllegalMoveError: the table knows no way.
        """
        if target is self.state:
            return
        if target not in MOVES[self.state]:
            for between in self._between(target):
                self._step(between, None)
        self._step(target, cause)

    def see(self, phase: Phase) -> None:
        """Follow a phase of the worker."""
        if phase.status == "ended":
            self._running.discard(phase.name)
            self._trained = self._trained or phase.name == "train"
            return
        if phase.status == "started":
            self._running.add(phase.name)
        self._wanted = self._state_of(phase.name) or self._wanted
        self.catch_up()

    def begin_again(self, cause: str) -> None:
        """Back to the queue: another worker goes on from the last checkpoint."""
        self.forget_phases()
        self.move(RunState.QUEUED, cause)
        self._wanted = self.state

    def forget_phases(self) -> None:
        """What an earlier worker did says nothing about this one."""
        self._running.clear()
        self._trained = False
        self._wanted = self.state

    def catch_up(self) -> None:
        """Put on record what a full disk has kept off it."""
        if self._is_ahead(self._wanted):
            self.move(self._wanted)

    def note(self, topic: str, text: str, **details: object) -> None:
        """Tell people something that is no change of state."""
        self._run.append(Note(topic=topic, text=text, details=details))

    def _state_of(self, name: PhaseName) -> RunState | None:
        """The state that a phase means. Inside a rehearsal everything is rehearsed, saving too; and
        saving a checkpoint in the middle of training is still training."""
        if name == "rehearsal" or "rehearsal" in self._running:
            return RunState.REHEARSING
        if name in ("first_step", "train"):
            return RunState.TRAINING
        if name == "verify" or (name in ("save", "merge") and self._trained):
            return RunState.VERIFYING
        return None

    def _is_ahead(self, wanted: RunState) -> bool:
        if self.state is RunState.LOST:
            return wanted is not RunState.LOST
        return (
            self.state in _FORWARD
            and wanted in _FORWARD
            and _FORWARD.index(wanted) > _FORWARD.index(self.state)
        )

    def _between(self, target: RunState) -> tuple[RunState, ...]:
        if self.state in (RunState.CREATED, RunState.PLANNING):
            return (RunState.QUEUED, *self._way(RunState.QUEUED, target))
        return self._way(self.state, target)

    @staticmethod
    def _way(start: RunState, target: RunState) -> tuple[RunState, ...]:
        """The states between two of the forward line that cannot be left out."""
        if start not in _FORWARD or target not in _FORWARD:
            return ()
        way: list[RunState] = []
        now = start
        for state in _FORWARD[_FORWARD.index(start) + 1 : _FORWARD.index(target)]:
            if target in MOVES[now]:
                break
            if state is RunState.REHEARSING and RunState.TRAINING in MOVES[now]:
                continue  # a rehearsal that did not happen is not claimed
            way.append(state)
            now = state
        return tuple(way)

    def _step(self, target: RunState, cause: str | None) -> None:
        check_move(self.state, target)
        self._run.append(Status(state=target, cause=cause))
        self.state = target
