"""The frozen plan of a run: a row for each item, and an iteration for each that is to be made."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thumbforge import ids
from thumbforge.errors import ReplayDivergence
from thumbforge.store import iterations
from thumbforge.store.database import Database, insert_all, mapping
from thumbforge.store.iterations import Identity


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """One row of a frozen plan. `key_parts` is None where the run has nothing to do for the item."""

    item_key: str
    idempotency_key: str
    key_parts: Mapping[str, str] | None
    action: str
    reason: str
    plan: Mapping[str, Any]


def plan_items(
    connection: sqlite3.Connection, run_id: str, items: Sequence[tuple[int, PlannedItem]], now: float
) -> None:
    """Rows for `items`, each with its place in the run. An item that needs work gets a pending iteration, unless its
    key exists already: then the run points to that. Raises ReplayDivergence where the key was made of other parts.

    What is known is read at once and what is new written at once: a run is about all items of a list, and may make one.
    """
    work = [item for _, item in items if item.key_parts is not None]
    known = iterations.by_keys(connection, [item.idempotency_key for item in work])
    for item in work:
        found = known.get(item.idempotency_key)
        if found is None:
            known[item.idempotency_key] = new = _new_iteration(run_id, item)
            iterations.insert_iteration(connection, new, now)
        elif found.key_parts != item.key_parts:
            raise ReplayDivergence(f"key {item.idempotency_key[:8]} is recorded with other parts")
    there = iterations.ids_by_keys(connection, [item.idempotency_key for _, item in items])
    rows = [_run_item(run_id, ordinal, item, there.get(item.idempotency_key)) for ordinal, item in items]
    insert_all(connection, "run_item", rows)


def replace_items(connection: sqlite3.Connection, run_id: str, items: Iterable[PlannedItem], now: float) -> None:
    """Plan these items of a run anew, each at the place that it has."""
    found = connection.execute("SELECT item_key, ordinal FROM run_item WHERE run_id = ?", (run_id,))
    places = {row["item_key"]: row["ordinal"] for row in found}
    new = [(places[item.item_key], item) for item in items]
    for _, item in new:
        connection.execute("DELETE FROM run_item WHERE run_id = ? AND item_key = ?", (run_id, item.item_key))
    plan_items(connection, run_id, new, now)


def _run_item(run_id: str, ordinal: int, item: PlannedItem, iteration_id: str | None) -> dict[str, Any]:
    return {
        "id": ids.run_item_id(run_id, item.item_key),
        "run_id": run_id,
        "ordinal": ordinal,
        "item_key": item.item_key,
        "idempotency_key": item.idempotency_key,
        "action": item.action,
        "reason": item.reason,
        "plan_json": ids.canonical_json(item.plan),
        "iteration_id": iteration_id,
    }


def _new_iteration(run_id: str, item: PlannedItem) -> Identity:
    return Identity(
        id=ids.iteration_id(run_id, item.item_key, item.idempotency_key),
        run_id=run_id,
        item_key=item.item_key,
        idempotency_key=item.idempotency_key,
        key_parts=dict(item.key_parts or {}),
    )


@dataclass(frozen=True, slots=True)
class RecordedItem:
    """One row of a frozen plan, as it was recorded."""

    id: str
    item_key: str
    idempotency_key: str
    plan: Mapping[str, Any]
    iteration_id: str | None


def items_of(database: Database, run_id: str) -> list[RecordedItem]:
    """A run's plan, in its order."""
    rows = database.rows("SELECT * FROM run_item WHERE run_id = ? ORDER BY ordinal", (run_id,))
    return [
        RecordedItem(
            id=row["id"],
            item_key=row["item_key"],
            idempotency_key=row["idempotency_key"],
            plan=mapping(row["plan_json"]),
            iteration_id=row["iteration_id"],
        )
        for row in rows
    ]


def iterations_of(database: Database, run_id: str) -> dict[str, str]:
    """The iteration of each item of a run's plan that has one, by item key."""
    rows = database.rows(
        "SELECT item_key, iteration_id FROM run_item WHERE run_id = ? AND iteration_id IS NOT NULL", (run_id,)
    )
    return {row["item_key"]: row["iteration_id"] for row in rows}


def identities(database: Database) -> list[tuple[str, str, str]]:
    """(id, run id, item key) of every row of every plan."""
    rows = database.rows("SELECT id, run_id, item_key FROM run_item")
    return [(row["id"], row["run_id"], row["item_key"]) for row in rows]
