"""SD609: an answer repeats itself without end."""

import re

from surefit.data.checks.pattern import PatternCheck


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
