"""SD602: answers contain the markup of a web page."""

import re

from surefit.data.checks.check import Hit
from surefit.data.checks.pattern import PatternCheck
from surefit.units import shortened

_TAG = re.compile(
    r"</?(?:div|span|p|br|li|ul|ol|td|tr|table|font|script|iframe|section|blockquote|button|hr|img|"
    r"a href|h[1-6]|style|footer|header|nav)\b[^<>]*>|&nbsp;|&lt;/?[a-z]+&gt;",
    re.IGNORECASE,
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


class HtmlLeftIn(PatternCheck):
    """Answers contain the markup of a web page.

    ## What it does
    Looks for HTML tags and entities in answers, outside of code.

    ## Why it is bad
    The model learns to write tags and the furniture of pages into its answers.

    ## Example
    `<div class="ans">Soak the beans.</div>&nbsp;`

    ## What to do
    Strip the markup.
    """

    code = "SD602"
    title = "HTML left in"
    severity = "warn"
    looks_in = "answers"
    hints = ("<", "&")
    pattern = _TAG
    message = "{rows} whose answers hold HTML of a web page ({where}); the first: {value}"
    why = "the model would learn to write tags and the furniture of pages"
    next_step = "strip the markup from {where}"

    def hit(self, text: str, found: re.Match[str]) -> Hit | None:
        """Code that teaches HTML is no left-over."""
        bare = _CODE.sub(" ", text)
        outside = _TAG.search(bare)
        return (
            Hit(shortened(bare[max(0, outside.start() - 10) : outside.end() + 30]))
            if outside
            else None
        )
