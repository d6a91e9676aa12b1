"""SD605: a text holds the sign of a lost letter."""

import re

from surefit.data.checks.pattern import PatternCheck


class ReplacementCharacter(PatternCheck):
    r"""A text holds the sign of a lost letter.

    ## What it does
    Looks for U+FFFD.

    ## Why it is bad
    The letter was lost before the file was written, and the model learns to write the sign.

    ## Example
    `Caf\ufffd`

    ## What to do
    Export again from the source.
    """

    code = "SD605"
    title = "lost letters"
    severity = "warn"
    beyond_ascii = True
    pattern = re.compile("\ufffd")
    message = "{rows} with U+FFFD, the sign of a lost letter ({where}); the first: {value}"
    why = (
        "the letters were lost when the text was decoded, and the model would learn to write "
        "the sign"
    )
    next_step = "export {where} again from the source"
