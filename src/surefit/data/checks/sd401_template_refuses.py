"""SD401: the model's chat template does not take a conversation."""

from surefit.data.checks.check import Check, Hit, Stage, Tally, Words
from surefit.data.row import Row
from surefit.units import shortened


class TemplateRefuses(Check):
    """The chat template of the model refuses a conversation.

    ## What it does
    Puts every conversation into the model's own chat template, and reports what the template says.

    ## Why it is bad
    Some models know only user and assistant in turn, or no system turn. The row cannot become
    tokens.

    ## Example
    Two user turns in a row for a Mistral model.

    ## What to do
    Join turns of the same role, move the system text into the first question, or choose a model
    whose template takes such conversations.
    """

    code = "SD401"
    title = "template refuses the row"
    severity = "refuse"
    stages = frozenset({Stage.RENDERED})
    only_unusual = True
    drops_row = True

    def of_row(self, row: Row) -> Hit | None:
        tokenizer = self.terms.tokenizer
        if row.refusal is None or (tokenizer is not None and tokenizer.template.is_missing):
            return None
        roles = ", ".join(str(turn.get("role")) for turn in row.messages[:6])
        calls = any(turn.get("tool_calls") for turn in row.messages)
        told = f"{roles}, with tool calls" if calls else roles
        return Hit(f"{shortened(row.refusal, 160)} (the row has: {told})")

    def words(self, tally: Tally) -> Words:
        return Words(
            f"{tally.rows_text()} that the model's chat template refuses ({tally.where_text()}); "
            f"for the first it says: {tally.first.value}",
            "what the template does not take cannot become tokens",
            f"change the order of turns in {tally.where_text()} to what the template takes, or choose "
            "another model",
        )
