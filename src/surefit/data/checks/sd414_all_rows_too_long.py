"""SD414: every row is longer than `max_length`."""

from surefit.data.checks.check import Check, Hit, Stage, Terms, Totals
from surefit.data.row import Row


class AllRowsTooLong(Check):
    """Every row is longer than `max_length`.

    ## What it does
    Counts the rows that are cut.

    ## Why it is bad
    If every row is cut, the length is wrong and not the data.

    ## Example
    `goal.max_length: 64` for rows of 200 tokens and more.

    ## What to do
    Raise `goal.max_length`.
    """

    code = "SD414"
    title = "all rows too long"
    severity = "refuse"
    stages = frozenset({Stage.TOKENS, Stage.SET})
    message = (
        "all {count} rows are longer than max_length {max_length}; the shortest has {value} tokens"
    )
    why = "every answer or question would be cut"
    next_step = (
        "raise goal.max_length to {longest}, the longest row, or to what most rows need; or set "
        "data.long_rows: split"
    )

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._rows = self._cut = self._shortest = 0

    def of_row(self, row: Row) -> Hit | None:
        length = len(row.encoded.ids)
        self._rows += 1
        self._cut += length > (self.terms.max_length or length)
        self._shortest = min(self._shortest or length, length)
        return None

    def of_set(self, totals: Totals) -> Hit | None:
        if self._rows < 2 or self._cut < self._rows:
            return None
        return Hit(str(self._shortest), count=self._cut)
