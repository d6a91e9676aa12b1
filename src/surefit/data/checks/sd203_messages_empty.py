"""SD203: a conversation without a turn."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.row import Row


class MessagesEmpty(Check):
    """`messages` is an empty list.

    ## What it does
    Checks that every conversation has a turn.

    ## Why it is bad
    There is nothing to train in the row; exporters write such rows where a filter took all turns
    out.

    ## Example
    `{"messages": []}`

    ## What to do
    Delete the row.
    """

    code = "SD203"
    title = "no turn"
    severity = "refuse"
    stages = frozenset({Stage.COLUMNS})
    only_unusual = True
    drops_row = True

    def of_row(self, row: Row) -> Hit | None:
        if row.format != row.wanted_format or row.problem or row.text is not None:
            return None
        return None if row.messages else Hit()

    def words(self, tally: Tally) -> Words:
        return Words(
            f"{tally.rows_text()} with an empty list of messages ({tally.where_text()})",
            "a conversation without a turn has nothing to train",
            f"delete {tally.where_text()}",
        )
