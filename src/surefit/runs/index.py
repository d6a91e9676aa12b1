"""The index: what a list of runs shows, kept in SQLite for quick answers. Disposable.

The folders are the truth. A row counts only while its stamp matches the run's `events.jsonl`; a
damaged or deleted file is made again. Only the supervise layer writes it.
"""

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from surefit.home import index_file, make_folder
from surefit.runs.folder import RunFolder
from surefit.runs.migrations import migrate

_WAIT_SECONDS = 5.0
_FILES = ("", "-wal", "-shm", "-journal")


@dataclass(frozen=True)
class IndexRow:
    """What is kept of a run; `view` is its JSON text."""

    id: str
    stamp: str
    state: str
    created: float
    view: str


def stamp_of(run: RunFolder) -> str:
    """Size and change time of the run's events: differs as soon as anything happened."""
    try:
        found = run.events.stat()
    except OSError:
        return "none"
    return f"{found.st_size}-{found.st_mtime_ns}-{found.st_ino}"


def read_rows() -> dict[str, IndexRow]:
    """All rows by run id; empty where there is no index or it cannot be read."""
    path = index_file()
    if not path.exists():
        return {}
    try:
        with _connection(path) as connection:
            found = connection.execute(
                "SELECT id, stamp, state, created, view FROM runs"
            ).fetchall()
    except sqlite3.Error:
        return {}
    return {row[0]: IndexRow(*row) for row in found}


def write_rows(rows: Iterable[IndexRow]) -> bool:
    """Put rows in the index; False where it cannot be written now, which costs time and no truth."""
    wanted = [(row.id, row.stamp, row.state, row.created, row.view) for row in rows]
    path = index_file()
    for last_try in (False, True):
        try:
            make_folder(path.parent)
            _write(path, wanted)
        except sqlite3.OperationalError:
            return False  # locked, full or not writable: another time
        except sqlite3.DatabaseError:
            if last_try:
                return False
            _remove(path)
        else:
            return True
    return False


def _write(path: Path, rows: list[tuple[str, str, str, float, str]]) -> None:
    with _connection(path) as connection:
        migrate(connection)
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?)", rows)
        connection.execute("COMMIT")


@contextlib.contextmanager
def _connection(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def _remove(path: Path) -> None:
    for ending in _FILES:
        path.with_name(path.name + ending).unlink(missing_ok=True)
