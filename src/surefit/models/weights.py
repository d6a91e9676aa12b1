"""Read safetensors headers in pure Python: every tensor's name, dtype and shape, and no weights.

Format: 8 bytes little-endian length n, n bytes of JSON {name: {dtype, shape, data_offsets}}, data.
Source: the safetensors README, section "Format".
"""

import json
import math
import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefit.errors import OutsideError, Refused, WorkerExit
from surefit.home import refuse_irregular

BYTES_BY_DTYPE = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1,
    "U64": 8, "U32": 4, "U16": 2, "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1,
}  # fmt: skip
_LARGEST_HEADER = 100 * 10**6  # the format's own limit
INDEX = "model.safetensors.index.json"


@dataclass(frozen=True)
class Tensor:
    """One tensor of a weight file."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Weights:
    """All tensors of a model, and the files that hold them."""

    tensors: Mapping[str, Tensor]
    files: tuple[str, ...]
    size_bytes: int


Headers = Mapping[str, tuple[Mapping[str, Tensor], int]]
"""Name of a weight file -> its tensors, and its size in bytes."""


def read_weights(folder: Path) -> Weights:
    """The tensors of a model folder, from the headers of its weight files.

    Raises:
        Refused: a file is missing, shorter than its header says, or no safetensors file.
        OutsideError: a file may not be read.
    """
    present = {path.name for path in folder.glob("*.safetensors") if path.is_file()}
    names, listed = weight_files(folder, present)
    headers = {name: (read_header(folder / name), _size(folder / name)) for name in names}
    return put_together(names, listed, headers)


def weight_files(folder: Path, present: Collection[str]) -> tuple[list[str], dict[str, str]]:
    """The weight files that belong to a model, and what its index says of each tensor.

    Args:
        folder: holds the index, where there is one.
        present: names of the *.safetensors files beside it, here or on the Hub.

    Raises:
        Refused: the index is broken or names a file that is not there, or there is none.
    """
    if "model.safetensors" in present:
        return ["model.safetensors"], {}
    listed = _index_entries(folder)
    names = sorted(set(listed.values()))
    if not names:
        shown = ", ".join(sorted(present)[:3])
        raise _damaged(
            f"{INDEX} is missing",
            f"{folder} holds {shown}, parts of a model that only the index puts together",
        )
    missing = next((name for name in names if name not in present), None)
    if missing:
        raise _damaged(
            f"the weight file {missing} is missing", f"{INDEX} names it, {folder} has none"
        )
    return names, listed


def put_together(names: Sequence[str], listed: Mapping[str, str], headers: Headers) -> Weights:
    """All tensors of a model.

    Raises:
        Refused: a tensor is in two files, or not where the index says.
    """
    tensors: dict[str, Tensor] = {}
    for name in names:
        found = headers[name][0]
        double = next((key for key in found if key in tensors), None)
        if double:
            raise _damaged(
                f"the tensor {double!r} is in two weight files", f"one of them is {name}"
            )
        tensors.update(found)
    lacking = sorted(set(listed) - set(tensors))
    if lacking:
        raise _damaged(
            f"the tensor {lacking[0]!r} is missing",
            f"{INDEX} says that {listed[lacking[0]]} holds it, and its header does not name it",
        )
    return Weights(tensors, tuple(names), sum(headers[name][1] for name in names))


def _index_entries(folder: Path) -> dict[str, str]:
    """Tensor name -> file name; empty where there is no index."""
    path = folder / INDEX
    try:
        if not path.is_file():
            return {}
        entries: dict[str, str] = json.loads(path.read_bytes())["weight_map"]
        good = isinstance(entries, dict) and all(isinstance(one, str) for one in entries.values())
    except OSError as error:
        raise _unreadable(path, error) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(
            f"{path} is broken", f"it must be JSON with a weight_map: {error!r}"
        ) from error
    if not good or not entries:
        raise _damaged(f"{path} is broken", "its weight_map must name a file for every tensor")
    for name in entries.values():
        if Path(name).name != name or not name.endswith(".safetensors"):
            raise _damaged(
                f"{path} names {name!r} as a weight file",
                "only *.safetensors beside the index are read",
            )
    return entries


def read_header(path: Path) -> dict[str, Tensor]:
    """The tensors of one safetensors file; checks that the file is as long as its header says.

    Raises:
        Refused: the file is damaged.
        OutsideError: it may not be read.
    """
    try:
        refuse_irregular(path)
        size = path.stat().st_size
        with path.open("rb") as handle:
            start = handle.read(8)
            length = header_length(path, start, size)
            header = handle.read(length)
    except OSError as error:
        raise _unreadable(path, error) from error
    return parse_header(path, header, size)


def header_length(path: Path | str, start: bytes, size: int) -> int:
    """Bytes of the header, from the first eight of a file.

    Raises:
        Refused: no safetensors file begins so.
    """
    length = struct.unpack("<Q", start[:8])[0] if len(start) >= 8 else 0
    if not 2 <= length <= _LARGEST_HEADER or 8 + length > size:
        raise _not_safetensors(path, size, start)
    return int(length)


def parse_header(path: Path | str, header: bytes, size: int) -> dict[str, Tensor]:
    """The tensors that a header names; checks that the file is as long as it says.

    Args:
        path: of the file, for messages.
        header: its JSON.
        size: of the whole file, in bytes.

    Raises:
        Refused: the file is damaged.
    """
    try:
        entries = json.loads(header)
    except (ValueError, RecursionError) as error:
        raise _damaged(f"{path} has a broken header", f"it is not valid JSON: {error}") from error
    if not isinstance(entries, dict):
        raise _damaged(f"{path} has a broken header", "it must be a JSON object")
    entries.pop("__metadata__", None)
    tensors = {}
    end = 0
    for name, entry in entries.items():
        tensors[name], last = _tensor(path, name, entry)
        end = max(end, last)
    length = len(header)
    if 8 + length + end != size:
        raise _wrong_size(path, 8 + length + end, size)
    return tensors


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise _unreadable(path, error) from error


def _tensor(path: Path | str, name: str, entry: Any) -> tuple[Tensor, int]:
    try:
        dtype, shape = entry["dtype"], tuple(entry["shape"])
        begin, end = entry["data_offsets"]
        whole = all(type(number) is int and number >= 0 for number in (*shape, begin, end))
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(
            f"{path} has a broken header", f"the entry of {name!r}: {error!r}"
        ) from error
    if not whole or not isinstance(dtype, str) or dtype not in BYTES_BY_DTYPE:
        raise _damaged(
            f"{path} has a broken header",
            f"the entry of {name!r} has dtype {dtype!r}, shape {shape!r}",
        )
    if math.prod(shape) * BYTES_BY_DTYPE[dtype] != end - begin:
        raise _damaged(
            f"{path} has a broken header",
            f"{name!r} of shape {list(shape)} cannot take {end - begin} bytes",
        )
    return Tensor(dtype, shape), end


def _not_safetensors(path: Path | str, size: int, start: bytes) -> Refused:
    if start.startswith(b"version "):
        why = "it is a Git LFS pointer: the weights themselves were never downloaded"
    elif size < 8:
        why = f"it has {size} bytes; the download or the copy ended early"
    else:
        why = f"its first bytes are not the start of a safetensors header ({size:,} bytes in all)"
    return _damaged(f"{path} is not a whole safetensors file", why)


def _wrong_size(path: Path | str, expected: int, size: int) -> Refused:
    if size < expected:
        return _damaged(
            f"{path} is cut off",
            f"its header speaks of {expected:,} bytes, the file has {size:,}: the download or "
            "the copy "
            "ended early",
        )
    return _damaged(
        f"{path} is longer than its header says",
        f"{expected:,} bytes are named, the file has {size:,}",
    )


def _damaged(what: str, why: str) -> Refused:
    return Refused(
        what,
        why,
        "copy or download the model's weight files again",
        where="model",
        worker_exit=WorkerExit.INPUT_MISSING,
    )


def _unreadable(path: Path, error: OSError) -> OutsideError:
    return OutsideError(
        f"cannot read {path}",
        error.strerror or str(error),
        f"check the permissions: `ls -l {path}`",
        where="model",
        worker_exit=WorkerExit.NO_PERMISSION,
    )
