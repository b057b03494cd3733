"""What tells of paid work without the ledger: a manifest for each final, a record for each art.

They name pictures by hash. They are believed as far as the bytes bear them out, and what they name is never deleted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from thumbforge import ids
from thumbforge.durable import read_regular
from thumbforge.errors import AssetDamaged
from thumbforge.store import names
from thumbforge.store.assets import AssetStore
from thumbforge.store.database import Database

_HASHES = re.compile(rb'"([0-9a-f]{64})"')


def named_in(path: Path) -> set[str]:
    """Every hash that a manifest or a record holds, also where it is cut or edited: what it may mean is kept."""
    try:
        return {found.decode() for found in _HASHES.findall(read_regular(path))}
    except OSError:
        return set()


def named_by_all(home: Path) -> set[str]:
    """The same over all of them."""
    files = (path for folder in (home / "keys", home / "keys" / "art") for path in key_files(folder))
    return set[str]().union(*map(named_in, files))


def key_files(folder: Path) -> Iterator[Path]:
    """The manifests or records in a folder, in the order of their names; none where the folder is a link."""
    if folder.is_symlink() or not folder.is_dir():
        return
    yield from (path for path in sorted(folder.iterdir()) if names.is_key_name(path.name) and path.is_file())


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


def stored_art(store: AssetStore, sha256: str) -> tuple[str, str] | None:
    """The (sha256, suffix) of a picture of this hash that the store has, whoever put it there and whatever the ledger
    knows; its bytes are what its name says. None otherwise."""
    for suffix in sorted(names.SUFFIXES - {".json"}):
        if names.is_asset(sha256, suffix) and store.path(sha256, suffix).is_file():
            try:
                store.verify(sha256, suffix)
            except AssetDamaged:
                continue
            return sha256, suffix
    return None


def told_art(record: Mapping[str, Any] | None, art_key: str) -> tuple[str, str] | None:
    """What the content of a record names; None where it is not the record of this art key."""
    if record is None or record.get("art_key") != art_key:
        return None
    sha256, suffix, fields = record.get("sha256"), record.get("suffix"), record.get("art")
    if not (isinstance(sha256, str) and isinstance(suffix, str) and names.is_asset(sha256, suffix)):
        return None
    return (sha256, suffix) if isinstance(fields, dict) and ids.art_key(fields) == art_key else None


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a manifest tells, once its keys follow from what it holds. `output` is the (width, height) of the final."""

    final_key: str
    final_sha256: str
    key: str
    key_parts: Mapping[str, str]
    art_key: str
    art: Mapping[str, Any]
    art_sha256: str
    output: tuple[int, int]


def manifest_of(content: Mapping[str, Any] | None, final_key: str) -> Manifest | None:
    """Its content, read; None where any of its keys does not follow from it, or it names no picture."""
    if content is None:
        return None
    try:
        art, final, parts = content["art"], content["final"], ids.KeyParts(**content["key_parts"])
        output = final["output"]
        found = Manifest(
            final_key=ids.final_key(final),
            final_sha256=content["final_sha256"],
            key=ids.idempotency_key(parts),
            key_parts=parts.as_dict(),
            art_key=ids.art_key(art),
            art=art,
            art_sha256=final["art"],
            output=(int(output["width"]), int(output["height"])),
        )
        told = (content["final_key"], content["key"], content["art_key"])
        pictures = (found.art_sha256, found.final_sha256)
        is_sound = told == (final_key, found.key, found.art_key) and found.final_key == final_key
        takes_part = isinstance(art["take"], int) and art["take"] > 0 and art["video"] == parts.video
        return found if is_sound and takes_part and all(names.is_asset(sha, ".png") for sha in pictures) else None
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


class Ours:
    """Asked for a file that lies where an export should: what is ours may be replaced, anything else is the user's.
    Manifests are read at most once, and only for a file that neither ledger nor store knows."""

    def __init__(self, database: Database, store: AssetStore) -> None:
        self._database, self._store = database, store

    def has(self, sha256: str) -> bool:
        recorded = self._database.row("SELECT 1 FROM asset WHERE sha256 = ?", (sha256,))
        return recorded is not None or self._store.holds(sha256) or sha256 in self._named

    @cached_property
    def _named(self) -> frozenset[str]:
        return frozenset(named_by_all(self._store.home))
