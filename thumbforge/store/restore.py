"""Rows for art that the ledger does not know, written back from what the store tells of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from thumbforge import ids
from thumbforge.store import attempts, iterations, pictures
from thumbforge.store.database import Database
from thumbforge.store.iterations import Identity
from thumbforge.store.ledger import Fence
from thumbforge.store.pictures import StoredPicture


@dataclass(frozen=True, slots=True)
class Restored:
    """Art of an item, as its manifest tells of it. `key_parts` give `key`; `art_key` is that of its request."""

    key: str
    key_parts: Mapping[str, str]
    item_key: str
    art_key: str
    take: int
    picture: StoredPicture


def write_back(database: Database, fence: Fence, found: Sequence[Restored], now: float) -> None:
    """An attempt without a call or a cost for each, in one transaction. What the ledger knows by now is left alone.

    An iteration that is made for it is pending: the next batch draws and judges it anew, and takes its first take,
    whichever was in use.
    """
    with database.write("rebuild.row") as connection:
        fence.check(connection)
        for art in found:
            _write_back(connection, fence, art, now)


def _write_back(connection: sqlite3.Connection, fence: Fence, art: Restored, now: float) -> None:
    known = "SELECT 1 FROM attempt WHERE art_key = ? AND (art_sha256 IS NOT NULL OR closed_at IS NULL)"
    if connection.execute(known, (art.art_key,)).fetchone():
        return
    pictures.remember(connection, art.picture, now)
    attempt_id = attempts.insert_attempt(
        connection,
        iteration_id=_iteration(connection, fence.run_id, art, now),
        art_key=art.art_key,
        take=art.take,
        request={},
        run_id=fence.run_id,
        epoch=fence.epoch,
        now=now,
    )
    attempts.close_with_art(connection, attempt_id, art.picture.sha256, {"adopted_from": "manifest"}, now)


def _iteration(connection: sqlite3.Connection, run_id: str, art: Restored, now: float) -> str:
    if found := iterations.by_keys(connection, [art.key]).get(art.key):
        return found.id
    iteration_id = ids.iteration_id(run_id, art.item_key, art.key)
    iterations.insert_iteration(
        connection, Identity(iteration_id, run_id, art.item_key, art.key, dict(art.key_parts)), now
    )
    return iteration_id
