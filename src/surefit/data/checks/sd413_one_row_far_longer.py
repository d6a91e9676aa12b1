"""SD413: one row is far longer than all others."""

from surefit.data.checks.check import Check, Hit, Stage, Terms, Totals
from surefit.data.row import Row
from surefit.units import count_text

_LONG, _TIMES = 4096, 8


class OneRowFarLonger(Check):
    """One row is far longer than all others.

    ## What it does
    Compares the longest row with the second longest.

    ## Why it is bad
    The longest row alone decides how much memory the run needs.

    ## Example
    23 rows of 100 tokens and one of 60,000.

    ## What to do
    Cut the row, leave it out, or lower `goal.max_length`.
    """

    code = "SD413"
    title = "one row far longer"
    severity = "warn"
    stages = frozenset({Stage.TOKENS, Stage.SET})
    message = "one row is far longer than all others ({where}): {value}"
    why = "it alone decides how much memory the run needs"
    next_step = "cut it, leave it out, or lower goal.max_length"

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._longest = self._second = 0
        self._place = ""

    def of_row(self, row: Row) -> Hit | None:
        length = min(len(row.encoded.ids), self.terms.max_length or len(row.encoded.ids))
        if length > self._longest:
            self._longest, self._second, self._place = length, self._longest, row.place
        elif length > self._second:
            self._second = length
        return None

    def of_set(self, totals: Totals) -> Hit | None:
        if totals.usable < 5 or self._longest < _LONG or self._longest < _TIMES * self._second:
            return None
        told = f"{count_text(self._longest)} tokens, the next has {count_text(self._second)}"
        return Hit(told, place=self._place)
