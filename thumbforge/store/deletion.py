"""Taking things away: a run out of the ledger, refused while anything else stands on it, what has been superseded
beside what is in use, and files out of the store.

What tells of a picture goes first (its manifest, the record of its art), then the rows, then the picture: a crash
leaves something that is known to be nobody's, or a manifest to be written again, never a row without its file.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from thumbforge import faults
from thumbforge.errors import UsageError
from thumbforge.store import attempts, names, pictures, states
from thumbforge.store.assets import AssetStore
from thumbforge.store.database import Database, mapping
from thumbforge.store.leases import is_live
from thumbforge.store.pictures import StoredPicture
from thumbforge.store.witness import key_files, named_by_all

# An ingest goes on from its frozen list; a finished one tells with its hash that nothing has changed since. A staged
# answer is needed until its iteration has art for the same request, or a verdict that no answer brought.
_NEEDED = """
SELECT sha256 || suffix AS name FROM asset
UNION ALL SELECT json_extract(checkpoint_json, '$.snapshot') || '.json' FROM run WHERE kind = 'ingest'
UNION ALL SELECT final_key || '.json' FROM final
UNION ALL SELECT art_key || '.json' FROM attempt WHERE art_sha256 IS NOT NULL
UNION ALL SELECT attempt.id FROM attempt JOIN iteration ON iteration.id = attempt.iteration_id
WHERE (outcome IS NULL OR outcome IN ('lost', 'interrupted')) AND NOT EXISTS (
  SELECT 1 FROM attempt AS better WHERE better.art_key = attempt.art_key AND better.art_sha256 IS NOT NULL)
