"""Whether a worker that lives still gets anywhere. Judged by what moved, never by what it uses:
a rank that waits for another one spins at full load.

In a step: only the worker's own word that a step, a row or a phase was done counts. While it loads,
prepares or writes, bytes that its processes read and wrote count too: a download that moves is no hang.
"""

import contextlib
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from surefit.diagnose.signatures.hang import silence_limit
from surefit.runs import Heartbeat, RunFolder

BUSY_BYTES = 2**20  # less than this in a look is a heartbeat and its kind
_BYTES_COUNT = frozenset(
    {
        "download",
        "import",
        "load_tokenizer",
        "load_model",
        "prepare_data",
        "save",
        "merge",
        "push",
        "verify",
    }
)
_STILL_WAITING_SECONDS = 30.0
_STEPS_OF_PATIENCE = 10
_FULL_DISK_BYTES = 64 * 2**10
_WORTH_A_LOOK_SECONDS = 2.0  # to look at every process costs more than to read a heartbeat


@dataclass(frozen=True)
class Hang:
    """Silence beyond its limit. `rank` is the one that is furthest behind; None: no rank ever spoke."""

    rank: int | None
    phase: str
    step: int
    silent_seconds: float
    limit_seconds: float
    ranks: int


@dataclass
class HangWatch:
    """Looks at the heartbeats of one worker now and then.

    Args:
        run: the run.
        limit_seconds: the silence that is allowed, in every phase; None: by phase.
        began: when the worker was started, seconds since 1970.
        step_seconds: how long the plan expects one step to take at most.
    """

    run: RunFolder
    limit_seconds: float | None
    began: float
    step_seconds: float = 0.0
    _bytes: int = 0
    _bytes_moved: float = field(default=0.0)

    def look(self, processes: Callable[[], Iterable[int]], now: float | None = None) -> Hang | None:
        """The hang, if it is one now.

        Args:
            processes: gives the ids of the worker's processes, where their traffic counts.
            now: seconds since 1970; for tests.
        """
        now = time.time() if now is None else now
        beats = self._beats()
        if any(beat.waiting and now - beat.time < _STILL_WAITING_SECONDS for beat in beats):
            return None  # it says what it waits for, and that it does
        if shutil.disk_usage(self.run.path).free < _FULL_DISK_BYTES:
            return None  # it cannot even say so
        last = max((beat.moved or beat.time for beat in beats), default=self.began)
        behind = min(beats, key=lambda beat: (beat.step, beat.moved or beat.time), default=None)
        phase = behind.phase if behind else "import"
        if phase in _BYTES_COUNT and now - last > _WORTH_A_LOOK_SECONDS:
            self._see_bytes(processes(), now)
            last = max(last, self._bytes_moved)
        usual = max(silence_limit(phase), _STEPS_OF_PATIENCE * self.step_seconds)
        limit = self.limit_seconds or usual
        silent = now - max(last, self.began)
        if silent < limit:
            return None
        step = behind.step if behind else 0
        rank = behind.rank if behind else None
        return Hang(rank, phase, step, silent, limit, len(beats))

    def _beats(self) -> list[Heartbeat]:
        files = sorted((self.run.path / "heartbeats").glob("rank*.json"))
        return [beat for file in files if (beat := self.run.read(file, Heartbeat)) is not None]

    def _see_bytes(self, processes: Iterable[int], now: float) -> None:
        total = sum(_traffic(pid) for pid in processes)
        if total - self._bytes >= BUSY_BYTES:
            self._bytes_moved = now
            self._bytes = total
        elif total < self._bytes:  # a process has ended, with its count
            self._bytes = total


def _traffic(pid: int) -> int:
    """Bytes that a process has read and written so far, files and network (proc(5), io)."""
    total = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(": ")
            if name in ("rchar", "wchar", "read_bytes"):
                total += int(value)
    return total
