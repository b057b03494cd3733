"""The frozen plan of a run: a row for each item, and an iteration for each that is to be made."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thumbforge import ids
from thumbforge.errors import ReplayDivergence
from thumbforge.store.database import insert


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
    keys = json.dumps([item.idempotency_key for _, item in items])
    found = connection.execute(
        "SELECT idempotency_key, id, key_parts_json FROM iteration"
        " WHERE idempotency_key IN (SELECT value FROM json_each(?))",
        (keys,),
    )
    known: dict[str, tuple[str, str]] = {key: (iteration_id, parts) for key, iteration_id, parts in found}
    for _, item in items:
        if item.key_parts is None:
            continue
        if item.idempotency_key not in known:
            known[item.idempotency_key] = _new_iteration(connection, run_id, item, item.key_parts, now)
        elif json.loads(known[item.idempotency_key][1]) != dict(item.key_parts):
            raise ReplayDivergence(f"key {item.idempotency_key[:8]} is recorded with other parts")
    connection.executemany(
        "INSERT INTO run_item (id, run_id, ordinal, item_key, idempotency_key, action, reason, plan_json, iteration_id)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (_run_item(run_id, ordinal, item, known.get(item.idempotency_key)) for ordinal, item in items),
    )


def _run_item(run_id: str, ordinal: int, item: PlannedItem, known: tuple[str, str] | None) -> tuple[Any, ...]:
    own = ids.run_item_id(run_id, item.item_key)
    told = (item.idempotency_key, item.action, item.reason, ids.canonical_json(item.plan))
    return (own, run_id, ordinal, item.item_key, *told, known[0] if known else None)


def _new_iteration(
    connection: sqlite3.Connection, run_id: str, item: PlannedItem, key_parts: Mapping[str, str], now: float
) -> tuple[str, str]:
    iteration_id, parts = ids.iteration_id(run_id, item.item_key, item.idempotency_key), ids.canonical_json(key_parts)
    row = {
        "id": iteration_id,
        "run_id": run_id,
        "item_key": item.item_key,
        "idempotency_key": item.idempotency_key,
        "key_parts_json": parts,
        "status": "pending",
        "created_at": now,
        "updated_at": now,
    }
    insert(connection, "iteration", row)
    return iteration_id, parts
