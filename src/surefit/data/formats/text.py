"""Plain text: every token is trained."""

from collections.abc import Mapping
from typing import Any

from surefit.data.formats.shape import Columns, Format, type_name
from surefit.data.row import Row


class PlainText(Format):
    """`text`."""

    name = "text"
    columns = Columns(("text",))

    @classmethod
    def shape(cls, row: Row, value: Mapping[str, Any]) -> None:
        """The text as it is."""
        text = value.get("text")
        if isinstance(text, str):
            row.text = text
        else:
            row.problem = f"text is {type_name(text)}"
