"""A full disk: the work waits where it stands until there is room, and says what it waits for."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from safetensors import SafetensorError

from surefit.errors import OutsideError, SurefitError, WorkerExit
from surefit.train.failures import in_words
from surefit.train.journal import Journal
from surefit.train.stop import StopRequested, StopSignal
from surefit.units import MIB, bytes_text

Written = TypeVar("Written")
_POLL_SECONDS = 0.5
_MORE_SHARE = 1.25  # what an estimate was too small by, at least


def when_there_is_room(
    needed: int, folder: Path, journal: Journal, stop: StopSignal, write: Callable[[], Written]
) -> Written:
    """Write something large; where the disk has no room for it, wait and try again.

    Args:
        needed: bytes that it will take, as far as known.
        folder: where it goes.
        journal: told once when the waiting begins, and once when it ends.
        stop: a stop ends the waiting.
        write: writes it whole, or raises and leaves nothing that counts.

    Raises:
        StopRequested: somebody asked to stop meanwhile.
    """
    waited = 0.0
    while True:
        waited += _wait(needed, folder, journal, stop)
        try:
            return write()
        except (OSError, RuntimeError, SafetensorError, SurefitError) as error:
            if in_words(error, journal.phases[-1], folder).worker_exit is not WorkerExit.DISK:
                raise
            needed = round(max(needed, free_bytes(folder)) * _MORE_SHARE) + MIB


def _wait(needed: int, folder: Path, journal: Journal, stop: StopSignal) -> float:
    """Wait until so much is free; the seconds that it took."""
    if free_bytes(folder) >= needed:
        return 0.0
    began = time.monotonic()
    journal.waiting = (
        f"room on the disk of {folder}: {bytes_text(needed)} needed, "
        f"{bytes_text(free_bytes(folder))} free"
    )
    try:
        _say(journal, f"the disk is full: waiting for {journal.waiting}; free some space")
        while free_bytes(folder) < needed:
            if stop.requested:
                raise StopRequested(stop.requested)
            time.sleep(_POLL_SECONDS)
    finally:
        journal.waiting = None
    seconds = time.monotonic() - began
    _say(journal, f"there is room again after {seconds:.0f} s: going on", seconds=round(seconds, 1))
    return seconds


def _say(journal: Journal, text: str, **details: object) -> None:
    """Tell it in the events where they still find room, and in the log in any case."""
    print(text, flush=True)  # noqa: T201 - the log pipe is another way than the disk
    try:
        journal.note("disk", text, **details)
    except OutsideError as error:
        if error.worker_exit is not WorkerExit.DISK:
            raise


def free_bytes(folder: Path) -> int:
    """What may still be written where a folder lies, or will lie."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free
