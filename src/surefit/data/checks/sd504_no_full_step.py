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
    next_step = "turn packing off and lower goal.batch to {fix}, or add rows"

    def of_set(self, totals: Totals) -> Hit | None:
        if not self.terms.packing or not totals.train_rows or not self.terms.max_length:
            return None
        sequences = -(-totals.train_tokens // self.terms.max_length)
        if sequences >= self.terms.batch:
            return None
        return Hit(fix=str(max(1, totals.train_rows // 4)), count=sequences)
