"""SD412: the chat template does not print the tools."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row


class ToolsNotShown(Check):
    """The chat template does not print the tools.

    ## What it does
    Looks for the names of the given tools in the text that the template makes.

    ## Why it is bad
    The model learns to call tools it was never told of.

    ## Example
    `tools` beside the messages, and a template that ignores them.

    ## What to do
    Describe the tools in the system turn, or choose a model whose template prints them.
    """

    code = "SD412"
    title = "tools not shown"
    severity = "warn"
    stages = frozenset({Stage.RENDERED})
    only_unusual = True
    message = (
        "{rows} with tools that the model's chat template does not print ({where}); the "
        "first: {value}"
    )
    why = "the model would learn to call tools that it was not told of"
    next_step = (
        "describe the tools in the system turn, or choose a model whose template prints them"
    )

    def of_row(self, row: Row) -> Hit | None:
        if row.refusal is not None or not row.tools:
            return None
        for tool in row.tools:
            function = tool.get("function", tool) if isinstance(tool, dict) else {}
            name = function.get("name") if isinstance(function, dict) else None
            if isinstance(name, str) and name not in row.rendered.text:
                return Hit(name)
        return None
