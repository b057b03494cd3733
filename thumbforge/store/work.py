"""The durable steps of one item, each one transaction behind the fence of the run that executes them."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from thumbforge.store import attempts, finals, iterations, pictures, spending, states
from thumbforge.store.attempts import Art, Spent
from thumbforge.store.database import Database
from thumbforge.store.leases import is_live
from thumbforge.store.ledger import Fence
from thumbforge.store.pictures import StoredPicture
from thumbforge.store.shared import outbox
from thumbforge.store.spending import Allowance


@dataclass(frozen=True, slots=True)
class Busy:
    """A live run elsewhere is making this iteration."""

    run_id: str


class Work:
    """Writes of one executing run. Each raises LeaseLost, and writes nothing, once the run is not ours any more.
    `shares`: what it makes goes into the outbox with its row, to be sent to the shared store."""

    def __init__(
        self, database: Database, fence: Fence, clock: Callable[[], float] = time.time, *, shares: bool = False
    ) -> None:
        self._database, self._fence, self._clock, self._shares = database, fence, clock, shares

    @property
    def run_id(self) -> str:
        return self._fence.run_id

    def claim(
        self,
        iteration_id: str,
        art_key: str,
        take: int,
        request: Mapping[str, Any],
        *,
        lost_art: str | None,
        only: str | None = None,
    ) -> str | Busy | Art:
        """Open an attempt and return its id, unless somebody is at it or was faster.

        Busy: a live run (this one too, for another item) has an attempt open for the iteration or the art key.
        Art: the art key has art meanwhile, other than `lost_art`, whose file is known to be gone; with `only`, just
        that one counts.
        An open attempt of a dead run is closed as lost.
        """
        now = self._clock()
        with self._transaction("claim") as connection:
            if art := attempts.art_of(connection, art_key, lost_art, only):
                return art
            opened = connection.execute(
                "SELECT attempt.id, iteration_id, executor_run_id, run.lease_owner, run.lease_expires_at FROM attempt"
                " LEFT JOIN run ON run.id = executor_run_id"
                " WHERE closed_at IS NULL AND (iteration_id = ? OR art_key = ?)",
                (iteration_id, art_key),
            ).fetchall()
            for attempt in opened:
                if is_live(attempt["lease_owner"], attempt["lease_expires_at"], now):
                    return Busy(attempt["executor_run_id"])
                attempts.close(connection, attempt["id"], "lost", "the process died", Spent(), now)
                if attempt["iteration_id"] != iteration_id:
                    states.change(connection, "iteration", attempt["iteration_id"], "release", now)
            states.change(connection, "iteration", iteration_id, "claim", now, started_at=now)
            return self._open(connection, iteration_id, art_key, take, request, now)

    def begin_call(self, attempt_id: str, allowance: Allowance | None = None) -> None:
        """From here on the attempt may be billed, whatever becomes of this process: the price of the call is set aside.
        Raises LimitReached where the day's calls would cost more than they may."""
        now = self._clock()
        with self._transaction("call.begin") as connection:
            if allowance:
                spending.reserve(connection, attempt_id, allowance, now)
            connection.execute("UPDATE attempt SET called_at = coalesce(called_at, ?) WHERE id = ?", (now, attempt_id))

    def release(self, iteration_id: str, attempt_id: str) -> None:
        """Interrupted before the call: as if the item had not been begun."""
        now = self._clock()
        with self._transaction("release") as connection:
            attempts.close(connection, attempt_id, "interrupted", None, Spent(), now)
            states.change(connection, "iteration", iteration_id, "release", now)

    def fail(self, iteration_id: str, attempt_id: str, outcome: str, error_text: str, spent: Spent) -> None:
        """The call brought no picture. An iteration that has one already (a new take was tried) keeps it."""
        now = self._clock()
        with self._transaction("attempt.fail") as connection:
            attempts.close(connection, attempt_id, outcome, error_text, spent, now)
            spending.settle(connection, attempt_id, spent, now)
            iterations.verdict(connection, iteration_id, error_text, now)

    def keep_art(
        self,
        attempt_id: str,
        picture: StoredPicture,
        spent: Spent,
        response: Mapping[str, Any] | None = None,
        *,
        is_shared: bool = False,
    ) -> Art:
        """The art is in the store: give it a row and close its attempt. Also for an answer found after a crash. What
        `is_shared` already has not to be sent."""
        now = self._clock()
        with self._transaction("art.row") as connection:
            pictures.remember(connection, picture, now)
            art_key = attempts.close_with_art(connection, attempt_id, picture.sha256, response or {}, now, spent)
            spending.settle(connection, attempt_id, spent, now)
            if self._shares and art_key and not is_shared:
                outbox.add(connection, "art", art_key, now)
        return Art(attempt_id, picture)

    def yield_art(
        self, iteration_id: str, ours: Art, take: int, art_key: str, theirs: StoredPicture, request: Mapping[str, Any]
    ) -> Art:
        """Somebody else's art of the same request was there first: take it up in the place of ours, which becomes this
        further take of the item, with its own key. Ours stays where an iteration uses it already."""
        now = self._clock()
        with self._transaction("yield.row") as connection:
            before = attempts.move(connection, ours.attempt_id, take, art_key)
            if before is None:
                return ours
            outbox.drop(connection, "art", before.art_key)
            pictures.remember(connection, theirs, now)
            attempt_id = self._open(connection, iteration_id, before.art_key, before.take, request, now)
            attempts.close_with_art(connection, attempt_id, theirs.sha256, {"adopted_from": "shared store"}, now)
        return Art(attempt_id, theirs)

    def is_unsent(self, art_key: str) -> bool:
        """Whether art of this key waits to be shared."""
        return outbox.has(self._database, "art", art_key)

    def sent(self, art_key: str) -> None:
        """It is in the shared store."""
        outbox.sent(self._database, outbox.Waiting("art", art_key))

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
            adopted = {"adopted_from": art.attempt_id}
            attempts.close_with_art(connection, attempt_id, art.picture.sha256, adopted, now)
        return Art(attempt_id, art.picture)

    def record_final(
        self,
        iteration_id: str,
        art: Art,
        final_key: str,
        picture: StoredPicture,
        report: Mapping[str, Any],
        violations: str | None,
        manifest_seen: str | None = None,
    ) -> None:
        """The finished picture's rows and the iteration's verdict: completed, or failed with the violations.
        `manifest_seen` is what its manifest's file is now."""
        now = self._clock()
        with self._transaction("final.row") as connection:
            pictures.remember(connection, picture, now)
            finals.record(
                connection,
                final_key=final_key,
                iteration_id=iteration_id,
                art_sha256=art.picture.sha256,
                sha256=picture.sha256,
                compliant=violations is None,
                report=report,
                manifest_seen=manifest_seen,
                now=now,
            )
            if self._shares and violations is None:
                outbox.add(connection, "final", final_key, now)
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
        return attempts.insert_attempt(
            connection,
            iteration_id=iteration_id,
            art_key=art_key,
            take=take,
            request=request,
            run_id=self._fence.run_id,
            epoch=self._fence.epoch,
            now=now,
        )

    @contextmanager
    def _transaction(self, step: str) -> Iterator[sqlite3.Connection]:
        with self._database.write(step) as connection:
            self._fence.check(connection)
            yield connection
