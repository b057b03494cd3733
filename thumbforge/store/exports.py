"""What lies in out/ by our hand: one row for each item of a series, with the hash its file was given."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

from thumbforge.store.database import Database, insert


@dataclass(frozen=True, slots=True)
class Export:
    """What we put into out/ for an item: the file's path (relative to out/) and the hash it had. `seen` is what the
    file was when its bytes were last read."""

    path: str
    final_key: str
    sha256: str
    locked: bool = False
    seen: str | None = field(default=None, compare=False)


_COLUMNS = ", ".join(Export.__slots__)


def of_series(database: Database, series: str) -> dict[str, Export]:
    """By item key."""
    rows = database.rows(f"SELECT item_key, {_COLUMNS} FROM export WHERE series = ?", (series,))
    return {row["item_key"]: _export(row) for row in rows}


def find(database: Database, series: str, item_key: str) -> Export | None:
    row = database.row(f"SELECT {_COLUMNS} FROM export WHERE series = ? AND item_key = ?", (series, item_key))
    return _export(row) if row else None


def _export(row: sqlite3.Row) -> Export:
    values = {name: row[name] for name in Export.__slots__}
    return Export(**{**values, "locked": bool(row["locked"])})


def series_names(database: Database) -> list[str]:
    """Every series that something was put into out/ for."""
    return [row["series"] for row in database.rows("SELECT DISTINCT series FROM export ORDER BY series")]


def forget(database: Database, series: str, item_key: str, sha256: str) -> None:
    """Drop the row of a file that is gone, unless another file was put there meanwhile."""
    with database.write("export.row") as connection:
        connection.execute(
            "DELETE FROM export WHERE series = ? AND item_key = ? AND sha256 = ?", (series, item_key, sha256)
        )


def files(database: Database) -> list[tuple[str, str]]:
    """(path below out/, sha256) of every export."""
    return [(row["path"], row["sha256"]) for row in database.rows("SELECT path, sha256 FROM export")]


def of_last_run(database: Database, series: str) -> set[str]:
    """The item keys whose files the series' last batch put into out/. What is only looked at, or locked, is no part of
    it."""
    rows = database.rows(
        "WITH last AS (SELECT started_at, finished_at FROM run WHERE kind = 'batch' AND series = :series"
        " ORDER BY created_at DESC LIMIT 1)"
        " SELECT item_key FROM export, last WHERE series = :series"
        " AND export.updated_at BETWEEN started_at AND coalesce(finished_at, export.updated_at)",
        {"series": series},
    )
    return {row["item_key"] for row in rows}


def last_change(database: Database, series: str) -> float:
    """When a row of the series was last written, which a lock is, too; 0 where there is none."""
    [row] = database.rows("SELECT max(updated_at) FROM export WHERE series = ?", (series,))
    return float(row[0] or 0)


def record(database: Database, series: str, item_key: str, export: Export, now: float) -> None:
    """What lies there now. Whether it is locked stays as it was."""
    row = {name: getattr(export, name) for name in ("path", "final_key", "sha256", "seen")} | {"updated_at": now}
    with database.write("export.row") as connection:
        if not insert(connection, "export", {"series": series, "item_key": item_key, **row}, once="series, item_key"):
            settings = ", ".join(f"{name} = :{name}" for name in row)
            connection.execute(
                f"UPDATE export SET {settings} WHERE series = :series AND item_key = :item_key",
                {"series": series, "item_key": item_key, **row},
            )


def lock(database: Database, series: str, item_key: str, locked: bool, now: float) -> None:
    """Approved by the user: nothing that changes makes another picture of the item."""
    with database.write("take.lock") as connection:
        connection.execute(
            "UPDATE export SET locked = ?, updated_at = ? WHERE series = ? AND item_key = ?",
            (int(locked), now, series, item_key),
        )
