"""Writing a playlist's metadata into the ledger, so that a crash at any place is only redone, never doubled.

The list is frozen first (an asset; its hash is in the checkpoint `{"next_index": n, "snapshot": sha}`), then stated
entry by entry. What is not in it any more is closed only after its last entry.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from thumbforge import ids
from thumbforge.errors import AssetDamaged, StoreError, UsageError
from thumbforge.models import Playlist
from thumbforge.store import facts, runs
from thumbforge.store.assets import AssetStore
from thumbforge.store.database import Database
from thumbforge.store.ledger import Fence, Ledger
from thumbforge.store.runs import NewRun

By = Literal["fetch", "renumber", "set", "file", "edit"]
"""What changed a list: its source, `playlist renumber`, `playlist set`, its own export, or a hand in the YAML."""
OF_PEOPLE = frozenset[str](("renumber", "set", "file", "edit"))
CHUNK = 200  # entries per transaction: a commit costs milliseconds of disk, an entry microseconds


def ingest(ledger: Ledger, store: AssetStore, playlist: Playlist, by: By = "fetch") -> str | None:
    """State the playlist in the ledger; returns the ingest run's id, None where nothing has changed since the last.

    `by` is told with the changes. A part that a user gave, by renumbering or by hand, no fetch replaces. An ingest of
    the same list that a crash cut short is gone on with. The playlist's row must exist.
    """
    name = playlist.playlist.id
    data = snapshot(playlist)
    sha256 = ids.sha256_hex(data)
    last = runs.last_ingest(ledger.database, name)
    before = last.checkpoint.get("snapshot") if last else None
    if last and before == sha256:
        if last.status == "completed":
            return None
        if last.status in {"paused", "failed", "pending"}:
            try:
                fence = ledger.resume_run(last.id, (), last.params)
            except UsageError:  # another process was faster: it states the same list
                return None
            _freeze(ledger, fence, store, data)
            return _finish(ledger, fence, store, name)
    run = NewRun(
        ids.new_run_id(),
        "ingest",
        playlist_id=name,
        params={"playlist": name, "items": len(playlist.items), "by": by},
        checkpoint={"next_index": 0, "snapshot": sha256},
    )
    fence = ledger.open_run(run, ())
    _freeze(ledger, fence, store, data)
    stated = None
    if last and before and last.status == "completed" and _follows(ledger, name, fence.run_id, last.id):
        stated = _entries_of(store, before)
    return _finish(ledger, fence, store, name, stated)


def _freeze(ledger: Ledger, fence: Fence, store: AssetStore, data: bytes) -> None:
    """Keep the list that is stated. Its run is there before, so that a crash leaves no file that nobody knows."""
    try:
        store.put(data, ".json", "snapshot.file")
    except StoreError as error:
        ledger.close_run(fence, "fail", error.exit_code, f"{error.code}: {error}")
        raise


def is_stated(database: Database, playlist: Playlist) -> bool:
    """Whether the ledger has been told this very list. Reads only."""
    last = runs.last_ingest(database, playlist.playlist.id)
    if last is None or last.status != "completed":
        return False
    return bool(last.checkpoint.get("snapshot") == ids.sha256_hex(snapshot(playlist)))


def _follows(ledger: Ledger, playlist: str, run_id: str, last: str) -> bool:
    """Whether nobody else has begun to state this playlist between the two."""
    return runs.ingests_since(ledger.database, playlist, last) == [run_id]


def _entries_of(store: AssetStore, snapshot: str) -> list[dict[str, Any]] | None:
    """The entries of a list that was stated; None where its file is gone, so that nothing is taken for stated."""
    try:
        found: list[dict[str, Any]] = json.loads(store.verify(snapshot, ".json").read_bytes())
    except (AssetDamaged, OSError, ValueError):
        return None
    return found


def snapshot(playlist: Playlist) -> bytes:
    """The list as it is stated: one canonical text per list, so that the same list is recognised."""
    return ids.canonical_json(list(_entries(playlist))).encode()


def _entries(playlist: Playlist) -> Iterator[dict[str, Any]]:
    seen: Counter[str] = Counter()
    for position, item in enumerate(playlist.items, 1):
        seen[item.video] += 1
        if item.removed:
            continue
        yield {
            "video": item.video,
            "occurrence": seen[item.video],
            "position": position,
            "part": item.part,
            "title": item.title,
        }


def _finish(
    ledger: Ledger,
    fence: Fence,
    store: AssetStore,
    playlist: str,
    stated: Sequence[dict[str, Any]] | None = None,
) -> str:
    """State the rest of the frozen list, from the checkpoint on, then close what is not in it.

    What holds already is left out where it is known: the entries `stated` by the last ingest, if it got to its end.
    """
    holds = {tuple(entry.values()) for entry in stated or ()}
    run = runs.ingest(ledger.database, fence.run_id)
    is_users = run.params.get("by") in OF_PEOPLE
    entries = json.loads(store.verify(run.checkpoint["snapshot"], ".json").read_bytes())
    start = min(int(run.checkpoint["next_index"]), len(entries))
    for first in range(start, len(entries), CHUNK):
        chunk = [entry for entry in entries[first : first + CHUNK] if tuple(entry.values()) not in holds]
        if not chunk:
            continue
        with ledger.database.write("ingest.chunk") as connection:
            fence.check(connection)
            _state(connection, playlist, chunk, fence.run_id, run.started_at, "user" if is_users else "ingest")
            reached = min(first + CHUNK, len(entries))
            runs.set_checkpoint(connection, run.id, {**run.checkpoint, "next_index": reached})
    if stated is None or _places(stated) - _places(entries):
        with ledger.database.write("ingest.chunk") as connection:
            fence.check(connection)
            _close_removed(connection, playlist, entries, fence.run_id, run.started_at)
    ledger.close_run(fence, "complete", 0)
    return fence.run_id


def _state(
    connection: sqlite3.Connection,
    playlist: str,
    entries: Sequence[dict[str, Any]],
    run_id: str,
    at: float,
    parts_are: facts.Origin,
) -> None:
    known = facts.open_facts(connection, playlist, [_item_id(playlist, entry) for entry in entries])
    for entry in entries:
        item = facts.remember_item(connection, playlist, entry["video"], entry["occurrence"], at)
        values = {"member": True, **{name: entry[name] for name in ("position", "part", "title")}}
        for predicate, value in values.items():
            origin: facts.Origin = parts_are if predicate == "part" else "ingest"
            facts.state(connection, known, item, predicate, value, run_id=run_id, at=at, origin=origin)


def _close_removed(
    connection: sqlite3.Connection, playlist: str, entries: Sequence[dict[str, Any]], run_id: str, at: float
) -> None:
    listed = {_item_id(playlist, entry) for entry in entries}
    for (item, _), fact in facts.open_facts(connection, playlist).items():
        if item not in listed:
            facts.invalidate(connection, fact.id, run_id=run_id, at=at)


def _places(entries: Sequence[dict[str, Any]]) -> set[tuple[str, int]]:
    return {(entry["video"], entry["occurrence"]) for entry in entries}


def _item_id(playlist: str, entry: dict[str, Any]) -> str:
    return facts.playlist_item_id(playlist, entry["video"], entry["occurrence"])
