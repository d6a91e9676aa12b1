"""What a file holds, by its first bytes and not by its name."""

import gzip
import io
from enum import Enum
from typing import IO, cast

from surefit.data.row import DataFile

HEAD_BYTES = 1 << 16
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_TABLE_SUFFIXES = (".csv", ".tsv", ".txt")


class Content(Enum):
    """Kinds of content that are read."""

    LINES = "JSON lines"
    ARRAY = "a JSON array"
    TABLE = "CSV"
    PARQUET = "Parquet"
    ARROW = "Arrow"


def look_into(file: DataFile) -> Content | None:
    """What a file holds; None, with `file.problem` set, where it cannot be read."""
    if file.size_bytes == 0:
        return None
    try:
        with open_unpacked(file) as handle:
            head = handle.read(HEAD_BYTES)
    except EOFError:
        file.problem, file.detail = "cut", "the compressed file ends before its end-of-stream mark"
        return None
    except OSError as error:
        file.problem, file.detail = "damaged", str(error)
        return None
    return _content_of(file, head)


def open_unpacked(file: DataFile) -> IO[bytes]:
    """The file's bytes, unpacked where it is compressed."""
    with file.path.open("rb") as handle:
        magic = handle.read(4)
    if magic.startswith(_GZIP):
        return cast("IO[bytes]", gzip.open(file.path, "rb"))
    if magic == _ZSTD:
        import pyarrow

        # A buffer around it: pyarrow's own file gives no lines.
        return io.BufferedReader(pyarrow.input_stream(str(file.path), compression="zstd"))
    return file.path.open("rb", buffering=1 << 18)


def _content_of(file: DataFile, head: bytes) -> Content | None:
    if head.startswith(b"PAR1"):
        return Content.PARQUET
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return Content.ARROW
    if head.startswith(_UTF16):
        file.problem, file.detail = "utf16", "the file begins with the byte order mark of UTF-16"
        return None
    text = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    suffixes = [suffix.lower() for suffix in file.path.suffixes]
    if text.startswith(b"["):
        if ".jsonl" in suffixes or ".ndjson" in suffixes:
            file.notes["array"] = file.path.name
        return Content.ARRAY
    if text.startswith(b"{") or not any(suffix in _TABLE_SUFFIXES for suffix in suffixes):
        return Content.LINES
    return Content.TABLE
