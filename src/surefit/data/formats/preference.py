"""Preference pairs, and single answers with a thumb up or down."""

from collections.abc import Mapping
from typing import Any

from surefit.data.formats.prompt_completion import turns_of
from surefit.data.formats.shape import Columns, Format, type_name
from surefit.data.row import Row


class Preference(Format):
    """`chosen`, `rejected`, `prompt`?: texts or lists of turns; without prompt, it is in both."""

    name = "preference"
    columns = Columns(("chosen", "rejected"), ("prompt", "system"))
    trainable = False

    @classmethod
    def shape(cls, row: Row, value: Mapping[str, Any]) -> None:
        """The chosen conversation as turns, the other one in `rejected`."""
        before = turns_of("prompt", "user", value["prompt"])[0] if "prompt" in value else []
        chosen, names = turns_of("chosen", "assistant", value.get("chosen"))
        rejected, _ = turns_of("rejected", "assistant", value.get("rejected"))
        row.messages, row.rejected = [*before, *chosen], [*before, *rejected]
        row.turn_names = ["prompt"] * len(before) + names


class UnpairedPreference(Format):
    """`prompt`, `completion`, `label`: true for a wanted answer."""

    name = "unpaired_preference"
    columns = Columns(("prompt", "completion", "label"))
    trainable = False

    @classmethod
    def recognises(cls, value: Mapping[str, Any]) -> bool:
        """A label is a truth value; a text or a class number is another column."""
        return super().recognises(value) and isinstance(value["label"], bool)

    @classmethod
    def shape(cls, row: Row, value: Mapping[str, Any]) -> None:
        """Prompt and completion as turns."""
        before, prompt_names = turns_of("prompt", "user", value.get("prompt"))
        after, names = turns_of("completion", "assistant", value.get("completion"))
        row.messages, row.turn_names = [*before, *after], prompt_names + names
        label = value.get("label")
        if isinstance(label, bool):
            row.label = label
        else:
            row.problem = f"label is {type_name(label)}"
