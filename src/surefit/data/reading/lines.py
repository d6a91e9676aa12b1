"""JSON lines: one value a line, each read by itself."""

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson

from surefit.data.reading.sniff import BYTE_ORDER_MARK, open_unpacked
from surefit.data.row import Broken, DataFile, Row

_MAYBE_HALF = re.compile(r"\\ud[89a-f]", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]+")
_NOT_A_NUMBER = re.compile(r"\b(NaN|-?Infinity)\b")


def read_lines(file: DataFile) -> Iterator[Row]:
    """The rows of a JSON lines file. Blank lines count and are skipped; only a line feed ends one."""
    try:
        with open_unpacked(file) as handle:
            for number, line in enumerate(handle, start=1):
                raw = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
                stripped = raw.strip(b" \t\r\n")
                if stripped:
                    yield parsed_row(file, number, stripped, ended=raw.endswith(b"\n"))
    except EOFError:
        file.problem = "cut"
        file.detail = "the compressed file ends before its end-of-stream mark"
    except OSError as error:
        file.problem, file.detail = "damaged", str(error)


def parsed_row(file: DataFile, number: int, raw: bytes, *, ended: bool = True) -> Row:
    """A row from a line; `ended` says whether a line feed followed."""
    try:
        return Row(file, number, raw, orjson.loads(raw))
    except orjson.JSONDecodeError as error:
        notes: dict[str, str] = {}
        value = _read_tolerantly(raw, error, notes, ended)
        return Row(file, number, raw, value, notes=notes)


def _read_tolerantly(
    raw: bytes, error: orjson.JSONDecodeError, notes: dict[str, str], ended: bool
) -> Any:
    """Python's own parser takes NaN, and says what it expected where it fails."""
    try:
        text = raw.decode("utf-8")
        value = json.loads(text)
    except UnicodeDecodeError as broken:
        return Broken(f"byte 0x{raw[broken.start]:02X} is not UTF-8", broken.start, "utf8")
    except json.JSONDecodeError as broken:
        return _broken_json(broken, raw, ended)
    except RecursionError:
        return Broken("a value is nested too deeply to be read", 0, "deep")
    except ValueError:  # Python reads no whole number of more than 4,300 digits
        return too_many_digits(text)
    if (half := half_character(text, value)) is not None:
        return half
    found = _NOT_A_NUMBER.search(text)
    if found is not None:
        notes["not_a_number"] = found.group()
        return value
    if "recursion" in str(error):
        return Broken("a value is nested too deeply to be read", 0, "deep")
    return value


def too_many_digits(text: str) -> Broken:
    """A number that no program reads, with its place."""
    longest = max(_DIGITS.finditer(text), key=lambda found: len(found.group()))
    digits = len(longest.group())
    return Broken(
        f"a number of {digits:,} digits is longer than can be read",
        len(text[: longest.start()].encode()),
    )


def half_character(text: str, value: Any) -> Broken | None:
    """Half of a character (a lone surrogate): JSON can write it, no text in UTF-8 can hold it."""
    if _MAYBE_HALF.search(text) is None:
        return None
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])[1:-1]
        at = text.lower().find(half)
        return Broken(f"{half} is half of a character", len(text[: max(0, at)].encode()), "utf8")
    return None


def _broken_json(broken: json.JSONDecodeError, raw: bytes, ended: bool) -> Broken:
    at = len(broken.doc[: broken.pos].encode())
    if b"\0" in raw:
        return Broken("a NUL byte (0x00) stands in the line", raw.index(b"\0"), "nul")
    unterminated = broken.msg.startswith("Unterminated") or at >= len(raw)
    if unterminated and not ended:
        return Broken("the line ends in the middle of a value", len(raw), "cut")
    return Broken(broken.msg, at)
