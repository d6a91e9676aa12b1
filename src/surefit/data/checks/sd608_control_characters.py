"""SD608: a text holds control characters."""

import re

from surefit.data.checks.check import Hit
from surefit.data.checks.pattern import PatternCheck
from surefit.data.row import Row


class ControlCharacters(PatternCheck):
    r"""A text holds control characters.

    ## What it does
    Looks for characters below U+0020 other than tab and line ends, and for terminal colour
    codes.

    ## Why it is bad
    They come from terminals and broken exports, and the model learns to write them.

    ## Example
    `\x1b[31mError\x1b[0m`

    ## What to do
    Remove them.
    """

    code = "SD608"
    title = "control characters"
    severity = "warn"
    pattern = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
    message = "{rows} with control characters ({where}); the first: {value!r}"
    why = "they come from terminals or broken exports, and the model would learn to write them"
    next_step = "remove them from {where}"

    def of_row(self, row: Row) -> Hit | None:
        """In a JSON line such a character is written as an escape."""
        if row.raw and b"\\u00" not in row.raw and b"\\b" not in row.raw:
            return None
        return super().of_row(row)
