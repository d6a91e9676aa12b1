"""SD510: rows that repeat earlier rows."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Terms, Words
from surefit.data.row import Row


class Duplicates(Check):
    """A row repeats an earlier one.

    ## What it does
    Compares the conversations of all rows, word for word, by a 64-bit hash.

    ## Why it is bad
    A repeated row weighs more than the others, mostly unintended, and is learned by heart first.

    ## Example
    An export that was appended to itself.

    ## What to do
    Remove the copies, or leave them if the weight is meant.
    """

    code = "SD510"
    title = "duplicates"
    severity = "warn"
    stages = frozenset({Stage.TURNS})

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._seen: set[int] = set()

    def of_row(self, row: Row) -> Hit | None:
        if row.side == "eval":
            return None
        mark = row.fingerprint
        if mark in self._seen:
            return Hit()
        self._seen.add(mark)
        return None

    def words(self, tally: Tally) -> Words:
        return Words(
            f"{tally.count} of {tally.totals.rows} rows are exact copies of earlier rows "
            f"({tally.where_text()})",
            "a repeated row weighs more than the others and is learned by heart first",
            "remove the copies, or go on if the weight is meant",
        )
