"""SD202: a column holds something else than its format needs."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row


class ColumnType(Check):
    """A column does not hold what its format needs.

    ## What it does
    Checks that `messages` is a list of objects, `text` is text and `label` a truth value. A list
    that was stored as text is parsed first.

    ## Why it is bad
    Turns that cannot be told apart cannot be put into the model's chat template.

    ## Example
    `{"messages": "user: hi"}` or `{"messages": ["hi", "hello"]}`

    ## What to do
    Write a list of `{"role": ..., "content": ...}`.
    """

    code = "SD202"
    title = "column of the wrong type"
    severity = "refuse"
    stages = frozenset({Stage.COLUMNS})
    only_unusual = True
    drops_row = True

    message = (
        "{rows} whose columns do not hold what {format} needs ({where}); in the first, {value}"
    )
    why = "turns that cannot be told apart cannot be put into the chat template"
    next_step = "correct {where}; the page of the format shows what each column holds"

    def of_row(self, row: Row) -> Hit | None:
        return Hit(row.problem) if row.problem else None
