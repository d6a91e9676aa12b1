"""Files of rows as a stream: one line at a time, whatever the size of the file."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from surefit.data.row import Broken, DataFile, Row, Side
from surefit.recipe.schema import DataSpec

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def find_files(spec: DataSpec, base_folder: Path) -> list[DataFile]:
    """The files that a data specification names, readable or not."""
    files = [_find(spec.train, base_folder, "train")]
    if spec.eval is not None and spec.eval_share is None and spec.eval != "none":
        files.append(_find(spec.eval, base_folder, "eval"))
    return files


def _find(name: str, base_folder: Path, side: Side) -> DataFile:
    path = base_folder / Path(name).expanduser()
    try:
        size = path.stat().st_size
        if path.is_dir():
            return DataFile(name, path, side, 0, "it is a folder, and a file is needed here")
        with path.open("rb"):
            return DataFile(name, path, side, size)
    except OSError as error:
        return DataFile(name, path, side, 0, error.strerror or str(error))


def read_rows(file: DataFile, progress: Callable[[int], None] | None = None) -> Iterator[Row]:
    """The rows of a JSONL file, in order; a line that cannot be parsed comes as `Broken`.

    Args:
        file: a readable file.
        progress: told the bytes read so far, once a row.
    """
    with file.path.open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            raw = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            raw = raw.strip()
            if raw:
                yield Row(file, number, raw, parse_line(raw))
            if progress is not None:
                progress(len(line))


def parse_line(raw: bytes) -> Any:
    """The JSON value of a line, or `Broken`."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return _explain(raw, error)


def _explain(raw: bytes, error: orjson.JSONDecodeError) -> Broken:
    """The reason in the words of Python's own parser, which says what it expected."""
    try:
        json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as broken_text:
        byte = raw[broken_text.start]
        return Broken(f"byte 0x{byte:02X} is not UTF-8", broken_text.start)
    except json.JSONDecodeError as broken_json:
        return Broken(broken_json.msg, len(broken_json.doc[: broken_json.pos].encode()))
    except RecursionError:
        return Broken("a value is nested too deeply", 0)
    return Broken(str(error).split(":")[0], error.pos)
