"""SD314: a tool call has no name or no readable arguments."""

from typing import Any

from surefit.data.checks.check import Check, Hit, Stage
from surefit.data.row import Row
from surefit.units import shortened


class ToolCallShape(Check):
    """A tool call has no name or no readable arguments.

    ## What it does
    Checks that each tool call names a function and that its arguments are an object, or text
    that holds one.

    ## Why it is bad
    Templates print such a call half, or fail.

    ## Example
    `{"function": {"arguments": "{city: Lima}"}}`

    ## What to do
    Write name and arguments as the tool wants them.
    """

    code = "SD314"
    title = "malformed tool call"
    severity = "refuse"
    stages = frozenset({Stage.TURNS})
    only_unusual = True
    drops_row = True
    message = "{rows} with a malformed tool call ({where}); the first: {value}"
    why = "a template prints such a call half, or fails"
    next_step = "write the name and the arguments of {where} as JSON"

    def of_row(self, row: Row) -> Hit | None:
        for turn in row.messages:
            calls = turn.get("tool_calls")
            if calls and not (isinstance(calls, list) and all(_is_call(call) for call in calls)):
                return Hit(shortened(str(calls)))
        return None


def _is_call(call: Any) -> bool:
    function = call.get("function", call) if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return False
    return isinstance(function.get("arguments", {}), dict)
