"""What the ledger tells about its runs: rows for `runs list` and `runs show`. Reads only."""

from __future__ import annotations

import sqlite3
from typing import Any

from thumbforge.errors import NotFound, UsageError, split_hint
from thumbforge.store import states
from thumbforge.store.attempts import Spent
from thumbforge.store.database import Database, mapping

# A run's items are those of its plan; one that it had nothing to do for counts as what its iteration is now.
_COUNTS = """
SELECT run_item.run_id,
       count(*) AS total,
       sum(iteration.status IS 'completed') AS completed,
       sum(iteration.status IS 'failed' AND coalesce(iteration.error_text, '') NOT LIKE 'interrupted%') AS failed
FROM run_item LEFT JOIN iteration ON iteration.id = run_item.iteration_id
GROUP BY run_item.run_id
"""
_RUNS = f"""
SELECT run.*, template.name AS template, template.version AS template_version, provider_profile.name AS profile,
       counted.total, counted.completed, counted.failed,
       (SELECT count(*) FROM iteration WHERE run_id = run.id) AS own
FROM run LEFT JOIN template ON template.spec_hash = run.spec_hash
         LEFT JOIN provider_profile ON provider_profile.id = run.profile_id
         LEFT JOIN ({_COUNTS}) AS counted ON counted.run_id = run.id
"""


def list_runs(database: Database, *, kind: str | None, status: str | None, limit: int) -> list[dict[str, Any]]:
    """The newest runs first. Those that state a list are left out unless `kind` asks for them: `playlist log` tells
    what they say."""
    rows = database.rows(
        f"{_RUNS} WHERE iif(?1 IS NULL, run.kind <> 'ingest', run.kind = ?1) AND (?2 IS NULL OR run.status = ?2)"
        " ORDER BY run.created_at DESC, run.rowid DESC LIMIT ?3",
        (kind, status, limit),
    )
    return [_run(row) for row in rows]


def show_run(database: Database, prefix: str) -> dict[str, Any]:
    """One run with its items and attempts. Errors as `find_run`."""
    found = find_run(database, prefix)
    run = _run(found) | {
        "params": mapping(found["params_json"]),
        "reference": found["reference_sha256"],
        "error": found["error_text"],
    }
    return {
        "run": run,
        "summary": run["counts"],
        "iterations": _iterations(database, run["id"]),
        "attempts": _attempts(database, run["id"]),
    }


def find_run(database: Database, prefix: str) -> sqlite3.Row:
    """The one run whose id starts with `prefix`. Raises NotFound for none, UsageError for several."""
    found = database.rows(f"{_RUNS} WHERE substr(run.id, 1, ?) = ? LIMIT 2", (len(prefix), prefix))
    if len(found) > 1:
        raise UsageError(f"several runs have an id that starts with {prefix!r}", hint="give more of it")
    if not found or not prefix:
        raise NotFound(f"there is no run {prefix}", hint="thumbforge runs list shows the runs")
    return found[0]


def _run(row: sqlite3.Row) -> dict[str, Any]:
    own_total = row["total"] is None  # a hero has no plan, only iterations
    total = row["own"] if own_total else row["total"]
    completed = row["own"] if own_total and row["status"] == "completed" else row["completed"] or 0
    failed = row["failed"] or 0
    return {
        "id": row["id"],
        "kind": row["kind"],
        "status": row["status"],
        "series": row["series"],
        "template": row["template"],
        "provider": row["profile"],
        "playlist": row["playlist_id"],
        "parent_run_id": row["parent_run_id"],
        "started_at": row["started_at"],
        "finished_at": row["finished_at"],
        "exit_code": row["exit_code"],
        "counts": {"total": total, "completed": completed, "failed": failed, "pending": total - completed - failed},
    }


_PICTURES = """
       final.final_key, final.compliant, final.report_json, final.art_sha256,
       asset.sha256, asset.suffix, asset.width, asset.height, asset.bytes
"""
_JOINS = """
LEFT JOIN final ON final.final_key = iteration.final_key
LEFT JOIN asset ON asset.sha256 = final.sha256
"""
_PLANNED = f"""
SELECT iteration.*, run.picked_iteration_id, action, reason, plan_json,
       run_item.idempotency_key AS planned_key, {_PICTURES}
FROM run_item JOIN run ON run.id = run_item.run_id
LEFT JOIN iteration ON iteration.id = run_item.iteration_id {_JOINS}
WHERE run_item.run_id = ? ORDER BY run_item.ordinal
"""
# A hero that was a file has no plan, only its one iteration.
_OWN = f"""
SELECT iteration.*, run.picked_iteration_id, NULL AS action, NULL AS reason, '{{}}' AS plan_json,
       iteration.idempotency_key AS planned_key, {_PICTURES}
FROM iteration JOIN run ON run.id = iteration.run_id {_JOINS}
WHERE iteration.run_id = ? ORDER BY item_key
"""


