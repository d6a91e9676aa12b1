"""SD417: conversations for a model without a chat template."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row


class NoChatTemplate(Check):
    """The model has no chat template, and the rows are conversations.

    ## What it does
    Looks whether the model's folder says how turns become text. Plain text needs no template.

    ## Why it is bad
    Nobody knows which marks stand around a turn. A guess would train marks that nothing that runs the
    model would ever write.

    ## Example
    A base model, which was never trained to converse, and rows with `messages`.

    ## What to do
    Choose the model's chat version, put a `chat_template.jinja` into the model's folder, or train on
    a `text` column.
    """

    code = "SD417"
    title = "model without chat template"
    severity = "refuse"
    stages = frozenset({Stage.RENDERED})
    drops_row = True
    message = "the model has no chat template, and {rows} are conversations ({where})"
    why = (
        "neither chat_template.jinja nor `chat_template` in tokenizer_config.json is there, so nobody "
        "knows how turns become text; the model was probably never trained to converse"
    )
    next_step = (
        "choose the model's chat version (often named -Instruct or -Chat), put a chat_template.jinja "
        "into its folder, or give the rows as plain text in a column `text`"
    )

    def of_row(self, row: Row) -> Hit | None:
        """Every conversation, where there is no template."""
        tokenizer = self.terms.tokenizer
        missing = tokenizer is not None and tokenizer.template.is_missing
        return Hit() if missing and row.text is None else None
