"""SD113: a line is not UTF-8."""

from surefit.data.checks.file_problem import BrokenCheck


class NotUtf8(BrokenCheck):
    """A line is not UTF-8.

    ## What it does
    Decodes every line as UTF-8.

    ## Why it is bad
    The bytes come from another encoding, so the letters would be wrong.

    ## Example
    A line with the byte 0xE9, which is é in Latin-1.

    ## What to do
    Save that part of the file again as UTF-8.
    """

    code = "SD113"
    title = "not UTF-8"
    kind = "utf8"
    message = "{rows} that are not UTF-8 ({where}); in the first, {value}"
    why = "the bytes come from another encoding, probably Latin-1 or Windows-1252"
    next_step = "save {where} again as UTF-8, for example with iconv -f WINDOWS-1252 -t UTF-8"
