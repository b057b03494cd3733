"""The only place where a state changes: what may happen to a run or an iteration, and what it becomes.

    run        pending -> running -> completed | failed | cancelled | paused
               paused, failed -> running (resume)        pending, running, paused, failed -> cancelled
    iteration  pending -> running -> completed | failed  failed -> running (retry), completed -> failed (refinish)

An event that is not listed for a state is refused and leaves the row untouched.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Literal

from thumbforge.errors import LedgerError

RunEvent = Literal["claim", "complete", "fail", "pause", "cancel"]
IterationEvent = Literal["claim", "release", "complete", "fail", "cancel", "forget"]

RUN: Mapping[tuple[str, str], str] = {
    ("pending", "claim"): "running",
    ("paused", "claim"): "running",
    ("failed", "claim"): "running",
    ("running", "complete"): "completed",
    ("running", "fail"): "failed",
    ("running", "pause"): "paused",
    ("pending", "cancel"): "cancelled",
    ("running", "cancel"): "cancelled",
    ("paused", "cancel"): "cancelled",
    ("failed", "cancel"): "cancelled",
}

ITERATION: Mapping[tuple[str, str], str] = {
    ("pending", "claim"): "running",
    ("failed", "claim"): "running",
    ("cancelled", "claim"): "running",
    ("running", "claim"): "running",  # taken over from a process that died
    ("completed", "claim"): "completed",  # a new take: the picture in use stays until the new one is there
    ("running", "release"): "pending",
    ("completed", "release"): "completed",
    ("pending", "complete"): "completed",  # adopted art, no call
    ("running", "complete"): "completed",
    ("failed", "complete"): "completed",  # refinished: the art was there
    ("cancelled", "complete"): "completed",
    ("completed", "complete"): "completed",
    ("pending", "fail"): "failed",
    ("running", "fail"): "failed",
    ("failed", "fail"): "failed",
    ("cancelled", "fail"): "failed",
    ("completed", "fail"): "failed",  # refinished, and the new picture breaks a rule
    ("pending", "cancel"): "cancelled",
    ("running", "cancel"): "cancelled",
    ("failed", "cancel"): "cancelled",
    **{(state, "forget"): "cancelled" for state in ("pending", "running", "completed", "failed", "cancelled")},
}
"""`forget` lets go of the pictures of one whose row is about to be deleted."""

_TABLES: Mapping[str, Mapping[tuple[str, str], str]] = {"run": RUN, "iteration": ITERATION}


INTERRUPTED = "interrupted"
"""How the error of an iteration begins that was stopped in the middle."""


def was_interrupted(status: str | None, error_text: str | None) -> bool:
    """Whether an iteration waits to be gone on with: the ledger has it as failed, and nothing has failed."""
    return status == "failed" and (error_text or "").startswith(INTERRUPTED)


def change(
    connection: sqlite3.Connection,
    table: Literal["run", "iteration"],
    row_id: str,
    event: RunEvent | IterationEvent,
    now: float,
    **columns: Any,
) -> str:
    """Apply `event` to a row inside the caller's transaction, setting `columns` too; returns the new state.

    Raises LedgerError when the row does not exist or the event is not allowed in its state.
    """
    row = connection.execute(f"SELECT status FROM {table} WHERE id = ?", (row_id,)).fetchone()
    if row is None:
        raise LedgerError(f"there is no {table} {row_id}")
    state = _TABLES[table].get((row["status"], event))
    if state is None:
        raise LedgerError(f"{table} {row_id} is {row['status']}: it cannot {event}")
    values = {"status": state, "updated_at": now, **columns}
    if table == "run" and state != "running":
        values |= {"lease_owner": None, "lease_expires_at": None, "pause_requested": 0, "cancel_requested": 0}
    settings = ", ".join(f"{name} = :{name}" for name in values)
    connection.execute(f"UPDATE {table} SET {settings} WHERE id = :row_id", {**values, "row_id": row_id})
    return state
