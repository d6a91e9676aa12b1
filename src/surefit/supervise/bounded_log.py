"""A log file of bounded size that always keeps its first and its last part."""

import os
from pathlib import Path

from surefit.home import disk_error, open_atomically
from surefit.runs.tail import GAP_LINE, find_gap

HEAD_BYTES = 2**20
TAIL_BYTES = 4 * 2**20


class BoundedLog:
    """Appends to a file; when it grows past its bounds, the middle is left out and a line says so.

    Size on disk: at most `head + 2 x tail` bytes and one line. Every byte is written at most twice.
    """

    def __init__(self, path: Path, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        self._path, self._head, self._tail = path, head, tail
        self._gap_at: int | None = None
        self._gap_length = 0
        self._skipped = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = self._open()
            self._size = os.fstat(self._handle).st_size
        except OSError as error:
            raise disk_error(f"cannot write {path}", error, path) from error
        self._find_gap()

    def write(self, content: bytes) -> None:
        """Add bytes.

        Raises:
            OutsideError: the disk is full; what was written before is still there.
        """
        try:
            view = memoryview(content)
            while view:
                written = os.write(self._handle, view)
                self._size += written
                view = view[written:]
        except OSError as error:
            raise disk_error(f"cannot write {self._path}", error, self._path) from error
        if self._size > self._head + 2 * self._tail:
            self._leave_middle_out()

    def close(self) -> None:
        """Flush to the disk and close."""
        os.fsync(self._handle)
        os.close(self._handle)

    def _open(self) -> int:
        return os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def _find_gap(self) -> None:
        """A log that an earlier supervisor has shortened goes on with its count."""
        gap = find_gap(os.pread(self._handle, self._head + 4096, 0))
        if gap is not None:
            self._gap_at, self._gap_length, self._skipped = gap

    def _leave_middle_out(self) -> None:
        head_end = self._gap_at if self._gap_at is not None else self._line_end_before(self._head)
        tail_start = self._line_start_after(self._size - self._tail)
        self._skipped += tail_start - head_end - self._gap_length
        gap = GAP_LINE.format(skipped=self._skipped).encode()
        with open_atomically(self._path) as new:
            new.write(os.pread(self._handle, head_end, 0))
            new.write(gap)
            new.write(os.pread(self._handle, self._size - tail_start, tail_start))
        os.close(self._handle)
        self._handle = self._open()
        self._gap_at, self._gap_length = head_end, len(gap)
        self._size = os.fstat(self._handle).st_size

    def _line_end_before(self, offset: int) -> int:
        window = os.pread(self._handle, min(offset, 4096), max(0, offset - 4096))
        cut = window.rfind(b"\n")
        return offset if cut < 0 else offset - len(window) + cut

    def _line_start_after(self, offset: int) -> int:
        cut = os.pread(self._handle, 4096, offset).find(b"\n")
        return offset if cut < 0 else offset + cut + 1
