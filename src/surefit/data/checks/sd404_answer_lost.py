"""SD404: the chat template loses an answer."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row
from surefit.units import shortened


class AnswerLost(Check):
    """The chat template loses an answer.

    ## What it does
    Looks for the words of every answer in the text that the template makes.

    ## Why it is bad
    What the template leaves out is not trained, whatever the file says.

    ## Example
    A template that prints only the last turn.

    ## What to do
    Choose a model whose template prints every turn, or change the rows to what it prints.
    """

    code = "SD404"
    title = "answer lost in the template"
    severity = "refuse"
    stages = frozenset({Stage.RENDERED})
    drops_row = True
    message = (
        "{rows} with an answer that the model's chat template does not print ({where}); the "
        "first: {value}"
    )
    why = "what the template leaves out is not trained"
    next_step = "choose a model whose template prints every turn, or leave {where} out"

    def of_row(self, row: Row) -> Hit | None:
        if row.refusal is not None or row.text is not None:
            return None
        text = row.rendered.text
        for turn in row.messages:
            content = turn.get("content")
            if turn.get("role") == "assistant" and isinstance(content, str):
                said = content.rsplit("</think>", 1)[-1].strip()
                if said and said not in text:
                    return Hit(shortened(said))
        return None
