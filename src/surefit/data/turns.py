"""Turns as a template takes them: text parts joined, numbers as text, tool arguments as objects."""

import json
from typing import Any

from surefit.data.row import Row, Turn

_PLAIN_ROLES = frozenset({"user", "assistant", "system"})


def settle_turns(row: Row) -> None:
    """Bring what can be read without loss into the usual form, and note each guess in the row."""
    row.messages = [_settled(turn, row) for turn in row.messages]
    if row.rejected is not None:
        row.rejected = [_settled(turn, row) for turn in row.rejected]
    usual = not (row.notes or row.tools) and row.rejected is None and row.label is None
    row.plain = usual and _is_plain(row.messages)


def _is_plain(turns: list[Turn]) -> bool:
    """Known roles, contents with words, an answer, and nothing else: what most rows are."""
    answered = False
    for turn in turns:
        content, role = turn.get("content"), turn.get("role")
        if len(turn) != 2 or role not in _PLAIN_ROLES or type(content) is not str:
            return False
        if not content or content.isspace() or "</think>" in content:
            return False
        answered = answered or role == "assistant"
    return answered


def _settled(turn: Turn, row: Row) -> Turn:
    content = turn.get("content")
    if type(content) is str and "tool_calls" not in turn and not row.columnar:
        return turn
    if row.columnar:
        turn = {key: value for key, value in turn.items() if value is not None or key == "content"}
    if isinstance(content, list) and content and all(_is_text_part(part) for part in content):
        turn = {**turn, "content": "".join(part["text"] for part in content)}
    elif isinstance(content, (int, float)) and not isinstance(content, bool):
        row.notes.setdefault("number", str(content))
        turn = {**turn, "content": str(content)}
    if turn.get("tool_calls"):
        turn = {**turn, "tool_calls": [_call(call, row) for call in turn["tool_calls"]]}
        if content is None:
            turn.pop("content", None)
            turn["content"] = None
    return turn


def _is_text_part(part: Any) -> bool:
    return (
        isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)
    )


def _call(call: Any, row: Row) -> Any:
    """A tool call whose arguments are an object; nulls that a table format filled in are dropped."""
    if not isinstance(call, dict):
        return call
    function = call.get("function")
    if isinstance(function, dict):
        return {**_bare(call, row), "function": _with_arguments(function, row)}
    return _with_arguments(call, row)


def _with_arguments(function: dict[str, Any], row: Row) -> dict[str, Any]:
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        try:
            parsed = json.loads(arguments)
        except ValueError:
            return function
        return {**function, "arguments": parsed} if isinstance(parsed, dict) else function
    if isinstance(arguments, dict) and row.columnar:
        kept = {key: value for key, value in arguments.items() if value is not None}
        if len(kept) < len(arguments):
            filled = [key for key in arguments if key not in kept]
            row.notes.setdefault("null_arguments", ", ".join(filled[:6]))
        return {**function, "arguments": kept}
    return function


def _bare(call: dict[str, Any], row: Row) -> dict[str, Any]:
    return (
        {key: value for key, value in call.items() if value is not None} if row.columnar else call
    )
