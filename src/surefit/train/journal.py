"""What the worker says while it works: events, and a heartbeat from a thread of its own."""

import contextlib
import threading
import time
from collections.abc import Iterator

from surefit.runs.event import Note, Phase, PhaseName
from surefit.runs.folder import AnyEvent, RunFolder
from surefit.runs.result import Heartbeat
from surefit.train.memory import Memory
from surefit.train.place import Place

_PROGRESS_SECONDS = 0.5


class Journal:
    """Appends events to the run and keeps its heart beating. One a rank; only the first tells events."""

    def __init__(
        self, run: RunFolder, heartbeat_seconds: float, place: Place | None = None
    ) -> None:
        self.run, self.memory, self.place = run, Memory(), place or Place()
        self.started = time.time()
        self.step = 0
        self.waiting: str | None = None  # what for, while the work waits and that is no hang
        self.phases: list[PhaseName] = ["import"]
        self.peaks: dict[str, int] = {}
        self._open_peaks: list[int] = []
        self._last_progress = 0.0
        self._moved = time.time()
        self._end = threading.Event()
        self._every = heartbeat_seconds
        self._pulse = threading.Thread(
            target=self._beat_until_the_end, name="heartbeat", daemon=True
        )

    def start(self) -> None:
        """Begin the heartbeat."""
        self._beat()
        self._pulse.start()

    def close(self) -> None:
        """Write a last heartbeat and stop."""
        self._end.set()
        if self._pulse.is_alive():
            self._pulse.join(timeout=5)

    def add(self, event: AnyEvent) -> None:
        """Append an event.

        Raises:
            OutsideError: the disk is full or may not be written.
        """
        self._moved = time.time()
        if self.place.is_first:
            self.run.append(event)

    def moved(self) -> None:
        """The work got a little further, without an event."""
        self._moved = time.time()

    def note(self, topic: str, text: str, **details: object) -> None:
        """Append a note."""
        self.add(Note(topic=topic, text=text, details=details))

    @contextlib.contextmanager
    def phase(self, name: PhaseName) -> Iterator[None]:
        """Mark a phase's beginning and its good end, with its length and peak memory."""
        self._spread_peak()
        self._open_peaks.append(0)
        self.phases.append(name)
        began = time.monotonic()
        self.add(Phase(name=name, status="started"))
        yield  # when this fails, the phase stays the last one: it is where the run ended
        self._spread_peak()
        peak = self._open_peaks.pop()
        self.peaks[name] = max(peak, self.peaks.get(name, 0))
        self.phases.pop()
        seconds = round(time.monotonic() - began, 3)
        self.add(Phase(name=name, status="ended", seconds=seconds, peak_bytes=peak))

    def progress(self, done: float, total: float, unit: str) -> None:
        """Say how far the phase is: at most twice a second, and always at its end."""
        now = self._moved = time.time()
        if done < total and now - self._last_progress < _PROGRESS_SECONDS:
            return
        self._last_progress = now
        self.add(Phase(name=self.phases[-1], status="progress", done=done, total=total, unit=unit))

    def _spread_peak(self) -> None:
        """Credit the peak since the last call to every open phase: outer ones hold the inner."""
        peak = self.memory.take_peak()
        self._open_peaks = [max(peak, known) for known in self._open_peaks]

    def _beat_until_the_end(self) -> None:
        while not self._end.wait(self._every):
            self._beat()
        self._beat()

    def _beat(self) -> None:
        """Replace the heartbeat file. Not flushed to the disk: only the living read it."""
        beat = Heartbeat(
            rank=self.place.rank,
            phase=self.phases[-1],
            step=self.step,
            time=time.time(),
            moved=self._moved,
            memory_bytes=self.memory.now_bytes(),
            waiting=self.waiting,
        )
        file = self.run.heartbeat(self.place.rank)
        temporary = file.with_name(f".{file.name}.tmp")
        # A full disk stops the run where something is lost by it, not here.
        with contextlib.suppress(OSError):
            file.parent.mkdir(exist_ok=True)
            temporary.write_text(beat.model_dump_json())
            temporary.replace(file)
