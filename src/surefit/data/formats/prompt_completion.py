"""Prompt and completion: texts, or lists of turns. Only the completion is trained."""

from collections.abc import Mapping
from typing import Any

from surefit.data.formats.alpaca import add_system
from surefit.data.formats.messages import read_tools
from surefit.data.formats.shape import Columns, Format
from surefit.data.row import Row, Turn


class PromptCompletion(Format):
    """`prompt`, `completion`: each text or a list of turns."""

    name = "prompt_completion"
    columns = Columns(
        ("prompt", "completion"),
        ("system", "tools"),
        {
            "question": "prompt",
            "query": "prompt",
            "input": "prompt",
            "response": "completion",
            "answer": "completion",
            "output": "completion",
            "reply": "completion",
        },
    )

    @classmethod
    def shape(cls, row: Row, value: Mapping[str, Any]) -> None:
        """The prompt is the question, the completion the answer."""
        before, prompt_names = turns_of("prompt", "user", value.get("prompt"))
        after, names = turns_of("completion", "assistant", value.get("completion"))
        row.messages = [*untrained(before), *after]
        row.turn_names = prompt_names + names
        add_system(row, value)
        read_tools(row, value)


def turns_of(column: str, role: str, content: Any) -> tuple[list[Turn], list[str]]:
    """A column as turns, and what they are called: one turn of `role`, or the turns it holds."""
    if isinstance(content, list) and content and all(is_turn(turn) for turn in content):
        return content, [f"{column} turn {number + 1}" for number in range(len(content))]
    return [{"role": role, "content": content}], [column]


def is_turn(value: Any) -> bool:
    """Whether a value is a turn with a role."""
    return isinstance(value, dict) and "role" in value


def untrained(turns: list[Turn]) -> list[Turn]:
    """The turns with every answer marked as carrying no loss."""
    return [{**turn, "weight": 0} if turn.get("role") == "assistant" else turn for turn in turns]
