"""SD603: a text was decoded with the wrong encoding."""

import re

from surefit.data.checks.pattern import PatternCheck


class Mojibake(PatternCheck):
    """A text was decoded with the wrong encoding.

    ## What it does
    Looks for the letter pairs that UTF-8 becomes when it is read as Windows-1252.

    ## Why it is bad
    The model learns to write the broken letters.

    ## Example
    `CafÃ©` for Café

    ## What to do
    Export again as UTF-8.
    """

    code = "SD603"
    title = "wrong encoding"
    severity = "warn"
    beyond_ascii = True
    pattern = re.compile(
        "[\u00c2\u00c3][\u0080-\u00bf]|\u00e2\u20ac[\u0080-\uffff]|\u00e2\u201a\u00ac"
    )
    message = (
        "{rows} with text that was decoded with the wrong encoding, mojibake ({where}); the "
        "first: {value}"
    )
    why = (
        "the letters are UTF-8 that was read as Windows-1252, and the model would learn to "
        "write them so"
    )
    next_step = "export {where} again as UTF-8"
