"""SD507: more rows are unusable than were allowed."""

from surefit.data.checks.check import Check, Hit, Stage, Totals


class TooManyUnusable(Check):
    """More rows are unusable than were allowed.

    ## What it does
    Counts the rows that cannot be trained and compares them with `data.max_unusable`.

    ## Why it is bad
    The number was set to notice exactly this.

    ## Example
    `max_unusable: 5` and 12 rows without an answer.

    ## What to do
    Repair the rows that the other findings name, or allow more.
    """

    code = "SD507"
    title = "too many unusable rows"
    severity = "refuse"
    stages = frozenset({Stage.SET})
    message = "{count} of {total} rows cannot be trained, and data.max_unusable allows {value}"
    why = "the other findings name the rows and the reasons"
    next_step = "repair those rows, or set data.max_unusable: {fix}"

    def of_set(self, totals: Totals) -> Hit | None:
        allowed = self.terms.spec.max_unusable
        if not allowed or totals.unusable <= allowed:
            return None
        return Hit(str(allowed), str(totals.unusable), totals.unusable)
