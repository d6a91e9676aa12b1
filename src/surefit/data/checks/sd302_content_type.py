"""SD302: a turn whose content is no text."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.row import Row
from surefit.units import shortened

_NAMES = {"dict": "an object", "list": "a list", "int": "a number", "float": "a number"}


class ContentType(Check):
    """The content of a turn is not text.

    ## What it does
    Checks that `content` is text. Null and missing are left to the check of blank answers where the
    assistant is concerned.

    ## Why it is bad
    A template prints what it gets: `{'a': 1}` or `None` would become words that the model learns.

    ## Example
    `{"role": "user", "content": {"text": "hi"}}`

    ## What to do
    Write the content as text.
    """

    code = "SD302"
    title = "content is not text"
    severity = "refuse"
    stages = frozenset({Stage.TURNS})
    drops_row = True

    def of_row(self, row: Row) -> Hit | None:
        for number, turn in enumerate(row.messages, start=1):
            content = turn.get("content")
            if isinstance(content, str) or (content is None and turn.get("role") == "assistant"):
                continue
            if content is None:
                return Hit(f"turn {number} ({turn.get('role')}) has none")
            kind = _NAMES.get(type(content).__name__, type(content).__name__)
            return Hit(f"turn {number} has {kind}: {shortened(str(content), 40)}")
        return None

    def words(self, tally: Tally) -> Words:
        return Words(
            f"{tally.rows_text()} whose content is not text ({tally.where_text()}); "
            f"in the first, {tally.first.value}",
            "the template would print it as a program writes it, and the model would learn that",
            f"write the content of {tally.where_text()} as text",
        )
