"""Every field of a recipe with its type in words: the one list behind messages, schema and reference."""

import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from surefit.recipe.schema import (
    DoraMethod,
    FullMethod,
    LoraMethod,
    QloraMethod,
    Recipe,
    RsLoraMethod,
)

NAMES = "names with their values"


@dataclass(frozen=True)
class RecipeField:
    """One field, as the reference page and the messages describe it."""

    path: str
    type_words: str
    default: Any
    required: bool
    description: str
    part: str | None = None

    @property
    def default_text(self) -> str:
        """The default as it would be written in a recipe; empty where one is needed or the plan decides."""
        if self.required or self.default is None:
            return ""
        return str(self.default).lower() if isinstance(self.default, bool) else str(self.default)


METHODS: dict[str, type[BaseModel]] = {
    "full": FullMethod,
    "lora": LoraMethod,
    "rslora": RsLoraMethod,
    "dora": DoraMethod,
    "qlora": QloraMethod,
}


def fields() -> tuple[RecipeField, ...]:
    """Every field in the order of a recipe.

    A field of a method stands once, with the method it belongs to in `part`; `method.type` stands once.
    """
    return tuple(_fields_of(Recipe, ""))


def recipe_schema() -> dict[str, Any]:
    """The JSON schema of a recipe (draft 2020-12), for editors and forms."""
    schema = Recipe.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


@cache
def parts() -> dict[str, frozenset[str]]:
    """The keys of each part: `""` is the recipe itself, `method` holds those of all methods."""
    found: dict[str, set[str]] = {}
    for field in fields():
        pieces = field.path.split(".")
        for depth, key in enumerate(pieces):
            found.setdefault(".".join(pieces[:depth]), set()).add(key)
    return {part: frozenset(keys) for part, keys in found.items()}


@cache
def field_named(path: str) -> RecipeField | None:
    """The field with this path, or None."""
    return next((field for field in fields() if field.path == path), None)


def method_keys(name: str) -> frozenset[str]:
    """The keys that a method has."""
    return frozenset(METHODS[name].model_fields)


def _fields_of(model: type[BaseModel], prefix: str) -> Iterator[RecipeField]:
    for name, info in model.model_fields.items():
        path = f"{prefix}{name}"
        if path == "method":
            yield from _method_fields()
        elif isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from _fields_of(info.annotation, f"{path}.")
        else:
            yield _field(path, info, None)


def _method_fields() -> Iterator[RecipeField]:
    summaries = (f"`{name}`: {_first_line(kind)}" for name, kind in METHODS.items())
    yield RecipeField("method.type", _one_of(tuple(METHODS)), "lora", False, " ".join(summaries))
    owners: dict[str, list[str]] = {}
    infos: dict[str, FieldInfo] = {}
    for method, kind in METHODS.items():
        for name, info in kind.model_fields.items():
            if name != "type":
                owners.setdefault(name, []).append(method)
                infos.setdefault(name, info)
    for name, info in infos.items():
        yield _field(f"method.{name}", info, ", ".join(owners[name]))


def _field(path: str, info: FieldInfo, part: str | None) -> RecipeField:
    required = info.is_required()
    default = None if info.default is PydanticUndefined else info.default
    return RecipeField(path, _words(info), default, required, info.description or "", part)


def _first_line(model: type[BaseModel]) -> str:
    return (model.__doc__ or "").strip().splitlines()[0]


def _words(info: FieldInfo) -> str:
    return _type_words(info.annotation) + _bounds(info.metadata)


def _type_words(kind: Any) -> str:
    if get_origin(kind) is Annotated:
        return _type_words(get_args(kind)[0])
    if get_origin(kind) is Literal:
        return _one_of(get_args(kind))
    if get_origin(kind) in (Union, types.UnionType):
        options = [option for option in get_args(kind) if option is not type(None)]
        return " or ".join(_type_words(option) for option in options)
    if get_origin(kind) is tuple:
        return "a list of names"
    if get_origin(kind) is dict:
        return NAMES
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
    return words[kind]


def _bounds(metadata: list[Any]) -> str:
    words = []
    for bound in metadata:
        if isinstance(bound, Ge):
            words.append(f"at least {bound.ge:,}")
        elif isinstance(bound, Gt):
            words.append(f"greater than {bound.gt:,}")
        elif isinstance(bound, Le):
            words.append(f"at most {bound.le:,}")
        elif isinstance(bound, Lt):
            words.append(f"less than {bound.lt:,}")
    return f", {' and '.join(words)}" if words else ""


def _one_of(options: tuple[Any, ...]) -> str:
    return " or ".join(f"`{option}`" for option in options)
