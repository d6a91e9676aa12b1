"""SD303: a conversation without an answer."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.row import Row


class NoAnswer(Check):
    """A conversation has no assistant turn.

    ## What it does
    Looks for a turn of the assistant in every conversation.

    ## Why it is bad
    Only answers carry loss. A row without one costs time and teaches nothing.

    ## Example
    `{"messages": [{"role": "user", "content": "How are you?"}]}`

    ## What to do
    Export the answers too, or delete the row.
    """

    code = "SD303"
    title = "no answer"
    severity = "refuse"
    stages = frozenset({Stage.TURNS})
    only_unusual = True
    drops_row = True

    def of_row(self, row: Row) -> Hit | None:
        roles = [str(turn.get("role")) for turn in row.messages]
        return None if "assistant" in roles else Hit(", ".join(dict.fromkeys(roles)))

    def words(self, tally: Tally) -> Words:
        return Words(
            f"{tally.rows_text()} of {tally.totals.rows} without an assistant turn "
            f"({tally.where_text()}); the first has only: {tally.first.value}",
            "only answers carry loss, so such a row teaches nothing",
            f"add the missing answers, or delete {tally.where_text()}",
        )
