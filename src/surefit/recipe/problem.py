"""One thing that is wrong with a recipe, and values as messages show them."""

from dataclasses import dataclass
from typing import Any

from surefit.recipe.document import KeyPath
from surefit.units import shortened

_LONGEST_WHOLE = 10**60  # Python itself refuses to write out a number of more than 4,300 digits


@dataclass(frozen=True)
class RecipeProblem:
    """One thing that is wrong, before its place in the file is known."""

    path: KeyPath
    what: str
    why: str
    next_step: str

    @property
    def field(self) -> str:
        """The path as a person writes it: ``goal.epochs``."""
        return dotted(self.path)


def dotted(path: KeyPath) -> str:
    """A path of keys as a person writes it: ``method.targets[0]``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def shown(value: Any) -> str:
    """A value on one line, as it would stand in a recipe; cut where it is long."""
    if isinstance(value, str):
        return repr(shortened(value))
    return shortened(_plain(value)) if value is not None else "empty"


def _plain(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) >= _LONGEST_WHOLE:
        return "a whole number of more than 60 digits"
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_plain(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_plain, value)) + "]"
    return str(value)
