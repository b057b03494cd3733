"""The lock file beside a plan: read once per series, what it says of an item, and what it ought to say. Reads only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from thumbforge.durable import read_regular
from thumbforge.errors import Problem, SpecError
from thumbforge.imaging.finalise import drawn_with
from thumbforge.named import inside
from thumbforge.planning.plan import Row
from thumbforge.planning.series import Series
from thumbforge.planning.wanted import Wanted
from thumbforge.specs.locks import MAX_BYTES, Entry, Head, Lock, Named, Place, read_lock
from thumbforge.store import names
from thumbforge.store.assets import AssetStore
from thumbforge.store.witness import manifest_of, named_in

FOLDER = "specs/locks"


def lock_name(series: str) -> str:
    """The file of a series, from the project's directory."""
    names.required(names.is_plain(series), series)
    return f"{FOLDER}/{series}.yaml"


def lock_series(root: Path) -> list[str]:
    """The names of all series that have a lock file."""
    folder = root / FOLDER
    found = folder.glob("*.yaml") if folder.is_dir() else ()
    return sorted(path.stem for path in found if names.is_plain(path.stem))


def named_in_locks(root: Path) -> set[str]:
    """Every hash that a lock file holds, also one that cannot be read: what a team chose is no waste."""
    return set[str]().union(*(named_in(root / lock_name(series)) for series in lock_series(root)))


def find_lock(root: Path, series: str) -> Lock | None:
    """The lock of a series, None where it has none. SpecError for one that cannot be read or believed."""
    if not names.is_plain(series):
        return None
    file = lock_name(series)
    try:
        text = read_regular(inside(root, file), MAX_BYTES).decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else f"cannot be read: {error.strerror}"
        raise SpecError([Problem(file, 0, "", reason)], hint=f"git checkout {file} puts it back") from error
    return read_lock(text, file, series)


def place_of(wanted: Wanted) -> Place:
    return wanted.item.video, wanted.occurrence


def head_of(series: Series) -> Head:
    """What the specs and this installation say."""
    template, profile = series.template, series.profile
    return Head(
        template=Named(template.name, template.version, template.spec_hash),
        profile=Named(profile.name, profile.version, profile.id),
        hero=series.hero.sha256,
        drawn_with=drawn_with(),
    )


def renewed(
    series: Series,
    rows: Iterable[Row],
    before: Lock | None,
    store: AssetStore,
    *,
    chosen: Collection[str] = (),
    whole: bool = True,
) -> tuple[Head, tuple[Entry, ...]] | None:
    """What the lock of a series has to hold, None where it does already.

    Items without a picture, and those that no row is of, keep their entry; with `whole` the rows are all items of the
    list, and what is of none goes. `chosen` are the item keys whose art was chosen now, so that it stands in the lock
    although that names another.
    """
    kept = dict(before.entries) if before else {}
    found: dict[Place, Entry] = {}
    for row in rows:
        place = place_of(row.wanted)
        own = before.of(*place, row.wanted.art_key) if before else None
        if entry := _entry_of(row, own, store, is_chosen=row.wanted.item_key in chosen):
            found[place] = entry
        elif place in kept:
            found[place] = own or kept[place][-1]
    if not whole:
        found = {place: entries[-1] for place, entries in kept.items()} | found
    head = head_of(series)
    is_as_it_was = before and before.head == head and not before.is_merged and _same(kept, found)
    return None if is_as_it_was or (before is None and not found) else (head, tuple(found.values()))


def _same(kept: Mapping[Place, tuple[Entry, ...]], found: Mapping[Place, Entry]) -> bool:
    return len(kept) == len(found) and all(kept.get(place) == (entry,) for place, entry in found.items())


def _entry_of(row: Row, before: Entry | None, store: AssetStore, *, is_chosen: bool) -> Entry | None:
    """What stands for an item now; None where it has no picture, and what stood for it stays.

    Art that the lock names for this very request stays what it is until somebody chooses: where it is not here, the
    item has a picture of other art, and the lock still says which it ought to be.
    """
    wanted, final = row.wanted, row.final
    if final is None or row.action != "skip" or row.status != "completed":
        return None
    if before and before.art_key == row.art_key and not is_chosen:
        if before.final_key == final.final_key and _is_as_it_was(row, before):
            return before
        if row.art is None or row.art.picture.sha256 != before.art:
            return before
        is_approved = before.approved
    else:
        is_approved = row.is_locked
    if row.art is None or wanted.final_key(row.art.picture.sha256) != final.final_key:
        return _held(row, before, store)
    return Entry(
        video=wanted.item.video,
        place=wanted.occurrence,
        key=wanted.key,
        art_key=row.art_key,
        art=row.art.picture.sha256,
        take=row.take,
        approved=is_approved,
        final_key=final.final_key,
        final=final.picture.sha256,
        name=wanted.export_name,
    )


def _is_as_it_was(row: Row, before: Entry) -> bool:
    """Asked of thousands of items that nothing has become of."""
    wanted, final, art = row.wanted, row.final, row.art
    return (
        art is not None
        and final is not None
        and before.art == art.picture.sha256
        and before.final == final.picture.sha256
        and before.key == wanted.key
        and before.name == wanted.export_name
    )


def _held(row: Row, before: Entry | None, store: AssetStore) -> Entry | None:
    """An approved picture that the specs would have otherwise: what it was made of stands in its manifest."""
    wanted, final = row.wanted, row.final
    assert final is not None
    if before and before.final_key == final.final_key:
        return before._replace(approved=True)
    told = manifest_of(store.manifest(final.final_key), final.final_key)
    if told is None:
        return None
    return Entry(
        video=wanted.item.video,
        place=wanted.occurrence,
        key=told.key,
        art_key=told.art_key,
        art=told.art_sha256,
        take=int(told.art["take"]),
        approved=True,
        final_key=told.final_key,
        final=told.final_sha256,
        name=wanted.export_name,
    )


def unmet(rows: Iterable[Row], lock: Lock | None, chosen: Collection[str] = ()) -> int:
    """How many items have a picture of other art than the lock names for their very request."""
    if lock is None:
        return 0
    apart = (row for row in rows if row.art and row.final and not row.is_chosen)
    unchosen = (row for row in apart if row.wanted.item_key not in chosen)
    found = ((row, lock.of(*place_of(row.wanted), row.wanted.art_key)) for row in unchosen)
    return sum(entry is not None and entry.art_key == row.art_key and not _has_art(row, entry) for row, entry in found)


def _has_art(row: Row, entry: Entry) -> bool:
    return row.art is not None and row.art.picture.sha256 == entry.art


def is_stale(series: Series, rows: Iterable[Row], lock: Lock | None, store: AssetStore) -> bool:
    """Whether a batch with nothing else to do would write the lock: what is here is not what it says, or there is
    none."""
    return renewed(series, rows, lock, store) is not None
