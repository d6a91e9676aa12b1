"""SD506: all answers are the same."""

from surefit.data.checks.check import Check, Hit, Stage, Terms, Totals
from surefit.data.row import Row
from surefit.units import shortened


class OneAnswer(Check):
    """All answers are the same.

    ## What it does
    Compares the answers of all rows until two differ.

    ## Why it is bad
    The model learns to say one thing, whatever is asked. Often the answer column held a default
    value.

    ## Example
    30 rows with the answer "I am not sure about that."

    ## What to do
    Check the export.
    """

    code = "SD506"
    title = "all answers the same"
    severity = "warn"
    stages = frozenset({Stage.TEXTS, Stage.SET})
    message = "all {count} answers are the same: {value!r}"
    why = "the model would learn to say one thing whatever is asked"
    next_step = "check the export: the answer column may hold a default value"

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._first: str | None = None
        self._rows, self._differ = 0, False

    def of_row(self, row: Row) -> Hit | None:
        if self._differ or row.side == "eval":
            return None
        self._rows += 1
        if self._first is None:
            self._first = row.answers
        self._differ = row.answers != self._first
        return None

    def of_set(self, totals: Totals) -> Hit | None:
        if self._differ or self._rows < 5 or self._first is None:
            return None
        return Hit(shortened(self._first), count=self._rows)
