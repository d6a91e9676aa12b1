"""Markdown from names, rows and docstrings."""

import inspect
import re
from collections.abc import Iterable, Iterator


def words(names: Iterable[str]) -> str:
    """Names in code marks, with commas between them."""
    return ", ".join(f"`{name}`" for name in names)


def docstring(kind: type) -> str:
    """The docstring of a class, its headings one level deeper than those of a page."""
    text = inspect.cleandoc(kind.__doc__ or "")
    return re.sub(r"^(#+ )", r"#\1", text, flags=re.MULTILINE)


def anchor(*words: str) -> str:
    """The anchor that GitHub gives to a heading of these words."""
    return re.sub(r"[^\w\- ]", "", " ".join(words).lower()).replace(" ", "-")


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; empty where there are no rows."""
    body = [_row(row) for row in rows]
    titles = tuple(heads)
    return "\n".join([_row(titles), _row("---" for _ in titles), *body, ""]) if body else ""


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(_cells(cells))} |"


def _cells(cells: Iterable[str]) -> Iterator[str]:
    return (re.sub(r"\s+", " ", cell).replace("|", r"\|") for cell in cells)
