"""Pieces of text that the views are made of: bars, wrapped paragraphs, trends. Readable without colour."""

import textwrap
from collections.abc import Sequence
from itertools import pairwise

import click

_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_SPARKS = "▁▂▃▄▅▆▇█"
_ASCII_SPARKS = "_.-~=*#@"


def bar(share: float, width: int, *, unicode: bool) -> str:
    """A share as a bar of `width` columns; over 1 it is full and ends in a mark."""
    over = share > 1
    share = min(1.0, max(0.0, share))
    drawn = _fine_bar(share, width) if unicode else _plain_bar(share, width)
    return drawn[:-1] + ("▶" if unicode else ">") if over else drawn


def _fine_bar(share: float, width: int) -> str:
    """In eighths of a column; anything above nothing is seen."""
    eighths = max(round(share * width * 8), 1 if share > 0 else 0)
    full, rest = divmod(eighths, 8)
    return ("█" * full + _EIGHTHS[rest]).ljust(width, "·")


def _plain_bar(share: float, width: int) -> str:
    filled = max(round(share * width), 1 if share > 0 else 0)
    return "#" * filled + "." * (width - filled)


def sparkline(values: Sequence[float], width: int, *, unicode: bool) -> str:
    """The course of figures, oldest first, in at most `width` columns."""
    marks = _SPARKS if unicode else _ASCII_SPARKS
    points = _thinned(values, width)
    if not points:
        return ""
    low, high = min(points), max(points)
    span = (high - low) or 1.0
    return "".join(marks[round((value - low) / span * (len(marks) - 1))] for value in points)


def _thinned(values: Sequence[float], width: int) -> list[float]:
    """At most `width` values, each the mean of an equal stretch."""
    if len(values) <= width:
        return list(values)
    edges = [round(number * len(values) / width) for number in range(width + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]


def paragraph(text: str, indent: int, width: int, first: str = "") -> str:
    """Text wrapped to `width`, further lines indented; `first` stands before the first line."""
    return textwrap.fill(
        text,
        width,
        initial_indent=first if first.endswith(" ") else first.ljust(indent),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def heading(text: str) -> str:
    """A heading of a view."""
    return click.style(text, bold=True)


def dim(text: str) -> str:
    """Text of less weight."""
    return click.style(text, dim=True)


def mark(word: str, good: bool | None) -> str:
    """A verdict or state: bold, and green, red or yellow where there is colour."""
    colour = "yellow" if good is None else "green" if good else "red"
    return click.style(word, fg=colour, bold=True)
