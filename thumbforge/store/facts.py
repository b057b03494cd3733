"""Facts about playlist items: each holds from one time to another, says who stated it, and is never rewritten.

A changed value closes the old fact and opens a new one in the same transaction; a closed fact keeps its times for ever.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from thumbforge import ids
from thumbforge.errors import LedgerError
from thumbforge.store.database import Database, insert

Origin = Literal["ingest", "user"]


@dataclass(frozen=True, slots=True)
class OpenFact:
    id: str
    value_json: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Fact:
    """What held of an entry (video, occurrence), from when to when (epoch seconds; None: it still holds), and the
    runs that opened and closed it, whether or not they are still in the ledger."""

    entry: tuple[str, int]
    predicate: str
    value: Any
    valid_from: float
    valid_to: float | None
    opened_by: str
    closed_by: str | None


def playlist_item_id(playlist: str, video: str, occurrence: int) -> str:
    """The same on every machine: an entry is a video in a playlist, however often it moves."""
    return ids.derive(ids.WORLD, f"playlist-item:{playlist}:{video}:{occurrence}")


def remember_item(connection: sqlite3.Connection, playlist: str, video: str, occurrence: int, at: float) -> str:
    """Rows for a video and its place in a playlist, once each; the playlist item's id."""
    item = playlist_item_id(playlist, video, occurrence)
    insert(connection, "video", {"youtube_id": video, "created_at": at}, once="youtube_id")
    place = {"id": item, "playlist_id": playlist, "video_id": video, "occurrence": occurrence}
    insert(connection, "playlist_item", place, once="id")
    return item


def fact_id(run_id: str, item_id: str, predicate: str, value_json: str) -> str:
    """With the run in it, a title that goes from A to B and back to A has three facts."""
    return ids.derive(run_id, f"fact:{item_id}:{predicate}:{ids.sha256_hex(value_json.encode())}")


def open_facts(
    connection: sqlite3.Connection, playlist: str, items: Iterable[str] | None = None
) -> dict[tuple[str, str], OpenFact]:
    """By playlist item and predicate; of the whole playlist, or of some of its items (by id)."""
    some = " AND playlist_item_id IN (SELECT value FROM json_each(?))" if items is not None else ""
    rows = connection.execute(
        "SELECT item_fact.* FROM item_fact JOIN playlist_item ON playlist_item.id = playlist_item_id"
        f" WHERE playlist_id = ? AND valid_to IS NULL{some}",
        (playlist,) if items is None else (playlist, json.dumps(list(items))),
    )
    return {
        (row["playlist_item_id"], row["predicate"]): OpenFact(row["id"], row["value_json"], row["origin"])
        for row in rows
    }


def history(database: Database, playlist: str) -> list[Fact]:
    """Every fact that was ever stated of the list's entries, in no order."""
    rows = database.rows(
        "SELECT video_id, occurrence, predicate, value_json, valid_from, valid_to, opened_by_run, closed_by_run"
        " FROM item_fact JOIN playlist_item ON playlist_item.id = playlist_item_id WHERE playlist_id = ?",
        (playlist,),
    )
    return [
        Fact(
            entry=(row["video_id"], row["occurrence"]),
            predicate=row["predicate"],
            value=json.loads(row["value_json"]),
            valid_from=row["valid_from"],
            valid_to=row["valid_to"],
            opened_by=row["opened_by_run"],
            closed_by=row["closed_by_run"],
        )
        for row in rows
    ]


def state(
    connection: sqlite3.Connection,
    known: Mapping[tuple[str, str], OpenFact],
    item_id: str,
    predicate: str,
    value: Any,
    *,
    run_id: str,
    at: float,
    origin: Origin = "ingest",
) -> None:
    """Say that `predicate` of an item is `value`. What a user said is never replaced by an ingest; stating what
    holds already changes nothing."""
    value_json = ids.canonical_json(value)
    held = known.get((item_id, predicate))
    if held and (held.value_json == value_json or (held.origin == "user" and origin == "ingest")):
        return
    new = fact_id(run_id, item_id, predicate, value_json)
    if connection.execute("SELECT 1 FROM item_fact WHERE id = ?", (new,)).fetchone():
        return  # this run has stated it before
    if held:
        invalidate(connection, held.id, run_id=run_id, at=at)
    row = {
        "id": new,
        "playlist_item_id": item_id,
        "predicate": predicate,
        "value_json": value_json,
        "origin": origin,
        "valid_from": at,
        "opened_by_run": run_id,
    }
    insert(connection, "item_fact", row)
    if held:
        connection.execute("UPDATE item_fact SET superseded_by = ? WHERE id = ?", (new, held.id))


def invalidate(connection: sqlite3.Connection, fact: str, *, run_id: str, at: float) -> None:
    """Close a fact. A closed one keeps its time; one that never was is a LedgerError."""
    if not connection.execute("SELECT 1 FROM item_fact WHERE id = ?", (fact,)).fetchone():
        raise LedgerError(f"there is no fact {fact}")
    connection.execute(
        "UPDATE item_fact SET valid_to = ?, closed_by_run = ? WHERE id = ? AND valid_to IS NULL", (at, run_id, fact)
    )
