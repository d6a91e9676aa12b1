"""The watch over one worker: wait for the device, start it, keep its log, notice hangs and its end."""

import os
import select
import sys
import time
import traceback
from collections.abc import Callable
from typing import TypeVar

from surefit.errors import OutsideError
from surefit.launch import Job, Launcher, LocalLauncher, LogSource, Order
from surefit.plan.plan import Plan
from surefit.runs import Phase, RunFolder, RunState, Status
from surefit.runs.checkpoints import MANIFEST
from surefit.runs.tail import EventTail
from surefit.supervise.bounded_log import BoundedLog
from surefit.supervise.course import Course
from surefit.supervise.device_lock import DeviceLock
from surefit.supervise.disk_room import DiskRoom
from surefit.supervise.hang_end import end_hang
from surefit.supervise.hangs import HangWatch
from surefit.supervise.limits import WARN_SHARE, limits_of
from surefit.supervise.records import StopRequest
from surefit.supervise.redaction import Redactor
from surefit.supervise.spent import spent_before

Result = TypeVar("Result")
TICK_SECONDS = 0.25  # a death is heard at once, by its pidfd; the rest may wait so long
LOOK_SECONDS = 1.0  # between two looks at heartbeats, traffic and disk
STOP_GRACE_SECONDS = 7.0
LIMIT_GRACE_SECONDS = 60.0  # a checkpoint is worth more than a minute
_LONGEST_GRACE_SECONDS = 900.0
_SLOW_DISK_BYTES_PER_SECOND = 50e6
_DRAIN_ROUNDS = 64  # at most 64 MiB wait in a pipe of 1 MiB; a bound is a bound


