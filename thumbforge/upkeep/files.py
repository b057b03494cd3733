"""The files under `.thumbforge/`, and which row each of them belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from thumbforge.store.database import Database

Kind = Literal["asset", "staged", "temporary", "manifest"]


@dataclass(frozen=True, slots=True)
class StoreFile:
    """`owner` names the row that needs the file, None where nothing does. `modified` is in Unix seconds."""

    path: Path
    kind: Kind
    owner: str | None
    modified: float


def store_files(home: Path, database: Database) -> Iterator[StoreFile]:
    """Assets, staged answers, temporary files and manifests; not the ledger and the logs."""
    owners = {f"{r['snapshot']}.json": "ingest" for r in database.rows(_SNAPSHOTS)}
    owners |= {f"{r['sha256']}{r['suffix']}": r["sha256"] for r in database.rows("SELECT sha256, suffix FROM asset")}
    finals = {r["final_key"] for r in database.rows("SELECT final_key FROM final")}
    wanting = {r["id"] for r in database.rows(_WANTING)}
    for path in _files(home / "assets"):
        yield _file(path, "asset" if len(path.stem) == 64 else "temporary", owners.get(path.name))
    for path in _files(home / "staging"):
        is_answer = len(path.name) == 36 and path.name in wanting
        yield _file(path, "staged" if len(path.name) == 36 else "temporary", path.name if is_answer else None)
    for path in _files(home / "keys"):
        yield _file(path, "manifest", path.stem if path.stem in finals else None)


# An ingest goes on from its frozen list; a finished one tells with its hash that nothing has changed since.
_SNAPSHOTS = "SELECT json_extract(checkpoint_json, '$.snapshot') AS snapshot FROM run WHERE kind = 'ingest'"

# A staged answer is needed until its iteration has art for the same request, or a verdict that no answer brought.
_WANTING = """
SELECT attempt.id FROM attempt JOIN iteration ON iteration.id = attempt.iteration_id
WHERE (outcome IS NULL OR outcome IN ('lost', 'interrupted')) AND NOT EXISTS (
  SELECT 1 FROM attempt AS better WHERE better.art_key = attempt.art_key AND better.art_sha256 IS NOT NULL)
"""


def _files(folder: Path) -> Iterator[Path]:
    yield from (path for path in sorted(folder.rglob("*")) if path.is_file())


def _file(path: Path, kind: Kind, owner: str | None) -> StoreFile:
    try:
        modified = path.stat().st_mtime
    except OSError:  # gone meanwhile: as young as can be, so that nobody deletes what comes after it
        modified = float("inf")
    return StoreFile(path, kind, owner, modified)
