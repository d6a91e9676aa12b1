"""`--set goal.epochs=3`: changes to a recipe from the command line, checked like the file."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefit.errors import UsageError
from surefit.recipe.document import KeyPath, read_value

_FILES: tuple[KeyPath, ...] = (("model",), ("data", "train"), ("data", "eval"))


@dataclass(frozen=True)
class Override:
    """One change: the path of keys, the value, and the text as it was typed."""

    path: KeyPath
    value: Any
    text: str


def read_overrides(texts: Sequence[str], base_folder: Path) -> list[Override]:
    """Read `key=value` texts. A file that lies where the command was typed is found there.

    Raises:
        UsageError: a text is no `key=value`.
    """
    return [_read(text, base_folder) for text in texts]


def apply_overrides(values: Mapping[str, Any], changes: Sequence[Override]) -> dict[str, Any]:
    """The values with the changes in them; the given values stay as they are.

    Raises:
        UsageError: a change goes into something that is no table.
    """
    changed = copy.deepcopy(dict(values))
    for change in changes:
        table = changed
        for step in change.path[:-1]:
            inner = table.get(str(step))
            if inner is None:
                inner = table[str(step)] = {}
            if not isinstance(inner, dict):
                raise UsageError(
                    f"--set {change.text} cannot be applied",
                    f"{step} is {inner!r} in the recipe, not a table of fields",
                    f"correct {step} in the recipe first",
                )
            table = inner
        table[str(change.path[-1])] = change.value
    return changed


def _read(text: str, base_folder: Path) -> Override:
    key, equals, written = text.partition("=")
    path = tuple(key.strip().split("."))
    if not equals or not all(path):
        raise UsageError(
            f"--set {text} is no key=value",
            "a change names a field with dots, an equals sign and the value",
            "write it like `--set goal.epochs=3`",
        )
    try:
        value = read_value(written)
    except ValueError as error:
        raise UsageError(
            f"--set {text} has a value that cannot be read",
            str(error),
            "put the whole option in single quotes, such as `--set 'method={type: lora, rank: 8}'`",
        ) from error
    if path in _FILES and isinstance(value, str):
        value = _found_here(value, base_folder)
    return Override(path, value, text)


def _found_here(value: str, base_folder: Path) -> str:
    """A path typed at the shell starts at the shell's folder, unless only the recipe's folder has it."""
    here = Path(value).expanduser()
    if value != "starter" and here.exists() and not (base_folder / here).exists():
        return str(here.absolute())
    return value
