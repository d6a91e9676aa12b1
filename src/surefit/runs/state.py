"""The states of a run and the one table of legal moves between them."""

from enum import StrEnum

from surefit.errors import SurefitError


class RunState(StrEnum):
    """What a run is doing, read from evidence."""

    CREATED = "created"
    PLANNING = "planning"
    REHEARSING = "rehearsing"
    QUEUED = "queued"
    TRAINING = "training"
    VERIFYING = "verifying"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    LOST = "lost"

    @property
    def is_final(self) -> bool:
        """Whether nothing more happens by itself. A lost run may be found again."""
        return self in _ENDS


_ENDS = frozenset({RunState.DONE, RunState.FAILED, RunState.STOPPED, RunState.LOST})
_BAD_ENDS = frozenset({RunState.FAILED, RunState.STOPPED, RunState.LOST})

# A worker rehearses before it trains, and a run waits for its device before both. Back to `queued`:
# a new worker goes on from the last checkpoint, by itself after a failure that it can get past, or
# because somebody resumed the run.
MOVES: dict[RunState, frozenset[RunState]] = {
    RunState.CREATED: _BAD_ENDS | {RunState.PLANNING, RunState.QUEUED},
    RunState.PLANNING: _BAD_ENDS | {RunState.QUEUED},
    RunState.QUEUED: _BAD_ENDS | {RunState.REHEARSING, RunState.TRAINING},
    RunState.REHEARSING: _BAD_ENDS | {RunState.QUEUED, RunState.TRAINING, RunState.DONE},
    RunState.TRAINING: _BAD_ENDS | {RunState.QUEUED, RunState.VERIFYING},
    RunState.VERIFYING: _BAD_ENDS | {RunState.QUEUED, RunState.DONE},
    RunState.DONE: frozenset(),
    RunState.FAILED: frozenset({RunState.QUEUED}),
    RunState.STOPPED: frozenset({RunState.QUEUED}),
    # Contact may come back: the supervisor finds the worker alive, or its result.
    RunState.LOST: frozenset(
        {
            RunState.QUEUED,
            RunState.REHEARSING,
            RunState.TRAINING,
            RunState.VERIFYING,
            RunState.DONE,
            RunState.FAILED,
            RunState.STOPPED,
        }
    ),
}


class IllegalMoveError(SurefitError):
    """A state was to follow another that it cannot follow: a bug of ours, or a damaged events file."""


def check_move(before: RunState, after: RunState) -> None:
    """Refuse a move that is not in the table.

    Raises:
        IllegalMoveError: `after` cannot follow `before`.
    """
    if after not in MOVES[before]:
        legal = ", ".join(sorted(MOVES[before])) or "nothing"
        raise IllegalMoveError(
            f"a run cannot go from {before} to {after}",
            f"after {before} can come: {legal}",
            "report this with the run's events.jsonl; the run's files are untouched",
        )
