"""Where surefit keeps its files, and the one way it writes them.

Everything lives under one folder: `$SUREFIT_HOME`, else `~/.surefit`.

    runs/<id>/       one folder a run: the truth
    prepared/<key>/  tokens and masks, kept between runs; may be deleted
    hub/<repo>/      what was listed on the Hub, and headers of weights; may be deleted
    traces/          answers of the trace engine; may be deleted
    index.sqlite3    a list of the runs for quick answers; may be deleted
"""

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from surefit.errors import OutsideError, WorkerExit

DISK_FULL_ERRNOS = frozenset({28, 122})  # ENOSPC, EDQUOT


def home_folder() -> Path:
    """The folder that holds everything surefit writes unasked."""
    return Path(os.environ.get("SUREFIT_HOME") or Path.home() / ".surefit").expanduser().absolute()


def runs_folder() -> Path:
    """The folder of run folders."""
    return home_folder() / "runs"


def prepared_folder() -> Path:
    """The folder of prepared data sets."""
    return home_folder() / "prepared"


def hub_folder() -> Path:
    """The folder of what was listed on the Hub; the files themselves lie in the Hub's own cache."""
    return home_folder() / "hub"


def traces_folder() -> Path:
    """The folder of what the trace engine answered, by what it was asked."""
    return home_folder() / "traces"


def index_file() -> Path:
    """The disposable list of runs."""
    return home_folder() / "index.sqlite3"


def make_folder(path: Path) -> Path:
    """Create a folder and its parents.

    Raises:
        OutsideError: the place cannot be written.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(f"cannot create the folder {path}", error, path) from error
    return path


def free_bytes(folder: Path) -> int:
    """What may still be written where a folder lies, or will lie."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


@contextlib.contextmanager
def open_atomically(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only when it is whole.

    The bytes go to a temporary name beside it, are flushed to the disk and renamed. When anything
    fails, what stood under the name before is still there.

    Raises:
        OutsideError: the disk is full or the folder cannot be written.
    """
    temporary: Path | None = None
    try:
        make_folder(path.parent)
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}.", suffix=".tmp", delete=False
        ) as handle:
            temporary = Path(handle.name)
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(path)
        temporary = None
    except OSError as error:
        raise disk_error(f"cannot write {path}", error, path) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write a whole file or nothing. See `open_atomically`."""
    with open_atomically(path) as handle:
        handle.write(content.encode() if isinstance(content, str) else content)


class IrregularFileError(OSError):
    """A pipe, a socket or a device where a file is read: it may have no end, or never begin."""


_KINDS = (
    (stat.S_ISFIFO, "a pipe (FIFO)"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_OPEN_PIPES = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


def refuse_irregular(path: Path, *, open_pipes: bool = False) -> None:
    """Look before a file is opened: opening a pipe that nobody writes into never returns.

    Args:
        path: what will be opened.
        open_pipes: let pass what the shell has opened already, such as ``<(command)``.

    Raises:
        IrregularFileError: it is neither a file nor a folder.
        OSError: it may not be looked at.
    """
    mode = path.stat().st_mode
    if open_pipes and stat.S_ISFIFO(mode) and str(path).startswith(_OPEN_PIPES):
        return
    for is_kind, words in _KINDS:
        if is_kind(mode):
            raise IrregularFileError(errno.EINVAL, f"it is {words}, not a regular file", str(path))


def disk_error(what: str, error: OSError, path: Path) -> OutsideError:
    """Turn an OSError of the file system into words."""
    if error.errno in DISK_FULL_ERRNOS:
        return OutsideError(
            what,
            f"the disk is full ({error.strerror})",
            f"free some space under {path.parent}, or set SUREFIT_HOME to a folder on another disk",
            worker_exit=WorkerExit.DISK,
        )
    if isinstance(error, IrregularFileError):
        return OutsideError(
            what,
            error.strerror or str(error),
            f"name a regular file; what {path} gives can be written into one first",
        )
    return OutsideError(
        what,
        error.strerror or str(error),
        f"check the owner and the permissions of {path.parent}, or set SUREFIT_HOME to a folder you may write",
        worker_exit=WorkerExit.NO_PERMISSION,
    )
