"""What a check is. One check is one file; its docstring is its page in the reference."""

from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, NamedTuple

from surefit.data.report import Severity
from surefit.data.row import DataFile, Row
from surefit.recipe.schema import DataSpec
from surefit.tokens import ChatTokenizer
from surefit.units import count_text, plural

PLACES_LISTED = 20


class Stage(Enum):
    """When a check looks. A row that one stage finds unusable does not reach the next."""

    FILE = "whole files, before they are read"
    LINE = "a line as it was read: `row.raw`, and `row.value` may be Broken"
    COLUMNS = "a JSON object: `row.value` is a dict"
    TURNS = "a conversation: `row.messages` is a list that is not empty"
    RENDERED = "the row as text: `row.rendered`, or `row.refusal`"
    TOKENS = "the row as tokens: `row.encoded`, before the cut"
    SET = "all rows together, at the end"


@dataclass(frozen=True)
class Terms:
    """What the data is wanted for."""

    spec: DataSpec
    max_length: int | None
    batch: int
    tokenizer: ChatTokenizer | None


@dataclass
class Totals:
    """Rows counted over the whole set."""

    rows: int = 0
    """Rows of the training data, read or not readable."""
    usable: int = 0
    train_rows: int = 0
    """Usable rows that are trained: without those held back."""
    eval_rows: int = 0
    longest: int = 0
    """Length of the longest row before the cut, in tokens."""


@dataclass(frozen=True, slots=True)
class Hit:
    """What a check found in one place.

    `value` is the user's own value, shortened; `fix` what would be right there, where known.
    """

    value: str = ""
    fix: str = ""
    count: int = 1


class Words(NamedTuple):
    """A finding in words: what, why, and what to type, click or change next."""

    message: str
    why: str
    next: str


@dataclass
class Tally:
    """The hits of one check: the first of them whole, of the others the number and some places."""

    first: Hit
    first_place: str
    totals: Totals
    count: int = 0
    places: list[str] = field(default_factory=list)

    def add_place(self, place: str) -> None:
        """Remember a place, while the list is short."""
        if len(self.places) < PLACES_LISTED:
            self.places.append(place)

    def rows_text(self) -> str:
        """``1 row``, ``2 rows``."""
        return plural(self.count, "row")

    def where_text(self) -> str:
        """The first places: ``train.jsonl:3``, ``train.jsonl:3, :9 and 12 more``."""
        shown = self.places[:5]
        file = shown[0].rpartition(":")[0]
        rest = [
            place.removeprefix(file) if place.startswith(f"{file}:") else place
            for place in shown[1:]
        ]
        hidden = self.count - len(shown)
        more = f" and {count_text(hidden)} more" if hidden > 0 else ""
        return ", ".join([shown[0], *rest]) + more


class Check:
    """A rule about data.

    A subclass sets the class variables, says in `stages` when it looks, overrides the `of_`
    function of that stage and puts its finding into `words`. It is made anew for every data set, so
    that it may keep what it has seen.
    """

    code: ClassVar[str]
    """``SD`` and three digits. The first: 1 files and lines, 2 columns, 3 turns, 4 tokens, 5 the
    set, 6 contents."""
    title: ClassVar[str]
    severity: ClassVar[Severity]
    stages: ClassVar[frozenset[Stage]]
    drops_row: ClassVar[bool] = False
    """Whether a row that it hits cannot be trained."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms

    def looks_at(self, stage: Stage) -> bool:
        """Whether the check wants to be called at this stage."""
        return stage in self.stages

    def of_file(self, file: DataFile) -> Hit | None:  # noqa: ARG002 - overridden
        """What is wrong with a file, or None."""
        return None

    def of_row(self, row: Row) -> Hit | None:  # noqa: ARG002 - overridden
        """What is wrong with a row, or None."""
        return None

    def of_set(self, totals: Totals) -> Hit | None:  # noqa: ARG002 - overridden
        """What is wrong with the whole set, or None."""
        return None

    def words(self, tally: Tally) -> Words:
        """The finding in words."""
        raise NotImplementedError
