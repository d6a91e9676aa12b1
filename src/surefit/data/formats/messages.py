"""OpenAI messages: a list of turns with role and content, with tools and tool calls where given."""

from collections.abc import Mapping
from typing import Any

from surefit.data.formats.shape import Columns, Format, parsed_text, turn_list
from surefit.data.row import Row


class Messages(Format):
    """`messages`: [{role, content, tool_calls?, reasoning_content?, weight?}], `tools`?"""

    name = "messages"
    columns = Columns(("messages",), ("tools", "system"))

    @classmethod
    def recognises(cls, value: Mapping[str, Any]) -> bool:
        """`messages`, or `conversations` whose turns have roles; not ShareGPT's from and value."""
        return _column(value) is not None

    @classmethod
    def shape(cls, row: Row, value: Mapping[str, Any]) -> None:
        """Turns as they are."""
        row.messages = turn_list(row, value, _column(value) or "messages")
        read_tools(row, value)


def read_tools(row: Row, value: Mapping[str, Any]) -> None:
    """Tool schemas beside the turns: a list, or a list stored as text."""
    tools = value.get("tools")
    if isinstance(tools, str) and tools.strip():
        notes = dict(row.notes)
        tools = parsed_text(row, "tools", tools)
        row.notes = notes  # tools are stored as text by many on purpose: no guess to report
    row.tools = tools if isinstance(tools, list) and tools else None


def _column(value: Mapping[str, Any]) -> str | None:
    if "messages" in value:
        return None if _has_from(value["messages"]) else "messages"
    for name in ("conversations", "conversation"):
        turns = value.get(name)
        if isinstance(turns, list) and turns and isinstance(turns[0], dict) and "role" in turns[0]:
            return name
    return None


def _has_from(turns: Any) -> bool:
    first = turns[0] if isinstance(turns, list) and turns else None
    return isinstance(first, dict) and "from" in first and "role" not in first
