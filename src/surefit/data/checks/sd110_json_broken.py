"""SD110: a line is not JSON."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.row import Broken, Row
from surefit.units import shortened

_BEFORE, _AFTER = 30, 20  # bytes shown around the place


class JsonBroken(Check):
    r"""A line cannot be read as JSON.

    ## What it does
    Reads every line by itself and says where reading stopped.

    ## Why it is bad
    A line that cannot be read cannot be trained, and a file with one such line was often edited by
    hand or cut off, so that the lines beside it deserve a look too.

    ## Example
    `{"messages": [{"role": "user", "content": "say "hi""}]}`: the inner quotes end the text.

    ## What to do
    Correct the line (inner quotes are written `\"`), or delete it.
    """

    code = "SD110"
    title = "line is not JSON"
    severity = "refuse"
    stages = frozenset({Stage.LINE})
    only_unusual = True
    drops_row = True

    def of_row(self, row: Row) -> Hit | None:
        if not isinstance(row.value, Broken) or row.value.kind != "json":
            return None
        if not row.raw:
            return Hit(row.value.reason)
        at = row.value.at_byte
        around = row.raw[max(0, at - _BEFORE) : at + _AFTER].decode("utf-8", "replace")
        return Hit(f"{row.value.reason} at byte {at + 1}, near {shortened(around)!r}")

    def words(self, tally: Tally) -> Words:
        return Words(
            f"{tally.rows_text()} cannot be read as JSON ({tally.where_text()}); "
            f"the first: {tally.first.value}",
            "a line that cannot be read cannot be trained, and its neighbours may be damaged too",
            f"correct or delete {tally.where_text()}",
        )
