"""ShareGPT: turns with `from` and `value`."""

import json
from collections.abc import Mapping
from typing import Any

from surefit.data.formats.messages import read_tools
from surefit.data.formats.shape import Columns, Format, turn_list
from surefit.data.row import Row, Turn

_ROLES = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "model": "assistant",
    "system": "system",
    "function_call": "assistant",
    "tool_call": "assistant",
    "observation": "tool",
    "tool": "tool",
    "function_response": "tool",
    "tool_response": "tool",
}
_CALLS = frozenset({"function_call", "tool_call"})


class ShareGpt(Format):
    """`conversations`: [{from: human|gpt|system|function_call|observation, value}], `system`?"""

    name = "sharegpt"
    columns = Columns(("conversations",), ("system", "tools"))

    @classmethod
    def recognises(cls, value: Mapping[str, Any]) -> bool:
        """A list of turns under one of the usual names; OpenAI messages were asked before."""
        return _column(value) is not None

    @classmethod
    def shape(cls, row: Row, value: Mapping[str, Any]) -> None:
        """Roles by their usual names; a function call becomes a tool call."""
        turns = turn_list(row, value, _column(value) or "conversations")
        row.messages = [_turn(turn) for turn in turns]
        system = value.get("system")
        if isinstance(system, str) and system.strip() and row.messages:
            row.messages.insert(0, {"role": "system", "content": system})
            row.turn_names = ["system", *(f"turn {number + 1}" for number in range(len(turns)))]
        read_tools(row, value)


def _column(value: Mapping[str, Any]) -> str | None:
    return next(
        (name for name in ("conversations", "conversation", "messages") if name in value), None
    )


def _turn(turn: Turn) -> Turn:
    speaker = turn.get("from", turn.get("role"))
    role = _ROLES.get(speaker, speaker) if isinstance(speaker, str) else speaker
    content = turn.get("value", turn.get("content"))
    extra = {"weight": turn["weight"]} if "weight" in turn else {}
    call = _call(content) if speaker in _CALLS else None
    if call is not None:
        calls = call if isinstance(call, list) else [call]
        functions = [{"type": "function", "function": one} for one in calls]
        return {"role": "assistant", "content": "", "tool_calls": functions, **extra}
    return {"role": role, "content": content, **extra}


def _call(content: Any) -> Any:
    try:
        call = json.loads(content)
    except (TypeError, ValueError):
        return None
    calls = call if isinstance(call, list) else [call]
    return call if calls and all(isinstance(one, dict) and "name" in one for one in calls) else None
