"""SD501: too few rows to learn from."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Totals, Words
from surefit.units import plural

ENOUGH_ROWS = 10


class FewRows(Check):
    """The data set has fewer than ten rows.

    ## What it does
    Counts the usable rows.

    ## Why it is bad
    A model that sees a handful of rows again and again learns them by heart and forgets the rest.

    ## Example
    A file with three conversations.

    ## What to do
    Use some dozens of rows or more. To try the machinery, go on.
    """

    code = "SD501"
    title = "few rows"
    severity = "warn"
    stages = frozenset({Stage.SET})

    def of_set(self, totals: Totals) -> Hit | None:
        return (
            Hit(str(totals.usable), count=totals.usable)
            if 0 < totals.usable < ENOUGH_ROWS
            else None
        )

    def words(self, tally: Tally) -> Words:
        return Words(
            f"only {plural(tally.totals.usable, 'row')} to train on",
            "so few rows are learned by heart; this tests the machinery, not the idea",
            "add rows: some dozens at least, some hundreds for a change that holds",
        )
