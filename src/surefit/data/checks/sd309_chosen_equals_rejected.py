"""SD309: chosen and rejected are the same."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row


class ChosenEqualsRejected(Check):
    """Chosen and rejected are the same.

    ## What it does
    Compares the two answers of each pair.

    ## Why it is bad
    A pair of equal answers has nothing to prefer; its gradient is zero.

    ## Example
    `{"chosen": "Yes.", "rejected": "Yes."}`

    ## What to do
    Delete the rows.
    """

    code = "SD309"
    title = "equal answers"
    severity = "warn"
    stages = frozenset({Stage.TURNS})
    only_unusual = True
    message = "{rows} whose chosen and rejected answers are the same ({where})"
    why = "equal answers teach no preference"
    next_step = "delete {where}"

    def of_row(self, row: Row) -> Hit | None:
        return Hit() if row.rejected is not None and row.rejected == row.messages else None
