"""What exists, read once per command: the part of the ledger and the store that a plan is decided on."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from thumbforge.planning.wanted import Wanted
from thumbforge.specs.locks import Entry, Lock
from thumbforge.store import exports, finals, iterations
from thumbforge.store.attempts import Art, art_by_keys
from thumbforge.store.exports import Export
from thumbforge.store.finals import KnownFinal
from thumbforge.store.iterations import KnownIteration
from thumbforge.store.looks import TOLD, Fresh, State, is_as_seen, look
from thumbforge.store.pictures import StoredPicture
from thumbforge.store.witness import Ours, manifest_of, recorded_art, stored_art

if TYPE_CHECKING:
    from thumbforge.store.assets import AssetStore
    from thumbforge.store.database import Database

Placed = Literal["right", "away", "edited", "unreadable"]
"""What lies in out/ under an item's name: its picture; nothing, or what may be replaced; a file of the user's; a file
that nobody can tell."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A stored picture that is there and not right: the file and what is wrong with it, and what the user can do."""

    what: str
    cure: str


_REMOVED = "thumbforge repair --damaged --apply removes it, then it is painted anew"
_MOVED = "move it away, or put the picture back from a backup"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`art` holds only pictures whose file is right, `lost_art` the hashes of those whose file is gone, `damaged_art`
    what is wrong with a file that is there; all by art key. `finals` are pictures whose file is right, `broken_finals`
    the keys of those whose file is damaged, `manifests` the final keys whose manifest is right. `placed` is what lies
    in out/ under an item's name, where the item has a final. `ignoring` are the art keys whose provider did not look
    at the reference. `previous` is what the last picture of a changed item was made of, for explanations. `fresh` is
    what had to be read to know all this. `chosen` is what the lock file says of an item, by item key, where that is of
    the request that the specs make: it goes before what this ledger chose. `left` is what was put into out/ for items
    that are not among those asked for."""

    now: float
    iterations: Mapping[str, KnownIteration] = field(default_factory=dict)
    art: Mapping[str, Art] = field(default_factory=dict)
    lost_art: Mapping[str, str] = field(default_factory=dict)
    damaged_art: Mapping[str, Damage] = field(default_factory=dict)
    finals: Mapping[str, KnownFinal] = field(default_factory=dict)
    broken_finals: frozenset[str] = frozenset()
    exports: Mapping[str, Export] = field(default_factory=dict)
    placed: Mapping[str, Placed] = field(default_factory=dict)
    manifests: frozenset[str] = frozenset()
    ignoring: frozenset[str] = frozenset()
    previous: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    fresh: tuple[Fresh, ...] = ()
    chosen: Mapping[str, Entry] = field(default_factory=dict)
    left: Mapping[str, Export] = field(default_factory=dict)

    def take_of(self, wanted: Wanted) -> int:
        """The take in use, else the first one that is wanted."""
        entry = self.chosen.get(wanted.item_key)
        return entry.take if entry else take_of(wanted, self.iterations.get(wanted.key))


def read_snapshot(
    database: Database | None,
    store: AssetStore,
    out: Path,
    series: str,
    wanted: Sequence[Wanted],
    lock: Lock | None = None,
) -> Snapshot:
    """A handful of queries and a look at each file, however many items there are. What is as it was when it was last
    read is not read again."""
    now = time.time()
    entries = _entries(wanted, lock) if lock else {}
    if database is None:
        chosen = _current(wanted, entries)
        held = {key: _of_others(series, e) for key, e in entries.items() if e.approved and key not in chosen}
        return Snapshot(now, chosen=chosen, exports=held)
    return _Reader(database, store, out, series).read(wanted, now, entries)


def _entries(wanted: Sequence[Wanted], lock: Lock) -> dict[str, Entry]:
    """What the lock says, by item key."""
    found = ((w.item_key, lock.of(w.item.video, w.occurrence, w.art_key)) for w in wanted)
    return {key: entry for key, entry in found if entry}


def _of_others(series: str, entry: Entry) -> Export:
    """A picture that others approved and have in their out/."""
    return Export(f"{series}/{entry.name}", entry.final_key, entry.final, locked=True)


def _current(wanted: Sequence[Wanted], entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """Those of the request that the specs make: whatever else the lock knows is of other specs."""
    found = ((w, entries.get(w.item_key)) for w in wanted)
    return {w.item_key: e for w, e in found if e and e.art_key == w.art_key(e.take)}


class _Reader:
    """Looks at files, and collects what they told."""

    def __init__(self, database: Database, store: AssetStore, out: Path, series: str) -> None:
        self._database, self._store, self._out, self._series = database, store, out, series
        self._ours = Ours(database, store)
        self._fresh: list[Fresh] = []

    def read(self, wanted: Sequence[Wanted], now: float, entries: Mapping[str, Entry]) -> Snapshot:
        known = iterations.known(self._database, [w.key for w in wanted], now)
        chosen = _current(wanted, entries)
        whole = Snapshot(now, iterations=known, chosen=chosen)
        art_keys = {w.item_key: w.art_key(whole.take_of(w)) for w in wanted}
        art, lost, damaged, ignoring = self._art(
            list(art_keys.values()), {entry.art_key: entry.art for entry in chosen.values()}
        )
        keys = {w.item_key: w.final_key(a.picture.sha256) for w in wanted if (a := art.get(art_keys[w.item_key]))}
        out, current = exports.of_series(self._database, self._series), set(keys.values())
        left = {key: out[key] for key in out.keys() - {item.item_key for item in wanted}}
        for item in wanted if entries else ():
            if (entry := entries.get(item.item_key)) and (export := self._approved(item, entry, chosen, out)):
                out[item.item_key] = export
        changed = [w.item_key for w in wanted if w.item_key in out and out[w.item_key].final_key not in current]
        keys |= {key: export.final_key for key, export in out.items() if export.locked}
        there, broken, manifests = self._finals([*{*current, *keys.values()}])
        return replace(
            whole,
            art=art,
            lost_art=lost,
            damaged_art=damaged,
            finals=there,
            broken_finals=broken,
            exports=out,
            placed=self._placed(wanted, keys, there, out),
            manifests=manifests,
            ignoring=ignoring,
            previous={key: m for key in changed if (m := self._store.manifest(out[key].final_key))},
            fresh=tuple(self._fresh),
            left=left,
        )

    def _asset(self, picture: StoredPicture) -> Damage | State:
        """How an asset's file is; what is wrong with one that is there and not right."""
        if self._store.is_as_seen(picture.sha256, picture.suffix, picture.seen):
            return "right"
        found = self._store.look(picture.sha256, picture.suffix, picture.bytes, picture.seen)
        if found.mark is not None:
            if found.mark != picture.seen:
                self._fresh.append(Fresh("asset", (picture.sha256,), found.mark))
            return "right"
        if found.state == "missing":
            return "missing"
        path = self._store.path(picture.sha256, picture.suffix)
        is_ours = found.state in {"other", "empty"} and not path.is_symlink()
        what = f"{path.name} {TOLD[found.state]}"
        return Damage(what, _REMOVED if is_ours else _MOVED)

    def _approved(
        self, item: Wanted, entry: Entry, chosen: Mapping[str, Entry], out: Mapping[str, Export]
    ) -> Export | None:
        """What lies in out/ with the approval that the lock gives or takes away. A picture that others approved and
        that the specs would have anew now is held although nothing of it was ever here."""
        export = out.get(item.item_key)
        if item.item_key in chosen:
            is_it = export is not None and export.final_key in {entry.final_key, item.final_key(entry.art)}
            locked = entry.approved and is_it
            return replace(export, locked=locked) if export and export.locked != locked else None
        if not entry.approved:
            return None
        if export and export.final_key == entry.final_key:
            return replace(export, locked=True)
        return _of_others(self._series, entry)

    def _art(
        self, keys: Sequence[str], chosen: Mapping[str, str]
    ) -> tuple[dict[str, Art], dict[str, str], dict[str, Damage], frozenset[str]]:
        """The newest art of a key; where the lock has `chosen` one, that, and another only where it is nowhere here."""
        there, lost, damaged, ignoring = {}, {}, {}, set()
        found = art_by_keys(self._database, keys)
        has = {key for key, art in found if chosen.get(key) == art.picture.sha256}
        absent = ((key, stored(self._store, sha256)) for key, sha256 in chosen.items() if key not in has)
        given = {key: art for key, art in absent if art}
        there.update(given)
        for key, art in found:
            sha256 = chosen.get(key, art.picture.sha256)
            if sha256 != art.picture.sha256 and (key in given or key in has):
                continue
            state = self._asset(art.picture)
            if isinstance(state, Damage):
                damaged[key] = state
            elif state == "right":
                there[key] = art
            else:
                lost[key] = art.picture.sha256
            if art.reference_ignored:
                ignoring.add(key)
        return there, lost, damaged, frozenset(ignoring)

    def _finals(self, keys: Sequence[str]) -> tuple[dict[str, KnownFinal], frozenset[str], frozenset[str]]:
        there, broken, manifests = {}, set(), set()
        for final in finals.known(self._database, keys):
            key, state = final.final_key, self._asset(final.picture)
            if isinstance(state, Damage):
                broken.add(key)
            elif state == "right":
                there[key] = final
            mark = self._store.manifest_seen(key)
            if mark is None or not (mark == final.manifest_seen or self._has_manifest(final)):
                continue
            manifests.add(key)
            if mark != final.manifest_seen:
                self._fresh.append(Fresh("final", (key,), mark))
        return there, frozenset(broken), frozenset(manifests)

    def _has_manifest(self, final: KnownFinal) -> bool:
        """Whether the manifest tells of this final, as `audit` reads it."""
        found = manifest_of(self._store.manifest(final.final_key), final.final_key)
        return found is not None and found.final_sha256 == final.picture.sha256

    def _placed(
        self,
        wanted: Sequence[Wanted],
        keys: Mapping[str, str],
        there: Mapping[str, KnownFinal],
        out: Mapping[str, Export],
    ) -> dict[str, Placed]:
        """For each item that has a final: of a locked one, the picture that it keeps."""
        placed: dict[str, Placed] = {}
        folder = f"{self._out / self._series}{os.sep}"
        for item in wanted:
            final = there.get(keys.get(item.item_key, ""))
            if final is None or not item.export_name:
                continue
            export = out.get(item.item_key)
            name = export.path.rpartition("/")[2] if export and export.locked else item.export_name
            path = f"{self._series}/{name}"
            is_known = export is not None and export.final_key == final.final_key and export.path == path
            seen = export.seen if export and is_known else None
            if is_as_seen(f"{folder}{name}", seen):
                placed[item.item_key] = "right"
                continue
            found = look(f"{folder}{name}", final.picture.sha256, final.picture.bytes, seen)
            if found.mark is not None:
                placed[item.item_key] = "right" if is_known else "away"
                if is_known and found.mark != seen:
                    self._fresh.append(Fresh("export", (self._series, item.item_key), found.mark))
            elif found.state == "unreadable":
                placed[item.item_key] = "unreadable"
            else:
                is_theirs = found.sha256 is not None and not self._ours.has(found.sha256)
                placed[item.item_key] = "edited" if is_theirs else "away"
        return placed


