"""SD403: an answer loses its end at the cut."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Terms, Words
from surefit.data.row import Row
from surefit.units import count_text

_TOO_LONG = "choose a model that reads longer rows"


class AnswerCut(Check):
    """An answer is cut at `max_length`.

    ## What it does
    Counts rows that lose trained tokens at the cut, and how many.

    ## Why it is bad
    The end of the answer and the token that ends it are lost, so that the model learns answers that
    break off and never stop.

    ## Example
    A row of 2,500 tokens with `goal.max_length: 2048`.

    ## What to do
    Raise `goal.max_length` to the length the message names, or accept the loss.
    """

    code = "SD403"
    title = "answers cut"
    severity = "warn"
    stages = frozenset({Stage.TOKENS})

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._lost = 0

    def looks_at(self, stage: Stage) -> bool:
        """Only where rows are cut."""
        return self.terms.max_length is not None and super().looks_at(stage)

    def of_row(self, row: Row) -> Hit | None:
        limit, mask = self.terms.max_length, row.encoded.mask
        if limit is None or len(mask) <= limit:
            return None
        lost = mask.count(1, limit)
        if not lost or 1 not in mask[:limit]:
            return None
        self._lost += lost
        return Hit(f"{count_text(lost)} of {count_text(mask.count(1))}")

    def words(self, tally: Tally) -> Words:
        return Words(
            f"{tally.rows_text()} of {tally.totals.rows} lose the end of an answer at max_length "
            f"{self.terms.max_length} ({tally.where_text()}): {count_text(self._lost)} answer tokens; "
            f"the first row loses {tally.first.value}",
            "the model learns answers that break off, and for these rows never sees their end",
            f"{self.terms.longer(tally.totals.longest) or _TOO_LONG} to keep all of them, or set "
            "data.long_rows: split or drop",
        )
