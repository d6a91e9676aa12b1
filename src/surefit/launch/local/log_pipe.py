"""The pipe between a worker and whoever keeps its log. See docs/design/0002-log-pipe.md.

A named pipe in the run folder. The worker's end is open for reading too, so that it is never told
that nobody listens (SIGPIPE): a supervisor may die and another may take over.
"""

import contextlib
import fcntl
import os
from collections.abc import Sequence
from pathlib import Path

from surefit.home import disk_error
from surefit.runs import RunFolder

# Room for what a worker prints while no supervisor lives: more than the kernel's 64 KiB.
_WANTED_CAPACITY = 2**20
_READ_AT_ONCE = 2**20


def pipe_path(run: RunFolder) -> Path:
    """Where the pipe of a run stands."""
    return run.path / "log" / "worker.pipe"


def open_for_worker(run: RunFolder) -> int:
    """Make the pipe where there is none, and open the worker's end.

    Raises:
        OutsideError: the folder's file system cannot hold a pipe, or is full.
    """
    path = pipe_path(run)
    try:
        with contextlib.suppress(FileExistsError):
            os.mkfifo(path, 0o600)
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise disk_error(f"cannot make the log pipe {path}", error, path) from error


class LogPipe:
    """The keeper's end: reads without waiting, never sees an end."""

    def __init__(self, run: RunFolder) -> None:
        path = pipe_path(run)
        try:
            with contextlib.suppress(FileExistsError):
                os.mkfifo(path, 0o600)
            self._handle = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise disk_error(f"cannot open the log pipe {path}", error, path) from error
        with contextlib.suppress(OSError):  # the system's limit may be lower
            fcntl.fcntl(self._handle, fcntl.F_SETPIPE_SZ, _WANTED_CAPACITY)

    def read(self) -> bytes:
        """What waits in the pipe; empty where nothing does."""
        try:
            return os.read(self._handle, _READ_AT_ONCE)
        except BlockingIOError:
            return b""

    def descriptors(self) -> Sequence[int]:
        """The pipe's descriptor: readable when something waits."""
        return (self._handle,)

    def close(self) -> None:
        """Let the pipe go. What waits in it stays as long as a worker holds it."""
        os.close(self._handle)
