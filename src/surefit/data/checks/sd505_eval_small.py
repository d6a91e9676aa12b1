"""SD505: few rows to evaluate on."""

from surefit.data.checks.check import Check, Hit, Stage, Totals


class EvalSmall(Check):
    """Few rows to evaluate on.

    ## What it does
    Counts the rows held back.

    ## Why it is bad
    The mean of a handful of rows jumps about with each of them.

    ## Example
    `eval: 5%` of 40 rows: 2 rows.

    ## What to do
    Hold back more rows, or read the evaluation with care.
    """

    code = "SD505"
    title = "few evaluation rows"
    severity = "info"
    stages = frozenset({Stage.SET})
    message = "the evaluation has {count} rows"
    why = "the mean of so few rows jumps about with each of them"
    next_step = "hold back more rows, or read the evaluation with care"

    def of_set(self, totals: Totals) -> Hit | None:
        return Hit(count=totals.eval_rows) if 0 < totals.eval_rows < 10 else None
