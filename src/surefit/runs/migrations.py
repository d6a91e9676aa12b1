"""Numbered migrations of the index. One entry a step, only ever appended; the number is its place.

SQLite's own `user_version` holds how many have been applied. A file written by a newer surefit has
more than we know: it is disposable, so it is made again.
"""

import sqlite3

MIGRATIONS: tuple[str, ...] = (
    # 1: a row a run. `stamp` is size and change time of events.jsonl: a row that does not match is stale.
    """
    CREATE TABLE runs (
        id TEXT PRIMARY KEY,
        stamp TEXT NOT NULL,
        state TEXT NOT NULL,
        created REAL NOT NULL,
        view TEXT NOT NULL
    ) WITHOUT ROWID
    """,
)


def applied(connection: sqlite3.Connection) -> int:
    """How many migrations the file has seen."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Apply the missing migrations, each in a transaction of its own.

    Raises:
        sqlite3.DatabaseError: the file is damaged, or newer than this surefit.
    """
    if applied(connection) > len(MIGRATIONS):
        raise sqlite3.DatabaseError("the index was written by a newer surefit")
    for number, statement in enumerate(MIGRATIONS, start=1):
        if applied(connection) >= number:
            continue
        connection.execute("BEGIN IMMEDIATE")
        if applied(connection) < number:  # another process may have been first
            connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
