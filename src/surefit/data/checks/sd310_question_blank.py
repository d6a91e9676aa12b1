"""SD310: a question is empty."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row


class QuestionBlank(Check):
    """A question is empty.

    ## What it does
    Looks for user turns without a word.

    ## Why it is bad
    The model learns to answer nothing with something, mostly because a column was lost.

    ## Example
    `{"role": "user", "content": " "}`

    ## What to do
    Fill in the question or delete the row.
    """

    code = "SD310"
    title = "blank question"
    severity = "warn"
    stages = frozenset({Stage.TURNS})
    only_unusual = True
    message = "{rows} with an empty question ({where}); in the first, {value}"
    why = "the answer would be learned without its question"
    next_step = "fill in or delete {where}"

    def of_row(self, row: Row) -> Hit | None:
        for index, turn in enumerate(row.messages):
            content = turn.get("content")
            if turn.get("role") == "user" and isinstance(content, str) and not content.strip():
                return Hit(row.turn_name(index))
        return None
