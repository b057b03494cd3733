"""`batch --locked`: whether specs and lock file say the same, and how each picture of the lock can be had without a
call. Reads only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from thumbforge import ids
from thumbforge.errors import LockDiffers, Problem, UsageError
from thumbforge.imaging import libraries
from thumbforge.imaging.finalise import drawn_with
from thumbforge.planning.decide import PlannedSeries
from thumbforge.planning.lock import head_of, lock_name, place_of
from thumbforge.planning.plan import Row
from thumbforge.planning.prices import calls_to_a_service
from thumbforge.planning.series import Series
from thumbforge.planning.wanted import Wanted, wanted_items
from thumbforge.providers.registry import capabilities_of
from thumbforge.specs.locks import Entry, Head, Lock
from thumbforge.store.assets import AssetStore
from thumbforge.store.finals import KnownFinal
from thumbforge.store.pictures import StoredPicture
from thumbforge.store.witness import stored_art

_HEAD = ("template", "profile", "hero")


def require_agreement(planned: PlannedSeries, rows: Sequence[Row], *, whole: bool) -> Lock:
    """The lock, which says of these rows what the specs say; with `whole` they are all items of the list.

    Raises UsageError where there is none, LockDiffers with the items and the fields that are not the same.
    """
    series, lock = planned.series, planned.lock
    if lock is None:
        raise UsageError(f"{series.name} has no lock file", hint=f"thumbforge batch series={series.name} writes it")
    _require_same(series, [row.wanted for row in rows], lock, whole=whole)
    return lock


def require_told(series: Series, lock: Lock) -> None:
    """Raises LockDiffers where the lock does not say what the specs say, whatever is here."""
    wanted = wanted_items(series, capabilities_of(series.profile), series.hero.as_reference())
    _require_same(series, wanted, lock, whole=True)


def _require_same(series: Series, wanted: Sequence[Wanted], lock: Lock, *, whole: bool) -> None:
    if problems := list(_differences(series, wanted, lock, whole=whole)):
        again, before = f"thumbforge batch series={series.name}", f"git checkout {lock_name(series.name)}"
        raise LockDiffers(problems, hint=f"{again} writes it anew; {before} brings the committed one back")


def _differences(series: Series, wanted: Sequence[Wanted], lock: Lock, *, whole: bool) -> Iterator[Problem]:
    file, head = lock_name(series.name), head_of(series)
    for name in _HEAD:
        if _hash(head, name) != _hash(lock.head, name):
            yield Problem(file, 0, name, "is not what the specs say")
    if lock.is_merged:
        yield Problem(file, 0, "items", "a merge left several lines for an item")
    for item in wanted:
        entry = lock.of(*place_of(item), item.art_key)
        if entry is None:
            yield Problem(file, 0, item.task_name, "is not in the lock")
        elif fields := list(_other_fields(item, entry, lock.head)):
            yield Problem(file, 0, item.task_name, f"{', '.join(fields)}: not what the specs say")
    if whole:
        for place in sorted(lock.entries.keys() - set(map(place_of, wanted))):
            yield Problem(file, 0, lock.entries[place][0].shown, "is in the lock, and no item of the list")


def _hash(head: Head, name: str) -> str:
    found = getattr(head, name)
    return found if isinstance(found, str) else str(found.hash)


def _other_fields(wanted: Wanted, entry: Entry, there: Head) -> Iterator[str]:
    """An approved picture is what was approved, whatever the specs say now."""
    if entry.name != wanted.export_name:
        yield "name"
    if entry.approved:
        return
    if entry.key != wanted.key:
        yield "key"
    if entry.art_key != wanted.art_key(entry.take):
        yield "art_key"
    elif _is_told(there) and entry.final_key != _final_key(wanted, entry.art, there):
        yield "final_key"


def _is_told(there: Head) -> bool:
    """Whether the keys of finals that were drawn there can be told here."""
    here = drawn_with()
    return all(there.drawn_with.get(name) == here[name] for name in ("finaliser", "fonts"))


def _final_key(wanted: Wanted, art: str, there: Head) -> str:
    """The final key with the libraries that the lock's finals were drawn with."""
    if there.drawn_with == drawn_with():
        return wanted.final_key(art)
    parts: dict[str, Any] = {name: value for name, value in wanted.final_parts(art).items() if name != "libraries"}
    others = {n: v for n, v in there.drawn_with.items() if libraries.DRAWN_WITH.get(n, v) != v}
    return ids.final_key({**parts, "libraries": others} if others else parts)


def as_locked(planned: PlannedSeries, rows: Sequence[Row], lock: Lock, store: AssetStore) -> tuple[Row, ...]:
    """The rows as the lock has them: each with the entry that its picture has to equal, or failed with the reason why
    it cannot be had here without a call."""
    found = ((row, lock.of(*place_of(row.wanted), row.wanted.art_key)) for row in rows)
    return tuple(_as_locked(planned, row, entry, lock.head, store) for row, entry in found if entry)


def _as_locked(planned: PlannedSeries, row: Row, entry: Entry, there: Head, store: AssetStore) -> Row:
    pinned = replace(row, pinned=entry)
    if row.action == "skip" and row.status == "completed" and row.final and row.final.picture.sha256 == entry.final:
        return pinned
    apart = versions_apart(there)
    can_draw = entry.final_key == row.wanted.final_key(entry.art) and not row.is_locked
    if can_draw and row.is_chosen and row.action == "refinish":
        return pinned
    if told := stored_art(store, entry.final):
        return replace(pinned, action="skip", status="completed", final=_given(entry, *told), restore=("copy",))
    if can_draw and row.calls and not calls_to_a_service(planned.series.profile, row.calls):
        return replace(pinned, reason="painted as the lock has it")
    if not can_draw and apart:
        why = f"it was drawn with {apart}, and its picture is not in the store"
    elif not can_draw:
        why = f"its approved picture ({entry.final[:8]}) is not in the store"
    else:
        why = f"its art ({entry.art[:8]}) is not in the store"
    return replace(
        pinned, action="skip", status="failed", reason=f"lock_unmet: {why}", restore=(), final=None, cure=why
    )


def _given(entry: Entry, sha256: str, suffix: str) -> KnownFinal:
    """The lock's own picture, by its hash: what the ledger would know of it is not needed to copy it."""
    return KnownFinal(entry.final_key, StoredPicture(sha256, suffix, "", 0, 0, 0), True, "{}")


def versions_apart(there: Head) -> str:
    """`pillow 12.1.0 (here 13.0.0)`: what the pictures were drawn with and is another here; "" where nothing is."""
    here: Mapping[str, str] = drawn_with()
    names = sorted(here.keys() | there.drawn_with.keys())
    apart = [name for name in names if there.drawn_with.get(name) != here.get(name)]
    return ", ".join(f"{n} {there.drawn_with.get(n, 'unknown')} (here {here.get(n, 'none')})" for n in apart)
