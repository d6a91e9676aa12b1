"""A counter on stderr for work that may take a while: silent when piped and when it is quick."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from surefit.units import count_text

_QUIET_SECONDS = 0.7
_EVERY_SECONDS = 0.1


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """Yield a function that is told (done, total) and shows it on one line, gone at the end."""
    begun = shown = time.monotonic()
    drawn = False

    def tell(done: int, total: int | None) -> None:
        nonlocal shown, drawn
        now = time.monotonic()
        if not sys.stderr.isatty() or now - begun < _QUIET_SECONDS or now - shown < _EVERY_SECONDS:
            return
        shown, drawn = now, True
        share = f" of about {count_text(total)}" if total else ""
        click.echo(f"\r{what}: {count_text(done)}{share} rows ", nl=False, err=True)

    try:
        yield tell
    finally:
        if drawn:
            click.echo("\r" + " " * 60 + "\r", nl=False, err=True)
