"""`--set goal.epochs=3`: changes to a recipe from the command line, checked like the file."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefit.errors import UsageError
from surefit.recipe.document import KeyPath, read_value
from surefit.recipe.fields import NAMES, field_named, parts
from surefit.recipe.problem import dotted, shown

EMPTY = "''"  # as a shell shows it
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
                    f"{step} is {shown(inner)} in the recipe, not a table of fields",
                    f"correct {step} in the recipe first",
                )
            table = inner
        table[str(change.path[-1])] = change.value
    return changed


def _read(text: str, base_folder: Path) -> Override:
    key, equals, written = text.partition("=")
    path = tuple(step.strip() for step in key.split("."))
    if not equals or not all(path):
        raise UsageError(
            f"--set {text.strip() or EMPTY} is no key=value",
            "a change names a field with dots, an equals sign and the value",
            "write it like `--set goal.epochs=3`",
        )
    _refuse_no_value(path, written, text)
    _refuse_inside_a_value(path, written, text)
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


def _refuse_no_value(path: KeyPath, written: str, text: str) -> None:
    """`--set goal=` would throw away what the recipe says without a word."""
    if written.strip():
        return
    name = dotted(path)
    field, inner = field_named(name), parts().get(name)
    if field is None and inner is None:
        return  # an unknown field, which is the worse mistake
    example = f"{name}=VALUE" if inner is None else f"{name}.{min(inner)}=VALUE"
    default = f", or `--set {name}=null` for its default" if field and not field.required else ""
    raise UsageError(
        f"--set {text.strip()} gives no value",
        "nothing stands behind the equals sign",
        f"write `--set {example}`{default}",
    )


def _refuse_inside_a_value(path: KeyPath, written: str, text: str) -> None:
    """`goal.epochs.x=3` goes into a field that is a number."""
    for length in range(1, len(path)):
        field = field_named(dotted(path[:length]))
        if field is not None and not (field.type_words == NAMES and length + 1 == len(path)):
            raise UsageError(
                f"--set {text}: {field.path} has no fields",
                f"{field.path} is {field.type_words}",
                f"write `--set {field.path}={written.strip()}`",
            )


def _found_here(value: str, base_folder: Path) -> str:
    """A path typed at the shell starts at the shell's folder, unless only the recipe's folder has it."""
    here = Path(value).expanduser()
    if value != "starter" and here.exists() and not (base_folder / here).exists():
        return str(here.absolute())
    return value
