"""What was made here and is not known to be in the shared store: arts by art key, finals by final key.

It is put down in the transaction that gives the picture its row, so that no crash and no missing network forgets it.
"""

from __future__ import annotations

import sqlite3
from typing import Literal, NamedTuple

from thumbforge.store.database import Database, insert

Kind = Literal["art", "final"]


class Waiting(NamedTuple):
    kind: Kind
    key: str


def add(connection: sqlite3.Connection, kind: Kind, key: str, now: float) -> None:
    insert(connection, "outbox", {"kind": kind, "key": key, "since": now}, once="kind, key")


def drop(connection: sqlite3.Connection, kind: Kind, key: str) -> None:
    connection.execute("DELETE FROM outbox WHERE kind = ? AND key = ?", (kind, key))


def has(database: Database, kind: Kind, key: str) -> bool:
    return database.row("SELECT 1 FROM outbox WHERE kind = ? AND key = ?", (kind, key)) is not None


def waiting(database: Database) -> list[Waiting]:
    """The oldest first, arts before finals."""
    return [
        Waiting(row["kind"], row["key"]) for row in database.rows("SELECT kind, key FROM outbox ORDER BY kind, since")
    ]


def sent(database: Database, *those: Waiting) -> None:
    """These are there now."""
    with database.write("outbox.row") as connection:
        for kind, key in those:
            drop(connection, kind, key)
