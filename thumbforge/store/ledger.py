"""The run ledger: runs, their frozen plans, and the lease that makes one process the executor of a run."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from thumbforge import ids
from thumbforge.errors import LeaseLost, ReplayDivergence, UsageError
from thumbforge.store import states
from thumbforge.store.database import Database, insert
from thumbforge.store.leases import Slots, is_live
from thumbforge.store.plans import PlannedItem, plan_items


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
class NewRun:
    """What a run is about; `params` and ids are immutable once it exists."""

    id: str
    kind: str
    series: str | None
    playlist_id: str | None
    spec_hash: str | None
    profile_id: str | None
    parent_run_id: str | None
    reference_sha256: str | None
    params: Mapping[str, Any]
    checkpoint: Mapping[str, Any] = field(default_factory=dict)


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
        self._ttl_s, self._clock = ttl_s, clock

    def now(self) -> float:
        return self._clock()

    def slots(self) -> Slots:
        """What bounds this owner's calls. Its heartbeat has to keep them alive."""
        return Slots(self.database, self.owner, self._ttl_s, self._clock)

    def open_run(self, run: NewRun, items: Iterable[PlannedItem]) -> Fence:
        """Record a run with its whole plan and take its lease, in one transaction.

        An item that needs work gets a pending iteration, unless its key exists already: then the run points to that.
        """
        now = self.now()
        with self.database.write("run.open") as connection:
            insert(
                connection,
                "run",
                {
                    **{name: getattr(run, name) for name in run.__slots__ if name not in {"params", "checkpoint"}},
                    "params_json": ids.canonical_json(run.params),
                    "checkpoint_json": ids.canonical_json(run.checkpoint),
                    "status": "pending",
                    "created_at": now,
                    "updated_at": now,
                },
            )
            plan_items(connection, run.id, tuple(enumerate(items, 1)), now)
            return self._claim(connection, run.id, "claim", now)

    def _claim(self, connection: sqlite3.Connection, run_id: str, event: states.RunEvent, now: float) -> Fence:
        row = connection.execute("SELECT lease_epoch, claims, started_at FROM run WHERE id = ?", (run_id,)).fetchone()
        epoch = row["lease_epoch"] + 1
        states.change(
            connection, "run", run_id, event, now,
            lease_owner=self.owner, lease_epoch=epoch, lease_expires_at=now + self._ttl_s, claims=row["claims"] + 1,
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
            connection.execute("UPDATE run SET params_json = ? WHERE id = ?", (ids.canonical_json(params), run_id))
            found = connection.execute("SELECT item_key, ordinal FROM run_item WHERE run_id = ?", (run_id,))
            places = dict(found.fetchall())
            new = [(places[item.item_key], item) for item in replanned]
            connection.executemany(
                "DELETE FROM run_item WHERE run_id = ? AND item_key = ?", [(run_id, item.item_key) for _, item in new]
            )
            plan_items(connection, run_id, new, now)
            return fence

    def cancel(self, run_id: str) -> str:
        """Cancel a run that nobody executes; ask a live one to stop at its next heartbeat. Returns "cancelled" or
        "requested". A cancelled run stays as it is; a completed one raises UsageError."""
        now = self.now()
        with self.database.write("run.cancel") as connection:
            row = connection.execute("SELECT * FROM run WHERE id = ?", (run_id,)).fetchone()
            if row["status"] == "cancelled":
                return "cancelled"
            if row["status"] == "completed":
                raise UsageError(f"run {run_id[:8]} is completed: there is nothing to cancel")
            if is_live(row["lease_owner"], row["lease_expires_at"], now):
                connection.execute("UPDATE run SET cancel_requested = 1, updated_at = ? WHERE id = ?", (now, run_id))
                return "requested"
            close_open_attempts(connection, run_id, "lost", "the process died", now)
            _cancel_rest(connection, run_id, now)
            states.change(connection, "run", run_id, "cancel", now, finished_at=now, error_text="cancelled")
            return "cancelled"

    def pick(self, run_id: str, iteration_id: str) -> None:
        """Make an iteration the one pick of a hero run. Another run that shows the same one keeps its own pick."""
        with self.database.write("hero.pick") as connection:
            connection.execute(
                "UPDATE run SET picked_iteration_id = ?, updated_at = ? WHERE id = ?",
                (iteration_id, self.now(), run_id),
            )

    def use_take(self, iteration_id: str, attempt_id: str) -> None:
        """Let an iteration stand on the art of another of its takes; the picture follows with the next batch."""
        with self.database.write("take.use") as connection:
            connection.execute(
                "UPDATE iteration SET attempt_id = ?, updated_at = ? WHERE id = ?",
                (attempt_id, self.now(), iteration_id),
            )

    def lock_export(self, series: str, item_key: str, locked: bool) -> None:
        with self.database.write("take.lock") as connection:
            connection.execute(
                "UPDATE export SET locked = ?, updated_at = ? WHERE series = ? AND item_key = ?",
                (int(locked), self.now(), series, item_key),
            )

    def close_run(self, fence: Fence, event: states.RunEvent, exit_code: int, error_text: str | None = None) -> str:
        """End the execution with `complete`, `fail`, `pause` or `cancel`; the lease is given back with it.

        An attempt that is still open (the store failed under it) is closed as interrupted: it is not charged.
        """
        now = self.now()
        with self.database.write("run.close") as connection:
            fence.check(connection)
            close_open_attempts(connection, fence.run_id, "interrupted", error_text or "interrupted", now)
            if event == "cancel":
                _cancel_rest(connection, fence.run_id, now)
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
        expires_at = self.now() + self._ttl_s
        beats = {}
        with self.database.write("beat") as connection:
            also(connection)
            for fence in fences:
                row = connection.execute(
                    "UPDATE run SET lease_expires_at = ? WHERE id = ? AND status = 'running' AND lease_owner = ?"
                    " AND lease_epoch = ? RETURNING cancel_requested, pause_requested",
                    (expires_at, fence.run_id, fence.owner, fence.epoch),
                ).fetchone()
                beats[fence.run_id] = Beat(row is not None, bool(row and row[0]), bool(row and row[1]))
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
                close_open_attempts(connection, run_id, "lost", "the process died", now)
                _give_up(connection, run_id, max_lost, now)
                states.change(
                    connection, "run", run_id, _end_of_dead(row), now,
                    finished_at=now, error_text="process died", recoveries=row["recoveries"] + 1,
                )  # fmt: skip
                swept.append(run_id)
        return swept

    def remember(self, table: str, key: str, row: Mapping[str, Any]) -> None:
        """Create a world row (template, profile, playlist, …) once; what is there already stays as it is."""
        with self.database.write("world.row") as connection:
            create_once(connection, table, key, {**row, "created_at": self.now()})


def close_open_attempts(
    connection: sqlite3.Connection, executor_run_id: str, outcome: str, why: str, now: float
) -> None:
    """Close what an executor left open. Its iterations go back to pending, or stay completed."""
    open_attempts = connection.execute(
        "SELECT id, iteration_id FROM attempt WHERE executor_run_id = ? AND closed_at IS NULL", (executor_run_id,)
    ).fetchall()
    for row in open_attempts:
        connection.execute(
            "UPDATE attempt SET closed_at = ?, outcome = ?, error_text = ? WHERE id = ?", (now, outcome, why, row["id"])
        )
        states.change(connection, "iteration", row["iteration_id"], "release", now)


def _end_of_dead(row: sqlite3.Row) -> states.RunEvent:
    """What a run whose process died becomes: a job that keeps no checkpoint cannot be gone on with."""
    if row["cancel_requested"]:
        return "cancel"
    return "fail" if row["kind"] in {"audit", "repair"} else "pause"


def _give_up(connection: sqlite3.Connection, executor_run_id: str, max_lost: int, now: float) -> None:
    rows = connection.execute(
        "SELECT iteration_id FROM attempt JOIN iteration ON iteration.id = iteration_id"
        " WHERE status = 'pending' AND outcome = 'lost' AND called_at IS NOT NULL AND iteration_id IN"
        " (SELECT iteration_id FROM attempt WHERE executor_run_id = ?) GROUP BY iteration_id HAVING count(*) >= ?",
        (executor_run_id, max_lost),
    ).fetchall()
    for row in rows:
        text = f"the process died {max_lost} times in this item"
        states.change(connection, "iteration", row["iteration_id"], "fail", now, error_text=text, finished_at=now)


def _cancel_rest(connection: sqlite3.Connection, run_id: str, now: float) -> None:
    """The run's own iterations that are not finished are cancelled with it, but for what another run is making."""
    rows = connection.execute(
        "SELECT id FROM iteration WHERE run_id = ? AND status IN ('pending', 'running')"
        " AND id NOT IN (SELECT iteration_id FROM attempt WHERE closed_at IS NULL)",
        (run_id,),
    ).fetchall()
    for row in rows:
        states.change(connection, "iteration", row["id"], "cancel", now, finished_at=now)


def create_once(connection: sqlite3.Connection, table: str, key: str, row: Mapping[str, Any]) -> None:
    """Insert unless a row with this key exists; what exists must agree, or it is a ReplayDivergence.

    Columns that tell when or under which name something was first seen do not have to agree.
    """
    insert(connection, table, row, once=key)
    stored = connection.execute(f"SELECT * FROM {table} WHERE {key} = ?", (row[key],)).fetchone()
    for name, value in row.items():
        if name not in {"created_at", "name", "title", "version"} and stored[name] != value:
            raise ReplayDivergence(f"{table} {row[key]} is recorded with another {name}")
