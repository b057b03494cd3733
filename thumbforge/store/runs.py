"""Rows of runs: what each is about, its checkpoint, and who executes it. Its end is the ledger's business."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from thumbforge import ids
from thumbforge.store.database import Database, insert, mapping
from thumbforge.store.leases import is_live


@dataclass(frozen=True, slots=True)
class NewRun:
    """What a run is about; `params` and ids are immutable once it exists."""

    id: str
    kind: str
    _: KW_ONLY
    series: str | None = None
    playlist_id: str | None = None
    spec_hash: str | None = None
    profile_id: str | None = None
    parent_run_id: str | None = None
    reference_sha256: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    checkpoint: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run that is not at its end; `is_live`: a process executes it now."""

    id: str
    status: str
    is_live: bool


@dataclass(frozen=True, slots=True)
class Ingest:
    """An ingest run and how far it has got."""

    id: str
    status: str
    params: Mapping[str, Any]
    checkpoint: Mapping[str, Any]
    started_at: float


def insert_run(connection: sqlite3.Connection, run: NewRun, now: float) -> None:
    """A pending one."""
    row = {name: getattr(run, name) for name in run.__slots__ if name not in {"params", "checkpoint"}}
    row |= {"params_json": ids.canonical_json(run.params), "checkpoint_json": ids.canonical_json(run.checkpoint)}
    insert(connection, "run", {**row, "status": "pending", "created_at": now, "updated_at": now})


def params_of_last(database: Database, series: str) -> Mapping[str, Any] | None:
    """What the last batch of a series was about; None where there was none."""
    row = database.row(
        "SELECT params_json FROM run WHERE kind = 'batch' AND series = ? ORDER BY created_at DESC LIMIT 1", (series,)
    )
    return mapping(row["params_json"]) if row else None


def exists(database: Database, run_id: str) -> bool:
    return database.row("SELECT 1 FROM run WHERE id = ?", (run_id,)) is not None


def set_params(connection: sqlite3.Connection, run_id: str, params: Mapping[str, Any]) -> None:
    connection.execute("UPDATE run SET params_json = ? WHERE id = ?", (ids.canonical_json(params), run_id))


def set_checkpoint(connection: sqlite3.Connection, run_id: str, checkpoint: Mapping[str, Any]) -> None:
    connection.execute("UPDATE run SET checkpoint_json = ? WHERE id = ?", (ids.canonical_json(checkpoint), run_id))


def unfinished(database: Database, now: float) -> list[Unfinished]:
    rows = database.rows(
        "SELECT id, status, lease_owner, lease_expires_at FROM run WHERE status IN ('pending', 'running', 'paused')"
    )
    return [
        Unfinished(
            id=row["id"],
            status=row["status"],
            is_live=is_live(row["lease_owner"], row["lease_expires_at"], now),
        )
        for row in rows
    ]


_INGEST = "SELECT id, status, params_json, checkpoint_json, started_at FROM run WHERE kind = 'ingest'"


def _ingest(row: sqlite3.Row) -> Ingest:
    return Ingest(
        id=row["id"],
        status=row["status"],
        params=mapping(row["params_json"]),
        checkpoint=mapping(row["checkpoint_json"]),
        started_at=row["started_at"],
    )


def ingest(database: Database, run_id: str) -> Ingest:
    [row] = database.rows(f"{_INGEST} AND id = ?", (run_id,))
    return _ingest(row)


def last_ingest(database: Database, playlist: str) -> Ingest | None:
    row = database.row(f"{_INGEST} AND playlist_id = ? ORDER BY created_at DESC, rowid DESC LIMIT 1", (playlist,))
    return _ingest(row) if row else None


def ingests(database: Database, playlist: str) -> list[Ingest]:
    """All of a list's, in the order in which they were begun."""
    return [_ingest(row) for row in database.rows(f"{_INGEST} AND playlist_id = ? ORDER BY rowid", (playlist,))]


def ingests_since(database: Database, playlist: str, run_id: str) -> list[str]:
    """The ids of this playlist's ingests after that run; by the order of writing, not by clocks."""
    rows = database.rows(
        "SELECT id FROM run WHERE kind = 'ingest' AND playlist_id = ? AND rowid > (SELECT rowid FROM run WHERE id = ?)",
        (playlist, run_id),
    )
    return [row["id"] for row in rows]
