"""The run ledger: runs, their frozen plans, and the lease that makes one process the executor of a run."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from thumbforge import ids
from thumbforge.errors import Exit, LeaseLost, UsageError
from thumbforge.store import attempts, iterations, states
from thumbforge.store.database import Database
from thumbforge.store.leases import Slots, is_live
from thumbforge.store.plans import PlannedItem, plan_items, replace_items
from thumbforge.store.runs import NewRun, insert_run, set_params


@dataclass(frozen=True, slots=True)
class Fence:
    """Proof that this process executes the run. Checked in the transaction of each of its writes."""

    run_id: str
    owner: str
    epoch: int

    def check(self, connection: sqlite3.Connection) -> None:
        """Raise LeaseLost where another process has taken the run over, or it was cancelled."""
        row = connection.execute(
            "SELECT 1 FROM run WHERE id = ? AND status = 'running' AND lease_owner = ? AND lease_epoch = ?",
            (self.run_id, self.owner, self.epoch),
        ).fetchone()
        if row is None:
            raise LeaseLost(f"run {self.run_id[:8]} is executed elsewhere now", hint="thumbforge runs show tells where")


@dataclass(frozen=True, slots=True)
class Beat:
    """What a heartbeat found: whether the lease is still ours, and what somebody else asks of the run."""

    held: bool
    cancel_requested: bool
    pause_requested: bool


class Ledger:
    """Runs of one project. Every method that changes something is one transaction."""

    def __init__(self, database: Database, owner: str, ttl_s: float, clock: Callable[[], float] = time.time) -> None:
        self.database, self.owner = database, owner
        self.ttl_s, self._clock = ttl_s, clock

    def now(self) -> float:
        return self._clock()

    def slots(self) -> Slots:
        """What bounds this owner's calls. Its heartbeat has to keep them alive."""
        return Slots(self.database, self.owner, self.ttl_s, self._clock)

    def open_run(self, run: NewRun, items: Iterable[PlannedItem]) -> Fence:
        """Record a run with its whole plan and take its lease, in one transaction.

        An item that needs work gets a pending iteration, unless its key exists already: then the run points to that.
        """
        now = self.now()
        with self.database.write("run.open") as connection:
            insert_run(connection, run, now)
            plan_items(connection, run.id, tuple(enumerate(items, 1)), now)
            return self._claim(connection, run.id, "claim", now)

    def _claim(self, connection: sqlite3.Connection, run_id: str, event: states.RunEvent, now: float) -> Fence:
        row = connection.execute("SELECT lease_epoch, claims, started_at FROM run WHERE id = ?", (run_id,)).fetchone()
        epoch = row["lease_epoch"] + 1
        states.change(
            connection, "run", run_id, event, now,
            lease_owner=self.owner, lease_epoch=epoch, lease_expires_at=now + self.ttl_s, claims=row["claims"] + 1,
            started_at=row["started_at"] or now, finished_at=None, error_text=None, exit_code=None,
        )  # fmt: skip
        return Fence(run_id, self.owner, epoch)

    def resume_run(self, run_id: str, replanned: Iterable[PlannedItem], params: Mapping[str, Any]) -> Fence:
        """Take the lease of a run that is pending, paused or failed. `replanned` items point to their new keys from
        now on; what they pointed to stays as history. Raises UsageError for a run in any other state."""
        now = self.now()
        with self.database.write("run.claim") as connection:
            status = connection.execute("SELECT status FROM run WHERE id = ?", (run_id,)).fetchone()["status"]
            if (status, "claim") not in states.RUN:
                raise UsageError(f"run {run_id[:8]} is {status}: only a paused or failed one can be resumed")
            fence = self._claim(connection, run_id, "claim", now)
            set_params(connection, run_id, params)
            replace_items(connection, run_id, replanned, now)
            return fence

    def cancel(self, run_id: str) -> str:
        """Cancel a run that nobody executes; ask a live one to stop at its next heartbeat. Returns "cancelled" or
        "requested". A cancelled run stays as it is; a completed one raises UsageError.

        One that was asked a whole lease ago and has not heard it beats no more, whatever its lease says: it is
        cancelled. Should its process wake up it is fenced off.
        """
        now = self.now()
        with self.database.write("run.cancel") as connection:
            row = connection.execute("SELECT * FROM run WHERE id = ?", (run_id,)).fetchone()
            if row["status"] == "cancelled":
                return "cancelled"
            if row["status"] == "completed":
                raise UsageError(f"run {run_id[:8]} is completed: there is nothing to cancel")
            is_deaf = row["cancel_requested"] and now - row["updated_at"] > self.ttl_s
            if not is_deaf and is_live(row["lease_owner"], row["lease_expires_at"], now):
                if row["cancel_requested"]:
                    return "requested"
                connection.execute("UPDATE run SET cancel_requested = 1, updated_at = ? WHERE id = ?", (now, run_id))
                return "requested"
            attempts.close_open(connection, run_id, "lost", "the process died", now)
            iterations.cancel_rest(connection, run_id, now)
            ended = {"finished_at": now, "exit_code": Exit.INTERRUPTED, "error_text": "cancelled"}
            states.change(connection, "run", run_id, "cancel", now, **ended)
            return "cancelled"

    def close_run(self, fence: Fence, event: states.RunEvent, exit_code: int, error_text: str | None = None) -> str:
        """End the execution with `complete`, `fail`, `pause` or `cancel`; the lease is given back with it.

        An attempt that is still open (the store failed under it) is closed as interrupted: it is not charged.
        """
        now = self.now()
        with self.database.write("run.close") as connection:
            fence.check(connection)
            attempts.close_open(connection, fence.run_id, "interrupted", error_text or "interrupted", now)
            if event == "cancel":
                iterations.cancel_rest(connection, fence.run_id, now)
            return states.change(
                connection, "run", fence.run_id, event, now, finished_at=now, exit_code=exit_code, error_text=error_text
            )

    def finish_job(self, fence: Fence, result: Mapping[str, Any], exit_code: int) -> None:
        """Complete an audit or a repair and keep what it found: its only write."""
        now = self.now()
        with self.database.write("job.result") as connection:
            fence.check(connection)
            states.change(
                connection, "run", fence.run_id, "complete", now,
                finished_at=now, exit_code=exit_code, result_json=ids.canonical_json(result),
            )  # fmt: skip

    def beat(self, fences: Iterable[Fence], also: Callable[[sqlite3.Connection], None]) -> dict[str, Beat]:
        """Prolong the leases of these runs, and `also` do the same for slots; by run id."""
        expires_at = self.now() + self.ttl_s
        beats = {}
        with self.database.write("beat") as connection:
            also(connection)
            for fence in fences:
                row = connection.execute(
                    "UPDATE run SET lease_expires_at = ? WHERE id = ? AND status = 'running' AND lease_owner = ?"
                    " AND lease_epoch = ? RETURNING cancel_requested, pause_requested",
                    (expires_at, fence.run_id, fence.owner, fence.epoch),
                ).fetchone()
                beats[fence.run_id] = Beat(
                    held=row is not None,
                    cancel_requested=bool(row and row["cancel_requested"]),
                    pause_requested=bool(row and row["pause_requested"]),
                )
        return beats

    def sweep(self, max_lost: int) -> list[str]:
        """Mark runs whose process died as paused and close their open attempts as lost; returns their ids.

        An attempt whose answer was staged keeps it: the next try of the item takes it up without a call. An iteration
        that has lost `max_lost` processes in a call fails, so that one picture cannot sink a batch for ever. Slots
        whose owner is gone are cleared away.
        """
        now = self.now()
        rows = self.database.rows("SELECT id, lease_owner, lease_expires_at FROM run WHERE status = 'running'")
        dead = [r["id"] for r in rows if not is_live(r["lease_owner"], r["lease_expires_at"], now)]
        slots = self.database.rows("SELECT name, slot, owner, expires_at FROM lease")
        lapsed = [(r["name"], r["slot"], r["owner"]) for r in slots if not is_live(r["owner"], r["expires_at"], now)]
        if not dead and not lapsed:
            return []
        swept = []
        with self.database.write("sweep") as connection:
            connection.executemany("DELETE FROM lease WHERE name = ? AND slot = ? AND owner = ?", lapsed)
            for run_id in dead:
                row = connection.execute(
                    "SELECT kind, lease_owner, lease_expires_at, cancel_requested, recoveries FROM run"
                    " WHERE id = ? AND status = 'running'",
                    (run_id,),
                ).fetchone()
                if row is None or is_live(row["lease_owner"], row["lease_expires_at"], now):
                    continue
                attempts.close_open(connection, run_id, "lost", "the process died", now)
                iterations.give_up(connection, run_id, max_lost, now)
                event = _end_of_dead(row)
                states.change(
                    connection, "run", run_id, event, now, finished_at=now, error_text="process died",
                    exit_code=Exit.INTERRUPTED if event == "cancel" else Exit.UNEXPECTED,
                    recoveries=row["recoveries"] + 1,
                )  # fmt: skip
                swept.append(run_id)
        return swept


def _end_of_dead(row: sqlite3.Row) -> states.RunEvent:
    """What a run whose process died becomes: a job that keeps no checkpoint cannot be gone on with."""
    if row["cancel_requested"]:
        return "cancel"
    return "fail" if row["kind"] in {"audit", "repair"} else "pause"
