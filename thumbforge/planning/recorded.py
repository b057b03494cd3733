"""Art that only its record tells of: paid for before the ledger was lost, moved away, or put back from a backup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from thumbforge.planning.snapshot import Snapshot, stored
from thumbforge.planning.wanted import Wanted
from thumbforge.store.assets import AssetStore
from thumbforge.store.attempts import Art
from thumbforge.store.pictures import StoredPicture
from thumbforge.store.witness import recorded_art


def with_recorded(snapshot: Snapshot, store: AssetStore, wanted: Sequence[Wanted]) -> Snapshot:
    """The same, with the art that records in the store name for items of which the ledger knows none. Each is looked
    up by its art key, and its bytes are hashed; where the lock file has chosen art, it is that one, by its hash. What
    a record says besides is not believed: such an `Art` has no
    attempt, and `make` judges it like a provider's answer."""
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
