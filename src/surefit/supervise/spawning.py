"""Start a supervisor as a process of its own, which no terminal and no parent can take down."""

import os
import subprocess
import sys
import time

from surefit.errors import OutsideError, WorkerExit
from surefit.home import disk_error
from surefit.runs import RunFolder
from surefit.supervise.records import SupervisorRecord

_WAIT_SECONDS = 10.0
_POLL_SECONDS = 0.02


def spawn_supervisor(run: RunFolder, command: tuple[str, ...] = (), *, wait: bool = True) -> None:
    """Start `python -m surefit.supervise` on a run folder, in a session of its own.

    Args:
        run: the run, whole.
        command: started instead of the worker, in tests.
        wait: return only when it has written down that it watches.

    Raises:
        OutsideError: it could not be started, or ended at once.
    """
    call = [sys.executable, "-P", "-m", "surefit.supervise", str(run.path), *command]
    try:
        with run.supervisor_log.open("ab") as log:
            child = subprocess.Popen(
                call,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1"},
                start_new_session=True,
            )
    except OSError as error:
        if error.filename == str(run.supervisor_log):
            raise disk_error(
                f"cannot write {run.supervisor_log}", error, run.supervisor_log
            ) from error
        raise _not_started(run, error.strerror or str(error)) from error
    if wait:
        _wait_for_record(run, child)
    child.returncode = child.returncode or 0  # it outlives us: no warning about it


def _wait_for_record(run: RunFolder, child: "subprocess.Popen[bytes]") -> None:
    """Until the supervisor has written its record.

    Raises:
        OutsideError: it ended before.
    """
    end = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < end:
        record = run.read(run.supervisor, SupervisorRecord)
        if record is not None and record.pid == child.pid:
            return
        code = child.poll()
        if code is not None:
            if code == 0 or run.read(run.supervisor, SupervisorRecord) is not None:
                return  # all was done in no time, or another supervisor watches
            raise _not_started(run, f"it ended at once with code {code}; see {run.supervisor_log}")
        time.sleep(_POLL_SECONDS)


def _not_started(run: RunFolder, why: str) -> OutsideError:
    return OutsideError(
        f"the supervisor of the run {run.id} could not be started",
        why,
        f"read {run.supervisor_log}, then start the run again from {run.recipe}",
        worker_exit=WorkerExit.NO_RESOURCE,
    )
