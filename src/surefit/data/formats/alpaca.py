"""Alpaca: an instruction, mostly an input, and the output."""

from collections.abc import Mapping
from typing import Any

from surefit.data.formats.shape import Columns, Format
from surefit.data.row import Row


class Alpaca(Format):
    """`instruction`, `input`?, `output`, `system`?"""

    name = "alpaca"
    columns = Columns(("instruction", "output"), ("input", "system"), {"response": "output"})

    @classmethod
    def shape(cls, row: Row, value: Mapping[str, Any]) -> None:
        """Instruction and input become the question, a blank line between them."""
        question, more = value.get("instruction"), value.get("input")
        if isinstance(question, str) and isinstance(more, str) and more.strip():
            question = f"{question}\n\n{more}" if question.strip() else more
        row.messages = [
            {"role": "user", "content": question},
            {"role": "assistant", "content": value.get("output")},
        ]
        row.turn_names = ["instruction", "output"]
        add_system(row, value)


def add_system(row: Row, value: Mapping[str, Any]) -> None:
    """Put a system text before the turns, where the row has one."""
    system = value.get("system")
    if isinstance(system, str) and system.strip():
        row.messages.insert(0, {"role": "system", "content": system})
        row.turn_names.insert(0, "system")
