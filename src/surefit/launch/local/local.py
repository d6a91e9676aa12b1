"""Start, watch and end a worker on this machine."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from surefit.errors import OutsideError, WorkerExit
from surefit.hub import worker_variables
from surefit.launch.launcher import Features, Job, JobStatus, LogSource, Order
from surefit.launch.local.environment import worker_environment
from surefit.launch.local.log_pipe import LogPipe, open_for_worker, pipe_path
from surefit.launch.local.members import find_worker, kill_all, members_of, send
from surefit.launch.local.memory_group import MemoryGroup, make_group, offer_to_the_kernel
from surefit.launch.process import ProcessIdentity, boot_id, catches, identify
from surefit.plan.plan import Plan
from surefit.runs import ExitStatus, RunFolder


def _way_to_the_hub(run: RunFolder) -> dict[str, str]:
    """Token and network settings, where the run has something to fetch."""
    plan = run.read(run.plan, Plan)
    return worker_variables(plan.model, os.environ) if plan else {}


class LocalLauncher:
    """A worker as a child of the supervisor, in a session of its own."""

    name = "local"
    features = Features(
        several_nodes=False, time_limit=False, retries=False, live_logs=True, durable_output=True
    )

    def submit(self, order: Order) -> Job:
        """Start the worker; its output goes to the run's log pipe.

        Raises:
            OutsideError: no such program, no memory for a process, or no room for the pipe.
        """
        command = list(
            order.command or (sys.executable, "-m", "surefit.train", str(order.run.path))
        )
        environment = {
            **worker_environment(order.run, order.training, os.environ),
            **_way_to_the_hub(order.run),
        }
        group = make_group(order.run.id)
        kills_before = group.kills() if group else None
        pipe = open_for_worker(order.run)
        try:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=pipe,
                stderr=pipe,
                cwd=order.run.path,
                env=environment,
                start_new_session=True,
                pass_fds=order.keep_open,
            )
        except OSError as error:
            if group:
                group.remove()
            raise _cannot_start(command, error) from error
        finally:
            os.close(pipe)
        child.returncode = 0  # we wait for it ourselves: nobody else may take its exit status
        offer_to_the_kernel(child.pid)
        if group and group.own and not group.adopt(child.pid):
            group.remove()
            group, kills_before = None, None
        return _job(self.name, child.pid, group, kills_before)

    def find(self, run: RunFolder) -> Job | None:
        """A worker that was started while nobody could write it down; None: there is none."""
        found = find_worker(run)
        if found is None:
            return None
        return Job(launcher=self.name, pid=found.pid, start_time=found.start_time, boot=found.boot)

    def status(self, job: Job) -> JobStatus:
        """Whether the worker lives; how it ended, as long as its end has not been collected."""
        if _identity(job).is_alive():
            return JobStatus(alive=True)
        return JobStatus(alive=False, exit=_peek_exit(job))

    def logs(self, run: RunFolder, job: Job | None) -> LogSource:  # noqa: ARG002 (the contract's)
        """The keeper's end of the log pipe. May be opened before the worker starts."""
        return LogPipe(run)

    def cancel(self, run: RunFolder, job: Job, *, firm: bool) -> None:
        """SIGTERM to everything that belongs to the run, or SIGKILL."""
        if firm:
            kill_all(run, _identity(job), _group_members(job))
        else:
            send(members_of(run, _identity(job), _group_members(job)), signal.SIGTERM)

    def processes(self, run: RunFolder, job: Job) -> list[int]:
        """Ids of everything that belongs to the run and lives."""
        return [one.pid for one in members_of(run, _identity(job), _group_members(job))]

    def ask_for_stacks(self, run: RunFolder, job: Job) -> int:
        """SIGUSR1 to every process that listens to it; how many there are. It would end the others."""
        members = members_of(run, _identity(job), _group_members(job))
        listening = [one for one in members if catches(one.pid, signal.SIGUSR1)]
        send(listening, signal.SIGUSR1)
        return len(listening)

    def collect(self, run: RunFolder, job: Job) -> ExitStatus:
        """Kill what the worker left behind, count the kernel's kills, and take its exit status.

        The exit status is taken last: until then the worker's number cannot be given to another process.
        """
        kill_all(run, _identity(job), _group_members(job))
        group = _memory_group(job)
        kills = group.kills() if group else None
        before = job.details.get("oom_kill_before")
        seen = _peek_exit(job)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(job.pid, os.WNOHANG)
        if group:
            group.remove()
        return ExitStatus(
            code=seen.code if seen else None,
            signal=seen.signal if seen else None,
            oom_kill=max(0, kills - int(before)) if kills is not None and before else None,
            time=time.time(),
        )

    def forget_pipe(self, run: RunFolder) -> None:
        """Remove the pipe of an ended run: copying or packing the folder would wait at it for ever."""
        pipe_path(run).unlink(missing_ok=True)


def _job(launcher: str, pid: int, group: MemoryGroup | None, kills: int | None) -> Job:
    details: dict[str, str] = {}
    if group is not None and kills is not None:
        details = {
            "memory_group": str(group.path),
            "memory_group_is_own": str(group.own),
            "oom_kill_before": str(kills),
        }
    found = identify(pid)  # a child that nobody has waited for has an entry, dead or alive
    start_time = found.start_time if found else -1
    return Job(launcher=launcher, pid=pid, start_time=start_time, boot=boot_id(), details=details)


def _identity(job: Job) -> ProcessIdentity:
    return ProcessIdentity(job.pid, job.start_time, job.boot)


def _memory_group(job: Job) -> MemoryGroup | None:
    path = job.details.get("memory_group")
    if path is None or job.boot != boot_id():
        return None
    return MemoryGroup(Path(path), own=job.details.get("memory_group_is_own") == "True")


def _group_members(job: Job) -> list[int]:
    group = _memory_group(job)
    return group.members() if group else []


def _peek_exit(job: Job) -> ExitStatus | None:
    """How our child ended, without taking the status; None where it lives or is not our child."""
    try:
        seen = os.waitid(os.P_PID, job.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except (ChildProcessError, OSError):
        return None
    if seen is None:
        return None
    if seen.si_code == os.CLD_EXITED:
        return ExitStatus(code=seen.si_status, time=time.time())
    return ExitStatus(signal=seen.si_status, time=time.time())


def _cannot_start(command: list[str], error: OSError) -> OutsideError:
    return OutsideError(
        f"the worker could not be started: {error.strerror or error}",
        f"the command was {command[0]}",
        "check that the environment surefit is installed in is still there, and that the machine has "
        "memory for another process",
        worker_exit=WorkerExit.NO_RESOURCE,
    )
