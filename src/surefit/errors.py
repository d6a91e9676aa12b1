"""Every failure that surefit expects is a SurefitError; anything else is our own bug.

    SurefitError             the answer is no                      exit 1
    +-- UsageError           the command is wrong                  exit 2
    |   +-- RecipeError      the recipe is wrong                   exit 2
    +-- Refused              data or plan cannot be trained        exit 1
    +-- OutsideError         disk, network, permission, machine    exit 3

A SurefitError says what happened, why, and what to type, click or change next, with the user's own
values in it. All faces (terminal, JSON, page) render the same object.
"""

from enum import IntEnum
from typing import Any


class ExitCode(IntEnum):
    """What a surefit command tells its caller."""

    DONE = 0
    NO = 1
    USAGE = 2
    OUTSIDE = 3
    BUG = 70  # ours: a traceback is shown
    INTERRUPTED = 130  # Ctrl-C, as every shell reports it


class WorkerExit(IntEnum):
    """What a worker tells its supervisor: sysexits numbers where they exist, our own above 70."""

    DONE = 0
    DATA = 65
    INPUT_MISSING = 66
    NO_RESOURCE = 69
    BUG = 70
    GPU_MEMORY = 71
    HOST_MEMORY = 72
    DISK = 73
    NETWORK = 74
    TEMPORARY = 75  # a checkpoint is written; starting again resumes
    NUMERIC = 76
    NO_PERMISSION = 77
    CONFIGURATION = 78
    HANG = 79
    BUDGET = 80


class SurefitError(Exception):
    """A failure in words.

    Args:
        what: what happened, one sentence, no full stop.
        why: the reason, with the values that show it.
        next_step: something to type, click or change.
        where: the place in the user's own file, such as ``recipe.yaml:4: goal.epochs``.
        details: further facts for ``--json`` and pages; must be JSON data.
    """

    exit_code: ExitCode = ExitCode.NO
    worker_exit: WorkerExit = WorkerExit.BUG

    def __init__(
        self,
        what: str,
        why: str,
        next_step: str,
        *,
        where: str | None = None,
        details: dict[str, Any] | None = None,
        worker_exit: WorkerExit | None = None,
    ) -> None:
        for name, text in (("what", what), ("why", why), ("next_step", next_step)):
            if not text.strip():
                raise ValueError(f"a SurefitError needs its {name!r} in words")
        self.what, self.why, self.next_step = what, why, next_step
        self.where = where
        self.details = details or {}
        if worker_exit is not None:
            self.worker_exit = worker_exit
        super().__init__(self.as_text())

    def as_text(self) -> str:
        """The error as three labelled lines, and one more for each further problem under `also`."""
        lines = [f"error: {self._head()}", f"  why: {self.why}", f" next: {self.next_step}"]
        lines += [f" also: {text}" for text in self.details.get("also", ())]
        return "\n".join(lines)

    def _head(self) -> str:
        """Place and sentence; a field that both name is said once."""
        if not self.where:
            return self.what
        place, _, field = self.where.rpartition(": ")
        if not self.what.startswith(field):
            return f"{self.where}: {self.what}"
        return f"{place}: {self.what}" if place else self.what

    def as_dict(self) -> dict[str, Any]:
        """The error as JSON data, in the words of `as_text`."""
        return {
            "error": {
                "what": self.what,
                "why": self.why,
                "next": self.next_step,
                "where": self.where,
                **self.details,
            }
        }


class UsageError(SurefitError):
    """The command, an option or an identifier is wrong."""

    exit_code = ExitCode.USAGE
    worker_exit = WorkerExit.CONFIGURATION


class RecipeError(UsageError):
    """The recipe is wrong; `where` names file, line and field."""


class Refused(SurefitError):
    """The data or the plan cannot be trained as it stands."""

    worker_exit = WorkerExit.DATA


class OutsideError(SurefitError):
    """The outside world failed: a disk, a permission, a network, another program."""

    exit_code = ExitCode.OUTSIDE
    worker_exit = WorkerExit.INPUT_MISSING
