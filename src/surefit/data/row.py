"""A row on its way from a line of a file to token ids, and the places where it came from."""

import array
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from surefit.tokens import EncodedRow, Rendered

Side = Literal["train", "eval"]
BrokenKind = Literal["json", "cut", "utf8", "nul", "deep", "fields"]
FileProblem = Literal[
    "missing", "irregular", "no_data", "only_test", "outside_link", "utf16", "cut", "damaged"
]
Turn = dict[str, Any]
_ASSISTANT = frozenset({"assistant"})
_NOT_RENDERED, _NOT_ENCODED = Rendered("", []), EncodedRow([], b"")


@dataclass(frozen=True, slots=True)
class Broken:
    """A line that could not be read: what kind of damage, in words, and the byte where it is."""

    reason: str
    at_byte: int
    kind: BrokenKind = "json"


@dataclass
class DataFile:
    """A file of rows, as found on the disk."""

    name: str
    """As messages show it: relative to the recipe's folder where it lies inside."""
    path: Path
    side: Side
    size_bytes: int
    problem: FileProblem | None = None
    """Why it cannot be read, or cannot be read to its end."""
    detail: str = ""
    """The problem in words, with the values that show it."""
    without_rows: bool = False
    """Whether it was read to its end and not one row was found."""
    notes: dict[str, str] = field(default_factory=dict)
    """What the reader had to guess: ``separator``, ``array``, ``suffix``."""

    @property
    def readable(self) -> bool:
        """Whether rows can be read from it."""
        return self.problem is None


@dataclass(slots=True)
class Row:
    """One row. Later stages fill in what they find; a stage that fails leaves the rest empty."""

    file: DataFile
    line: int
    """Counted from 1 as an editor or a spreadsheet counts."""
    raw: bytes
    """The line; empty where the file has no lines."""
    value: Any
    """The parsed value, or `Broken`."""
    columnar: bool = False
    """From a table format that fills absent fields with null."""
    notes: dict[str, str] = field(default_factory=dict)
    """What the reader had to guess in this row."""
    format: str | None = None
    """The format recognised in this row, or None."""
    wanted_format: str = "messages"
    """The format of the data set."""
    problem: str = ""
    """Why the columns do not hold what their format needs, in words."""
    messages: list[Turn] = field(default_factory=list)
    rejected: list[Turn] | None = None
    """The other answer of a preference pair, with its prompt."""
    held_back: bool = False
    """Whether it is evaluated on, as part of a share of the training data; known at Stage.SIDED."""
    label: bool | None = None
    """Whether the answer of an unpaired preference is wanted."""
    text: str | None = None
    """A row of plain text."""
    tools: list[Any] | None = None
    plain: bool = False
    """Nothing unusual so far: an object that needed no guess, then columns of the wanted format,
    then turns with known roles and words, one of them an answer, and nothing else."""
    turn_names: list[str] = field(default_factory=list)
    """The columns the turns came from, where they are not turns in the file."""
    rendered: Rendered = _NOT_RENDERED
    refusal: str | None = None
    """Why the chat template does not take the row."""
    weights: "array.array[float] | None" = None
    """How much each token weighs in the loss, before the cut; None where the mask says it all."""
    encoded: EncodedRow = _NOT_ENCODED
    """Token ids before the cut at `max_length`."""

    # Kept by hand: cached_property takes a lock on each first use, for millions of rows.
    _fingerprint: int | None = None
    _answers: str | None = None
    _all_text: str | None = None

    @property
    def place(self) -> str:
        """``file:line``, as every message names a row."""
        return f"{self.file.name}:{self.line}"

    @property
    def side(self) -> Side:
        """Whether the row was read to train on or to evaluate on."""
        return self.file.side

    @property
    def shaped(self) -> bool:
        """Whether the columns gave turns or text of the wanted format, without a guess."""
        return (
            self.format == self.wanted_format
            and not self.problem
            and not self.notes
            and (bool(self.messages) or self.text is not None)
        )

    def turn_name(self, index: int) -> str:
        """What messages call a turn: ``turn 2``, or the column it came from."""
        return self.turn_names[index] if index < len(self.turn_names) else f"turn {index + 1}"

    def turns(self) -> Iterator[Turn]:
        """Every turn, the rejected answer included."""
        yield from self.messages
        yield from self.rejected or ()

    @property
    def fingerprint(self) -> int:
        """64 bits of a hash of what is said; other columns of the row do not matter."""
        if self._fingerprint is None:
            self._fingerprint = self._hashed()
        return self._fingerprint

    @property
    def answers(self) -> str:
        """All answers as one text; of a text row, the text."""
        if self._answers is None:
            self._answers = self._said_by(self.messages, _ASSISTANT)
        return self._answers

    @property
    def all_text(self) -> str:
        """Everything that is said in the row as one text."""
        if self._all_text is None:
            self._all_text = self._said_by([*self.messages, *(self.rejected or ())], None)
        return self._all_text

    def _said_by(self, turns: Iterable[Turn], roles: frozenset[str] | None) -> str:
        if self.text is not None:
            return self.text
        return "\n".join(
            [
                content
                for turn in turns
                if type(content := turn.get("content")) is str
                and (roles is None or turn.get("role") in roles)
            ]
        )

    def _hashed(self) -> int:
        content: object = self.text
        if self.text is None:
            content = [
                (turn.get("role"), turn.get("content"), turn.get("tool_calls"))
                for turn in [*self.messages, *(self.rejected or ())]
            ]
        digest = hashlib.blake2b(orjson.dumps(content), digest_size=8).digest()
        return int.from_bytes(digest, "little")
