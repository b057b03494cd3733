"""What tells of paid work without the ledger: a manifest for each final, a record for each art.

They name pictures by hash. They are believed as far as the bytes bear them out, and what they name is never deleted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from thumbforge import ids
from thumbforge.errors import AssetDamaged
from thumbforge.store import names
from thumbforge.store.assets import AssetStore

_HASHES = re.compile(rb'"([0-9a-f]{64})"')


def named_in(path: Path) -> set[str]:
    """Every hash that a manifest or a record holds, also where it is cut or edited: what it may mean is kept."""
    try:
        return {found.decode() for found in _HASHES.findall(path.read_bytes())}
    except OSError:
        return set()


def named_by_all(home: Path) -> set[str]:
    """The same over all of them."""
    folders = (home / "keys", home / "keys" / "art")
    files = (path for folder in folders if folder.is_dir() for path in folder.iterdir())
    return set[str]().union(*(named_in(path) for path in files if names.is_key_name(path.name)))


def record_of(fields: Mapping[str, Any], sha256: str, suffix: str, provider: str, price: str | None) -> dict[str, Any]:
    """What the record of an art holds: the request's fields that its key is made of, the art's file, and for people who
    painted it and at what price. Nothing is ever decided on the last two."""
    own = {"sha256": sha256, "suffix": suffix, "provider": provider, "price": price}
    return {"format": 1, "art_key": ids.art_key(fields), "art": fields, **own}


def recorded_art(store: AssetStore, art_key: str) -> tuple[str, str] | None:
    """The (sha256, suffix) of the art that a record names for a request, where its bytes are in the store and are what
    its name says; None otherwise."""
    found = told_art(store.record(art_key), art_key)
    try:
        return found if found and store.verify(*found) else None
    except AssetDamaged:
        return None


def told_art(record: Mapping[str, Any] | None, art_key: str) -> tuple[str, str] | None:
    """What the content of a record names; None where it is not the record of this art key."""
    if record is None or record.get("art_key") != art_key:
        return None
    sha256, suffix, fields = record.get("sha256"), record.get("suffix"), record.get("art")
    if not (isinstance(sha256, str) and isinstance(suffix, str) and names.is_asset(sha256, suffix)):
        return None
    return (sha256, suffix) if isinstance(fields, dict) and ids.art_key(fields) == art_key else None
