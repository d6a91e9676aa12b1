"""Everything that belongs to one run on this machine: the worker and whatever it has started."""

import contextlib
import os
import signal
import time
from collections.abc import Iterable

from surefit.launch.local.environment import RUN_VARIABLE
from surefit.launch.process import (
    ProcessIdentity,
    all_processes,
    boot_id,
    environment_of,
    identify,
)
from surefit.runs import RunFolder

_KILL_ROUNDS = 20
_ROUND_SECONDS = 0.05


def members_of(
    run: RunFolder, worker: ProcessIdentity, extra: Iterable[int] = ()
) -> list[ProcessIdentity]:
    """The living processes of a run.

    A process belongs when it is the worker itself, when it carries the run's mark in the environment it
    was started with, or when it is in the worker's process group while that number is still the
    worker's. A process that merely has a number from the records does not.

    Args:
        run: the run.
        worker: its worker, as recorded.
        extra: further process ids known to belong, such as those of the run's own memory cgroup.
    """
    known = set(extra)
    same_boot = worker.boot == boot_id()
    # The number of a group stays taken while any member lives, so a member found by its mark
    # vouches for the group; without one, only the worker itself (a zombie counts) does.
    found: dict[int, ProcessIdentity] = {}
    in_group: list[ProcessIdentity] = []
    group_is_ours = same_boot and (seen := identify(worker.pid)) is not None and seen == worker
    for line in all_processes():
        if line.pid == os.getpid():
            continue
        identity = ProcessIdentity(line.pid, line.start_time, boot_id())
        marked = environment_of(line.pid).get(RUN_VARIABLE) == str(run.path)
        if line.group == worker.pid:
            group_is_ours = group_is_ours or (same_boot and marked)
            in_group.append(identity)
        if identity == worker or marked or line.pid in known:
            found[line.pid] = identity
    if group_is_ours:
        found.update({one.pid: one for one in in_group})
    return [one for one in found.values() if one.is_alive()]


def find_worker(run: RunFolder) -> ProcessIdentity | None:
    """The worker of a run that no record names: the oldest process that carries the run's mark."""
    marked = [
        line
        for line in all_processes()
        if line.pid != os.getpid() and environment_of(line.pid).get(RUN_VARIABLE) == str(run.path)
    ]
    oldest = min(marked, key=lambda line: (line.start_time, line.pid), default=None)
    return ProcessIdentity(oldest.pid, oldest.start_time, boot_id()) if oldest else None


def send(processes: Iterable[ProcessIdentity], number: signal.Signals) -> None:
    """Send a signal to exactly these processes.

    A pidfd is opened first and the identity is looked at again after: from then on the number cannot
    come to mean another process.
    """
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            handle = os.pidfd_open(process.pid)
            try:
                if process.is_alive():
                    signal.pidfd_send_signal(handle, number)
            finally:
                os.close(handle)


def kill_all(run: RunFolder, worker: ProcessIdentity, extra: Iterable[int] = ()) -> int:
    """Kill everything of a run, again until nothing is left; how many were killed."""
    killed: set[int] = set()
    for _ in range(_KILL_ROUNDS):
        living = members_of(run, worker, extra)
        if not living:
            break
        killed.update(one.pid for one in living)
        send(living, signal.SIGKILL)
        time.sleep(_ROUND_SECONDS)
    return len(killed)
