"""Files of rows as a stream: lines, arrays, tables, columns; compressed or not."""

from collections.abc import Iterator

from surefit.data.reading.columnar import read_arrow, read_parquet
from surefit.data.reading.json_array import read_array
from surefit.data.reading.lines import read_lines
from surefit.data.reading.sniff import Content, look_into
from surefit.data.reading.table import read_table
from surefit.data.row import DataFile, Row

_READERS = {
    Content.LINES: read_lines,
    Content.ARRAY: read_array,
    Content.TABLE: read_table,
    Content.PARQUET: read_parquet,
    Content.ARROW: read_arrow,
}


def read_rows(file: DataFile) -> Iterator[Row]:
    """The rows of a file, in order; one that cannot be parsed comes with a `Broken` value.

    What the file is, is seen from its content. Damage that stops reading goes into `file.problem`.
    """
    content = look_into(file)
    if content is None or not file.readable:
        return
    yield from _READERS[content](file)


__all__ = ["read_rows"]
