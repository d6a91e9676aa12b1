"""What happened: the run folder, its events, its states and its index."""

from surefit.runs.event import Checkpoint, Event, Metric, Note, Phase, PhaseName, Problem, Status
from surefit.runs.folder import (
    AnyEvent,
    RunFolder,
    create_run_folder,
    find_run_folder,
    list_run_folders,
)
from surefit.runs.result import ExitStatus, FileHash, Heartbeat, Result, Verification
from surefit.runs.state import MOVES, IllegalMoveError, RunState, check_move

__all__ = [
    "MOVES",
    "AnyEvent",
    "Checkpoint",
    "Event",
    "ExitStatus",
    "FileHash",
    "Heartbeat",
    "IllegalMoveError",
    "Metric",
    "Note",
    "Phase",
    "PhaseName",
    "Problem",
    "Result",
    "RunFolder",
    "RunState",
    "Status",
    "Verification",
    "check_move",
    "create_run_folder",
    "find_run_folder",
    "list_run_folders",
]
