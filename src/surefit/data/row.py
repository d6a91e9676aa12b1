"""A row on its way from a line of a file to token ids, and the places where it came from."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from surefit.tokens import EncodedRow, Rendered

Side = Literal["train", "eval"]


@dataclass(frozen=True, slots=True)
class Broken:
    """A line that could not be read: why, and the byte of the line where reading stopped."""

    reason: str
    at_byte: int


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of rows, as found on the disk."""

    name: str
    """As messages show it: relative to the recipe's folder where it lies inside."""
    path: Path
    side: Side
    size_bytes: int
    problem: str | None = None
    """Why it cannot be read, or None."""


@dataclass(slots=True)
class Row:
    """One row. Later stages fill in what they find; a stage that fails leaves the rest at None."""

    file: DataFile
    line: int
    """Counted from 1; blank lines count."""
    raw: bytes
    value: Any
    """The parsed JSON value, or `Broken`."""
    messages: list[dict[str, Any]] = field(default_factory=list)
    rendered: Rendered = field(default_factory=lambda: Rendered("", []))
    refusal: str | None = None
    """Why the chat template does not take the row."""
    encoded: EncodedRow = field(default_factory=lambda: EncodedRow([], b""))
    """Token ids before the cut at `max_length`."""

    @property
    def place(self) -> str:
        """``file:line``, as every message names a row."""
        return f"{self.file.name}:{self.line}"

    @property
    def side(self) -> Side:
        """Whether the row was read to train on or to evaluate on."""
        return self.file.side
