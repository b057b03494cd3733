"""The durable steps of one item, each one transaction behind the fence of the run that executes them."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from thumbforge import ids
from thumbforge.errors import ReplayDivergence
from thumbforge.store import states
from thumbforge.store.database import Database, insert
from thumbforge.store.leases import is_live
from thumbforge.store.ledger import Fence, create_once


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """An asset and what is known of it. `suffix` includes the dot; sizes are pixels and bytes."""

    sha256: str
    suffix: str
    media_type: str
    bytes: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Art:
    """What a provider returned once, by art key."""

    attempt_id: str
    picture: StoredPicture


@dataclass(frozen=True, slots=True)
class Busy:
    """A live run elsewhere is making this iteration."""

    run_id: str


@dataclass(frozen=True, slots=True)
class Spent:
    """What one attempt cost. `cost` is a decimal text, None where nobody told."""

    calls: int = 0
    perhaps_billed: int = 0
    cost: str | None = None
    currency: str | None = None
    tokens: int | None = None


PICTURE = "asset.sha256, asset.suffix, asset.media_type, asset.bytes, asset.width, asset.height"


def picture_of(row: sqlite3.Row) -> StoredPicture:
    return StoredPicture(**{name: row[name] for name in StoredPicture.__slots__})


class Work:
    """Writes of one executing run. Each raises LeaseLost, and writes nothing, once the run is not ours any more."""

    def __init__(self, database: Database, fence: Fence, clock: Callable[[], float] = time.time) -> None:
        self._database, self._fence, self._clock = database, fence, clock

    def claim(
        self, iteration_id: str, art_key: str, take: int, request: Mapping[str, Any], *, lost_art: str | None
    ) -> str | Busy | Art:
        """Open an attempt and return its id, unless somebody is at it or was faster.

        Busy: a live run (this one too, for another item) has an attempt open for the iteration or the art key.
        Art: the art key has art meanwhile, other than `lost_art`, whose file is known to be gone.
        An open attempt of a dead run is closed as lost.
        """
        now = self._clock()
        with self._transaction("claim") as connection:
            row = connection.execute(
                f"SELECT attempt.id AS attempt_id, {PICTURE} FROM attempt JOIN asset ON asset.sha256 = art_sha256"
                " WHERE art_key = ? AND art_sha256 IS NOT ? LIMIT 1",
                (art_key, lost_art),
            ).fetchone()
            if row:
                return Art(row["attempt_id"], picture_of(row))
            opened = connection.execute(
                "SELECT attempt.id, iteration_id, executor_run_id, run.lease_owner, run.lease_expires_at FROM attempt"
                " LEFT JOIN run ON run.id = executor_run_id"
                " WHERE closed_at IS NULL AND (iteration_id = ? OR art_key = ?)",
                (iteration_id, art_key),
            ).fetchall()
            for attempt in opened:
                if is_live(attempt["lease_owner"], attempt["lease_expires_at"], now):
                    return Busy(attempt["executor_run_id"])
                self._close(connection, attempt["id"], "lost", "the process died", Spent(), now)
                if attempt["iteration_id"] != iteration_id:
                    states.change(connection, "iteration", attempt["iteration_id"], "release", now)
            states.change(connection, "iteration", iteration_id, "claim", now, started_at=now)
            return self._open(connection, iteration_id, art_key, take, request, now)

    def begin_call(self, attempt_id: str) -> None:
        """From here on the attempt may be billed, whatever becomes of this process."""
        with self._transaction("call.begin") as connection:
            connection.execute("UPDATE attempt SET called_at = ? WHERE id = ?", (self._clock(), attempt_id))

    def release(self, iteration_id: str, attempt_id: str) -> None:
        """Interrupted before the call: as if the item had not been begun."""
        now = self._clock()
        with self._transaction("release") as connection:
            self._close(connection, attempt_id, "interrupted", None, Spent(), now)
            states.change(connection, "iteration", iteration_id, "release", now)

    def fail(self, iteration_id: str, attempt_id: str, outcome: str, error_text: str, spent: Spent) -> None:
        """The call brought no picture. An iteration that has one already (a new take was tried) keeps it."""
        now = self._clock()
        with self._transaction("attempt.fail") as connection:
            self._close(connection, attempt_id, outcome, error_text, spent, now)
            status = connection.execute("SELECT status FROM iteration WHERE id = ?", (iteration_id,)).fetchone()[0]
            event: states.IterationEvent = "release" if status == "completed" else "fail"
            columns = {} if event == "release" else {"error_text": error_text, "finished_at": now}
            states.change(connection, "iteration", iteration_id, event, now, **columns)

    def keep_art(
        self, attempt_id: str, picture: StoredPicture, spent: Spent, response: Mapping[str, Any] | None = None
    ) -> Art:
        """The art is in the store: give it a row and close its attempt. Also for an answer found after a crash."""
        now = self._clock()
        with self._transaction("art.row") as connection:
            self._remember(connection, picture, now)
            connection.execute(
                "UPDATE attempt SET closed_at = coalesce(closed_at, ?), outcome = 'ok', art_sha256 = ?, calls = ?,"
                " perhaps_billed = ?, cost = ?, currency = ?, tokens = ?, response_json = ?, error_text = NULL"
                " WHERE id = ? AND (outcome IS NULL OR outcome IN ('lost', 'interrupted'))",
                (now, picture.sha256, spent.calls, spent.perhaps_billed, spent.cost, spent.currency, spent.tokens,
                 ids.canonical_json(response or {}), attempt_id),
            )  # fmt: skip
        return Art(attempt_id, picture)

    def adopt(self, iteration_id: str, art: Art, art_key: str, take: int, request: Mapping[str, Any]) -> Art:
        """Take up art that another iteration paid for: an attempt without a call. Its own art stays as it is."""
        now = self._clock()
        with self._transaction("adopt") as connection:
            own = connection.execute(
                "SELECT id FROM attempt WHERE iteration_id = ? AND art_key = ? AND art_sha256 = ?",
                (iteration_id, art_key, art.picture.sha256),
            ).fetchone()
            if own:
                return Art(own["id"], art.picture)
            attempt_id = self._open(connection, iteration_id, art_key, take, request, now)
            connection.execute(
                "UPDATE attempt SET closed_at = ?, outcome = 'ok', art_sha256 = ?, response_json = ? WHERE id = ?",
                (now, art.picture.sha256, ids.canonical_json({"adopted_from": art.attempt_id}), attempt_id),
            )
        return Art(attempt_id, art.picture)

    def record_final(
        self,
        iteration_id: str,
        art: Art,
        final_key: str,
        picture: StoredPicture,
        report: Mapping[str, Any],
        violations: str | None,
    ) -> None:
        """The finished picture's rows and the iteration's verdict: completed, or failed with the violations."""
        now = self._clock()
        with self._transaction("final.row") as connection:
            self._remember(connection, picture, now)
            row = {
                "final_key": final_key,
                "iteration_id": iteration_id,
                "art_sha256": art.picture.sha256,
                "sha256": picture.sha256,
                "compliant": int(violations is None),
                "report_json": ids.canonical_json(report),
                "created_at": now,
            }
            insert(connection, "final", row, once="final_key")
            stored = connection.execute("SELECT * FROM final WHERE final_key = ?", (final_key,)).fetchone()
            if stored["art_sha256"] != art.picture.sha256:
                raise ReplayDivergence(f"final {final_key[:8]} is recorded with other art")
            if stored["sha256"] != picture.sha256:  # drawn anew by other library versions after the file was lost
                connection.execute(
                    "UPDATE final SET sha256 = :sha256, report_json = :report_json, compliant = :compliant"
                    " WHERE final_key = :final_key",
                    row,
                )
            states.change(
                connection, "iteration", iteration_id, "fail" if violations else "complete", now,
                attempt_id=art.attempt_id, final_key=final_key, error_text=violations, finished_at=now,
            )  # fmt: skip

    def _open(
        self,
        connection: sqlite3.Connection,
        iteration_id: str,
        art_key: str,
        take: int,
        request: Mapping[str, Any],
        now: float,
    ) -> str:
        n = connection.execute(
            "SELECT coalesce(max(n), 0) + 1 FROM attempt WHERE iteration_id = ?", (iteration_id,)
        ).fetchone()[0]
        attempt_id = ids.attempt_id(iteration_id, n)
        row = {
            "id": attempt_id,
            "iteration_id": iteration_id,
            "n": n,
            "take": take,
            "art_key": art_key,
            "executor_run_id": self._fence.run_id,
            "lease_epoch": self._fence.epoch,
            "request_json": ids.canonical_json(request),
            "opened_at": now,
        }
        insert(connection, "attempt", row)
        return attempt_id

    def _close(
        self, connection: sqlite3.Connection, attempt_id: str, outcome: str, error: str | None, spent: Spent, now: float
    ) -> None:
        connection.execute(
            "UPDATE attempt SET closed_at = ?, outcome = ?, error_text = ?, calls = ?, perhaps_billed = ?, cost = ?,"
            " currency = ?, tokens = ? WHERE id = ? AND closed_at IS NULL",
            (
                now,
                outcome,
                error,
                spent.calls,
                spent.perhaps_billed,
                spent.cost,
                spent.currency,
                spent.tokens,
                attempt_id,
            ),
        )

    def _remember(self, connection: sqlite3.Connection, picture: StoredPicture, now: float) -> None:
        row = {name: getattr(picture, name) for name in StoredPicture.__slots__}
        create_once(connection, "asset", "sha256", {**row, "created_at": now})

    @contextmanager
    def _transaction(self, step: str) -> Iterator[sqlite3.Connection]:
        with self._database.write(step) as connection:
            self._fence.check(connection)
            yield connection
