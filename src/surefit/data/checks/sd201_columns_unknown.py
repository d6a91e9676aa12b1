"""SD201: a row has not the columns of any format."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.formats import FORMATS
from surefit.data.near_miss import near_miss
from surefit.data.row import Row


class ColumnsUnknown(Check):
    """A row has not the columns of any format.

    ## What it does
    Compares the column names of every row with those of each format, misspelt ones too.

    ## Why it is bad
    Nobody can tell question and answer apart. A misspelt column is the most frequent reason why
    a first run fails.

    ## Example
    `{"instuction": "...", "output": "..."}`

    ## What to do
    Rename the column, or map it: `data.columns: {instruction: instuction}`.
    """

    code = "SD201"
    title = "columns not known"
    severity = "refuse"
    stages = frozenset({Stage.COLUMNS})
    only_unusual = True
    drops_row = True

    def of_row(self, row: Row) -> Hit | None:
        if row.format is not None:
            return None
        if self.terms.spec.columns:
            return None  # what was mapped has a check of its own
        names = [str(name) for name in row.value]
        return Hit(", ".join(names[:10]) or "no column at all", near_miss(names))

    def words(self, tally: Tally) -> Words:
        """The finding in words, with the nearest format where there is one."""
        known = "; ".join(" and ".join(kind.columns.needed) for kind in FORMATS)
        return Words(
            f"{tally.rows_text()} whose columns fit no format ({tally.where_text()}); "
            f"the first has: {tally.first.value}",
            f"known are {known}",
            tally.first.fix
            or "rename the columns, or say which is which with data.columns "
            "(--map prompt=NAME --map completion=NAME)",
        )
