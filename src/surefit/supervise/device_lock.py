"""One run at a time on this machine's devices.

A lock on a file under the home folder. The worker inherits the descriptor, so the lock is held as long
as the worker lives, also when its supervisor has died.
"""

import fcntl
import os

from surefit.home import disk_error, home_folder, make_folder

_HOLDER_BYTES = 256


class DeviceLock:
    """The lock of this machine; the file holds the id of the run that has it."""

    def __init__(self) -> None:
        path = make_folder(home_folder()) / "device.lock"
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise disk_error(f"cannot open {path}", error, path) from error

    @property
    def descriptor(self) -> int:
        """To be kept open in the worker."""
        return self._handle

    def take(self, run_id: str) -> bool:
        """Take the lock if nobody has it."""
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, run_id.encode()[:_HOLDER_BYTES], 0)
        return True

    def holder(self) -> str:
        """The id of the run that took the lock last; empty where nobody ever did."""
        return os.pread(self._handle, _HOLDER_BYTES, 0).decode(errors="replace")

    def release(self) -> None:
        """Let go. The lock stays taken while a worker that inherited it lives."""
        os.close(self._handle)
