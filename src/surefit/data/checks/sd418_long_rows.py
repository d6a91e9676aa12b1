"""SD418: rows over the longest length, left out or split as the recipe says."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Terms, Words
from surefit.data.row import Row
from surefit.units import count_text

_TOO_LONG = "choose a model that reads longer rows"


class LongRows(Check):
    """Rows over `goal.max_length` are left out or split, as `data.long_rows` says.

    ## What it does
    Counts and lists the rows, and the tokens that they have.

    ## Why it is bad
    It need not be bad: it was asked for. But what is left out is not learned, and what is split does
    not see what stood before.

    ## Example
    A row of 3,000 tokens with `goal.max_length: 2048` and `long_rows: drop`.

    ## What to do
    Nothing, or raise `goal.max_length`.
    """

    code = "SD418"
    title = "long rows left out or split"
    severity = "info"
    stages = frozenset({Stage.LENGTH})

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._tokens = 0

    def of_row(self, row: Row) -> Hit | None:
        """Every row that is longer."""
        length = len(row.encoded.ids)
        self._tokens += length
        return Hit(count_text(length))

    def words(self, tally: Tally) -> Words:
        """The finding in words, by what is done."""
        limit, split = self.terms.max_length, self.terms.spec.long_rows == "split"
        done = f"split into {count_text(tally.totals.parts)}" if split else "left out"
        return Words(
            f"{tally.rows_text()} of {tally.totals.rows} longer than max_length {limit} {done} "
            f"({tally.where_text()}): {count_text(self._tokens)} tokens; the first has "
            f"{tally.first.value}",
            "data.long_rows says so"
            + ("; a part does not see what stood before it" if split else "; they are not learned"),
            f"nothing, or {self.terms.longer(tally.totals.longest) or _TOO_LONG} to keep all of "
            "them whole",
        )
