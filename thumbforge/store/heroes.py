"""Hero runs: their candidates, the pick, which picture a word means, and a picture file as a hero of its own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from thumbforge import ids
from thumbforge.errors import NotFound, UsageError, split_hint
from thumbforge.store import attempts, finals, iterations, pictures, runs, states
from thumbforge.store.database import Database
from thumbforge.store.pictures import StoredPicture


@dataclass(frozen=True, slots=True)
class Candidate:
    """One picture of a hero run; `ordinal` counts from 1. Pictures are (sha256, suffix), None while there is none."""

    ordinal: int
    iteration_id: str
    status: str
    picked: bool
    compliant: bool | None
    error: str | None
    art: tuple[str, str] | None
    final: tuple[str, str] | None
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Picked:
    """A completed iteration whose pictures can set a style. Pictures are (sha256, suffix)."""

    run_id: str
    iteration_id: str
    art: tuple[str, str]
    final: tuple[str, str]
    is_drawn: bool
    """Made from a template, so that its final has a text in it."""


_PICTURES = """
       art.sha256 AS art_sha256, art.suffix AS art_suffix, drawn.sha256 AS final_sha256, drawn.suffix AS final_suffix
"""
_JOINS = """
LEFT JOIN final ON final.final_key = iteration.final_key
LEFT JOIN asset AS art ON art.sha256 = final.art_sha256
LEFT JOIN asset AS drawn ON drawn.sha256 = final.sha256
"""
_CANDIDATES = f"""
SELECT coalesce(run_item.ordinal, 1) AS ordinal, iteration.id, iteration.status, iteration.error_text,
       final.compliant, {_PICTURES}
