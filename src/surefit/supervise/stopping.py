"""Ask a run to stop; where nobody lives to hear it, end it from here."""

import time

from surefit.launch import launcher_named
from surefit.runs import RunFolder, RunState
from surefit.supervise.records import StopRequest, SupervisorRecord
from surefit.supervise.spawning import spawn_supervisor
from surefit.supervise.user import user_name

_GRACE_SECONDS = 7.0
_POLL_SECONDS = 0.05


def request_stop(
    run: RunFolder, *, at_once: bool = False, reason: str = "somebody asked for it"
) -> None:
    """Write down that the run shall end. Its supervisor ends it: gently, then firmly after 7 seconds.

    Where the supervisor is dead and the worker lives, the worker is ended from here, by its recorded
    process id and start time, and a new supervisor writes down the end.

    Args:
        run: the run; one that has ended is left as it is.
        at_once: without the time for a checkpoint.
        reason: for the record.

    Raises:
        OutsideError: the run folder may not be written.
    """
    state, _ = run.state()
    if state.is_final and state is not RunState.LOST:
        return
    before = run.read(run.stop_request, StopRequest)
    if before is None or (at_once and not before.at_once):
        run.write(run.stop_request, StopRequest(who=user_name(), reason=reason, at_once=at_once))
    record = run.read(run.supervisor, SupervisorRecord)
    if record is not None and not record.identity.is_alive():
        _stop_from_here(run, record, at_once=at_once)


def _stop_from_here(run: RunFolder, record: SupervisorRecord, *, at_once: bool) -> None:
    job, worker = record.job, record.worker
    if job is not None and worker is not None:
        launcher = launcher_named(job.launcher)
        if not at_once:
            launcher.cancel(run, job, firm=False)
            end = time.monotonic() + _GRACE_SECONDS
            while worker.is_alive() and time.monotonic() < end:
                time.sleep(_POLL_SECONDS)
        launcher.cancel(run, job, firm=True)
    spawn_supervisor(run)
