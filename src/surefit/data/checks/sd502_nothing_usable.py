"""SD502: not one row can be trained."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Totals, Words


class NothingUsable(Check):
    """No row of the data can be trained.

    ## What it does
    Counts the usable rows, after all other checks.

    ## Why it is bad
    There is nothing to train on. The other findings say why each row dropped out.

    ## Example
    A file of questions without answers, or of blank lines.

    ## What to do
    Follow the other findings, the one with the most rows first.
    """

    code = "SD502"
    title = "no usable row"
    severity = "refuse"
    stages = frozenset({Stage.SET})

    def of_set(self, totals: Totals) -> Hit | None:
        explained = totals.rows == 0 and totals.unreadable_files > 0
        return Hit(count=totals.rows) if totals.usable == 0 and not explained else None

    def words(self, tally: Tally) -> Words:
        if tally.totals.rows == 0:
            return Words(
                "the training data has 0 rows",
                "there is nothing to train on",
                "check the export or the filter that wrote the file",
            )
        return Words(
            f"0 of {tally.totals.rows} rows are usable",
            "every row is hit by one of the other findings",
            "follow the finding with the most rows first",
        )
