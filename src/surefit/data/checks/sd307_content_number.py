"""SD307: a content is a number."""

from surefit.data.checks.check import Stage
from surefit.data.checks.file_problem import NoteCheck


class ContentNumber(NoteCheck):
    """A content is a number.

    ## What it does
    Reads a number as its text.

    ## Why it is bad
    It was a guess: 3.50 becomes 3.5, and 007 was 7 already.

    ## Example
    `{"role": "assistant", "content": 1492}`

    ## What to do
    Put the number into quotes.
    """

    code = "SD307"
    title = "number as content"
    stages = frozenset({Stage.TURNS})
    only_unusual = True
    note = "number"
    message = "{rows} whose content is a number ({where}); the first, {value}, was read as text"
    why = "a number has lost its zeros and its format before it became text"
    next_step = "put the numbers in {where} into quotes"
