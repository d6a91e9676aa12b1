"""Follow a run until it ends, on a screen, as lines or as JSON. Ctrl-C asks the run to stop."""

import codecs
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from surefit.cli.lines import JsonLines, Lines
from surefit.runs import AnyEvent, RunFolder
from surefit.runs.tail import LogTail

if TYPE_CHECKING:
    from surefit.supervise import RunView

_TERMINAL_CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_POLL_SECONDS = 0.1
_DRAW_SECONDS = 0.25


class LogLines:
    """The whole lines of a run's log, as they come; at first only the last `last` of them."""

    def __init__(self, run: RunFolder, last: int | None = None) -> None:
        self._tail, self._last = LogTail(run.log), last
        self._rest = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def poll(self) -> list[str]:
        """The lines added since the last call."""
        *lines, self._rest = (self._rest + self._decoder.decode(self._tail.poll())).split("\n")
        if self._last is not None:
            lines, self._last = lines[len(lines) - min(self._last, len(lines)) :], None
        return [printable(line) for line in lines]

    def rest(self) -> list[str]:
        """A last line that has no end."""
        return [printable(self._rest)] if self._rest else []


def printable(line: str) -> str:
    """A line of a log without the codes that could move or recolour a terminal."""
    plain = _TERMINAL_CODES.sub(
        "", line.rsplit("\r", 1)[-1] if not line.endswith("\r") else line[:-1]
    )
    return "".join(one if one == "\t" or one.isprintable() else "?" for one in plain)


class Face(Protocol):
    """Where a run is shown."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None: ...

    def see(self, event: AnyEvent) -> None:
        """Take in one event."""

    def log(self, line: str) -> None:
        """Take in a line that the run's program printed."""

    def say(self, text: str) -> None:
        """Words that stay."""

    def hint(self, text: str) -> None:
        """What can be done now."""

    def draw(self) -> None:
        """Show the state of now."""


def face_for(
    run: RunFolder,
    *,
    as_json: bool,
    planned_bytes: int | None,
    hint: str = "Ctrl-C stops the run; closing this terminal does not",
) -> Face:
    """The face that fits where the output goes: JSON lines, a screen on a terminal, else lines."""
    if as_json:
        return JsonLines()
    if is_screen():
        from surefit.cli.screen import Screen

        return Screen(run.id, planned_bytes, hint)
    return Lines(run.id)


def is_screen() -> bool:
    """Whether stderr is a terminal that can draw in place."""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def attend(
    run: RunFolder,
    face: Face,
    pressed: list[int],
    on_interrupt: Callable[[int], str | None],
    log: LogLines | None = None,
) -> "RunView":
    """Show a run until it has ended, and return how it stands then.

    Args:
        run: the run.
        face: where it is shown.
        pressed: grows at every Ctrl-C, see `interrupts`.
        on_interrupt: called with 1, 2, ... at each Ctrl-C; returns what to tell the person, or None
            to leave.
        log: what the run's program prints, to be shown too.
    """
    from surefit.supervise import follow

    drawn, heard = 0.0, 0
    with face:
        for moment in follow(run, poll_seconds=_POLL_SECONDS):
            for line in log.poll() if log else ():
                face.log(line)
            for _, event in moment.events:
                face.see(event)
            if moment.view.state.is_final:
                return moment.view
            if heard < len(pressed):
                heard += 1
                words = on_interrupt(heard)
                if words is None:
                    return moment.view
                face.hint(words)
            now = time.monotonic()
            if now - drawn >= _DRAW_SECONDS:
                face.draw()
                drawn = now
    raise AssertionError("following ends with an ended run")


@contextmanager
def interrupts() -> Iterator[list[int]]:
    """A list that grows by one at every Ctrl-C, instead of an exception in the middle of drawing."""
    pressed: list[int] = []

    def heard(number: int, _frame: FrameType | None) -> None:
        pressed.append(number)

    before = signal.signal(signal.SIGINT, heard)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
