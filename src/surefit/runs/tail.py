"""Following files that another process appends to: events by byte offset, the log across its shortening."""

import re
from pathlib import Path

from pydantic import ValidationError

from surefit.home import disk_error
from surefit.runs.event import EVENT, Checkpoint, Metric, Note, Phase, Problem, Status

AnyEvent = Status | Phase | Metric | Checkpoint | Problem | Note

# Written by the supervisor where it left the middle of a long log out; fixed width, so that the
# place of the tail can be computed. See docs/design/0002-log-pipe.md.
GAP_LINE = (
    "\n[surefit: {skipped:015d} bytes were left out here, the beginning and the end are kept]\n"
)
_GAP = re.compile(rb"\n\[surefit: (\d{15}) bytes were left out here, [^\n]*\]\n")


class EventTail:
    """Reads the whole lines that were added to `events.jsonl` since the last call."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self.line = 0

    def poll(self) -> list[tuple[int, AnyEvent]]:
        """New (line number from 1, event) pairs, oldest first; empty where nothing was added.

        A last line without its end stays for the next call. A line that is no event is passed over,
        its number stays taken.

        Raises:
            OutsideError: the file may not be read.
        """
        found: list[tuple[int, AnyEvent]] = []
        for line in self._new_lines():
            self.line += 1
            try:
                found.append((self.line, EVENT.validate_json(line)))
            except ValidationError:
                continue
        return found

    def _new_lines(self) -> list[bytes]:
        content = _read_from(self._path, self._offset)
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        return whole.splitlines(keepends=False)


class LogTail:
    """Reads what was added to a run's log, also when its middle was left out meanwhile.

    The log is replaced by a shorter file with a gap line now and then (another inode); positions are
    counted as if nothing had ever been left out.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0
        self._inode = -1
        self._shift = 0  # what a position behind the gap loses on its way to a byte offset

    def poll(self) -> bytes:
        """The bytes added since the last call; the gap line stands for what was left out unread.

        Raises:
            OutsideError: the file may not be read.
        """
        notice = self._look_for_gap()
        added = _read_from(self._path, self._position - self._shift)
        self._position += len(added)
        return notice + added

    def _look_for_gap(self) -> bytes:
        """After the file was replaced: where the position lies now, and a notice if it lies in the gap."""
        try:
            inode = self._path.stat().st_ino
        except OSError:
            return b""
        if inode == self._inode:
            return b""
        self._inode = inode
        content = _read_from(self._path, 0)
        gap = find_gap(content)
        if gap is None:
            return b""
        start, length, skipped = gap
        self._shift = skipped - length
        if self._position >= start + skipped:
            return b""
        seen, self._position = self._position, start + skipped
        return content[min(seen, start) : start + length]


def find_gap(content: bytes) -> tuple[int, int, int] | None:
    """The gap line in a log: (byte offset, its length, bytes left out), or None."""
    found = _GAP.search(content)
    return None if found is None else (found.start(), len(found.group(0)), int(found.group(1)))


def _read_from(path: Path, offset: int, count: int = -1) -> bytes:
    """Bytes of a file from an offset; empty where the file is absent."""
    try:
        with path.open("rb") as handle:
            handle.seek(offset)
            return handle.read(count)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise disk_error(f"cannot read {path}", error, path) from error
