"""Tries of iterations: opened, closed, and what they brought. Art is found by the key of its request."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from thumbforge import ids
from thumbforge.store import states
from thumbforge.store.database import Database, insert
from thumbforge.store.leases import is_live
from thumbforge.store.pictures import PICTURE, StoredPicture, picture_of


@dataclass(frozen=True, slots=True)
class Art:
    """What a provider returned once, by art key. `reference_ignored`: it found out that it could not look at it."""

    attempt_id: str
    picture: StoredPicture
    reference_ignored: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Spent:
    """What one attempt cost. `cost` is a decimal text, None where nobody told."""

    calls: int = 0
    perhaps_billed: int = 0
    cost: str | None = None
    currency: str | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Take:
    """A take of an item that has art. `closed_at` is in Unix seconds."""

    take: int
    attempt_id: str
    sha256: str
    suffix: str
    in_use: bool
    closed_at: float
    calls: int
    cost: str | None
    currency: str | None


_SPENT = ", ".join(f"{name} = :{name}" for name in Spent.__slots__)
_IGNORED = "instr(response_json, '\"reference_ignored\":true') > 0"  # as `close_with_art` writes it: canonical JSON
_ART = (
    f"SELECT attempt.id AS attempt_id, art_key, {_IGNORED} AS ignored, {PICTURE}"
    " FROM attempt JOIN asset ON asset.sha256 = art_sha256"
)


def _art(row: sqlite3.Row) -> Art:
    return Art(row["attempt_id"], picture_of(row), bool(row["ignored"]))


def _spent(spent: Spent) -> dict[str, Any]:
    return {name: getattr(spent, name) for name in Spent.__slots__}


def art_by_keys(database: Database, keys: Sequence[str]) -> list[tuple[str, Art]]:
    """(art key, art), the newest of a key last."""
    query = f"{_ART} WHERE art_key IN (SELECT value FROM json_each(?)) ORDER BY closed_at"
    return [(row["art_key"], _art(row)) for row in database.rows(query, (json.dumps(keys),))]


def art_of(connection: sqlite3.Connection, art_key: str, other_than: str | None, only: str | None = None) -> Art | None:
    """Art of this key with another hash than `other_than`, or with the hash `only`."""
    query = (
        f"{_ART} WHERE art_key = :key AND art_sha256 IS NOT :other AND art_sha256 = coalesce(:only, art_sha256) LIMIT 1"
    )
    row = connection.execute(query, {"key": art_key, "other": other_than, "only": only}).fetchone()
    return _art(row) if row else None


def painted_keys(database: Database) -> set[str]:
    """The art keys that the ledger has art for, but for heroes that are the user's own files."""
    rows = database.rows(
        "SELECT DISTINCT art_key FROM attempt JOIN iteration ON iteration.id = iteration_id"
        " WHERE art_sha256 IS NOT NULL AND json_extract(key_parts_json, '$.file') IS NULL"
    )
    return {row["art_key"] for row in rows}


def cut_short(database: Database, art_key: str) -> list[str]:
    """The attempts that may have left a staged answer to this request, the newest first."""
    rows = database.rows(
        "SELECT id FROM attempt WHERE art_key = ? AND outcome IN ('lost', 'interrupted') ORDER BY opened_at DESC",
        (art_key,),
    )
    return [row["id"] for row in rows]


def takes_of(database: Database, iteration_id: str) -> list[Take]:
    """The takes that have art, the newest attempt of each."""
    return takes_of_all(database, [iteration_id]).get(iteration_id, [])


def takes_of_all(database: Database, iterations: Sequence[str], least: int = 1) -> dict[str, list[Take]]:
    """The same of each of these iterations that has `least` takes or more."""
    rows = database.rows(
        "SELECT iteration_id, take, attempt.id, asset.sha256, suffix, attempt.id = iteration.attempt_id AS in_use,"
        " closed_at, calls, cost, currency FROM attempt JOIN asset ON asset.sha256 = art_sha256"
        " JOIN iteration ON iteration.id = iteration_id"
        " WHERE iteration_id IN (SELECT value FROM json_each(?)) ORDER BY iteration_id, take, n",
        (json.dumps(iterations),),
    )
    found: dict[str, dict[int, Take]] = {}
    for row in rows:
        found.setdefault(row["iteration_id"], {})[row["take"]] = Take(
            take=row["take"],
            attempt_id=row["id"],
            sha256=row["sha256"],
            suffix=row["suffix"],
            in_use=bool(row["in_use"]),
            closed_at=row["closed_at"],
            calls=row["calls"],
            cost=row["cost"],
            currency=row["currency"],
        )
    return {iteration: list(takes.values()) for iteration, takes in found.items() if len(takes) >= least}


