"""Parquet and Arrow files, a batch of rows at a time."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from surefit.data.row import DataFile, Row

if TYPE_CHECKING:
    import pyarrow

_ROWS_AT_ONCE = 512


def read_parquet(file: DataFile) -> Iterator[Row]:
    """The rows of a Parquet file."""
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.ParquetFile(file.path)
        yield from _rows(file, table.iter_batches(batch_size=_ROWS_AT_ONCE))
    except (pyarrow.ArrowException, OSError) as error:
        file.problem, file.detail = "damaged", str(error)


def read_arrow(file: DataFile) -> Iterator[Row]:
    """The rows of an Arrow file, in the file or the stream form (`datasets` writes the latter)."""
    import pyarrow
    import pyarrow.ipc

    try:
        with pyarrow.memory_map(str(file.path)) as source:
            try:
                reader = pyarrow.ipc.open_file(source)
                batches = (reader.get_batch(at) for at in range(reader.num_record_batches))
            except pyarrow.ArrowInvalid:
                batches = iter(pyarrow.ipc.open_stream(source))
            yield from _rows(file, batches)
    except (pyarrow.ArrowException, OSError) as error:
        file.problem, file.detail = "damaged", str(error)


def _rows(file: DataFile, batches: "Iterator[pyarrow.RecordBatch]") -> Iterator[Row]:
    number = 0
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
            for value in batch.slice(start, _ROWS_AT_ONCE).to_pylist():
                number += 1
                yield Row(file, number, b"", value, columnar=True)
