"""SD415: the tokenizer does not know the script."""

from surefit.data.checks.check import Check, Hit, Stage, Terms
from surefit.data.row import Row


class UnknownTokens(Check):
    """The tokenizer does not know the script.

    ## What it does
    Counts the unknown token in the rows.

    ## Why it is bad
    A character without a token becomes the same token as all other unknown ones; the model
    cannot tell them apart.

    ## Example
    Chinese text for a tokenizer that was made for English only.

    ## What to do
    Choose a model whose tokenizer knows the language.
    """

    code = "SD415"
    title = "unknown tokens"
    severity = "warn"
    stages = frozenset({Stage.TOKENS})
    message = "{rows} with characters that the model's tokenizer does not know ({where})"
    why = "unknown characters all become one token, and the model cannot tell them apart"
    next_step = "choose a model whose tokenizer knows the language, or leave {where} out"

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        tokenizer = terms.tokenizer
        self._unknown = tokenizer.unk_id if tokenizer is not None else None

    def looks_at(self, stage: Stage) -> bool:
        """Only where the tokenizer has a token for what it does not know."""
        return self._unknown is not None and super().looks_at(stage)

    def of_row(self, row: Row) -> Hit | None:
        return Hit() if self._unknown is not None and self._unknown in row.encoded.ids else None