def costs_of(database: Database, iterations: Sequence[str]) -> list[tuple[str, str, str | None]]:
    """(iteration id, cost, currency) of each of their attempts whose cost is known."""
    rows = database.rows(
        "SELECT iteration_id, cost, currency FROM attempt WHERE cost IS NOT NULL"
        " AND iteration_id IN (SELECT value FROM json_each(?))",
        (json.dumps(iterations),),
    )
    return [(row["iteration_id"], row["cost"], row["currency"]) for row in rows]


def open_by_dead_runs(database: Database, now: float) -> list[tuple[str, str]]:
    """(attempt id, run id) of what is open although nobody executes the run."""
    rows = database.rows(
        "SELECT attempt.id, executor_run_id, lease_owner, lease_expires_at FROM attempt"
        " LEFT JOIN run ON run.id = executor_run_id WHERE closed_at IS NULL"
    )
    dead = (row for row in rows if not is_live(row["lease_owner"], row["lease_expires_at"], now))
    return [(row["id"], row["executor_run_id"]) for row in dead]


def insert_attempt(
    connection: sqlite3.Connection,
    *,
    iteration_id: str,
    art_key: str,
    take: int,
    request: Mapping[str, Any],
    run_id: str,
    epoch: int,
    now: float,
) -> str:
    """Open the iteration's next attempt, executed by this run; returns its id."""
    last = connection.execute("SELECT coalesce(max(n), 0) FROM attempt WHERE iteration_id = ?", (iteration_id,))
    n = last.fetchone()[0] + 1
    row = {
        "id": ids.attempt_id(iteration_id, n),
        "iteration_id": iteration_id,
        "n": n,
        "take": take,
        "art_key": art_key,
        "executor_run_id": run_id,
        "lease_epoch": epoch,
        "request_json": ids.canonical_json(request),
        "opened_at": now,
    }
    insert(connection, "attempt", row)
    return str(row["id"])


def close(
    connection: sqlite3.Connection, attempt_id: str, outcome: str, error: str | None, spent: Spent, now: float
) -> None:
    """It brought no art. One that is closed already stays as it is."""
    connection.execute(
        f"UPDATE attempt SET closed_at = :now, outcome = :outcome, error_text = :error, {_SPENT}"
        " WHERE id = :id AND closed_at IS NULL",
        {"now": now, "outcome": outcome, "error": error, "id": attempt_id, **_spent(spent)},
    )


def close_with_art(
    connection: sqlite3.Connection,
    attempt_id: str,
    art_sha256: str,
    response: Mapping[str, Any] | None,
    now: float,
    spent: Spent | None = None,
) -> str | None:
    """It brought art, or took up what another attempt had brought; its art key. One whose process died keeps the time
    it was closed at; one that is closed with a verdict stays as it is: None."""
    row = connection.execute(
        f"UPDATE attempt SET closed_at = coalesce(closed_at, :now), outcome = 'ok', art_sha256 = :art_sha256, {_SPENT},"
        " response_json = :response, error_text = NULL"
        " WHERE id = :id AND (outcome IS NULL OR outcome IN ('lost', 'interrupted')) RETURNING art_key",
        {
            "now": now,
            "art_sha256": art_sha256,
            "response": None if response is None else ids.canonical_json(response),
            "id": attempt_id,
            **_spent(spent or Spent()),
        },
    ).fetchone()
    return row["art_key"] if row else None


class Before(NamedTuple):
    take: int
    art_key: str


def move(connection: sqlite3.Connection, attempt_id: str, take: int, art_key: str) -> Before | None:
    """Make an attempt's art another take of its item; what it was before. None, and nothing is changed, where an
    iteration uses it or it is gone."""
    row = connection.execute(
        "SELECT take, art_key FROM attempt WHERE id = ?1 AND outcome = 'ok'"
        " AND NOT EXISTS (SELECT 1 FROM iteration WHERE attempt_id = ?1)",
        (attempt_id,),
    ).fetchone()
    if row:
        connection.execute("UPDATE attempt SET take = ?, art_key = ? WHERE id = ?", (take, art_key, attempt_id))
    return Before(row["take"], row["art_key"]) if row else None


def close_open(connection: sqlite3.Connection, executor_run_id: str, outcome: str, why: str, now: float) -> None:
    """Close what an executor left open. Its iterations go back to pending, or stay completed."""
    open_attempts = connection.execute(
        "SELECT id, iteration_id FROM attempt WHERE executor_run_id = ? AND closed_at IS NULL", (executor_run_id,)
    ).fetchall()
    for row in open_attempts:
        connection.execute(
            "UPDATE attempt SET closed_at = ?, outcome = ?, error_text = ? WHERE id = ?", (now, outcome, why, row["id"])
        )
        states.change(connection, "iteration", row["iteration_id"], "release", now)


def identities(database: Database) -> list[tuple[str, str, int]]:
    """(id, iteration id, number) of every attempt."""
    rows = database.rows("SELECT id, iteration_id, n FROM attempt")
    return [(row["id"], row["iteration_id"], row["n"]) for row in rows]
