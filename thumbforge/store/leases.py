"""Leases: who is working, and whether it still is.

An owner is one process. A lease is live until it expires, and lapses at once when its owner ran on this machine since
this boot and is gone: kill -9 costs no waiting. One that is seen to run on this machine is not robbed by a clock.
Slots bound how many calls are made at once over all processes.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass

from thumbforge.settings import LONGEST_TTL_S
from thumbforge.store.database import Database, insert
from thumbforge.store.processes import look, machine


def new_owner() -> str:
    """The name of this process as an owner; another one after a fork or restart."""
    pid = os.getpid()
    return f"{machine()} {pid} {look(pid)[1]} {secrets.token_hex(4)}"


@dataclass(frozen=True, slots=True)
class Owner:
    """An owner's name, read. `started` is "" where its system does not tell."""

    machine: str
    pid: int
    started: str

    @property
    def is_here(self) -> bool:
        """Whether its process number means a process of this machine, since this boot."""
        return self.machine == machine()

    def __str__(self) -> str:
        """`process 4711`, with its machine where that is another one."""
        return f"process {self.pid}" if self.is_here else f"process {self.pid} on {self.machine.partition('/')[0]}"


def read_owner(text: str) -> Owner | None:
    try:
        machine, pid, started, _ = text.rsplit(" ", 3)
        return Owner(machine, int(pid), started)
    except ValueError:
        return None


def is_gone(text: str) -> bool:
    """Whether the owner is known to be dead: on this machine since this boot, and no longer running."""
    owner = read_owner(text)
    if owner is None or not owner.is_here:
        return False
    _, started = look(owner.pid)
    return started == "gone" or (bool(owner.started) and bool(started) and started != owner.started)


def _is_at_work(text: str) -> bool:
    """Whether the owner is another process of this machine that is known to run: it beats, whatever the clocks say. One
    that is stopped (SIGSTOP, a debugger) does not."""
    owner = read_owner(text)
    if owner is None or not owner.is_here or owner.pid == os.getpid():
        return False
    state, started = look(owner.pid)
    return bool(started) and started == owner.started and state not in "Tt"


def is_live(owner: str | None, expires_at: float | None, now: float) -> bool:
    """Whether somebody beats. An end that is further away than any lease lasts was written by a clock that was ahead:
    it says nothing. Nor does a lapse against an owner that is seen to run: a clock has jumped, or a laptop slept."""
    if owner is None or expires_at is None or is_gone(owner):
        return False
    return now < expires_at <= now + LONGEST_TTL_S + CLOCKS_DIFFER_S or _is_at_work(owner)


CLOCKS_DIFFER_S = 60.0
"""What the clocks of two machines may differ by unnoticed."""

POLL_S = 0.02  # a slot that is free is seen after half of this; at 2 s a call that is half a percent of the time


class Slots:
    """Counted leases of one process. Its threads get them in the order they asked; only the first of them looks into
    the ledger. `take` gives up when the caller's `pause` raises (a cancelled run)."""

    def __init__(self, database: Database, owner: str, ttl_s: float, clock: Callable[[], float] = time.time) -> None:
        self._database, self._owner, self._ttl_s, self._clock = database, owner, ttl_s, clock
        self._queues: defaultdict[str, deque[object]] = defaultdict(deque)
        self._held: Counter[str] = Counter()
        self._lock = threading.Lock()

    def take(self, name: str, limit: int, concurrency: int, pause: Callable[[float], None]) -> int:
        """Wait for one of `limit` slots of `name`, of which this process holds at most `concurrency`; its number."""
        queue, turn = self._queues[name], object()
        queue.append(turn)
        try:
            while (
                not (queue[0] is turn and self._held[name] < concurrency)
                or (slot := self._try_take(name, limit)) is None
            ):
                pause(POLL_S)
            with self._lock:
                self._held[name] += 1
            return slot
        finally:
            queue.remove(turn)

    def free(self, name: str, slot: int) -> None:
        with self._lock:
            self._held[name] -= 1
        with self._database.write("slot.free") as connection:
            connection.execute("DELETE FROM lease WHERE name = ? AND slot = ? AND owner = ?", (name, slot, self._owner))

    def renew(self, connection: sqlite3.Connection) -> None:
        connection.execute(
            "UPDATE lease SET expires_at = ? WHERE owner = ?", (self._clock() + self._ttl_s, self._owner)
        )

    def _try_take(self, name: str, limit: int) -> int | None:
        if self._free_slot(self._database.rows("SELECT * FROM lease WHERE name = ?", (name,)), limit) is None:
            return None  # a look that takes no write lock, because others may wait for a long time
        with self._database.write("slot.take") as connection:
            held = connection.execute("SELECT * FROM lease WHERE name = ?", (name,)).fetchall()
            slot = self._free_slot(held, limit)
            if slot is None:
                return None
            # its owner is gone, where it had one
            connection.execute("DELETE FROM lease WHERE name = ? AND slot = ?", (name, slot))
            row = {"name": name, "slot": slot, "owner": self._owner, "expires_at": self._clock() + self._ttl_s}
            insert(connection, "lease", row)
            return slot

    def _free_slot(self, held: list[sqlite3.Row], limit: int) -> int | None:
        """The lowest slot without a live owner, unless `limit` of them are live whatever their numbers."""
        now = self._clock()
        live = {row["slot"] for row in held if is_live(row["owner"], row["expires_at"], now)}
        if len(live) >= limit:
            return None
        return next(n for n in range(limit + len(live)) if n not in live)
