"""Files as streams of rows: lines, arrays, tables, columns, packed or not, whole or damaged."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from surefit.data.reading import read_rows
from surefit.data.row import Broken, DataFile, Row

ROWS: list[dict[str, Any]] = [{"text": f"row {number} \u2028 é"} for number in range(5)]
LINES = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)


def file_of(path: Path, content: bytes) -> DataFile:
    path.write_bytes(content)
    return DataFile(path.name, path, "train", len(content))


def values(rows: list[Row]) -> list[Any]:
    return [row.value for row in rows]


def test_a_line_counts_whether_it_is_blank_or_not(tmp_path: Path) -> None:
    rows = list(read_rows(file_of(tmp_path / "a.jsonl", b'{"a": 1}\n\n  \n{"a": 2}')))
    assert [row.line for row in rows] == [1, 4]


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    assert values(list(read_rows(file_of(tmp_path / "a.jsonl", LINES.encode())))) == ROWS


def test_a_byte_order_mark_and_windows_line_ends_are_no_defect(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + LINES.replace("\n", "\r\n").encode()
    assert values(list(read_rows(file_of(tmp_path / "a.jsonl", content)))) == ROWS


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.gz", "a.jsonl"])
def test_gzip_is_seen_from_the_content(name: str, tmp_path: Path) -> None:
    assert values(list(read_rows(file_of(tmp_path / name, gzip.compress(LINES.encode()))))) == ROWS


def test_zstd_is_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    packed = pyarrow.compress(LINES.encode(), codec="zstd", asbytes=True)
    assert values(list(read_rows(file_of(tmp_path / "a.jsonl.zst", packed)))) == ROWS


@pytest.mark.parametrize("lost", [4, 30])
def test_a_packed_file_that_is_cut_is_a_problem_of_the_file(lost: int, tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.jsonl.gz", gzip.compress(LINES.encode())[:-lost])
    list(read_rows(file))
    assert file.problem == "cut"


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.txt"])
def test_an_array_is_read_element_by_element(name: str, tmp_path: Path) -> None:
    file = file_of(tmp_path / name, json.dumps(ROWS, indent=2).encode())
    rows = list(read_rows(file))
    assert values(rows) == ROWS
    assert [row.line for row in rows] == [1, 2, 3, 4, 5]
    assert ("array" in file.notes) == (name == "a.jsonl")


def test_an_element_longer_than_a_chunk_is_read_whole(tmp_path: Path) -> None:
    long = [{"text": "x" * 700_000}, {"text": "y" * 300_000}, {"n": 12}]
    assert values(list(read_rows(file_of(tmp_path / "a.json", json.dumps(long).encode())))) == long


def test_an_array_that_stops_is_cut(tmp_path: Path) -> None:
    rows = list(read_rows(file_of(tmp_path / "a.json", json.dumps(ROWS).encode()[:-9])))
    assert isinstance(rows[-1].value, Broken)
    assert rows[-1].value.kind == "cut"


BROKEN = {
    "json": b'{"a": "say "hi""}\n',
    "utf8": b'{"a": "caf\xe9"}\n',
    "nul": b'{"a": "b\x00c"}\n',
    "deep": b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}\n",
    "cut": b'{"a": "and th',
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_line_says_how_it_is_broken_and_the_next_is_read(
    kind: str, tmp_path: Path
) -> None:
    after = b"" if kind == "cut" else b'{"a": 1}\n'
    first, *rest = read_rows(file_of(tmp_path / "a.jsonl", BROKEN[kind] + after))
    assert isinstance(first.value, Broken)
    assert first.value.kind == kind
    assert values(rest) == ([] if kind == "cut" else [{"a": 1}])


def test_nan_is_read_and_noted(tmp_path: Path) -> None:
    (row,) = read_rows(file_of(tmp_path / "a.jsonl", b'{"a": -Infinity, "text": "x"}\n'))
    assert row.value["text"] == "x"
    assert row.notes["not_a_number"].endswith("Infinity")


def test_a_table_counts_rows_like_a_spreadsheet(tmp_path: Path) -> None:
    content = b'prompt,completion\n"two\nlines","a, ""b"""\nplain,text\n'
    rows = list(read_rows(file_of(tmp_path / "a.csv", content)))
    assert [(row.line, row.value["completion"]) for row in rows] == [(2, 'a, "b"'), (3, "text")]


@pytest.mark.parametrize(("name", "separator"), [("a.csv", ";"), ("a.csv", "\t"), ("a.tsv", ",")])
def test_another_separator_is_read_and_noted(name: str, separator: str, tmp_path: Path) -> None:
    content = f"prompt{separator}completion\nHi{separator}Hello\n".encode()
    file = file_of(tmp_path / name, content)
    assert values(list(read_rows(file))) == [{"prompt": "Hi", "completion": "Hello"}]
    assert file.notes["separator"] == separator


def test_a_row_with_too_many_fields_is_broken(tmp_path: Path) -> None:
    rows = list(read_rows(file_of(tmp_path / "a.csv", b"a,b\n1,2,3\n1,2\n")))
    assert [isinstance(row.value, Broken) for row in rows] == [True, False]


def test_utf16_is_a_problem_of_the_file(tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.jsonl", LINES.encode("utf-16"))
    assert list(read_rows(file)) == []
    assert file.problem == "utf16"


def test_columns_of_parquet_and_arrow_are_rows(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.ipc
    import pyarrow.parquet

    table = pyarrow.Table.from_pylist(ROWS)
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    with pyarrow.ipc.new_stream(str(tmp_path / "s.arrow"), table.schema) as stream:
        stream.write_table(table)
    with pyarrow.ipc.new_file(str(tmp_path / "f.arrow"), table.schema) as stream:
        stream.write_table(table)
    for name in ("a.parquet", "s.arrow", "f.arrow"):
        file = DataFile(name, tmp_path / name, "train", (tmp_path / name).stat().st_size)
        rows = list(read_rows(file))
        assert values(rows) == ROWS, name
        assert all(row.columnar for row in rows)


def test_a_damaged_parquet_file_is_a_problem_of_the_file(tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.parquet", b"PAR1 nothing")
    assert list(read_rows(file)) == []
    assert file.problem == "damaged"
