"""CSV and TSV, as a spreadsheet reads them: quotes, line breaks inside quotes, the header is row 1."""

import csv
import io
from collections.abc import Iterator

from surefit.data.reading.sniff import HEAD_BYTES, open_unpacked
from surefit.data.row import Broken, DataFile, Row

SEPARATORS = (",", "\t", ";", "|")
_LONGEST_FIELD = 1 << 28


def read_table(file: DataFile) -> Iterator[Row]:
    """The records of a table as rows, counted like a spreadsheet."""
    csv.field_size_limit(_LONGEST_FIELD)
    with open_unpacked(file) as handle:
        separator = _separator(handle.read(HEAD_BYTES), file)
    number = 1
    try:
        with (
            open_unpacked(file) as handle,
            io.TextIOWrapper(handle, encoding="utf-8-sig", newline="") as text,
        ):
            records = csv.reader(text, delimiter=separator, strict=True)
            header = next(records, [])
            file.notes["header"] = ", ".join(header)
            for number, record in enumerate(records, start=2):
                if record:
                    yield Row(file, number, b"", _value(header, record))
    except UnicodeDecodeError as error:
        broken = Broken(f"byte 0x{error.object[error.start]:02X} is not UTF-8", 0, "utf8")
        yield Row(file, number + 1, b"", broken)
    except csv.Error as error:
        yield Row(file, number + 1, b"", Broken(str(error), 0, "fields"))
    except EOFError:
        file.problem = "cut"
        file.detail = "the compressed file ends before its end-of-stream mark"


def _value(header: list[str], record: list[str]) -> object:
    if len(record) != len(header):
        shown = f"the row has {len(record)} fields, the header {len(header)} columns"
        return Broken(shown, 0, "fields")
    return dict(zip(header, record, strict=True))


def _separator(head: bytes, file: DataFile) -> str:
    """The separator that splits the header into most columns; another than the suffix says is noted."""
    expected = "\t" if ".tsv" in [suffix.lower() for suffix in file.path.suffixes] else ","
    header = head.decode("utf-8-sig", "replace").split("\n", 1)[0]
    counts = {separator: header.count(separator) for separator in SEPARATORS}
    if counts[expected]:
        return expected
    best = max(SEPARATORS, key=lambda separator: counts[separator])
    if not counts[best]:
        return expected
    file.notes["separator"] = best
    return best
