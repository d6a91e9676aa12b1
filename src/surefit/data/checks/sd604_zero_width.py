"""SD604: invisible characters stand inside words."""

import re

from surefit.data.checks.pattern import PatternCheck


class ZeroWidth(PatternCheck):
    r"""Invisible characters stand inside words.

    ## What it does
    Looks for U+200B, U+2060 and U+FEFF between letters of alphabets that do not use them.

    ## Why it is bad
    They cut words into other tokens, and the model learns to write them.

    ## Example
    `sh\u200beet`

    ## What to do
    Remove them; they come from web pages.
    """

    code = "SD604"
    title = "invisible characters"
    severity = "warn"
    beyond_ascii = True
    pattern = re.compile(
        "[A-Za-z\u00c0-\u052f][\u200b\u2060\ufeff]+|[\u200b\u2060\ufeff]+[A-Za-z\u00c0-\u052f]"
    )
    message = "{rows} with invisible zero-width characters inside words ({where}), such as U+200B"
    why = "they cut words into other tokens, and the model learns to write them"
    next_step = "remove U+200B, U+2060 and U+FEFF from {where}; they come from web pages"
