"""Follow a run until it ends, on a screen, as lines or as JSON. Ctrl-C asks the run to stop."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Protocol, Self

from surefit.cli.lines import JsonLines, Lines
from surefit.runs import AnyEvent, RunFolder, RunState
from surefit.runs.tail import EventTail

_POLL_SECONDS = 0.1
_DRAW_SECONDS = 0.25
_EVIDENCE_SECONDS = 1.0


class Face(Protocol):
    """Where a run is shown."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None: ...

    def see(self, event: AnyEvent) -> None:
        """Take in one event."""

    def say(self, text: str) -> None:
        """Words that stay."""

    def hint(self, text: str) -> None:
        """What can be done now."""

    def draw(self) -> None:
        """Show the state of now."""


def face_for(run: RunFolder, *, as_json: bool, planned_bytes: int | None) -> Face:
    """The face that fits where the output goes: JSON lines, a screen on a terminal, else lines."""
    if as_json:
        return JsonLines()
    if is_screen():
        from surefit.cli.screen import Screen

        return Screen(run.id, planned_bytes, "Ctrl-C stops the run; closing this terminal does not")
    return Lines(run.id)


def is_screen() -> bool:
    """Whether stderr is a terminal that can draw in place."""
    import os

    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def follow(
    run: RunFolder, face: Face, state_of: Callable[[], RunState], on_interrupt: Callable[[int], str]
) -> RunState:
    """Show a run until it has ended.

    Args:
        run: the run.
        face: where it is shown.
        state_of: the state from evidence; finds a run whose supervisor was lost.
        on_interrupt: called with 1, 2, ... at each Ctrl-C; returns what to tell the person.
    """
    tail, asked = EventTail(run.events), 0.0
    with _interrupts() as pressed, face:
        heard = drawn = 0
        state = RunState.CREATED
        while True:
            for _, event in tail.poll():
                face.see(event)
            if heard < len(pressed):
                heard += 1
                face.say(on_interrupt(heard))
            now = time.monotonic()
            if now - drawn >= _DRAW_SECONDS:
                face.draw()
                drawn = now
            if now - asked >= _EVIDENCE_SECONDS:
                state, asked = state_of(), now
            if state.is_final:
                for _, event in tail.poll():
                    face.see(event)
                return state
            time.sleep(_POLL_SECONDS)


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """A list that grows by one at every Ctrl-C, instead of an exception in the middle of drawing."""
    pressed: list[int] = []

    def heard(number: int, _frame: FrameType | None) -> None:
        pressed.append(number)

    before = signal.signal(signal.SIGINT, heard)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
