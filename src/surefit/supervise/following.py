"""Follow a run: events and views as they come, until it has ended."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from surefit.runs import AnyEvent, RunFolder
from surefit.supervise.observing import Observer
from surefit.supervise.view import RunView

_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Moment:
    """What was added since the last moment, and the run now."""

    events: tuple[tuple[int, AnyEvent], ...]
    view: RunView


def follow(run: RunFolder, *, poll_seconds: float = _POLL_SECONDS) -> Iterator[Moment]:
    """Yield a moment at least every `poll_seconds`; the last one holds the end.

    Closing the generator ends the watching, never the run.
    """
    observer = Observer(run)
    while True:
        heard: list[tuple[int, AnyEvent]] = []
        observer.heard = heard
        view = observer.look()
        yield Moment(tuple(heard), view)
        if view.state.is_final:
            return
        time.sleep(poll_seconds)


def wait_for_end(run: RunFolder, seconds: float | None = None) -> RunView:
    """The run when it has ended, or as it is after `seconds`."""
    end = None if seconds is None else time.monotonic() + seconds
    for moment in follow(run):
        if moment.view.state.is_final or (end is not None and time.monotonic() >= end):
            return moment.view
    raise AssertionError("following ends with an ended run")
