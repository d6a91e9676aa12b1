"""The whole life of a supervisor: take the watch, keep it to the worker's end, say how it ended."""

import contextlib
import fcntl
import os
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

from surefit.errors import OutsideError, SurefitError, WorkerExit
from surefit.hub import find_token
from surefit.launch import Job, LocalLauncher, launcher_named
from surefit.launch.process import ProcessIdentity, boot_id, environment_of, identify
from surefit.plan.plan import Plan
from surefit.runs import ExitStatus, Problem, RunFolder, RunState
from surefit.supervise.attempts import put_aside, retries
from surefit.supervise.course import Course
from surefit.supervise.device_lock import DeviceLock
from surefit.supervise.ending import conclude, exit_words, stop_words
from surefit.supervise.lost import lost_words
from surefit.supervise.records import NO_JOB, StopRequest, SupervisorRecord
from surefit.supervise.recovery import Recovery
from surefit.supervise.redaction import Redactor, secret_values
from surefit.supervise.watch import Watch

Result = TypeVar("Result")
_PATIENCE_SECONDS = 600.0
_RETRY_SECONDS = 1.0


class AlreadyWatchedError(SurefitError):
    """Another supervisor watches this run."""


def supervise(run: RunFolder, command: tuple[str, ...] | None = None) -> None:
    """Watch a run from where it stands to its end. Returns when the run has ended.

    Args:
        run: the run folder, whole.
        command: started instead of the worker, in tests.

    Raises:
        AlreadyWatchedError: another supervisor lives.
        OutsideError: the run folder cannot be used.
    """
    only_one = _take_watch(run)
    try:
        plan = run.read(run.plan, Plan)
        if plan is None:
            raise OutsideError(
                f"the run {run.id} cannot be watched",
                f"{run.plan} is missing or damaged",
                "start the run again from its recipe: `surefit train " + str(run.recipe) + "`",
            )
        state, _ = run.state()
        if state.is_final and state is not RunState.LOST:
            return
        _live(run, plan, Course(run, state), command)
    finally:
        os.close(only_one)


def _live(run: RunFolder, plan: Plan, course: Course, command: tuple[str, ...] | None) -> None:
    before = run.read(run.supervisor, SupervisorRecord)
    record = _new_record(before)
    job = _job_of(run, before)
    if job is not None:
        record = _with_job(record, job)
    launcher = launcher_named(job.launcher if job else LocalLauncher.name)
    run.write(run.supervisor, record)
    redactor = Redactor(_secrets(job))

    def watch_over(plan: Plan) -> Watch:
        watch = Watch(run, plan, launcher, course, redactor, command=command)
        _on_sigterm(lambda: setattr(watch, "signalled", True))
        return watch

    if job is not None:
        again = _take_over(run, plan, course, watch_over(plan), record, job)
        if again is None:
            return
        plan = _begin_again(run, course, record, again)
    elif before is not None and before.boot != boot_id():
        course.move(RunState.LOST, lost_words(run))
        return
    course.move(RunState.QUEUED)
    lock = DeviceLock()
    try:
        while (again := _one_worker(run, plan, course, watch_over(plan), record, lock)) is not None:
            plan = _begin_again(run, course, record, again)
    finally:
        lock.release()


def _one_worker(
    run: RunFolder,
    plan: Plan,
    course: Course,
    watch: Watch,
    record: SupervisorRecord,
    lock: DeviceLock,
) -> Recovery | None:
    """A worker from its start to its end; what to try next, or None: the run has ended."""
    if not (watch.wait_out(_due(run)) and watch.wait_for_device(lock)):
        stop = watch.stop_request() or StopRequest(who="the system")
        course.move(RunState.STOPPED, stop_words(stop, run))
        return None
    try:
        job = watch.launch(lock)
    except OutsideError as error:
        _not_started(run, course, error)
        return None
    record = _with_job(record, job)
    run.write(run.supervisor, record)
    watch.until_end(job, record.launched)
    return _finish(run, plan, course, watch, job, seen=True)


def _take_over(
    run: RunFolder, plan: Plan, course: Course, watch: Watch, record: SupervisorRecord, job: Job
) -> Recovery | None:
    """Go on with what an earlier supervisor began; its worker may live or have ended unseen."""
    alive = launcher_named(job.launcher).status(job).alive
    if alive:
        course.note(
            "supervisor",
            "the supervisor was lost; a new one watches the same worker",
            worker=job.pid,
        )
        watch.take_over(job)
        watch.until_end(job, record.launched)
    return _finish(run, plan, course, watch, job, seen=alive)


