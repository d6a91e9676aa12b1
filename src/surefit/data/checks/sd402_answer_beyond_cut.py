"""SD402: after the cut nothing of the answer is left."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.row import Row

_TOO_LONG = "choose a model that reads longer rows"


class AnswerBeyondCut(Check):
    """No token of a row carries loss.

    ## What it does
    Counts the trained tokens of each row within `max_length`.

    ## Why it is bad
    The prompt fills the whole length, so that the row costs its full time and teaches nothing. If
    all rows of a batch are like that, the loss is 0 / 0.

    ## Example
    A document of 3,000 tokens, a question and an answer, with `goal.max_length: 2048`.

    ## What to do
    Raise `goal.max_length`, shorten the prompts, or delete the rows.
    """

    code = "SD402"
    title = "nothing left to train"
    severity = "refuse"
    stages = frozenset({Stage.TOKENS})
    drops_row = True

    def of_row(self, row: Row) -> Hit | None:
        mask = row.encoded.mask
        if 1 in mask[: self.terms.max_length]:
            return None
        first = mask.find(1)
        if first < 0:
            return Hit(f"{len(mask)} tokens, none of them of an answer")
        return Hit(f"{len(mask)} tokens, the answer begins at token {first + 1}")

    def words(self, tally: Tally) -> Words:
        limit = self.terms.max_length
        return Words(
            f"{tally.rows_text()} of {tally.totals.rows} fully masked at max_length {limit} "
            f"({tally.where_text()}); the first has {tally.first.value}",
            "the prompt fills the whole length and the answer is cut off, so the row teaches nothing",
            f"{self.terms.longer(tally.totals.longest) or _TOO_LONG} (the longest row has "
            f"{tally.totals.longest}), set data.long_rows: drop, or leave out {tally.where_text()}",
        )
