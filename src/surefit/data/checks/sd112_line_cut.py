"""SD112: the last line is cut off."""

from surefit.data.checks.file_problem import BrokenCheck


class LineCut(BrokenCheck):
    """The last line is cut off.

    ## What it does
    Tells a value that stops at the end of the file from one that is broken in the middle.

    ## Why it is bad
    The copy or download ended early; more rows may be missing.

    ## Example
    A last line `{"messages": [{"role": "us`.

    ## What to do
    Fetch the file again and compare its size.
    """

    code = "SD112"
    title = "last line is cut"
    kind = "cut"
    message = "the file is cut off at {where}: {value}"
    why = "the copy or download is incomplete, and more rows may be missing"
    next_step = "fetch the file again and compare its size, or delete {where}"
