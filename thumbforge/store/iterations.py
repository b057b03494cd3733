"""Image slots: one row for each idempotency key, whichever run was the first to want it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thumbforge import ids
from thumbforge.errors import split_hint
from thumbforge.store import states
from thumbforge.store.database import Database, insert, mapping
from thumbforge.store.leases import is_live


@dataclass(frozen=True, slots=True)
class KnownIteration:
    """An iteration with its history counted. `take` is the one in use, `last_take` the newest that was tried; `tries`
    are charged ones, `lost` those whose process died in a call."""

    id: str
    run_id: str
    status: str
    error_text: str | None
    key_parts: Mapping[str, str]
    take: int | None
    last_take: int
    tries: int
    lost: int
    started_at: float | None
    executor_run_id: str | None
    executor_is_live: bool
    executor_had_lease: bool
    hint: str = ""
    art: str | None = None
    """The sha256 of the art in use."""

    @property
    def was_interrupted(self) -> bool:
        """Neither made nor failed: it was stopped in the middle, and that is not charged."""
        return states.was_interrupted(self.status, self.error_text)


_KNOWN = """
SELECT idempotency_key, key_parts_json, iteration.id, iteration.run_id, iteration.status, iteration.error_text,
       used.take, used.art_sha256, coalesce(tried.last_take, used.take, 0) AS last_take,
       coalesce(tried.tries, 0) AS tries, coalesce(tried.lost, 0) AS lost, iteration.started_at, open.executor_run_id,
       run.lease_owner, run.lease_expires_at, run.lease_epoch
FROM iteration
LEFT JOIN attempt AS used ON used.id = iteration.attempt_id
LEFT JOIN attempt AS open ON open.iteration_id = iteration.id AND open.closed_at IS NULL
LEFT JOIN run ON run.id = open.executor_run_id
LEFT JOIN (
    SELECT iteration_id, sum(outcome IN ('transient', 'permanent')) AS tries,
           sum(outcome = 'lost' AND called_at IS NOT NULL) AS lost, max(take) AS last_take
    FROM attempt
    -- what one good attempt at the first take tells is known without counting: in most iterations that is all
    WHERE iteration_id IN (SELECT iteration_id FROM attempt WHERE take > 1 OR outcome IS NOT 'ok')
    GROUP BY iteration_id
) AS tried ON tried.iteration_id = iteration.id
WHERE idempotency_key IN (SELECT value FROM json_each(?))
"""


def known(database: Database, keys: Sequence[str], now: float) -> dict[str, KnownIteration]:
    """Those of these idempotency keys, by key; one query however many there are."""
    return {
        row["idempotency_key"]: KnownIteration(
            id=row["id"],
            run_id=row["run_id"],
            status=row["status"],
            error_text=split_hint(row["error_text"])[0] if row["error_text"] else None,
            hint=split_hint(row["error_text"] or "")[1],
            key_parts=mapping(row["key_parts_json"]),
            take=row["take"],
            art=row["art_sha256"],
            last_take=row["last_take"],
            tries=row["tries"],
            lost=row["lost"],
            started_at=row["started_at"],
            executor_run_id=row["executor_run_id"],
            executor_is_live=is_live(row["lease_owner"], row["lease_expires_at"], now),
            executor_had_lease=bool(row["lease_epoch"]),
        )
        for row in database.rows(_KNOWN, (json.dumps(keys),))
    }


@dataclass(frozen=True, slots=True)
class Identity:
    """What an iteration's id and key derive from."""

    id: str
    run_id: str
    item_key: str
    idempotency_key: str
    key_parts: Mapping[str, str]


_IDENTITY = "SELECT id, run_id, item_key, idempotency_key, key_parts_json FROM iteration"


def _identity(row: sqlite3.Row) -> Identity:
    return Identity(
        id=row["id"],
        run_id=row["run_id"],
        item_key=row["item_key"],
        idempotency_key=row["idempotency_key"],
        key_parts=mapping(row["key_parts_json"]),
    )