FROM iteration
LEFT JOIN run_item ON run_item.iteration_id = iteration.id AND run_item.run_id = :run
{_JOINS}
WHERE run_item.run_id = :run OR iteration.run_id = :run ORDER BY ordinal
"""
_PICKED = f"""
SELECT iteration.id, iteration.run_id, iteration.status, run.spec_hash, {_PICTURES}
FROM iteration JOIN run ON run.id = iteration.run_id {_JOINS}
"""


def candidates(database: Database, run: sqlite3.Row) -> list[Candidate]:
    """Those of a hero run, in order. UsageError for a run of another kind."""
    if run["kind"] not in {"hero", "iterate"}:
        raise UsageError(f"run {run['id'][:8]} is a {run['kind']} run, not a hero run")
    return [
        Candidate(
            ordinal=row["ordinal"],
            iteration_id=row["id"],
            status="pending" if states.was_interrupted(row["status"], row["error_text"]) else row["status"],
            picked=row["id"] == run["picked_iteration_id"],
            compliant=None if row["compliant"] is None else bool(row["compliant"]),
            error=split_hint(row["error_text"])[0] if row["error_text"] else None,
            hint=split_hint(row["error_text"] or "")[1],
            art=(row["art_sha256"], row["art_suffix"]) if row["art_sha256"] else None,
            final=(row["final_sha256"], row["final_suffix"]) if row["final_sha256"] else None,
        )
        for row in database.rows(_CANDIDATES, {"run": run["id"]})
    ]


def run_of(database: Database, kind: str, keys: Sequence[str]) -> str | None:
    """The run of this kind that already has all of these idempotency keys, the newest of several."""
    row = database.row(
        "SELECT run_id FROM run_item JOIN run ON run.id = run_id"
        " WHERE kind = ? AND idempotency_key IN (SELECT value FROM json_each(?))"
        " GROUP BY run_id HAVING count(*) = ? ORDER BY run.created_at DESC LIMIT 1",
        (kind, json.dumps(keys), len(keys)),
    )
    return row["run_id"] if row else None


def picked(database: Database, word: str) -> Picked:
    """What a hero run's pick is, or an iteration, by (the start of) its id.

    Raises NotFound where there is none, UsageError for a run without a pick or an unfinished iteration.
    """
    found = database.rows(f"{_PICKED} WHERE substr(iteration.id, 1, ?) = ?", (len(word), word))
    of_run = database.rows("SELECT kind, picked_iteration_id FROM run WHERE substr(id, 1, ?) = ?", (len(word), word))
    if len(found) + len(of_run) > 1:
        raise UsageError(f"{word} is the start of several ids", hint="give more of it")
    if of_run:
        found = database.rows(f"{_PICKED} WHERE iteration.id = ?", (of_run[0]["picked_iteration_id"],))
        if of_run[0]["kind"] not in {"hero", "iterate"}:
            raise UsageError(f"run {word} is a {of_run[0]['kind']} run, not a hero", hint="name one of its iterations")
        if not found:
            raise UsageError(
                f"hero run {word} has no pick yet",
                hint=f"thumbforge hero pick {word} N picks one; an iteration of it is a hero, too",
            )
    if not found:
        raise NotFound(f"there is no run or iteration {word}", hint="thumbforge runs list shows the runs")
    [row] = found
    if row["status"] != "completed" or not row["final_sha256"]:
        raise UsageError(f"iteration {word} is {row['status']}, not completed")
    return Picked(
        run_id=row["run_id"],
        iteration_id=row["id"],
        art=(row["art_sha256"], row["art_suffix"]),
        final=(row["final_sha256"], row["final_suffix"]),
        is_drawn=row["spec_hash"] is not None,
    )


def pick(database: Database, run_id: str, iteration_id: str, now: float) -> None:
    """Make an iteration the one pick of a hero run. Another run that shows the same one keeps its own pick."""
    with database.write("hero.pick") as connection:
        _point(connection, run_id, iteration_id, now)


def _point(connection: sqlite3.Connection, run_id: str, iteration_id: str, now: float) -> None:
    connection.execute(
        "UPDATE run SET picked_iteration_id = ?, updated_at = ? WHERE id = ?", (iteration_id, now, run_id)
    )


def record_file(database: Database, run_id: str, iteration_id: str, picture: StoredPicture, now: float) -> None:
    """A picture file as a completed hero run of one picked iteration, so that lineage always has the same shape.

    What was recorded before, in this process or another, stays as it is.
    """
    if runs.exists(database, run_id):
        return
    sha256 = picture.sha256
    final_key = ids.digest("hero-file", {"sha256": sha256})
    iteration = iterations.Identity(iteration_id, run_id, "ordinal:1", final_key[:32], {"file": sha256})
    times: dict[str, Any] = {"started_at": now, "finished_at": now}
    with database.write("hero.row") as connection:
        if connection.execute("SELECT 1 FROM run WHERE id = ?", (run_id,)).fetchone():
            return  # another process was faster
        runs.insert_run(connection, runs.NewRun(run_id, "hero"), now)
        if not connection.execute("SELECT 1 FROM asset WHERE sha256 = ?", (sha256,)).fetchone():
            pictures.remember(connection, picture, now)
        iterations.insert_iteration(connection, iteration, now)
        attempt_id = attempts.insert_attempt(
            connection,
            iteration_id=iteration_id,
            art_key=ids.art_key({"hero-file": sha256}),
            take=1,
            request={},
            run_id=run_id,
            epoch=0,
            now=now,
        )
        attempts.close_with_art(connection, attempt_id, sha256, None, now)
        finals.record(
            connection,
            final_key=final_key,
            iteration_id=iteration_id,
            art_sha256=sha256,
            sha256=sha256,
            compliant=True,
            report={},
            now=now,
        )
        states.change(
            connection, "iteration", iteration_id, "complete", now, attempt_id=attempt_id, final_key=final_key, **times
        )
        states.change(connection, "run", run_id, "claim", now, started_at=now)
        states.change(connection, "run", run_id, "complete", now, finished_at=now, exit_code=0)
        _point(connection, run_id, iteration_id, now)
