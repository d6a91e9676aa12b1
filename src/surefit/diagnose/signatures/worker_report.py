"""SF900: what surefit's own worker said."""

import re

from surefit.diagnose.diagnosis import Diagnosis
from surefit.diagnose.evidence import Evidence, LogLine
from surefit.diagnose.records import as_int
from surefit.diagnose.signatures.signature import Signature
from surefit.errors import WorkerExit
from surefit.runs.event import Problem

_CLASSES = {
    WorkerExit.DATA: "DATASET_PARSE",
    WorkerExit.INPUT_MISSING: "FILE_MISSING",
    WorkerExit.NO_RESOURCE: "NO_CUDA",
    WorkerExit.HOST_MEMORY: "HOST_OOM",
    WorkerExit.DISK: "DISK_FULL",
    WorkerExit.NETWORK: "HUB_DOWN",
    WorkerExit.TEMPORARY: "TERMINATED",
    WorkerExit.NUMERIC: "NAN",
    WorkerExit.NO_PERMISSION: "PERMISSION",
    WorkerExit.CONFIGURATION: "CONFIG",
    WorkerExit.HANG: "HANG",
    WorkerExit.BUDGET: "TIME_LIMIT",
}
_GPU_CLASSES = {
    "load_model": "LOAD",
    "eval": "EVAL",
    "save": "SAVE",
    "merge": "SAVE",
    "verify": "SAVE",
}
_RETRYABLE = frozenset(
    {WorkerExit.TEMPORARY, WorkerExit.NETWORK, WorkerExit.NO_RESOURCE, WorkerExit.HANG}
)


class WorkerReport(Signature):
    """surefit's worker said in its own words what went wrong.

    ## What happened
    A worker of surefit that meets a failure it knows writes it to the run's events, in the words
    what, why and next, and ends with an exit code that names the kind.

    ## Why
    The worker is nearest to the failure. Its words are carried through as they are.

    ## Example
        {"kind": "problem", "what": "the loss is not a number at step 12", "exit_code": 76, ...}

    ## What to do
    What the worker proposes.
    """

    code = "SF900"
    failure_class = "UNKNOWN"
    title = "The worker's own report"

    def match(self, evidence: Evidence) -> Diagnosis | None:
        """A problem on record after which the run did not go on."""
        problem = evidence.problem
        if problem is None or evidence.verified:
            return None
        code = problem.exit_code if problem.exit_code is not None else evidence.exit.code
        if code in (None, WorkerExit.BUG) and "class" not in problem.details:
            return None  # it does not know the failure either; what it printed may tell
        diagnosis = self.answer(
            evidence,
            what=problem.what,
            why=problem.why,
            next_step=problem.next,
            lines=_told_lines(problem) or evidence.closing[-3:],
            rank=problem.details.get("rank"),
            retryable=code in _RETRYABLE,
        )
        named = problem.details.get("class")
        name = named if isinstance(named, str) else self._class(code, diagnosis.phase, problem)
        return diagnosis.model_copy(update={"failure_class": name})

    def _class(self, code: int | None, phase: str, problem: Problem) -> str:
        if code == WorkerExit.GPU_MEMORY:
            return f"GPU_OOM_{_GPU_CLASSES.get(phase, 'STEP')}"
        if code == WorkerExit.NUMERIC and not re.search(r"\bnan\b|\binf|finite", problem.what):
            return "NOTHING_TRAINED"
        return next((name for exit_, name in _CLASSES.items() if exit_ == code), "UNKNOWN")


def _told_lines(problem: Problem) -> list[LogLine]:
    """The lines that the problem itself names, such as the calls in which a hung rank stands."""
    told = problem.details.get("evidence")
    return [
        LogLine(str(one.get("file")), as_int(one.get("line")) or 0, str(one.get("text")))
        for one in (told if isinstance(told, list) else [])
        if isinstance(one, dict)
    ]
