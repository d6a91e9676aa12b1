"""What a format is: the columns it is known by, and how a row of it becomes turns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from surefit.data.row import Row, Turn


@dataclass(frozen=True)
class Columns:
    """The columns that a format needs, with other names that are understood.

    Args:
        needed: names without which the format is not recognised.
        optional: names that it also reads.
        aliases: other names in use, name in a file -> name in the format.
    """

    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)


class Format:
    """A format of rows. One is chosen for a data set; each row says for itself what it looks like."""

    name: ClassVar[str]
    columns: ClassVar[Columns]
    trainable: ClassVar[bool] = True
    """Whether supervised fine-tuning takes it."""

    @classmethod
    def recognises(cls, value: Mapping[str, Any]) -> bool:
        """Whether a row with these columns is of this format."""
        return all(name in value for name in cls.columns.needed)

    @classmethod
    def shape(cls, row: Row, value: Mapping[str, Any]) -> None:
        """Fill the row's turns or text from its columns, or say in `row.problem` why that fails."""
        raise NotImplementedError


def turn_list(row: Row, value: Mapping[str, Any], column: str) -> list[Turn]:
    """The turns of a column; text is parsed. Problems go into `row.problem`."""
    turns = value.get(column)
    if isinstance(turns, str):
        turns = parsed_text(row, column, turns)
    if not isinstance(turns, list):
        row.problem = f"{column} is {type_name(turns)}"
        return []
    wrong = next((turn for turn in turns if not isinstance(turn, dict)), None)
    if wrong is not None:
        row.problem = f"a turn in {column} is {type_name(wrong)}"
        return []
    return turns


def parsed_text(row: Row, column: str, text: str) -> Any:
    """A value that was stored as text: JSON, or what Python prints. The guess is noted."""
    import ast
    import json

    try:
        value = json.loads(text)
        row.notes["json_text"] = column
    except (ValueError, RecursionError):
        try:
            value = ast.literal_eval(text)
            row.notes["python_text"] = column
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return text
    return value


def type_name(value: object) -> str:
    """What a value is, in words a reader of JSON knows, with a piece of it."""
    from surefit.units import shortened

    if value is None:
        return "null"
    names = {str: "text", dict: "an object", list: "a list", bool: "true or false"}
    kind = names.get(
        type(value), "a number" if isinstance(value, (int, float)) else "something else"
    )
    return f"{kind} ({shortened(str(value), 40)})"