class Watch:
    """Watches one worker from its start, or from a takeover, to its end."""

    def __init__(
        self,
        run: RunFolder,
        plan: Plan,
        launcher: Launcher,
        course: Course,
        redactor: Redactor,
        *,
        command: tuple[str, ...] | None = None,
    ) -> None:
        self._run, self._plan, self._launcher, self._course = run, plan, launcher, course
        self._redactor = redactor
        self._command = command
        self._log = BoundedLog(run.log)
        self._events = EventTail(run.events)
        self._source: LogSource | None = None
        self._asked_at: float | None = None
        self._spent = spent_before(run)
        self._limits = limits_of(plan)
        self._warned: set[str] = set()
        self._hangs: HangWatch | None = None
        self._room = DiskRoom(run, plan, course)
        self._next_look = 0.0
        self._lost_bytes = 0
        self._complaint = ""
        self.signalled = False  # set by the process's SIGTERM handler

    def wait_for_device(self, lock: DeviceLock) -> bool:
        """Wait until the machine's devices are free; False: the run was stopped while it waited."""
        told: str | None = None
        while not lock.take(self._run.id):
            if self.stop_request() is not None:
                return False
            holder = lock.holder()
            if holder != told:
                told = holder
                self._course.note(
                    "queue",
                    f"waiting for the run {holder}, which uses this machine now",
                    holder=holder,
                )
            time.sleep(TICK_SECONDS)
        return self.stop_request() is None

    def wait_out(self, due: float) -> bool:
        """Wait until a moment (seconds since 1970); False: the run was stopped while it waited."""
        while time.time() < due:
            if self.stop_request() is not None:
                return False
            time.sleep(TICK_SECONDS)
        return self.stop_request() is None

    def launch(self, lock: DeviceLock) -> Job:
        """Start the worker.

        Raises:
            OutsideError: it could not be started.
        """
        self._source = self._launcher.logs(self._run, None)
        order = Order(self._run, self._plan.training, self._command, (lock.descriptor,))
        job = self._launcher.submit(order)
        goes_on = any(self._run.checkpoints.glob(f"step-*/{MANIFEST}"))
        rehearses = self._plan.training.rehearse and not goes_on
        self._course.move(RunState.REHEARSING if rehearses else RunState.TRAINING)
        return job

    def take_over(self, job: Job) -> None:
        """Go on with a worker that another supervisor has started."""
        self._source = self._launcher.logs(self._run, job)

    def until_end(self, job: Job, launched: float | None) -> None:
        """Return when the worker has ended. `launched` is when it was started, by the clock."""
        handle = _pidfd(job.pid)
        began = launched or time.time()
        slowest = self._plan.seconds.high / self._plan.training.steps if self._plan.seconds else 0.0
        self._hangs = HangWatch(self._run, self._plan.silent_seconds, began, slowest)
        try:
            while self._launcher.status(job).alive:
                self._sleep(handle)
                self._keep_log()
                try:
                    self._follow_events()
                    self._mind_limit(launched)
                    self._mind_stop(job)
                    self._look_around(job)
                except OutsideError as error:  # a full disk must not end the watch
                    self._complain(error)
        finally:
            if handle is not None:
                os.close(handle)

    def last_words(self) -> None:
        """Keep what still waits in the pipe, after everything that could write to it has ended."""
        if self._source is not None:
            for _ in range(_DRAIN_ROUNDS):
                if not self._keep_log():
                    break
            self._source.close()
        self._write_log(self._redactor.finish())
        self._log.close()
        self._follow_events()

    def stop_request(self) -> StopRequest | None:
        """The wish that the run stops, also when it came as a signal to the supervisor."""
        if self.signalled and not self._run.stop_request.exists():
            ask = StopRequest(
                who="the system", how="signal", reason="the supervisor was told to end"
            )
            self._run.write(self._run.stop_request, ask)
        return self._run.read(self._run.stop_request, StopRequest)

    def _sleep(self, pidfd: int | None) -> None:
        poll = select.poll()
        for descriptor in self._source.descriptors() if self._source else ():
            poll.register(descriptor, select.POLLIN)
        if pidfd is not None:
            poll.register(pidfd, select.POLLIN)
        poll.poll(TICK_SECONDS * 1000)

    def _keep_log(self) -> bool:
        """Copy what the worker has printed; whether there was anything."""
        content = self._source.read() if self._source else b""
        if content:
            self._write_log(self._redactor.feed(content))
        return bool(content)

    def _write_log(self, text: bytes) -> None:
        """Write to the log; a full disk costs lines of the log, never the watch."""
        if self._lost_bytes:
            text = f"\n[surefit: {self._lost_bytes} bytes could not be written]\n".encode() + text
        try:
            self._log.write(text)
        except OutsideError:
            self._lost_bytes += len(text)
        else:
            self._lost_bytes = 0

    def _follow_events(self) -> None:
        """Follow the phases of this worker; what is older than the last `queued` was another's."""
        heard = [event for _, event in self._events.poll()]
        for number in range(len(heard) - 1, -1, -1):
            event = heard[number]
            if isinstance(event, Status) and event.state is RunState.QUEUED:
                heard = heard[number + 1 :]
                break
        for event in heard:
            if isinstance(event, Phase):
                self._course.see(event)
        self._course.catch_up()

    def _complain(self, error: OutsideError) -> None:
        """Tell of a trouble in `supervisor.log`, once."""
        if error.as_text() != self._complaint:
            self._complaint = error.as_text()
            sys.stderr.write(self._complaint + "\n")

    def _mind_limit(self, launched: float | None) -> None:
        if launched is None or self._asked_at is not None:
            return
        spent = self._spent + time.time() - launched
        for limit in self._limits:
            if spent >= limit.seconds:
                ask = StopRequest(who=limit.field, how="limit", reason=limit.reached_words())
                self._run.write(self._run.stop_request, ask)
                return
            if spent >= limit.seconds * WARN_SHARE and limit.field not in self._warned:
                self._warned.add(limit.field)
                self._course.note("limit", limit.near_words(spent), field=limit.field)

    def _look_around(self, job: Job) -> None:
        """What need not be looked at in every tick: hangs and the disk."""
        now = time.monotonic()
        if now < self._next_look or self._hangs is None:
            return
        self._next_look = now + LOOK_SECONDS
        self._room.look()
        if self._asked_at is not None or not isinstance(self._launcher, LocalLauncher):
            return
        hang = self._hangs.look(lambda: self._local_processes(job))
        if hang is not None:
            end_hang(self._run, self._launcher, job, hang)

    def _local_processes(self, job: Job) -> list[int]:
        launcher = self._launcher
        return launcher.processes(self._run, job) if isinstance(launcher, LocalLauncher) else []

    def _mind_stop(self, job: Job) -> None:
        """Ask the worker to end, once; end it when its grace is over."""
        stop = self.stop_request() if self._run.stop_request.exists() or self.signalled else None
        if stop is None:
            return
        now = time.monotonic()
        if self._asked_at is None:
            self._asked_at = now
            self._launcher.cancel(self._run, job, firm=False)
            return
        grace = grace_seconds(self._plan, LIMIT_GRACE_SECONDS if stop.how == "limit" else None)
        if stop.at_once or now - self._asked_at > grace:
            self._launcher.cancel(self._run, job, firm=True)


def grace_seconds(plan: Plan, least: float | None = None) -> float:
    """How long a worker that was asked to stop may finish its step and write its checkpoint."""
    step = plan.seconds.high / plan.training.steps if plan.seconds else 0.0
    checkpoints = sum(item.bytes for item in plan.disk if item.item == "checkpoints")
    writing = checkpoints / (plan.training.keep_checkpoints + 1) / _SLOW_DISK_BYTES_PER_SECOND
    needed = (least or STOP_GRACE_SECONDS) + 2 * step + writing
    return min(needed, _LONGEST_GRACE_SECONDS)


def unhindered(work: Callable[[], Result], instead: Result) -> Result:
    """Do something whose failure, a bug of ours too, must not keep a run's end off the record.

    The traceback goes to `supervisor.log`.
    """
    try:
        return work()
    except Exception:  # noqa: BLE001 (the supervisor's one broad except, see design)
        traceback.print_exc()
        return instead


def _pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None: it has, or the system has none."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None
