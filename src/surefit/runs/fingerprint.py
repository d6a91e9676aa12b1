"""Fingerprints of large files: enough to tell another model or other data, read in a moment.

A file of up to 8 MiB is hashed whole. Of a larger one: its size, the first and the last MiB, and 62
pieces of 64 KiB spread evenly in between. Weights that were trained on differ everywhere, so this
tells them apart; a few bytes changed by hand in the middle of a large file may pass.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from surefit.home import disk_error

_WHOLE_BYTES = 8 * 2**20
_END_BYTES = 2**20
_PIECES, _PIECE_BYTES = 62, 64 * 2**10


def fingerprint(files: Iterable[Path]) -> dict[str, str]:
    """File name to fingerprint (hex), for the files that are there.

    Raises:
        OutsideError: a file may not be read.
    """
    return {file.name: _fingerprint_of(file) for file in sorted(files) if file.is_file()}


def changed_files(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """The names whose fingerprint differs, or that are gone or new."""
    return sorted(name for name in {*before, *now} if before.get(name) != now.get(name))


def _fingerprint_of(file: Path) -> str:
    try:
        size = file.stat().st_size
        digest = hashlib.sha256(str(size).encode())
        with file.open("rb") as handle:
            for start, length in _parts(size):
                handle.seek(start)
                digest.update(handle.read(length))
    except OSError as error:
        raise disk_error(f"cannot read {file}", error, file) from error
    return digest.hexdigest()


def _parts(size: int) -> list[tuple[int, int]]:
    """(start, length) of what is read."""
    if size <= _WHOLE_BYTES:
        return [(0, size)]
    gap = (size - 2 * _END_BYTES - _PIECE_BYTES) // (_PIECES - 1)
    between = [(_END_BYTES + number * gap, _PIECE_BYTES) for number in range(_PIECES)]
    return [(0, _END_BYTES), *between, (size - _END_BYTES, _END_BYTES)]
