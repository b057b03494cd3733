"""What calls have cost by the local day they were begun on: the money that `budget.day` bounds, over all runs."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from thumbforge.errors import LedgerError, LimitReached
from thumbforge.store.database import Database, insert

if TYPE_CHECKING:
    from thumbforge.store.attempts import Spent

_BY_DAY = "SELECT price, told, sum(calls) AS calls, count(*) AS attempts FROM spending WHERE day = ? AND currency = ?"
_GROUPED = f"{_BY_DAY} GROUP BY price, told"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a call is expected to cost, and the most that those of one local day may; None: whatever they do."""

    price: Decimal
    currency: str
    most: Decimal | None = None


def day_of(now: float) -> str:
    """The local day, `2026-12-01`."""
    return time.strftime("%Y-%m-%d", time.localtime(now))


def spent_on(database: Database, day: str, currency: str) -> Decimal:
    """What the calls of that day cost as far as it is known, in this currency."""
    return _sum(database.rows(_GROUPED, (day, currency)))


def reserve(connection: sqlite3.Connection, attempt_id: str, allowance: Allowance, now: float) -> None:
    """Set the price of one more call of the attempt aside. LimitReached, and nothing is, where the day's calls would
    cost more than they may."""
    day, price, most = day_of(now), allowance.price, allowance.most
    if most is not None:
        spent = _sum(connection.execute(_GROUPED, (day, allowance.currency)).fetchall())
        if spent + price > most:
            told = f"{spent} {allowance.currency} of today is spent"
            raise LimitReached(f"the next call would cross budget.day={most}: {told}")
    if not _begin(connection, attempt_id, day, allowance.currency, format(price, "f")):
        where = (attempt_id, day)
        connection.execute("UPDATE spending SET calls = calls + 1 WHERE attempt_id = ? AND day = ?", where)


def settle(connection: sqlite3.Connection, attempt_id: str, spent: Spent, now: float) -> None:
    """The attempt has ended: what its service told takes the place of a price; where nothing was called, all of it
    comes back. What failed or was perhaps billed stays counted."""
    if not spent.calls:
        connection.execute("DELETE FROM spending WHERE attempt_id = ?", (attempt_id,))
    elif spent.cost is not None:
        row = connection.execute(
            "SELECT day, currency FROM spending WHERE attempt_id = ? ORDER BY day DESC LIMIT 1", (attempt_id,)
        ).fetchone()
        if row is None:  # a profile without a price whose service tells one
            _begin(connection, attempt_id, day_of(now), spent.currency or "", "0", spent.cost)
        elif row["currency"] == spent.currency:
            told = (spent.cost, attempt_id, row["day"])
            connection.execute("UPDATE spending SET told = ? WHERE attempt_id = ? AND day = ?", told)


def _begin(
    connection: sqlite3.Connection, attempt_id: str, day: str, currency: str, price: str, told: str | None = None
) -> bool:
    """The row for the attempt's first call of a day; False where it is there."""
    row = {"attempt_id": attempt_id, "day": day, "currency": currency, "price": price, "calls": 1, "told": told}
    return insert(connection, "spending", row, once="attempt_id, day")


def _sum(rows: Iterable[sqlite3.Row]) -> Decimal:
    total = Decimal(0)
    for row in rows:
        told = row["told"] is not None
        total += amount_of(row["price"]) * (row["calls"] - row["attempts"] * told)
        total += amount_of(row["told"]) * row["attempts"] if told else 0
    return total


def amount_of(text: str) -> Decimal:
    """Money as the ledger has it. LedgerError for what is no amount: a ledger may have come from anywhere."""
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise LedgerError(f"the ledger is damaged: {text[:40]!r} is no amount of money")
    return amount
