"""Where the processes of a hung worker stand: asked for with SIGUSR1, read from `log/stacks_rank*.txt`."""

import re
import time
from dataclasses import dataclass
from pathlib import Path

from surefit.runs import RunFolder

_WAIT_SECONDS = 2.0
_POLL_SECONDS = 0.05
_SHOWN_FRAMES = 4
_FILE = re.compile(r"stacks_rank(\d+)\.txt")
_FRAME = re.compile(r'\s*File "(?P<path>[^"]+)", line (?P<line>\d+) in (?P<function>.+)')


@dataclass(frozen=True)
class Frame:
    """A call in a stack: where it stands, and where the stacks file shows it."""

    shown_in: str
    shown_at: int
    text: str

    @property
    def call(self) -> str:
        """The call in words: ``sleep_for_ever (/home/me/x.py:12)``."""
        found = _FRAME.match(self.text)
        return f"{found['function']} ({found['path']}:{found['line']})" if found else self.text


def wait_for_stacks(run: RunFolder, before: dict[Path, int]) -> None:
    """Wait until every stacks file has grown and stands still, at most two seconds."""
    end, last = time.monotonic() + _WAIT_SECONDS, before
    while time.monotonic() < end:
        time.sleep(_POLL_SECONDS)
        now = stack_sizes(run)
        if now == last and all(now[file] > before.get(file, 0) for file in now):
            return
        last = now


def stack_sizes(run: RunFolder) -> dict[Path, int]:
    """The stacks files of a run with their sizes in bytes."""
    return {file: file.stat().st_size for file in run.log.parent.glob("stacks_rank*.txt")}


def main_stack(run: RunFolder, rank: int) -> list[Frame]:
    """The innermost calls of a rank's main thread, the innermost first; empty where none was told."""
    name = f"stacks_rank{rank}.txt"
    try:
        lines = (run.log.parent / name).read_text(errors="replace").splitlines()
    except OSError:
        return []
    starts = [number for number, line in enumerate(lines) if line.startswith("Current thread")]
    if not starts:  # another thread took the signal: the main thread is the last that is listed
        starts = [number for number, line in enumerate(lines) if line.startswith("Thread")]
    if not starts:
        return []
    first = starts[-1] + 1
    numbered = enumerate(lines[first : first + _SHOWN_FRAMES], start=first + 1)
    return [Frame(f"log/{name}", at, text) for at, text in numbered if _FRAME.match(text)]


def ranks_with_stacks(run: RunFolder) -> list[int]:
    """The ranks whose stacks were written."""
    found = [(_FILE.fullmatch(file.name), size) for file, size in stack_sizes(run).items()]
    return sorted(int(match[1]) for match, size in found if match and size)
