"""A recipe's text as values, with the line of every key and value kept.

YAML is read by PyYAML's safe loader with the scalars of YAML 1.2: `3e-5` is a number, `no` is text.
`010`, eight for YAML 1.1 and ten for 1.2, stays text and is refused where a number is needed. Tags,
anchors and aliases are refused: a recipe holds nothing that needs them. JSON is read by the standard
library; its lines come from the same scanner.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from surefit.errors import RecipeError

KeyPath = tuple[str | int, ...]
MAX_BYTES = 1_000_000
_MAX_DEPTH = 20
_PLAIN = ("str", "int", "float", "bool", "null", "map", "seq")


@dataclass(frozen=True)
class Document:
    """Values, and the line (from 1) of each path of keys in them."""

    values: Any
    lines: dict[KeyPath, int]

    def line_of(self, path: KeyPath) -> int | None:
        """The line of a path, or of the nearest part above it that is written down."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None


class _Scanner(yaml.SafeLoader):
    """The safe loader with YAML 1.2's scalars, without aliases and without deep nesting."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - filled below, as PyYAML does
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _RefusedError(
                "anchors (&name) and aliases (*name) are not read", event.start_mark.line
            )
        if self.depth >= _MAX_DEPTH:
            raise _RefusedError(
                "the nesting is deeper than any recipe needs", event.start_mark.line
            )
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(0|[1-9][0-9]*)", list("-+0123456789")),
    (
        "float",
        r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
):
    _Scanner.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})$"), _first
    )


class _RefusedError(Exception):
    """Something in the text that a recipe may not hold, with its line from 0."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what, self.line = what, line


def read_document(text: str, name: str, *, is_json: bool = False) -> Document:
    """Read a recipe's text.

    Args:
        text: YAML, or JSON when `is_json`.
        name: the file's name as the person typed it; it begins every message.

    Raises:
        RecipeError: the text is no YAML (or JSON), repeats a key, or holds tags or aliases.
    """
    if is_json:
        return _read_json(text, name)
    try:
        return _compose(text)
    except _RefusedError as refusal:
        raise _unreadable(name, refusal.line, refusal.what) from refusal
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line if mark else 0
        raise _unreadable(name, line, _yaml_words(error, text, line)) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position)
        what = f"the character U+{ord(text[error.position]):04X} cannot stand in a text file"
        raise _unreadable(name, line, what) from error


def read_value(text: str) -> Any:
    """The value that stands behind `--set key=`: as in YAML, a list or table only in brackets.

    Raises:
        ValueError: brackets or quotes do not close.
    """
    if text.strip()[:1] not in ("[", "{", '"', "'"):
        tag = _Scanner("").resolve(yaml.ScalarNode, text.strip(), (True, False))  # type: ignore[no-untyped-call]
        return _scalar(tag, text.strip())
    try:
        return _compose(text).values
    except (_RefusedError, yaml.YAMLError) as error:
        raise ValueError("its brackets or quotes do not close") from error


def _compose(text: str) -> Document:
    scanner = _Scanner(text)
    try:
        node = scanner.get_single_node()
    finally:
        scanner.dispose()
    lines: dict[KeyPath, int] = {}
    return Document(None if node is None else _value(node, (), lines), lines)


def _value(node: yaml.Node, path: KeyPath, lines: dict[KeyPath, int]) -> Any:
    lines.setdefault(path, node.start_mark.line + 1)
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    if kind not in _PLAIN:
        shown = f"!!{kind}" if kind != node.tag else node.tag
        raise _RefusedError(
            f"the tag {shown} is not read: a recipe holds plain values only", node.start_mark.line
        )
    if isinstance(node, yaml.MappingNode):
        return _table(node, path, lines)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*path, number), lines) for number, item in enumerate(node.value)]
    return _scalar(node.tag, node.value)


def _table(node: yaml.MappingNode, path: KeyPath, lines: dict[KeyPath, int]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line
        if not isinstance(key_node, yaml.ScalarNode):
            raise _RefusedError("a key must be a word", line)
        key = str(key_node.value)
        if key in table:
            first = lines[(*path, key)]
            raise _RefusedError(
                f"the key {key!r} stands twice (first on line {first}); keep one", line
            )
        lines[(*path, key)] = line + 1
        table[key] = _value(value_node, (*path, key), lines)
    return table


def _scalar(tag: str, text: str) -> Any:
    kind = tag.removeprefix("tag:yaml.org,2002:")
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() == "true"
    try:
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        return text
    return text


def _read_json(text: str, name: str) -> Document:
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise _unreadable(
            name, error.lineno - 1, f"this is no JSON: {error.msg}", "JSON"
        ) from error
    except RecursionError as error:
        raise _unreadable(name, 0, "the nesting is deeper than any recipe needs", "JSON") from error
    except ValueError as error:  # Python reads no number of more than 4,300 digits
        line = text.count("\n", 0, _longest_number(text))
        raise _unreadable(
            name, line, "a number has more digits than can be read", "JSON"
        ) from error
    try:
        # A tab may stand between the parts of JSON but not inside its strings, so this changes no value.
        lines = _compose(text.replace("\t", " ")).lines
    except _RefusedError as refusal:
        raise _unreadable(name, refusal.line, refusal.what, "JSON") from refusal
    except yaml.YAMLError:
        lines = {(): 1}
    return Document(values, lines)


def _longest_number(text: str) -> int:
    """Where the longest row of digits begins."""
    return max(re.finditer(r"[0-9]+", text), key=lambda found: len(found.group())).start()


def _unreadable(name: str, line: int, what: str, language: str = "YAML") -> RecipeError:
    return RecipeError(
        what,
        f"{name} was read as {language} up to line {line + 1}",
        f"correct line {line + 1} of {name}; `surefit recipe --example` prints a complete recipe",
        where=f"{name}:{line + 1}",
        details={"problems": [{"file": name, "line": line + 1, "field": None, "what": what}]},
    )


def _yaml_words(error: yaml.MarkedYAMLError, text: str, line: int) -> str:
    """A scanner's complaint in words that tell what to change."""
    problem = error.problem or ""
    lines = text.splitlines() or [""]
    row = lines[min(line, len(lines) - 1)]
    if "\t" in row[: len(row) - len(row.lstrip())] or "'\\t'" in problem:
        return "a tab stands here where YAML wants spaces"
    for pattern, words in _COMPLAINTS:
        if pattern in problem:
            return words
    return f"this is no YAML: {problem or error.context or error}"


def _complaints() -> Iterator[tuple[str, str]]:
    yield (
        "mapping values are not allowed",
        "a colon stands where none can: check the indentation, or quote the value",
    )
    yield (
        "could not find expected ':'",
        "a colon is missing after the key on this line or the one before",
    )
    yield "expected <block end>", "the indentation does not match the lines above"
    yield "expected ',' or ']'", "a list opened with [ is not closed, or a comma is missing"
    yield "expected ',' or '}'", "a table opened with { is not closed, or a comma is missing"
    yield "unexpected end of stream", "a quote opened here is never closed"
    yield (
        "cannot start any token",
        "this line begins a value with a sign that YAML keeps for itself: quote the value",
    )
    yield (
        "could not determine a constructor",
        "this tag is not read: a recipe holds plain values only",
    )
    yield "undefined tag handle", "this tag is not read: a recipe holds plain values only"
    yield "but found another document", "a second document begins here (---); a recipe is one"


_COMPLAINTS = tuple(_complaints())
