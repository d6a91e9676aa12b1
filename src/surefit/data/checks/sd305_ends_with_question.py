"""SD305: a conversation whose last turn is not an answer."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.row import Row


class EndsWithQuestion(Check):
    """The last turn is not the assistant's.

    ## What it does
    Looks at the role of the last turn of every conversation that has an answer.

    ## Why it is bad
    What stands behind the last answer carries no loss: it is computed and teaches nothing. Often
    the answer was lost in the export.

    ## Example
    user, assistant, user.

    ## What to do
    Add the answer, or cut the last turn off.
    """

    code = "SD305"
    title = "ends without an answer"
    severity = "warn"
    stages = frozenset({Stage.TURNS})

    def of_row(self, row: Row) -> Hit | None:
        role = row.messages[-1].get("role")
        if role == "assistant":
            return None
        answered = any(turn.get("role") == "assistant" for turn in row.messages)
        return Hit(str(role)) if answered else None

    def words(self, tally: Tally) -> Words:
        return Words(
            f"{tally.rows_text()} whose last turn is not an answer ({tally.where_text()}); "
            f"the first ends with {tally.first.value!r}",
            "what stands behind the last answer carries no loss, and an answer may be missing",
            f"add the answer to {tally.where_text()}, or take the last turn off",
        )
