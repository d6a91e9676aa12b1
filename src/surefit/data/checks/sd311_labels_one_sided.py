"""SD311: all labels are the same."""

from surefit.data.checks.check import Check, Hit, Stage, Terms, Totals
from surefit.data.row import Row


class LabelsOneSided(Check):
    """All labels are the same.

    ## What it does
    Counts wanted and unwanted answers of unpaired preference data.

    ## Why it is bad
    Without the other side there is nothing to prefer.

    ## Example
    32 rows with `label: true`.

    ## What to do
    Add rows of the other kind.
    """

    code = "SD311"
    title = "labels all the same"
    severity = "warn"
    stages = frozenset({Stage.TURNS, Stage.SET})
    only_unusual = True
    message = "all {count} labels are {value}"
    why = "without the other side there is nothing to prefer"
    next_step = "add rows with the other label"

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._seen = {True: 0, False: 0}

    def of_row(self, row: Row) -> Hit | None:
        if row.label is not None:
            self._seen[row.label] += 1
        return None

    def of_set(self, totals: Totals) -> Hit | None:
        wanted, unwanted = self._seen[True], self._seen[False]
        if wanted + unwanted < 2 or (wanted and unwanted):
            return None
        return Hit("true" if wanted else "false", count=wanted + unwanted)
