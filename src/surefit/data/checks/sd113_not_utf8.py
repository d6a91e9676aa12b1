"""SD113: a line is not UTF-8."""

from surefit.data.checks.check import Tally, Words
from surefit.data.checks.file_problem import BrokenCheck


class NotUtf8(BrokenCheck):
    r"""A line is not UTF-8.

    ## What it does
    Decodes every line as UTF-8, and looks for half characters such as `\ud800` in JSON.

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
    message = "{rows} not in UTF-8 ({where}); in the first, {value}"
    why = "the bytes come from another encoding, probably Latin-1 or Windows-1252"
    next_step = "save {where} again as UTF-8, for example with iconv -f WINDOWS-1252 -t UTF-8"

    def words(self, tally: Tally) -> Words:
        """The finding in words; half of a character comes from no other encoding but from a cut."""
        if not tally.first.value.endswith("half of a character"):
            return super().words(tally)
        return Words(
            f"{tally.rows_text()} with half of a character ({tally.where_text()}); in the first, {tally.first.value}",
            "JSON can write a lone surrogate, but no text in UTF-8 can hold it: something cut a character in two",
            f"take it out of {tally.where_text()}, or write the whole character",
        )
