"""SD302: a turn whose content is no text."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.checks.parts import picture_in
from surefit.data.formats.shape import type_name
from surefit.data.near_miss import keys_instead, near_key, rename
from surefit.data.row import Row, Turn


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
    only_unusual = True
    drops_row = True

    message = "{rows} whose content is not text ({where}); in the first, {value}"
    why = "the template would print it as a program writes it, and the model would learn that"

    def of_row(self, row: Row) -> Hit | None:
        for index, turn in enumerate([*row.messages, *(row.rejected or ())]):
            content = turn.get("content")
            if isinstance(content, str) or _may_be_absent(turn) or picture_in(content):
                continue
            if "content" not in turn:
                return Hit(
                    f"{row.turn_name(index)} {keys_instead(turn)}", near_key(turn, "content")
                )
            return Hit(f"{row.turn_name(index)} is {type_name(content)}")
        return None

    def words(self, tally: Tally) -> Words:
        """The finding in words; a content under another name is to be renamed."""
        facts, near = tally.facts(), tally.first.fix
        return Words(
            self.message.format_map(facts),
            "a turn without a content has nothing to say" if near else self.why,
            rename(near, "content")
            if near
            else f"write the content of {tally.where_text()} as text",
        )


def _may_be_absent(turn: Turn) -> bool:
    """A blank answer has a check of its own; a tool call needs no words."""
    return turn.get("content") is None and turn.get("role") == "assistant"
