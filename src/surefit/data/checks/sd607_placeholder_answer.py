"""SD607: an answer is a placeholder."""

import re

from surefit.data.checks.pattern import PatternCheck


class PlaceholderAnswer(PatternCheck):
    """An answer is a placeholder.

    ## What it does
    Looks for answers that say nothing but TODO, N/A, null, nan, undefined, lorem ipsum and the
    like.

    ## Why it is bad
    The model learns to write the placeholder.

    ## Example
    `{"role": "assistant", "content": "TODO"}`

    ## What to do
    Write the answer, or delete the row.
    """

    code = "SD607"
    title = "placeholder"
    severity = "warn"
    looks_in = "answers"
    pattern = re.compile(
        r"(?im)^\s*(?:todo|tbd|n/a|null|nan|undefined|lorem ipsum\b.*|\[?placeholder\]?|#n/a|#ref!)\s*[.!]?\s*$"
    )
    message = "{rows} whose answer is a placeholder ({where}); the first: {value}"
    why = "the model would learn to write it"
    next_step = "write the answers of {where}, or delete these rows"
