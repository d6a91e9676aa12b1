"""SD410: the end of an answer is not trained."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row


class EndNotTrained(Check):
    """The end of an answer is not trained.

    ## What it does
    Looks for an end-of-turn token among the trained tokens at the end of each row that fits.

    ## Why it is bad
    A model that never learns to end its turn talks on until it is stopped.

    ## Example
    A template whose `{% generation %}` block closes before the end token.

    ## What to do
    Correct the template, or choose another model.
    """

    code = "SD410"
    title = "end of turn not trained"
    severity = "warn"
    stages = frozenset({Stage.TOKENS})
    message = "{rows} in which no end-of-turn token (stop token) carries loss ({where})"
    why = "the model would not learn to stop"
    next_step = "check that the block of the answer in the chat template includes its end token"

    def of_row(self, row: Row) -> Hit | None:
        tokenizer, encoded = self.terms.tokenizer, row.encoded
        if tokenizer is None or row.text is not None or not tokenizer.end_of_turn_ids:
            return None
        if len(encoded.ids) > (self.terms.max_length or len(encoded.ids)):
            return None  # the cut took it; that has a check of its own
        last = encoded.mask.rfind(1)
        trained_end = last >= 0 and encoded.ids[last] in tokenizer.end_of_turn_ids
        return None if trained_end or last < 0 else Hit()
