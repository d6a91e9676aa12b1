"""SD503: an evaluation is wanted and there is nothing to evaluate on."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Totals, Words


class EvalEmpty(Check):
    """No row is left to evaluate on.

    ## What it does
    Counts the usable rows held back, where the recipe asks for an evaluation.

    ## Why it is bad
    Without them nobody can tell learning from learning by heart, though the recipe asked for it.

    ## Example
    `data: {train: one-row.jsonl, eval: 10%}`

    ## What to do
    Name another file, add rows, or say `eval: none`.
    """

    code = "SD503"
    title = "no evaluation rows"
    severity = "refuse"
    stages = frozenset({Stage.SET})

    def of_set(self, totals: Totals) -> Hit | None:
        wanted = self.terms.spec.eval not in (None, "none")
        if not wanted or totals.eval_unreadable:
            return None
        return Hit() if totals.usable > 0 and totals.eval_rows == 0 else None

    def words(self, tally: Tally) -> Words:
        return Words(
            f"data.eval: {self.terms.spec.eval} leaves no row to evaluate on",
            f"the training data has {tally.totals.usable} usable rows, the evaluation 0",
            "name a file with usable rows, add rows, or set data.eval to none",
        )
