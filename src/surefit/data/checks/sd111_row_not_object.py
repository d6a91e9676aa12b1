"""SD111: a line holds JSON, but no object."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.row import Broken, Row
from surefit.units import shortened


class RowNotObject(Check):
    """A row is not a JSON object.

    ## What it does
    Checks that every line holds `{...}`.

    ## Why it is bad
    Columns have names only in an object; in a list or a bare text nobody can tell what is what.

    ## Example
    `["How are you?", "Fine."]`

    ## What to do
    Write `{"messages": [{"role": "user", "content": ...}, {"role": "assistant", "content": ...}]}`.
    """

    code = "SD111"
    title = "row is not an object"
    severity = "refuse"
    stages = frozenset({Stage.LINE})
    only_unusual = True
    drops_row = True

    def of_row(self, row: Row) -> Hit | None:
        if isinstance(row.value, (dict, Broken)):
            return None
        return Hit(shortened(str(row.value), 40))

    def words(self, tally: Tally) -> Words:
        return Words(
            f"{tally.rows_text()} without column names ({tally.where_text()}); "
            f"the first: {tally.first.value}",
            "a row is a JSON object; in a list or a bare value nobody can tell what is what",
            'write each line as {"messages": [{"role": "user", "content": "..."}, '
            '{"role": "assistant", "content": "..."}]}',
        )
