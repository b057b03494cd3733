"""Repair and prune: what is ours and nothing needs any more goes, after a look at each; rows first, then pictures.

Both say what they would do unless told to do it. Redoing either is harmless: what is to go is found anew each time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from thumbforge.errors import AssetDamaged
from thumbforge.planning.project import Project
from thumbforge.store import names
from thumbforge.store.database import Database
from thumbforge.store.deletion import IN_USE, unlink_freed, unlink_ours, unlink_witnesses
from thumbforge.store.witness import named_by_all
from thumbforge.upkeep.files import Foreign, StoreFile, store_files


@dataclass(frozen=True, slots=True)
class Removal:
    """One thing that goes, or would go."""

    kind: str
    subject: str
    bytes: int


def repair(
    project: Project, database: Database, now: float, grace_s: float, *, damaged: bool, apply: bool
) -> Iterator[Removal | Foreign]:
    """Files of ours that nothing needs, older than the grace; with `damaged` also stored pictures that are not what
    their name says, so that the next batch makes them anew. What is not ours is told and left."""
    for file in store_files(project.home, database):
        if isinstance(file, Foreign):
            yield file
        elif file.owner is None and now - file.modified >= grace_s:
            removal = Removal(file.kind, file.path.name, _size(file.path))
            if not apply or _unlink_unneeded(project, database, file):
                yield removal
    if not damaged:
        return
    for row in database.rows("SELECT sha256, suffix FROM asset"):
        if names.is_asset(row["sha256"], row["suffix"]) and _is_damaged(project, row):
            path = project.store.path(row["sha256"], row["suffix"])
            removal = Removal("damaged", path.name, _size(path))
            if not apply or unlink_ours(project.home, path):
                yield removal


def _is_damaged(project: Project, row: sqlite3.Row) -> bool:
    """There, but not what its name says. A link or a folder in its place is not ours to remove."""
    if not project.store.has(row["sha256"], row["suffix"]):
        return False
    try:
        project.store.verify(row["sha256"], row["suffix"])
    except AssetDamaged:
        return not project.store.path(row["sha256"], row["suffix"]).is_symlink()
    return False


def _unlink_unneeded(project: Project, database: Database, file: StoreFile) -> bool:
    """Look again under the write lock: another process may have given the file a row meanwhile, or be about to."""
    with database.write("repair.row") as connection:
        if connection.execute("SELECT 1 FROM asset WHERE sha256 = ?", (file.path.stem,)).fetchone():
            return False
        if file.path.exists() and file.path.stat().st_mtime > file.modified:
            return False
        return unlink_ours(project.home, file.path)


def prune(project: Project, database: Database, keep: int, *, apply: bool) -> Iterator[Removal]:
    """Superseded finals and takes beyond the `keep` newest of each iteration, with the files that then nothing needs.

    Never what an iteration, an export or a run's reference uses.
    """
    yield from (Removal("final", row["final_key"], 0) for row in database.rows(_OLD_FINALS, (keep,)))
    yield from (Removal("take", row["id"], 0) for row in database.rows(_OLD_TAKES, (keep,)))
    if not apply:
        return
    with database.write("repair.row") as connection:
        dropped = connection.execute(
            f"DELETE FROM final WHERE final_key IN (SELECT final_key FROM ({_OLD_FINALS})) RETURNING final_key", (keep,)
        ).fetchall()
        pruned = connection.execute(
            f"UPDATE attempt SET outcome = 'pruned', art_sha256 = NULL WHERE id IN (SELECT id FROM ({_OLD_TAKES}))"
            " RETURNING art_key",
            (keep,),
        ).fetchall()
        kept = {row[0] for row in connection.execute("SELECT art_key FROM attempt WHERE art_sha256 IS NOT NULL")}
        store = project.store
        unlink_witnesses(store, [store.manifest_path(r[0]) for r in dropped if names.is_key(r[0])])
        arts = {r[0] for r in pruned} - kept
        unlink_witnesses(store, [store.record_path(key) for key in arts if names.is_key(key)])
        unused = connection.execute(
            f"DELETE FROM asset WHERE sha256 NOT IN ({IN_USE}) AND suffix <> '.json' RETURNING sha256, suffix, bytes"
        ).fetchall()
    told = named_by_all(project.home) if unused else set()
    for row in unused:
        if row["sha256"] not in told and (name := unlink_freed(database, store, row["sha256"], row["suffix"])):
            yield Removal("asset", name, row["bytes"])


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
  WHERE outcome = 'ok' AND id NOT IN (SELECT attempt_id FROM iteration WHERE attempt_id IS NOT NULL)
    AND art_sha256 NOT IN (SELECT reference_sha256 FROM run WHERE reference_sha256 IS NOT NULL)
) WHERE place > ?
"""


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
