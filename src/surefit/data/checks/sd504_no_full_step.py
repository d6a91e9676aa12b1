"""SD504: packed, the rows do not fill one batch."""

from surefit.data.checks.check import Check, Hit, Stage, Totals


class NoFullStep(Check):
    """Packed, the rows do not fill one batch.

    ## What it does
    Counts the sequences that packing would make, and compares them with the batch.

    ## Why it is bad
    A batch that never fills is a run without a step: it ends at once and looks well.

    ## Example
    8 short rows packed into one sequence, with `goal.batch: 32`.

    ## What to do
    Turn packing off, lower `goal.batch`, or add rows.
    """

    code = "SD504"
    title = "no full step"
    severity = "refuse"
    stages = frozenset({Stage.SET})
    message = "{count} packed sequences for a batch of {batch}: not one full step"
    why = "the rows fit into so few sequences of max_length that no batch fills"
    next_step = "set goal.batch: {fix} or less, leave how.packing out, or add rows"

    def of_set(self, totals: Totals) -> Hit | None:
        sequences = totals.sequences
        if not self.terms.packing or not 0 < sequences < self.terms.batch:
            return None
        return Hit(fix=str(sequences), count=sequences)