def _begin_again(run: RunFolder, course: Course, record: SupervisorRecord, again: Recovery) -> Plan:
    """Put the ended worker's traces aside, write the next plan, and say why. Returns that plan."""

    def write() -> None:
        run.write(run.supervisor, record.model_copy(update=NO_JOB))
        put_aside(run, again.retry)
        run.write(run.plan, again.plan)
        course.note(
            "recovery", f"{again.retry.cause}: {again.retry.change}", **again.retry.model_dump()
        )
        course.begin_again(again.retry.cause)

    _with_patience(write)
    return again.plan


def _due(run: RunFolder) -> float:
    """When the next worker may start, seconds since 1970: a back-off is waited out."""
    last = retries(run)[-1:]
    state_time = max((event.time for _, event in run.read_events()), default=0.0)
    return state_time + last[0].wait_seconds if last else 0.0


def _finish(
    run: RunFolder, plan: Plan, course: Course, watch: Watch, job: Job, *, seen: bool
) -> Recovery | None:
    launcher = launcher_named(job.launcher)
    why_lost = None if seen else lost_words(run)
    status = launcher.collect(run, job)
    watch.last_words()
    if isinstance(launcher, LocalLauncher):
        launcher.forget_pipe(run)
    again = _with_patience(lambda: conclude(run, plan, course, status, seen=seen))
    if again is None and not course.state.is_final:
        _with_patience(lambda: course.move(RunState.LOST, why_lost or exit_words(status)))
    return again


def _with_patience(write: Callable[[], Result]) -> Result:
    """Write down an end, and wait for room where the disk is full.

    Raises:
        OutsideError: the folder may not be written, or there was no room for ten minutes.
    """
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return write()
        except OutsideError as error:
            if error.worker_exit is not WorkerExit.DISK or time.monotonic() > end:
                raise
            time.sleep(_RETRY_SECONDS)


def _not_started(run: RunFolder, course: Course, error: OutsideError) -> None:
    run.append(
        Problem(
            what=error.what, why=error.why, next=error.next_step, exit_code=int(error.worker_exit)
        )
    )
    run.write(run.exit, ExitStatus(time=time.time()))
    course.move(RunState.FAILED, error.what)


def _take_watch(run: RunFolder) -> int:
    """Be the only supervisor of a run, for as long as the returned descriptor is open."""
    handle = os.open(
        run.path / "log" / "supervisor.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
    )
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise AlreadyWatchedError(
            f"the run {run.id} is watched already",
            "another supervisor lives",
            f"look at it with `surefit show {run.id}`",
        ) from error
    return handle


def _new_record(before: SupervisorRecord | None) -> SupervisorRecord:
    me = identify(os.getpid()) or ProcessIdentity(os.getpid(), -1, boot_id())
    mine = {"pid": me.pid, "start_time": me.start_time, "boot": me.boot}
    if before is None:
        return SupervisorRecord(**mine)
    lost = 0 if before.job is None else 1
    return before.model_copy(update={**mine, "takeovers": before.takeovers + lost})


def _job_of(run: RunFolder, before: SupervisorRecord | None) -> Job | None:
    """The worker that an earlier supervisor has started, also one it had no time to write down."""
    if before is None:
        return None
    return before.job or LocalLauncher().find(run)


def _with_job(record: SupervisorRecord, job: Job) -> SupervisorRecord:
    return record.model_copy(
        update={
            "job": job,
            "worker_pid": job.pid,
            "worker_start_time": job.start_time,
            "launched": record.launched or time.time(),
        }
    )


def _secrets(job: Job | None) -> set[str]:
    """Every secret value known here, or known to a worker that is taken over."""
    theirs = environment_of(job.pid) if job else {}
    known = secret_values(os.environ) | secret_values(theirs)
    with contextlib.suppress(SurefitError):  # one that cannot be sent is told when it is needed
        token = find_token()
        known |= {token.value} if token else set()
    return known


def _on_sigterm(action: Callable[[], None]) -> None:
    def heard(_number: int, _frame: FrameType | None) -> None:
        action()

    signal.signal(signal.SIGTERM, heard)
