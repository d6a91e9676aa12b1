"""SD609: an answer repeats itself without end."""

import re

from surefit.data.checks.check import Hit
from surefit.data.checks.pattern import PatternCheck
from surefit.data.row import Row

_SHORTEST, _TAIL, _TIMES = 100, 4, 15


class RepeatsItself(PatternCheck):
    """An answer repeats itself without end.

    ## What it does
    Looks for a piece of up to 60 characters that is repeated twenty times in a row or more.

    ## Why it is bad
    It is the output of a model that got stuck; learned, it gets stuck too.

    ## Example
    `the the the the ...`

    ## What to do
    Delete the rows.
    """

    code = "SD609"
    title = "repeats itself"
    severity = "warn"
    looks_in = "answers"
    pattern = re.compile(r"(?s)(\w[^\n]{3,58}?[\s.,;!?])\1{19,}")
    message = "{rows} whose answer repeats itself ({where}); the first: {value}"
    why = "that is the output of a model that got stuck, and the next one learns it"
    next_step = "delete {where}"

    def of_row(self, row: Row) -> Hit | None:
        """Only a text whose last letters occur many times can repeat itself to its end."""
        text = row.answers
        if len(text) < _SHORTEST or text.count(text[-_TAIL:]) < _TIMES:
            return None
        return super().of_row(row)
