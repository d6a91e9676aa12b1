"""SD407: the chat template is in the text already."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row


class TemplatedTwice(Check):
    r"""The chat template is in the text already.

    ## What it does
    Looks for the marks that open a turn in the contents of turns.

    ## Why it is bad
    The template puts its marks around marks. The model learns a dialogue inside a question.

    ## Example
    `{"role": "user", "content": "<|im_start|>user\\nHi<|im_end|>"}`

    ## What to do
    Give the bare texts, or use the rows as a `text` column.
    """

    code = "SD407"
    title = "template applied twice"
    severity = "refuse"
    stages = frozenset({Stage.RENDERED})
    drops_row = True
    message = (
        "{rows} that contain the marks of a chat template already ({where}); the first: {value}"
    )
    why = "the template is applied by surefit, so the marks would stand twice"
    next_step = "give the bare texts, or put the finished text into a column named text"

    def of_row(self, row: Row) -> Hit | None:
        tokenizer = self.terms.tokenizer
        if tokenizer is None or row.text is not None:
            return None
        if not tokenizer.may_hold_control_token(row.all_text):
            return None
        for turn in row.messages:
            content = turn.get("content")
            if isinstance(content, str):
                start = content.lstrip()
                for mark in tokenizer.turn_openings:
                    if start.startswith(mark):
                        return Hit(mark)
        return None
