"""SD207: rows of one data set have different formats."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.formats import BY_NAME
from surefit.data.row import Row


class FormatsMixed(Check):
    """Rows of one data set have different formats.

    ## What it does
    Compares the format of every row with that of the first rows.

    ## Why it is bad
    Most programs read one of the formats and drop or garble the rest without a word.

    ## Example
    22 rows of `messages`, then 8 rows of `instruction` and `output`.

    ## What to do
    Split the file, or convert one part.
    """

    code = "SD207"
    title = "mixed formats"
    severity = "refuse"
    stages = frozenset({Stage.COLUMNS})
    only_unusual = True
    drops_row = True

    def of_row(self, row: Row) -> Hit | None:
        if row.format is None or row.format == row.wanted_format or self.terms.spec.columns:
            return None
        return Hit(f"{row.format} ({', '.join(BY_NAME[row.format].columns.needed)})")

    def words(self, tally: Tally) -> Words:
        """The finding in words, with both formats; where no row has the wanted one, that is said."""
        looks_like = tally.first.value.partition(" (")[0]
        if tally.totals.rows <= tally.count and self.terms.spec.format is not None:
            return Words(
                f"no row is {tally.totals.format}, as data.format says; they look like {tally.first.value}, "
                f"from {tally.first_place} on",
                "rows are read by the columns of one format, and these columns are not there",
                f"delete `data.format`: {looks_like} is recognised; or set `data.format: {looks_like}`",
            )
        return Words(
            f"the data has two formats: most rows are {tally.totals.format}, but {tally.rows_text()} "
            f"look like {tally.first.value}, from {tally.first_place} on",
            "one data set is read in one format; the other rows would be dropped or garbled",
            f"split the data into two, or convert {tally.where_text()}; data.format chooses one",
        )
