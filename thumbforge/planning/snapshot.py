"""What exists, read once per command: the part of the ledger and the store that a plan is decided on."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thumbforge.planning.wanted import Wanted
from thumbforge.store import exports, finals, iterations
from thumbforge.store.attempts import Art, art_by_keys
from thumbforge.store.exports import Export
from thumbforge.store.finals import KnownFinal
from thumbforge.store.iterations import KnownIteration

if TYPE_CHECKING:
    from thumbforge.store.assets import AssetStore
    from thumbforge.store.database import Database


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
    known = iterations.known(database, [w.key for w in wanted], now)
    takes = {w.item_key: take_of(w, known.get(w.key)) for w in wanted}
    art, lost_art = _art(database, store, [w.art_key(takes[w.item_key]) for w in wanted])
    keys = [w.final_key(a.picture.sha256) for w in wanted if (a := art.get(w.art_key(takes[w.item_key])))]
    placed = exports.of_series(database, series)
    locked = [export.final_key for export in placed.values() if export.locked]
    current = set(keys)
    changed = [w.item_key for w in wanted if w.item_key in placed and placed[w.item_key].final_key not in current]
    return Snapshot(
        now=now,
        iterations=known,
        art=art,
        lost_art=lost_art,
        finals=_finals(database, store, [*keys, *locked]),
        exports=placed,
        files=files,
        manifests=frozenset(name[:-5] for name in _names(store.manifests)),
        previous={key: m for key in changed if (m := store.manifest(placed[key].final_key))},
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


def _art(database: Database, store: AssetStore, keys: Sequence[str]) -> tuple[dict[str, Art], dict[str, str]]:
    there, lost = {}, {}
    for key, art in art_by_keys(database, keys):
        if store.has(art.picture.sha256, art.picture.suffix):
            there[key] = art
        else:
            lost[key] = art.picture.sha256
    return there, lost


def _finals(database: Database, store: AssetStore, keys: Sequence[str]) -> dict[str, KnownFinal]:
    found = finals.known(database, keys)
    return {final.final_key: final for final in found if store.has(final.picture.sha256, final.picture.suffix)}
