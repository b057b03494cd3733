"""What exists, read once per command: the part of the ledger and the store that a plan is decided on."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thumbforge.planning.wanted import Wanted
from thumbforge.store.leases import is_live
from thumbforge.store.work import PICTURE, Art, StoredPicture, picture_of

if TYPE_CHECKING:
    from thumbforge.store.assets import AssetStore
    from thumbforge.store.database import Database


_FAILED = '"ok":false'  # as the ledger writes it: canonical JSON


@dataclass(frozen=True, slots=True)
class KnownIteration:
    """An iteration with its history counted. `take` is the one in use, `last_take` the newest that was tried; `tries`
    are charged ones, `lost` those whose process died in a call."""

    id: str
    run_id: str
    status: str
    error_text: str | None
    key_parts: Mapping[str, str]
    take: int | None
    last_take: int
    tries: int
    lost: int
    started_at: float | None
    executor_run_id: str | None
    executor_is_live: bool
    executor_had_lease: bool


@dataclass(frozen=True, slots=True)
class KnownFinal:
    final_key: str
    picture: StoredPicture
    compliant: bool
    report_json: str

    @property
    def is_faultless(self) -> bool:
        """Whether every check was passed, told without decoding thousands of reports."""
        return _FAILED not in self.report_json

    @property
    def report(self) -> dict[str, Any]:
        """Decoded when it is asked for: a plan over thousands of finished items never does."""
        found: dict[str, Any] = json.loads(self.report_json)
        return found


@dataclass(frozen=True, slots=True)
class Export:
    """What we put into out/ for an item: the file's path (relative to out/) and the hash it had."""

    path: str
    final_key: str
    sha256: str
    locked: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`art` holds only pictures whose file is in the store, `lost_art` the hashes of those whose file is gone; the
    same goes for `finals`. `files` are the names in out/<series>/, `manifests` the final keys with a manifest file.
    `previous` is what the last picture of a changed item was made of, for explanations."""

    now: float
    iterations: Mapping[str, KnownIteration] = field(default_factory=dict)
    art: Mapping[str, Art] = field(default_factory=dict)
    lost_art: Mapping[str, str] = field(default_factory=dict)
    finals: Mapping[str, KnownFinal] = field(default_factory=dict)
    exports: Mapping[str, Export] = field(default_factory=dict)
    files: frozenset[str] = frozenset()
    manifests: frozenset[str] = frozenset()
    previous: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def read_snapshot(
    database: Database | None, store: AssetStore, out: Path, series: str, wanted: Sequence[Wanted]
) -> Snapshot:
    """A handful of queries and directory listings, however many items there are."""
    now = time.time()
    files = frozenset(_names(out / series))
    if database is None:
        return Snapshot(now, files=files)
    iterations = _iterations(database, [w.key for w in wanted], now)
    takes = {w.item_key: take_of(w, iterations.get(w.key)) for w in wanted}
    art, lost_art = _art(database, store, [w.art_key(takes[w.item_key]) for w in wanted])
    keys = [w.final_key(a.picture.sha256) for w in wanted if (a := art.get(w.art_key(takes[w.item_key])))]
    exports = _exports(database, series)
    locked = [export.final_key for export in exports.values() if export.locked]
    finals = _finals(database, store, [*keys, *locked])
    current = set(keys)
    changed = [w.item_key for w in wanted if w.item_key in exports and exports[w.item_key].final_key not in current]
    return Snapshot(
        now=now,
        iterations=iterations,
        art=art,
        lost_art=lost_art,
        finals=finals,
        exports=exports,
        files=files,
        manifests=frozenset(name[:-5] for name in _names(store.manifests)),
        previous={key: m for key in changed if (m := store.manifest(exports[key].final_key))},
    )


def take_of(wanted: Wanted, known: KnownIteration | None) -> int:
    """The take in use, else the first one that is wanted."""
    return known.take if known and known.take else wanted.request.take


def _names(directory: Path) -> Iterable[str]:
    try:
        with os.scandir(directory) as entries:
            return [entry.name for entry in entries]
    except OSError:
        return []


def _iterations(database: Database, keys: Sequence[str], now: float) -> dict[str, KnownIteration]:
    rows = database.rows(
        """
        SELECT idempotency_key, key_parts_json, iteration.id, iteration.run_id, iteration.status, iteration.error_text,
               used.take, coalesce(tried.last_take, used.take, 0), coalesce(tried.tries, 0), coalesce(tried.lost, 0),
               iteration.started_at, open.executor_run_id, run.lease_owner, run.lease_expires_at, run.lease_epoch
        FROM iteration
        LEFT JOIN attempt AS used ON used.id = iteration.attempt_id
        LEFT JOIN attempt AS open ON open.iteration_id = iteration.id AND open.closed_at IS NULL
        LEFT JOIN run ON run.id = open.executor_run_id
        LEFT JOIN (
            SELECT iteration_id, sum(outcome IN ('transient', 'permanent')) AS tries,
                   sum(outcome = 'lost' AND called_at IS NOT NULL) AS lost, max(take) AS last_take
            FROM attempt
            -- what one good attempt at the first take tells is known without counting: in most iterations that is all
            WHERE iteration_id IN (SELECT iteration_id FROM attempt WHERE take > 1 OR outcome IS NOT 'ok')
            GROUP BY iteration_id
        ) AS tried ON tried.iteration_id = iteration.id
        WHERE idempotency_key IN (SELECT value FROM json_each(?))
        """,
        (json.dumps(keys),),
    )
    return {
        key: KnownIteration(
            own, run_id, status, error_text, json.loads(parts), take, last_take, tries, lost, started_at, executor,
            executor_is_live=is_live(owner, expires_at, now), executor_had_lease=bool(epoch),
        )
        for (
            key, parts, own, run_id, status, error_text, take, last_take, tries, lost, started_at, executor, owner,
            expires_at, epoch,
        ) in rows
    }  # fmt: skip


def _art(database: Database, store: AssetStore, keys: Sequence[str]) -> tuple[dict[str, Art], dict[str, str]]:
    rows = database.rows(
        f"SELECT attempt.id AS attempt_id, art_key, {PICTURE} FROM attempt JOIN asset ON asset.sha256 = art_sha256"
        " WHERE art_key IN (SELECT value FROM json_each(?)) ORDER BY closed_at",
        (json.dumps(keys),),
    )
    there, lost = {}, {}
    for row in rows:
        if store.has(row["sha256"], row["suffix"]):
            there[row["art_key"]] = Art(row["attempt_id"], picture_of(row))
        else:
            lost[row["art_key"]] = row["sha256"]
    return there, lost


def _finals(database: Database, store: AssetStore, keys: Sequence[str]) -> dict[str, KnownFinal]:
    rows = database.rows(
        f"SELECT final_key, compliant, report_json, {PICTURE} FROM final JOIN asset ON asset.sha256 = final.sha256"
        " WHERE final_key IN (SELECT value FROM json_each(?))",
        (json.dumps(keys),),
    )
    return {
        row["final_key"]: KnownFinal(row["final_key"], picture_of(row), bool(row["compliant"]), row["report_json"])
        for row in rows
        if store.has(row["sha256"], row["suffix"])
    }


def _exports(database: Database, series: str) -> dict[str, Export]:
    rows = database.rows("SELECT * FROM export WHERE series = ?", (series,))
    return {row["item_key"]: Export(row["path"], row["final_key"], row["sha256"], bool(row["locked"])) for row in rows}
