"""The index: quick, and of no account."""

import sqlite3
from pathlib import Path

import pytest

from surefit.home import index_file
from surefit.runs import index, migrations
from surefit.runs.index import IndexRow, read_rows, write_rows

ROW = IndexRow("a", "1-2-3", "done", 5.0, "{}")


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path))


def test_rows_come_back_and_the_last_one_counts() -> None:
    assert read_rows() == {}
    assert write_rows([ROW])
    later = IndexRow("a", "9-9-9", "done", 5.0, "{}")
    assert write_rows([later])
    assert read_rows() == {"a": later}


@pytest.mark.parametrize("content", [b"", b"this is no database" * 100])
def test_a_damaged_index_is_made_again(content: bytes) -> None:
    index_file().write_bytes(content)
    assert read_rows() == {}
    assert write_rows([ROW])
    assert read_rows() == {"a": ROW}


def test_an_index_of_a_newer_surefit_is_made_again() -> None:
    with sqlite3.connect(index_file()) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert write_rows([ROW])
    assert read_rows() == {"a": ROW}


def test_migrations_are_applied_once_each_and_go_on_from_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert write_rows([ROW])
    longer = (*migrations.MIGRATIONS, "ALTER TABLE runs ADD COLUMN extra TEXT")
    monkeypatch.setattr(migrations, "MIGRATIONS", longer)
    with sqlite3.connect(index_file(), isolation_level=None) as connection:
        migrations.migrate(connection)
        migrations.migrate(connection)
        assert migrations.applied(connection) == len(longer)
    connection.close()
    assert read_rows() == {"a": ROW}


def test_an_index_that_cannot_be_written_costs_no_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    assert write_rows([ROW])
    monkeypatch.setattr(index, "_WAIT_SECONDS", 0.05)
    with sqlite3.connect(index_file(), isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert not write_rows([ROW])
        other.execute("ROLLBACK")
    other.close()
