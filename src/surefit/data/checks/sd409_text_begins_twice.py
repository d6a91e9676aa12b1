"""SD409: a text begins with the token that the tokenizer adds."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row


class TextBeginsTwice(Check):
    """A text begins with the token that the tokenizer adds.

    ## What it does
    Looks at the first characters of plain texts, and of what the template makes, for a doubled
    beginning.

    ## Why it is bad
    A model that has never seen the token twice answers worse.

    ## Example
    `<bos><start_of_turn>user ...` as a text, for a tokenizer that adds `<bos>`.

    ## What to do
    Drop it from the text.
    """

    code = "SD409"
    title = "beginning written out"
    severity = "warn"
    stages = frozenset({Stage.RENDERED})
    message = "{rows} that begin with {value} ({where}), which the tokenizer adds by itself"
    why = "written twice, it is something the model has never seen; it was added once only"
    next_step = "drop {value} from the texts"

    def of_row(self, row: Row) -> Hit | None:
        tokenizer = self.terms.tokenizer
        bos = tokenizer.special_tokens.get("bos_token") if tokenizer else None
        if not bos:
            return None
        if row.text is not None:
            return Hit(bos) if row.text.startswith(bos) else None
        return Hit(bos) if row.rendered.text.startswith(bos + bos) else None