def with_recorded(snapshot: Snapshot, store: AssetStore, wanted: Sequence[Wanted]) -> Snapshot:
    """The same, with the art that records in the store name for items of which the ledger knows none. Each is looked
    up by its art key, and its bytes are hashed; where the lock file has chosen art, it is that one, by its hash. What
    a record says besides is not believed: such an `Art` has no attempt, and `make` judges it like a provider's
    answer."""
    found: dict[str, Art] = {}
    for item in wanted:
        known = snapshot.iterations.get(item.key)
        art_key = item.art_key(snapshot.take_of(item))
        if art_key in snapshot.art or art_key in found or (known and known.executor_run_id):
            continue
        entry = snapshot.chosen.get(item.item_key)
        if entry and (art := stored(store, entry.art)):
            found[art_key] = art
        elif told := recorded_art(store, art_key):
            found[art_key] = Art("", StoredPicture(*told, media_type="", bytes=0, width=0, height=0))
    return replace(snapshot, art={**snapshot.art, **found}) if found else snapshot


def stored(store: AssetStore, sha256: str) -> Art | None:
    """Art that the store has and no row tells of: `make` judges it like a provider's answer, and gives it its row."""
    told = stored_art(store, sha256)
    return Art("", StoredPicture(*told, media_type="", bytes=0, width=0, height=0)) if told else None


def take_of(wanted: Wanted, known: KnownIteration | None) -> int:
    """The take in use, else the first one that is wanted."""
    return known.take if known and known.take else wanted.request.take
