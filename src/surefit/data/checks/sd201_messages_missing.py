"""SD201: the column that is trained is not there."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.checks.words import nearest
from surefit.data.row import Row


class MessagesMissing(Check):
    """A row has no `messages`.

    ## What it does
    Looks for the column `messages` in every row, and for a name that looks like it.

    ## Why it is bad
    Without the conversation there is nothing to train. A misspelt column is the most frequent
    reason why a first run fails.

    ## Example
    `{"mesages": [...]}`

    ## What to do
    Rename the column to `messages`.
    """

    code = "SD201"
    title = "no messages"
    severity = "refuse"
    stages = frozenset({Stage.COLUMNS})
    drops_row = True

    def of_row(self, row: Row) -> Hit | None:
        if "messages" in row.value:
            return None
        names = [str(name) for name in row.value]
        return Hit(", ".join(names[:8]) or "no column at all", nearest("messages", names) or "")

    def words(self, tally: Tally) -> Words:
        near = tally.first.fix
        return Words(
            f"{tally.rows_text()} without the column 'messages' ({tally.where_text()}); "
            f"the first has: {tally.first.value}",
            "the conversation to train on is looked for in 'messages'",
            f"did you mean {near!r}? Rename it to 'messages'"
            if near
            else 'write the conversation as {"messages": [{"role": "user", "content": "..."}, '
            '{"role": "assistant", "content": "..."}]}',
        )
