"""What is wrong with a recipe, in words: unknown keys with the place they belong, wrong values with the value."""

import difflib
from collections.abc import Iterable
from typing import Any

from pydantic_core import ErrorDetails

from surefit.recipe.document import KeyPath
from surefit.recipe.fields import METHODS, field_named, method_keys, parts
from surefit.recipe.problem import RecipeProblem, dotted, shown
from surefit.recipe.words import INSTEAD, LATER_METHODS, SAME_AS
from surefit.recipe.wrong_values import ambiguous_number, wrong_value

_OF_A_KEY = "[key]"
_UNION_STEPS = ("literal[", "tuple[", "constrained-")


def problems_of(errors: Iterable[ErrorDetails], values: dict[str, Any]) -> list[RecipeProblem]:
    """Translate pydantic's errors, one problem a field, in the order of the recipe."""
    found: dict[KeyPath, RecipeProblem] = {}
    kinds: dict[KeyPath, str] = {}
    for error in errors:
        path = _path_in_file(error)
        found.setdefault(path, _problem(path, error, values))
        kinds.setdefault(path, error["type"])
    unknown = [path for path, kind in kinds.items() if kind == "extra_forbidden"]
    return [
        problem
        for path, problem in found.items()
        if kinds[path] != "missing" or not any(_means(one, path) for one in unknown)
    ]


def _means(unknown: KeyPath, field: KeyPath) -> bool:
    """Whether an unknown key is another word for a field, which is then not missing but misspelt."""
    part, key = dotted(unknown[:-1]), str(unknown[-1])
    close = difflib.get_close_matches(key.lower(), [str(field[-1])], n=1, cutoff=0.6)
    return (unknown[:-1] == field[:-1] and bool(close)) or _place_of(part, key) == dotted(field)


def _path_in_file(error: ErrorDetails) -> KeyPath:
    """The error's place in the file: without the steps that only pydantic's unions have."""
    path = list(error["loc"])
    if len(path) > 1 and path[0] == "method" and path[1] in METHODS:
        del path[1]
    return tuple(step for step in path if not str(step).startswith(_UNION_STEPS))


def _problem(path: KeyPath, error: ErrorDetails, values: dict[str, Any]) -> RecipeProblem:
    kind = error["type"]
    if kind == "extra_forbidden":
        return unknown_key(path, error["input"], values)
    if kind == "missing":
        return _missing(path)
    if kind == "in_words":
        words = error["ctx"]
        return RecipeProblem(path, words["what"], words["why"], words["next"])
    if kind == "ambiguous_number":
        return ambiguous_number(path, error["input"])
    if path[-1] == _OF_A_KEY:
        return _unknown_name(path[:-1], error)
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _method_type(error)
    return wrong_value(path, error)


def _unknown_name(path: KeyPath, error: ErrorDetails) -> RecipeProblem:
    """A name that a table of names and values does not take."""
    part, name = dotted(path[:-1]), str(path[-1])
    known = [
        word for word in error.get("ctx", {}).get("expected", "").split("'") if word.isidentifier()
    ]
    known = [word for word in known if word != "or"]
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return RecipeProblem(
        path,
        f"{part} takes no name {name!r}",
        f"the names are {', '.join(known)}",
        f"did you mean {near[0]}?" if near else f"use one of {', '.join(known)}",
    )


def unknown_key(path: KeyPath, value: Any, values: dict[str, Any]) -> RecipeProblem:
    """An unknown key, with where it belongs or what it is most like."""
    part, key = dotted(path[:-1]), str(path[-1])
    own_keys = sorted(parts().get(part, ()))
    what = f"{dotted(path)} is not a field of a recipe"
    why = f"{part or 'a recipe'} has the fields {', '.join(own_keys)}"
    if part == "method" and (owner := _other_method(key, values)):
        name = values["method"].get("type")
        return RecipeProblem(
            path,
            f"{dotted(path)} does not belong to the method {name}",
            f"{key} belongs to {owner}; {name} has {_listed(method_keys(name) - {'type'}) or 'no fields of its own'}",
            f"delete {key} (or replace the whole method with `--set 'method={{type: {name}}}'`), "
            f"or set `method.type: {owner}`",
        )
    belongs = _place_of(part, key)
    if belongs:
        home, _, name = belongs.rpartition(".")
        where = (
            f"{name} belongs under {home}" if home else f"{name} belongs at the top of the recipe"
        )
        same = "" if name == key else f"; what other tools call {key} is {belongs} here"
        return RecipeProblem(path, what, where + same, f"write `{belongs}: {shown(value)}` instead")
    for tool_key in (key, key.replace("-", "_").lower()):
        if tool_key in INSTEAD:
            return RecipeProblem(path, what, why, INSTEAD[tool_key])
    return RecipeProblem(path, what, why, _nearest(part, key, own_keys))


def _other_method(key: str, values: dict[str, Any]) -> str | None:
    method = values.get("method")
    if not isinstance(method, dict) or method.get("type") not in METHODS:
        return None
    return next(
        (name for name in METHODS if name != method["type"] and key in method_keys(name)), None
    )


def _place_of(part: str, key: str) -> str | None:
    """The field that an unknown key means for certain: the same name elsewhere, or another tool's word."""
    plain = key.replace("-", "_").lower()
    if plain != key and plain in parts().get(part, ()):
        return f"{part}.{plain}" if part else plain
    for home, keys in parts().items():
        if home != part and plain in keys:
            return f"{home}.{plain}" if home else plain
    return SAME_AS.get(plain)


def _nearest(part: str, key: str, own_keys: list[str]) -> str:
    close = difflib.get_close_matches(key.lower(), own_keys, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]}? Write `{f'{part}.' if part else ''}{close[0]}`"
    everywhere = {
        name: f"{home}.{name}" if home else name
        for home, names in parts().items()
        for name in names
    }
    close = difflib.get_close_matches(key.lower(), everywhere, n=1, cutoff=0.75)
    if close:
        return f"did you mean `{everywhere[close[0]]}`?"
    return f"leave {key} out; `surefit recipe --example` shows every field"


def _missing(path: KeyPath) -> RecipeProblem:
    name = dotted(path)
    examples = {
        "model": "add a line such as `model: starter`, or a folder that holds a model",
        "data": "add `data: {train: my-chats.jsonl}`",
        "data.train": "add `train: my-chats.jsonl` under data",
    }
    field = field_named(name)
    why = f"it is needed: {field.description}" if field else "every recipe needs it"
    return RecipeProblem(
        path, f"{name} is missing", why.rstrip("."), examples.get(name, f"add {name}")
    )


def _method_type(error: ErrorDetails) -> RecipeProblem:
    value = error["input"].get("type") if isinstance(error["input"], dict) else error["input"]
    path: KeyPath = ("method", "type")
    if value is None:
        return RecipeProblem(
            path,
            "method.type is missing",
            f"the type says which method is meant: {_listed(METHODS)}",
            "add `type: lora` under method, or `--set method.type=lora`",
        )
    name = str(value).lower()
    why = f"this version has the methods {_listed(METHODS)}"
    if name in LATER_METHODS:
        return RecipeProblem(
            path, f"method.type {shown(value)} is not offered", why, "set `method.type: lora`"
        )
    near = difflib.get_close_matches(name, METHODS, n=1, cutoff=0.4) or ["lora"]
    return RecipeProblem(
        path,
        f"method.type must be one of {_listed(METHODS)}; it is {shown(value)}",
        why,
        f"set `method.type: {near[0]}`",
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
