"""SD117: a value is NaN or Infinity."""

from surefit.data.checks.file_problem import NoteCheck


class NotANumber(NoteCheck):
    """A value is NaN or Infinity.

    ## What it does
    Reads NaN and Infinity, which Python writes and JSON does not know.

    ## Why it is bad
    Other programs refuse the file.

    ## Example
    `{"messages": [...], "score": NaN}`

    ## What to do
    Write null instead.
    """

    code = "SD117"
    title = "NaN or Infinity"
    note = "not_a_number"
    message = "{rows} with NaN or Infinity, which JSON does not have ({where}); the first: {value}"
    why = "the rows were read, but other programs refuse the file"
    next_step = "write null instead in {where}"
