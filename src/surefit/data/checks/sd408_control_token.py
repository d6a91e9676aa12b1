"""SD408: a text contains one of the model's control tokens."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row


class ControlToken(Check):
    """A text contains one of the model's control tokens.

    ## What it does
    Looks for the control tokens of the tokenizer in what is said.

    ## Why it is bad
    In the text it looks like a word; to the model it is the end of a turn, or the beginning of
    one.

    ## Example
    `"...and that is all.</s>"`

    ## What to do
    Remove it; the template adds what is needed.
    """

    code = "SD408"
    title = "control token in the text"
    severity = "warn"
    stages = frozenset({Stage.RENDERED})
    message = (
        "{rows} whose text contains a control token of the model ({where}); the first: {value}"
    )
    why = "the model takes it for a turn that ends or begins, in the middle of the text"
    next_step = "remove it from {where}; the template adds what is needed"

    def of_row(self, row: Row) -> Hit | None:
        tokenizer = self.terms.tokenizer
        if tokenizer is None or row.text is not None:
            return None
        found = tokenizer.control_token_in(row.all_text)
        return None if found is None else Hit(found)
