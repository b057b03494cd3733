"""What stands beside what is in use: older finals and takes of an iteration, and how they go."""

from __future__ import annotations

from dataclasses import dataclass

from thumbforge.store import names, pictures
from thumbforge.store.assets import AssetStore
from thumbforge.store.database import Database
from thumbforge.store.deletion import unlink_witnesses
from thumbforge.store.pictures import StoredPicture

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
