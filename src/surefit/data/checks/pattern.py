"""A check that is known by a pattern in what is said."""

import re
from typing import ClassVar, Literal

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row
from surefit.units import shortened


class PatternCheck(Check):
    """Hits a row in whose text a pattern occurs; a subclass declares pattern and words."""

    stages = frozenset({Stage.TEXTS})
    pattern: ClassVar[re.Pattern[str]]
    looks_in: ClassVar[Literal["answers", "all_text"]] = "all_text"
    hints: ClassVar[tuple[str, ...]] = ()
    """Texts without one of which the pattern cannot match: looked for first, at a tenth of the cost."""
    any_case: ClassVar[bool] = False
    """Whether the hints stand for every spelling in small and capital letters."""
    beyond_ascii: ClassVar[bool] = False
    """Whether the pattern matches only where there are characters beyond ASCII."""

    def of_row(self, row: Row) -> Hit | None:
        """The first match, with what stands around it."""
        text = row.answers if self.looks_in == "answers" else row.all_text
        if self.beyond_ascii and text.isascii():
            return None
        if self.hints and not _holds_one(text.lower() if self.any_case else text, self.hints):
            return None
        found = self.pattern.search(text)
        return None if found is None else self.hit(text, found)

    def hit(self, text: str, found: re.Match[str]) -> Hit | None:
        """What is told of a match; a subclass may look closer and say None."""
        around = text[max(0, found.start() - 20) : found.end() + 20]
        return Hit(shortened(around))


def _holds_one(text: str, hints: tuple[str, ...]) -> bool:
    for hint in hints:  # noqa: SIM110 - a generator takes longer than the search
        if hint in text:
            return True
    return False
