"""SD304: an answer without a word."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.near_miss import keys_instead, near_key, rename
from surefit.data.row import Row


class AnswerBlank(Check):
    """An answer is empty.

    ## What it does
    Looks for assistant turns whose content is empty, white space, null or missing, unless they call
    a tool.

    ## Why it is bad
    The model learns to end its turn at once. A few such rows are enough to make it fall silent.

    ## Example
    `{"role": "assistant", "content": ""}`

    ## What to do
    Fill in the answer or delete the row.
    """

    code = "SD304"
    title = "blank answer"
    severity = "refuse"
    stages = frozenset({Stage.TURNS})
    only_unusual = True
    drops_row = True

    def of_row(self, row: Row) -> Hit | None:
        for index, turn in enumerate(row.messages):
            if turn.get("role") != "assistant" or turn.get("tool_calls"):
                continue
            content = turn.get("content")
            if content is None and "content" not in turn:
                return Hit(
                    f"{row.turn_name(index)} {keys_instead(turn)}", near_key(turn, "content")
                )
            if content is None:
                return Hit(f"{row.turn_name(index)} is null")
            if isinstance(content, str) and not content.strip():
                return Hit(
                    f"{row.turn_name(index)} is {'white space only' if content else 'empty'}"
                )
        return None

    def words(self, tally: Tally) -> Words:
        near = tally.first.fix
        return Words(
            f"{tally.rows_text()} with an empty answer ({tally.where_text()}); "
            f"in the first, {tally.first.value}",
            "the model would learn to end its turn without a word",
            rename(near, "content") if near else f"fill in or delete {tally.where_text()}",
        )