"""


def needed_names(database: Database) -> set[str]:
    """Names of the files in the store that a row needs."""
    return {row["name"] for row in database.rows(_NEEDED)}


def unlink_ours(home: Path, path: Path) -> bool:
    """Take away a file of the store, or a folder that a provider worked in; True where it was there.

    Only what is ours by its name and place, and itself no link nor under one: whatever else is asked for stays.
    """
    parts = path.relative_to(home).parts
    folders = [home.joinpath(*parts[:n]) for n in range(1, len(parts))]
    kind = names.kind_of(parts)
    if kind is None or path.is_symlink() or not path.exists() or any(folder.is_symlink() for folder in folders):
        return False
    with faults.step("asset.unlink"):
        if kind == "scratch":
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    return True


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
        attempts.close_open(connection, run_id, "lost", "the process died", now)
        if with_assets:
            unlink_witnesses(store, _witnesses(connection, run_id, store))
        before = pictures.in_use(connection)
        iterations = _delete_rows(connection, run_id, now)
        freed = before - pictures.in_use(connection) if with_assets else set()
        files = pictures.forget(connection, freed)
    if row["kind"] == "ingest":
        _unlink_snapshot(database, store, mapping(row["checkpoint_json"]).get("snapshot") or "")
    told = named_by_all(store.home) if files else set()
    gone = [
        name
        for sha256, suffix in files
        if sha256 not in told and (name := unlink_freed(database, store, sha256, suffix))
    ]
    return Deleted(run_id, iterations, tuple(gone))


def _witnesses(connection: sqlite3.Connection, run_id: str, store: AssetStore) -> Iterator[Path]:
    """What tells of a run's pictures without the ledger: its finals' manifests, and of art that no other run has taken
    up the records and all manifests, also of finals that the ledger does not know."""
    finals = "SELECT final.final_key AS key FROM final JOIN iteration ON iteration.id = iteration_id WHERE run_id = ?"
    arts = (
        "SELECT DISTINCT art_key AS key FROM attempt JOIN iteration ON iteration.id = iteration_id"
        " WHERE run_id = ?1 AND art_sha256 IS NOT NULL AND art_key NOT IN (SELECT art_key FROM attempt"
        " JOIN iteration ON iteration.id = iteration_id WHERE run_id <> ?1 AND art_sha256 IS NOT NULL)"
    )
    made = {row["key"] for row in connection.execute(finals, (run_id,))}
    painted = {row["key"] for row in connection.execute(arts, (run_id,))}
    yield from (store.record_path(key) for key in painted if names.is_key(key))
    for path in key_files(store.manifests):
        if path.stem in made or (store.manifest(path.stem) or {}).get("art_key") in painted:
            yield path


def unlink_witnesses(store: AssetStore, paths: Iterable[Path]) -> None:
    """Manifests and records of pictures that are to go. Inside the transaction that takes their rows away."""
    for path in paths:
        with faults.step("witness.unlink"):
            unlink_ours(store.home, path)


def _unlink_snapshot(database: Database, store: AssetStore, sha256: str) -> None:
    """The list that a deleted ingest had frozen, unless another one has the same."""
    if f"{sha256}.json" not in needed_names(database):
        unlink_freed(database, store, sha256, ".json")


def unlink_freed(database: Database, store: AssetStore, sha256: str, suffix: str) -> str | None:
    """The file of an asset whose row is gone; its name, None where it stays. Under the write lock, because another run
    may have made the same picture meanwhile."""
    if not names.is_asset(sha256, suffix):
        return None
    path = store.path(sha256, suffix)
    with database.write("repair.row"):
        if pictures.is_recorded(database, sha256):
            return None
        return path.name if unlink_ours(store.home, path) else None


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


def _delete_rows(connection: sqlite3.Connection, run_id: str, now: float) -> int:
    connection.execute("DELETE FROM run_item WHERE run_id = ?", (run_id,))
    # The circles run -> pick -> run and iteration -> attempt, final -> iteration are opened before the rows go.
    connection.execute("UPDATE run SET picked_iteration_id = NULL WHERE id = ?", (run_id,))
    for row in connection.execute("SELECT id FROM iteration WHERE run_id = ?", (run_id,)).fetchall():
        states.change(connection, "iteration", row["id"], "forget", now, attempt_id=None, final_key=None)
    count = connection.execute("DELETE FROM iteration WHERE run_id = ?", (run_id,)).rowcount
    connection.execute("DELETE FROM run WHERE id = ?", (run_id,))
    return int(count)


_OLD_FINALS = """
SELECT final_key FROM (
  SELECT final_key, row_number() OVER (PARTITION BY iteration_id ORDER BY created_at DESC, final_key) AS place
  FROM final
  WHERE final_key NOT IN (SELECT final_key FROM iteration WHERE final_key IS NOT NULL)
    AND final_key NOT IN (SELECT final_key FROM export)
    AND sha256 NOT IN (SELECT reference_sha256 FROM run WHERE reference_sha256 IS NOT NULL)
) WHERE place > ?
"""
_OLD_TAKES = """
SELECT id FROM (
  SELECT id, row_number() OVER (PARTITION BY iteration_id ORDER BY n DESC) AS place FROM attempt
  -- of an iteration that uses none yet, its art waits to be drawn: nothing has taken its place
  WHERE outcome = 'ok' AND id NOT IN (SELECT attempt_id FROM iteration WHERE attempt_id IS NOT NULL)
    AND iteration_id IN (SELECT id FROM iteration WHERE attempt_id IS NOT NULL)
    AND art_sha256 NOT IN (SELECT reference_sha256 FROM run WHERE reference_sha256 IS NOT NULL)
) WHERE place > ?
"""


@dataclass(frozen=True, slots=True)
class Superseded:
    """Final keys and attempt ids."""

    finals: tuple[str, ...]
    takes: tuple[str, ...]


def superseded(database: Database, keep: int) -> Superseded:
    """Those beyond the `keep` newest of each iteration; never what an iteration, an export or a reference uses."""
    finals = tuple(row["final_key"] for row in database.rows(_OLD_FINALS, (keep,)))
    return Superseded(finals, tuple(row["id"] for row in database.rows(_OLD_TAKES, (keep,))))


def drop_superseded(database: Database, store: AssetStore, keep: int) -> list[StoredPicture]:
    """Take away the rows of what is superseded now, what tells of it without the ledger, and the rows of the pictures
    that then nothing needs; returns these. Their files are still there."""
    with database.write("repair.row") as connection:
        dropped = connection.execute(
            f"DELETE FROM final WHERE final_key IN ({_OLD_FINALS}) RETURNING final_key", (keep,)
        ).fetchall()
        pruned = connection.execute(
            f"UPDATE attempt SET outcome = 'pruned', art_sha256 = NULL WHERE id IN ({_OLD_TAKES}) RETURNING art_key",
            (keep,),
        ).fetchall()
        held = connection.execute("SELECT art_key FROM attempt WHERE art_sha256 IS NOT NULL")
        arts = {row["art_key"] for row in pruned} - {row["art_key"] for row in held}
        finals = [row["final_key"] for row in dropped]
        unlink_witnesses(store, [store.manifest_path(key) for key in finals if names.is_key(key)])
        unlink_witnesses(store, [store.record_path(key) for key in arts if names.is_key(key)])
        return pictures.forget_unused(connection)