def _iterations(database: Database, run_id: str) -> list[dict[str, Any]]:
    rows = database.rows(_PLANNED, (run_id,)) or database.rows(_OWN, (run_id,))
    return [_iteration(row, mapping(row["plan_json"])) for row in rows]


def _iteration(row: sqlite3.Row, plan: dict[str, Any]) -> dict[str, Any]:
    item = plan.get("item", {})
    return {
        "id": row["id"],
        "part": item.get("part"),
        "position": plan.get("position"),
        "video": item.get("video"),
        "title": item.get("title"),
        "action": row["action"],
        "reason": row["reason"],
        "status": "pending" if states.was_interrupted(row["status"], row["error_text"]) else row["status"] or "pending",
        "key": row["planned_key"],
        "picked": row["id"] is not None and row["id"] == row["picked_iteration_id"],
        **_error(row["error_text"]),
        "compliant": None if row["compliant"] is None else bool(row["compliant"]),
        "report": row["report_json"] and mapping(row["report_json"]),
        "art_sha256": row["art_sha256"],
        "final_asset": row["sha256"] and {name: row[name] for name in ("sha256", "suffix", "width", "height", "bytes")},
        "started_at": row["started_at"],
        "finished_at": row["finished_at"],
        "updated_at": row["updated_at"],
    }


def _error(text: str | None) -> dict[str, str | None]:
    line, hint = split_hint(text or "")
    return {"error": line or None, "hint": hint or None}


_PAID = """
SELECT calls, perhaps_billed, outcome, cost, currency, tokens, called_at, closed_at,
       coalesce(run.series, '') AS series, coalesce(provider_profile.name, '') AS profile,
       coalesce(provider_profile.provider, '') AS provider
FROM attempt LEFT JOIN run ON run.id = executor_run_id
             LEFT JOIN provider_profile ON provider_profile.id = run.profile_id
WHERE called_at IS NOT NULL OR calls > 0
"""


def paid_attempts(database: Database) -> list[dict[str, Any]]:
    """Every attempt of the ledger that called a provider, with the series, profile and provider of its run; "" where
    there is none: of a hero run, or of one that is gone."""
    return [dict(row) for row in database.rows(_PAID)]


def attempts_by(database: Database, run_id: str) -> list[dict[str, Any]]:
    """The attempts that the run itself made, also for iterations of other runs."""
    return _shown(database.rows("SELECT * FROM attempt WHERE executor_run_id = ? ORDER BY opened_at, n", (run_id,)))


def _attempts(database: Database, run_id: str) -> list[dict[str, Any]]:
    """Those that the run executed, and those of its own iterations that a later run executed."""
    return _shown(
        database.rows(
            "SELECT attempt.* FROM attempt JOIN iteration ON iteration.id = attempt.iteration_id"
            " WHERE executor_run_id = ?1 OR iteration.run_id = ?1 ORDER BY opened_at, n",
            (run_id,),
        )
    )


def _shown(rows: list[sqlite3.Row]) -> list[dict[str, Any]]:
    return [
        {
            "id": row["id"],
            "iteration_id": row["iteration_id"],
            "executor_run_id": row["executor_run_id"],
            **{name: row[name] for name in ("n", "take", "outcome")},
            **{name: row[name] for name in Spent.__slots__},
            **{name: row[name] for name in ("opened_at", "called_at", "closed_at", "art_sha256")},
            **_error(row["error_text"]),
            "request": mapping(row["request_json"]),
            "response": mapping(row["response_json"] or "{}"),
        }
        for row in rows
    ]


def finals_of_picture(database: Database, sha256: str) -> list[sqlite3.Row]:
    """The finals whose bytes these are; the same bytes may be of several items."""
    query = "SELECT final_key, sha256, art_sha256 FROM final WHERE sha256 = ? ORDER BY created_at DESC"
    return database.rows(query, (sha256,))


def attempts_of_art(database: Database, sha256: str) -> list[sqlite3.Row]:
    """The attempts that have this art, with what their item is made of: the one that was a call first."""
    return database.rows(
        "SELECT art_key, take, closed_at, calls, cost, currency, executor_run_id AS run_id, idempotency_key,"
        " key_parts_json, run.series FROM attempt JOIN iteration ON iteration.id = iteration_id"
        " LEFT JOIN run ON run.id = executor_run_id WHERE art_sha256 = ? ORDER BY calls DESC, closed_at",
        (sha256,),
    )


def series_of_final(database: Database, final_key: str) -> str | None:
    """The series that has it in out/."""
    row = database.row("SELECT series FROM export WHERE final_key = ? ORDER BY updated_at DESC", (final_key,))
    return str(row["series"]) if row else None
