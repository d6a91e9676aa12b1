"""SD411: texts do not end with an end token."""

from surefit.data.checks.check import Check, Hit, Stage, Terms, Totals
from surefit.data.row import Row


class TextWithoutEnd(Check):
    """Texts do not end with an end token.

    ## What it does
    Looks at the end of plain texts, where the model has a chat template.

    ## Why it is bad
    Nothing is added to a plain text, so the model never learns to stop.

    ## Example
    `### Response: It is blue.`

    ## What to do
    Use columns for question and answer, or end each text with the end token.
    """

    code = "SD411"
    title = "no end token"
    severity = "warn"
    stages = frozenset({Stage.RENDERED, Stage.SET})
    only_unusual = True
    message = "{count} of {total} texts do not end with an end token (end-of-turn, such as {value})"
    why = "plain text is trained as it is, so the model would not learn to stop"
    next_step = (
        "use columns for question and answer so that the end is added, or end each text with "
        "{value}"
    )

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._open = 0
        tokenizer = terms.tokenizer
        converses = tokenizer is not None and not tokenizer.template.is_missing
        self._ends = tokenizer.end_texts if tokenizer is not None and converses else ()

    def of_row(self, row: Row) -> Hit | None:
        if self._ends and row.text is not None and not row.text.rstrip().endswith(self._ends):
            self._open += 1
        return None

    def of_set(self, totals: Totals) -> Hit | None:
        return Hit(self._ends[0], count=self._open) if self._open * 2 > totals.usable else None