def identities(database: Database) -> list[Identity]:
    """Of every iteration."""
    return [_identity(row) for row in database.rows(_IDENTITY)]


def by_keys(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, Identity]:
    """Those of these idempotency keys, by key; read inside the caller's transaction."""
    rows = connection.execute(
        f"{_IDENTITY} WHERE idempotency_key IN (SELECT value FROM json_each(?))", (json.dumps(keys),)
    )
    return {row["idempotency_key"]: _identity(row) for row in rows}


def ids_by_keys(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, str]:
    """The ids of those of these idempotency keys, by key; read inside the caller's transaction."""
    rows = connection.execute(
        "SELECT idempotency_key, id FROM iteration WHERE idempotency_key IN (SELECT value FROM json_each(?))",
        (json.dumps(keys),),
    )
    return {row["idempotency_key"]: row["id"] for row in rows}


def insert_iteration(connection: sqlite3.Connection, new: Identity, now: float) -> None:
    """A pending one."""
    row = {
        "id": new.id,
        "run_id": new.run_id,
        "item_key": new.item_key,
        "idempotency_key": new.idempotency_key,
        "key_parts_json": ids.canonical_json(new.key_parts),
        "status": "pending",
        "created_at": now,
        "updated_at": now,
    }
    insert(connection, "iteration", row)


def runs_of(database: Database, prefix: str) -> list[str]:
    """The run of each iteration whose id starts with `prefix`."""
    rows = database.rows("SELECT run_id FROM iteration WHERE substr(id, 1, ?) = ?", (len(prefix), prefix))
    return [row["run_id"] for row in rows]


def use_attempt(database: Database, iteration_id: str, attempt_id: str, now: float) -> None:
    """Let an iteration stand on the art of another of its takes; the picture follows with the next batch."""
    with database.write("take.use") as connection:
        connection.execute(
            "UPDATE iteration SET attempt_id = ?, updated_at = ? WHERE id = ?", (attempt_id, now, iteration_id)
        )


def verdict(connection: sqlite3.Connection, iteration_id: str, error_text: str, now: float) -> None:
    """A try that brought no picture: failed, unless it has a picture already (a new take was tried) and keeps it."""
    status = connection.execute("SELECT status FROM iteration WHERE id = ?", (iteration_id,)).fetchone()["status"]
    event: states.IterationEvent = "release" if status == "completed" else "fail"
    columns: dict[str, Any] = {} if event == "release" else {"error_text": error_text, "finished_at": now}
    states.change(connection, "iteration", iteration_id, event, now, **columns)


def cancel_rest(connection: sqlite3.Connection, run_id: str, now: float) -> None:
    """The run's own iterations that are not finished are cancelled with it, but for what another run is making."""
    rows = connection.execute(
        "SELECT id FROM iteration WHERE run_id = ? AND status IN ('pending', 'running')"
        " AND id NOT IN (SELECT iteration_id FROM attempt WHERE closed_at IS NULL)",
        (run_id,),
    ).fetchall()
    for row in rows:
        states.change(connection, "iteration", row["id"], "cancel", now, finished_at=now)


def give_up(connection: sqlite3.Connection, executor_run_id: str, max_lost: int, now: float) -> None:
    """Fail those that this run was at and that have lost `max_lost` processes in a call."""
    rows = connection.execute(
        "SELECT iteration_id FROM attempt JOIN iteration ON iteration.id = iteration_id"
        " WHERE status = 'pending' AND outcome = 'lost' AND called_at IS NOT NULL AND iteration_id IN"
        " (SELECT iteration_id FROM attempt WHERE executor_run_id = ?) GROUP BY iteration_id HAVING count(*) >= ?",
        (executor_run_id, max_lost),
    ).fetchall()
    for row in rows:
        text = f"the process died {max_lost} times in this item"
        states.change(connection, "iteration", row["iteration_id"], "fail", now, error_text=text, finished_at=now)
