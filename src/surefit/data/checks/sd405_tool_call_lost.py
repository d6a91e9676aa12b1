"""SD405: the chat template loses a tool call."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row


class ToolCallLost(Check):
    """The chat template loses a tool call.

    ## What it does
    Looks for the name of every called function in the text that the template makes.

    ## Why it is bad
    The model would learn an empty answer where it should call.

    ## Example
    A ChatML template without tools.

    ## What to do
    Choose a model whose template prints tool calls, or write the calls as text.
    """

    code = "SD405"
    title = "tool call lost in the template"
    severity = "refuse"
    stages = frozenset({Stage.RENDERED})
    only_unusual = True
    drops_row = True
    message = (
        "{rows} with a tool call that the model's chat template does not print ({where}); the"
        " first: {value}"
    )
    why = "the model would learn to say nothing where it should call"
    next_step = "choose a model whose template has tools, or write the calls as text"

    def of_row(self, row: Row) -> Hit | None:
        if row.refusal is not None:
            return None
        for turn in row.messages:
            for call in turn.get("tool_calls") or ():
                name = call.get("function", call).get("name")
                if name and name not in row.rendered.text:
                    return Hit(name)
        return None
