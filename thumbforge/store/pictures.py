"""Rows of stored pictures: what is known of each asset beside its bytes, and which of them anything needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from sys import intern

from thumbforge.store.database import Database, create_once


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """An asset and what is known of it. `suffix` includes the dot; sizes are pixels and bytes. `seen` is what its file
    was when its bytes were last read."""

    sha256: str
    suffix: str
    media_type: str
    bytes: int
    width: int
    height: int
    seen: str | None = field(default=None, compare=False)


PICTURE = ", ".join(f"asset.{name}" for name in StoredPicture.__slots__)
"""The columns of `picture_of`, for a query that joins `asset`."""

# Every column that keeps an asset alive.
_IN_USE = """
SELECT art_sha256 AS sha256 FROM attempt WHERE art_sha256 IS NOT NULL
UNION SELECT art_sha256 FROM final UNION SELECT sha256 FROM final
UNION SELECT reference_sha256 FROM run WHERE reference_sha256 IS NOT NULL
"""


def picture_of(row: sqlite3.Row) -> StoredPicture:
    """Thousands of pictures share the words for what they are."""
    return StoredPicture(
        sha256=row["sha256"],
        suffix=intern(row["suffix"]),
        media_type=intern(row["media_type"]),
        bytes=row["bytes"],
        width=row["width"],
        height=row["height"],
        seen=row["seen"],
    )


def remember(connection: sqlite3.Connection, picture: StoredPicture, now: float) -> None:
    """Give a stored picture its row. Raises ReplayDivergence where it has one that says something else."""
    row = {name: getattr(picture, name) for name in StoredPicture.__slots__}
    create_once(connection, "asset", "sha256", {**row, "created_at": now})
    if picture.seen:
        connection.execute("UPDATE asset SET seen = ? WHERE sha256 = ?", (picture.seen, picture.sha256))


def is_recorded(database: Database, sha256: str | None) -> bool:
    """Whether it is a picture of this project, which the store has or can draw again."""
    return database.row("SELECT 1 FROM asset WHERE sha256 = ?", (sha256,)) is not None


def suffix_of(database: Database, sha256: str) -> str:
    [row] = database.rows("SELECT suffix FROM asset WHERE sha256 = ?", (sha256,))
    return str(row["suffix"])


def all_names(database: Database) -> list[tuple[str, str]]:
    """(sha256, suffix) of every picture."""
    return [(row["sha256"], row["suffix"]) for row in database.rows("SELECT sha256, suffix FROM asset")]


def in_use(connection: sqlite3.Connection) -> set[str]:
    """The hashes of all pictures that an attempt, a final or a run needs."""
    return {row["sha256"] for row in connection.execute(_IN_USE)}


def shown(database: Database) -> set[str]:
    """The hashes of art and finals that an item shows, an export holds or a run had as its reference: without the takes
    and finals that something newer has taken the place of."""
    query = (
        "SELECT art_sha256 AS sha256 FROM attempt JOIN iteration ON iteration.attempt_id = attempt.id"
        " UNION SELECT sha256 FROM final JOIN iteration ON iteration.final_key = final.final_key"
        " UNION SELECT sha256 FROM export"
        " UNION SELECT reference_sha256 FROM run WHERE reference_sha256 IS NOT NULL"
    )
    return {row["sha256"] for row in database.rows(query)}


def forget_unused(connection: sqlite3.Connection) -> list[StoredPicture]:
    """Take away the rows of what nothing needs."""
    dropped = connection.execute(
        f"DELETE FROM asset WHERE sha256 NOT IN ({_IN_USE}) AND suffix <> '.json' RETURNING {PICTURE}"
    )
    return [picture_of(row) for row in dropped.fetchall()]


def forget(connection: sqlite3.Connection, freed: Iterable[str]) -> list[tuple[str, str]]:
    """Take away the rows of these; (sha256, suffix) of those that had one."""
    found = []
    for sha256 in sorted(freed):
        row = connection.execute("DELETE FROM asset WHERE sha256 = ? RETURNING suffix", (sha256,)).fetchone()
        if row:
            found.append((sha256, row["suffix"]))
    return found
