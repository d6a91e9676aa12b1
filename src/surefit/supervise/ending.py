"""The end of a run: how the worker ended, whether it succeeded, and if not, why."""

from surefit.diagnose.diagnosis import Diagnosis
from surefit.errors import WorkerExit
from surefit.plan.plan import Plan
from surefit.runs import AnyEvent, ExitStatus, Note, Problem, RunFolder, RunState, Status
from surefit.supervise.attempts import retries
from surefit.supervise.course import Course
from surefit.supervise.evidence import why_not_proven, why_rehearsal_not_proven
from surefit.supervise.records import StopRequest
from surefit.supervise.recovery import Recovery, recovery_for
from surefit.supervise.watch import unhindered

_SIGNAL_NAMES = {
    2: "SIGINT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV",
    13: "SIGPIPE", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ",
}  # fmt: skip


def conclude(
    run: RunFolder, plan: Plan, course: Course, status: ExitStatus, *, seen: bool
) -> Recovery | None:
    """Write how it ended: `exit.json`, then `done`, or `stopped`, or `failed` or `lost` with its diagnosis.

    Returns what to try instead, where the failure is of a kind that may be tried again: the run has
    not ended then.

    Args:
        run: the run.
        plan: its plan.
        course: its state.
        status: how the worker ended.
        seen: whether a supervisor was there when it ended. If not, a run without its result is lost.
    """
    run.write(run.exit, status)
    only_rehearses = plan.training.only_rehearse
    missing = why_rehearsal_not_proven(run) if only_rehearses else why_not_proven(run)
    if missing is None:
        if only_rehearses:
            course.move(RunState.REHEARSING)
        course.move(RunState.DONE)
        return None
    stop = run.read(run.stop_request, StopRequest)
    if stop is not None:
        course.move(RunState.STOPPED, stop_words(stop, run))
        return None
    if status.code == WorkerExit.TEMPORARY:
        course.move(RunState.STOPPED, interrupted_words(run))
        return None
    diagnosis = _write_diagnosis(run, missing)
    if not seen:
        return None  # the caller says that it is lost, and why it thinks so
    phase = diagnosis.phase if diagnosis else "unknown"
    found = recovery_for(plan, status, last_problem(run), phase, retries(run))
    if isinstance(found, Recovery):
        return found
    if found is not None:
        run.append(found.problem)
        diagnosis = _write_diagnosis(run, missing)
    course.move(RunState.FAILED, _cause(run, status, missing, diagnosis))
    return None


def _write_diagnosis(run: RunFolder, missing: str) -> Diagnosis | None:
    diagnosis = unhindered(lambda: diagnosis_of(run, missing), None)
    if diagnosis is not None:
        run.write(run.diagnosis, diagnosis)
    return diagnosis


def diagnosis_of(run: RunFolder, missing: str) -> Diagnosis:
    """The diagnosis of a run's end. Loaded now: a supervisor of a good run never needs it."""
    from surefit.diagnose import diagnose, gather_evidence

    return diagnose(gather_evidence(run.path, missing))


def exit_words(status: ExitStatus) -> str:
    """How a worker ended, in words."""
    if status.signal is not None:
        name = _SIGNAL_NAMES.get(status.signal, f"signal {status.signal}")
        if status.signal == 9 and status.oom_kill:
            return "the kernel killed the worker because the machine ran out of memory"
        return f"the worker was killed by {name}"
    if status.code is not None:
        return f"the worker ended with exit code {status.code}"
    return "the worker ended while nobody watched"


def stop_words(stop: StopRequest, run: RunFolder) -> str:
    """Why a run was stopped, and what is kept."""
    newest = _newest_checkpoint(run)
    kept = (
        f"the checkpoint of step {newest} is kept"
        if newest is not None
        else "no checkpoint was written yet"
    )
    head = stop.reason if stop.how == "limit" else f"stopped by {stop.who}: {stop.reason}"
    return f"{head}; {kept}"


def interrupted_words(run: RunFolder) -> str:
    """Who ended a worker that nobody here had asked to, in its own words, and how to go on."""
    said = [event for event in _since_queued(run) if isinstance(event, Note)]
    told = next((note.text for note in reversed(said) if note.topic == "stopped"), None)
    head = told or "the system asked the worker to end, and it did"
    return f"interrupted: {head}; go on with `surefit resume {run.id}`"


def _newest_checkpoint(run: RunFolder) -> int | None:
    steps = [
        int(path.parent.name.removeprefix("step-"))
        for path in run.checkpoints.glob("step-*/manifest.json")
        if path.parent.name.removeprefix("step-").isdigit()
    ]
    return max(steps, default=None)


def _cause(run: RunFolder, status: ExitStatus, missing: str, diagnosis: Diagnosis | None) -> str:
    """The cause in one line: the diagnosis, else the worker's own words, else how it ended."""
    if diagnosis is not None and diagnosis.failure_class not in ("UNKNOWN", "NONE"):
        return diagnosis.what
    problem = last_problem(run)
    if problem is not None:
        return problem.what
    return f"{exit_words(status)}, and {missing}"


def last_problem(run: RunFolder) -> Problem | None:
    """The last problem that this worker has told of; those of earlier ones are history."""
    found = [event for event in _since_queued(run) if isinstance(event, Problem)]
    return found[-1] if found else None


def _since_queued(run: RunFolder) -> list[AnyEvent]:
    """The events since the run last waited for its device: those of the last worker."""
    found: list[AnyEvent] = []
    for _, event in run.read_events():
        if isinstance(event, Status) and event.state is RunState.QUEUED:
            found.clear()
        found.append(event)
    return found
