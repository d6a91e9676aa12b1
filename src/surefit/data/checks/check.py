"""What a check is. One check is one file; its docstring is its page in the reference."""

from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, NamedTuple

from surefit.data.report import Severity
from surefit.data.row import DataFile, Row
from surefit.recipe.data_spec import DataSpec
from surefit.tokens import ChatTokenizer
from surefit.units import count_text, plural

PLACES_LISTED = 20


class Stage(Enum):
    """When a check looks. A row that one stage finds unusable does not reach the next."""

    FILE = "whole files, before they are read and, with `file.notes`, afterwards"
    LINE = "a line as it was read: `row.raw`, and `row.value` may be Broken"
    COLUMNS = "an object: `row.value` is a dict, `row.format` and `row.problem` are known"
    TURNS = "a conversation: `row.messages` is a list that is not empty"
    TEXTS = "what is said: `row.answers` and `row.all_text`, of conversations and plain text alike"
    RENDERED = "the row as text: `row.rendered`, or `row.refusal`"
    LENGTH = "a row longer than allowed that is left out or split: `row.encoded`, whole"
    TOKENS = "the row as tokens: `row.encoded`, before the cut"
    SIDED = "a usable row, `row.held_back` known; only where a share is held back"
    SET = "all rows together, at the end"


@dataclass(frozen=True)
class Terms:
    """What the data is wanted for."""

    spec: DataSpec
    max_length: int | None
    batch: int
    tokenizer: ChatTokenizer | None
    packing: bool = False
    for_training: bool = False
    """Whether the rows shall be trained, and are not only looked at."""
    model_limit: int | None = None
    """The longest row that the model can read, in tokens, where it is known."""

    def longer(self, wanted: int) -> str | None:
        """What to set so that rows of `wanted` tokens are kept whole; None where no length does."""
        if self.model_limit is not None and wanted > self.model_limit:
            return None
        return f"set goal.max_length: {wanted}"


@dataclass
class Totals:
    """Rows counted over the whole set."""

    rows: int = 0
    """Rows of the training data, read or not readable."""
    usable: int = 0
    train_rows: int = 0
    """Usable rows that are trained: without those held back."""
    eval_unreadable: bool = False
    """Whether a file to evaluate on could not be read, which is told by itself."""
    eval_rows: int = 0
    unusable: int = 0
    """Rows that cannot be used, to train or to evaluate on."""
    longest: int = 0
    """Length of the longest row before the cut, in tokens."""
    shortest: int = 0
    unreadable_files: int = 0
    """Files with a problem, which has a finding of its own."""
    format: str = "unknown"
    guessed_columns: dict[str, str] = field(default_factory=dict)
    """Columns read under another name than their own: name in the file, name needed."""
    parts: int = 0
    """Rows that long ones were split into."""
    sequences: int = 0
    """Packed sequences of the rows to train; 0 where they are not packed."""


@dataclass(frozen=True, slots=True)
class Hit:
    """What a check found in one place.

    `value` is the user's own value, shortened; `fix` what would be right there, where known.
    """

    value: str = ""
    fix: str = ""
    count: int = 1
    place: str = ""
    """Where, if not in the row that is looked at."""


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
    terms: Terms
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
        if not shown:
            return "the whole set"
        file = shown[0].rpartition(":")[0]
        rest = [
            place.removeprefix(file) if place.startswith(f"{file}:") else place
            for place in shown[1:]
        ]
        hidden = self.count - len(shown)
        more = f" and {count_text(hidden)} more" if hidden > 0 else ""
        return ", ".join([shown[0], *rest]) + more

    def facts(self) -> dict[str, object]:
        """The values that a check's `message`, `why` and `next_step` may name in braces."""
        return {
            "rows": self.rows_text(),
            "where": self.where_text(),
            "place": self.first_place,
            "value": self.first.value,
            "fix": self.first.fix,
            "count": count_text(self.count),
            "total": count_text(self.totals.rows),
            "usable": count_text(self.totals.usable),
            "eval_rows": count_text(self.totals.eval_rows),
            "longest": self.totals.longest,
            "max_length": self.terms.max_length,
            "batch": self.terms.batch,
            "format": self.totals.format,
        }


class Check:
    """A rule about data.

    A subclass sets the class variables, says in `stages` when it looks and overrides the `of_`
    function of that stage. Its finding is told by `message`, `why` and `next_step`, which name values
    in braces (see `Tally.facts`); where that is not enough, it overrides `words`. It is made anew for
    every data set, so that it may keep what it has seen.
    """

    code: ClassVar[str]
    """``SD`` and three digits. The first: 1 files and lines, 2 columns, 3 turns, 4 tokens, 5 the
    set, 6 contents."""
    title: ClassVar[str]
    severity: ClassVar[Severity]
    stages: ClassVar[frozenset[Stage]]
    drops_row: ClassVar[bool] = False
    """Whether a row that it hits cannot be trained."""
    only_unusual: ClassVar[bool] = False
    """Whether it can hit only rows that are not `Row.plain`; it is not asked about the others."""
    message: ClassVar[str] = ""
    why: ClassVar[str] = ""
    next_step: ClassVar[str] = ""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms

    def looks_at(self, stage: Stage) -> bool:
        """Whether the check wants to be called at this stage."""
        return stage in self.stages

    def of_file(self, file: DataFile) -> Hit | None:
        """What is wrong with a file, or None."""
        return None

    def of_row(self, row: Row) -> Hit | None:
        """What is wrong with a row, or None."""
        return None

    def of_set(self, totals: Totals) -> Hit | None:
        """What is wrong with the whole set, or None."""
        return None

    def words(self, tally: Tally) -> Words:
        """The finding in words."""
        facts = tally.facts()
        return Words(
            self.message.format_map(facts),
            self.why.format_map(facts),
            self.next_step.format_map(facts),
        )
