"""SD313: a tool answers that nobody called."""

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row


class ToolAnswerAlone(Check):
    """A tool answers that nobody called.

    ## What it does
    Looks for tool turns before the first tool call of a row.

    ## Why it is bad
    The call was lost in the export, so the model never sees how to call.

    ## Example
    user, tool, assistant

    ## What to do
    Export the calls too (`tool_calls`).
    """

    code = "SD313"
    title = "tool answer without a call"
    severity = "warn"
    stages = frozenset({Stage.TURNS})
    only_unusual = True
    message = "{rows} with a tool turn that no call precedes ({where})"
    why = "the call was probably lost in the export, so the model never learns to call"
    next_step = "export the tool_calls of {where} too"

    def of_row(self, row: Row) -> Hit | None:
        for turn in row.messages:
            if turn.get("tool_calls"):
                return None
            if turn.get("role") == "tool":
                return Hit()
        return None
