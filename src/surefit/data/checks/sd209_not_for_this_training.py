"""SD209: preference data cannot be trained yet."""

from surefit.data.checks.check import Check, Hit, Stage, Totals
from surefit.data.formats import BY_NAME


class NotForThisTraining(Check):
    """Preference data cannot be trained yet.

    ## What it does
    Refuses preference rows when a run is planned; a look at them is fine.

    ## Why it is bad
    Fine-tuning on answers would train the rejected ones too, or silently only the chosen ones.

    ## Example
    `{"prompt": ..., "chosen": ..., "rejected": ...}` with `method: lora`

    ## What to do
    To train the chosen answers only, map them: `data.columns: {prompt: prompt, completion:
    chosen}`.
    """

    code = "SD209"
    title = "not for this training"
    severity = "refuse"
    stages = frozenset({Stage.SET})
    message = "the data is {format}: answers to compare, and this version trains answers to give"
    why = "fine-tuning on it would train unwanted answers too, or silently drop them"
    next_step = (
        "to train the wanted answers only, set data.format: prompt_completion and "
        "data.columns: {{prompt: prompt, completion: chosen}}"
    )

    def of_set(self, totals: Totals) -> Hit | None:
        kind = BY_NAME.get(totals.format)
        refused = self.terms.for_training and kind is not None and not kind.trainable
        return Hit(count=totals.rows) if refused else None
