"""Taking a run out of the ledger: refused while anything else stands on it; rows first, then files."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from thumbforge import faults
from thumbforge.errors import UsageError
from thumbforge.store.assets import AssetStore
from thumbforge.store.database import Database
from thumbforge.store.leases import is_live
from thumbforge.store.ledger import close_open_attempts

# Every column that keeps an asset alive.
IN_USE = """
SELECT art_sha256 AS sha256 FROM attempt WHERE art_sha256 IS NOT NULL
UNION SELECT art_sha256 FROM final UNION SELECT sha256 FROM final
UNION SELECT reference_sha256 FROM run WHERE reference_sha256 IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class Deleted:
    """What is gone: the run, its number of iterations, and the files that were unlinked (names in the store)."""

    run_id: str
    iterations: int
    files: tuple[str, ...]


def delete_run(database: Database, store: AssetStore, run_id: str, now: float, *, with_assets: bool) -> Deleted:
    """Raises UsageError, naming them, while other runs depend on it, or while it is running."""
    with database.write("run.delete") as connection:
        row = connection.execute("SELECT * FROM run WHERE id = ?", (run_id,)).fetchone()
        if row["status"] == "running" and is_live(row["lease_owner"], row["lease_expires_at"], now):
            raise UsageError(f"run {run_id[:8]} is running", hint=f"thumbforge runs cancel {run_id[:8]} first")
        if dependents := dict.fromkeys(_dependents(connection, run_id)):
            names = ", ".join(dependent[:8] for dependent in dependents)
            raise UsageError(f"run {run_id[:8]} is needed by {names}", hint="delete these first")
        close_open_attempts(connection, run_id, "lost", "the process died", now)
        before = {r["sha256"] for r in connection.execute(IN_USE)}
        iterations = _delete_rows(connection, run_id)
        freed = before - {r["sha256"] for r in connection.execute(IN_USE)} if with_assets else set()
        files = _forget_assets(connection, freed)
    for sha256, suffix in files:
        unlink_unless_recorded(database, store.path(sha256, suffix))
    return Deleted(run_id, iterations, tuple(f"{sha256}{suffix}" for sha256, suffix in files))


def unlink_unless_recorded(database: Database, path: Path) -> None:
    """Its row is gone; under the write lock, because another run may have made the same picture meanwhile."""
    with database.write("repair.row") as connection:
        if not connection.execute("SELECT 1 FROM asset WHERE sha256 = ?", (path.stem,)).fetchone():
            with faults.step("asset.unlink"):
                path.unlink(missing_ok=True)


def _dependents(connection: sqlite3.Connection, run_id: str) -> Iterator[str]:
    """Runs that have it as parent, use one of its pictures as reference, or point at its iterations."""
    queries = (
        "SELECT id FROM run WHERE parent_run_id = :run",
        "SELECT id FROM run WHERE id <> :run AND reference_sha256 IN ("
        " SELECT sha256 FROM final JOIN iteration ON iteration.id = final.iteration_id WHERE run_id = :run"
        " UNION SELECT art_sha256 FROM final JOIN iteration ON iteration.id = final.iteration_id WHERE run_id = :run)",
        "SELECT run_item.run_id FROM run_item JOIN iteration ON iteration.id = run_item.iteration_id"
        " WHERE iteration.run_id = :run AND run_item.run_id <> :run",
        # an iteration of another run may show a final that one of ours was the first to have
        "SELECT other.run_id FROM iteration AS other JOIN final ON final.final_key = other.final_key"
        " JOIN iteration AS ours ON ours.id = final.iteration_id WHERE ours.run_id = :run AND other.run_id <> :run",
    )
    for query in queries:
        yield from (row[0] for row in connection.execute(query, {"run": run_id}))


def _delete_rows(connection: sqlite3.Connection, run_id: str) -> int:
    connection.execute("DELETE FROM run_item WHERE run_id = ?", (run_id,))
    # The circles run -> pick -> run and iteration -> attempt, final -> iteration are opened before the rows go.
    connection.execute("UPDATE run SET picked_iteration_id = NULL WHERE id = ?", (run_id,))
    connection.execute(
        "UPDATE iteration SET status = 'cancelled', attempt_id = NULL, final_key = NULL WHERE run_id = ?", (run_id,)
    )
    count = connection.execute("DELETE FROM iteration WHERE run_id = ?", (run_id,)).rowcount
    connection.execute("DELETE FROM run WHERE id = ?", (run_id,))
    return int(count)


def _forget_assets(connection: sqlite3.Connection, freed: set[str]) -> list[tuple[str, str]]:
    files = []
    for sha256 in sorted(freed):
        row = connection.execute("DELETE FROM asset WHERE sha256 = ? RETURNING suffix", (sha256,)).fetchone()
        if row:
            files.append((sha256, row["suffix"]))
    return files
