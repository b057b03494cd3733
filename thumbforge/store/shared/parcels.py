"""What travels: an art is its picture and the record of its request, a final its picture and its manifest.

The picture goes first and what names it last, so that a name there always has its picture. What comes is hashed before
it gets its name here, and is believed as far as `witness` believes our own files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from thumbforge import faults, ids
from thumbforge.durable import read_regular
from thumbforge.errors import AssetDamaged, RemoteError
from thumbforge.pixels.limits import MAX_BYTES
from thumbforge.store import names
from thumbforge.store.assets import AssetStore, json_bytes
from thumbforge.store.shared.remote import MOST_JSON, Remote
from thumbforge.store.witness import Manifest, manifest_of, recorded_art, stored_art, told_art

Check = Callable[[bytes], object]
"""Judges bytes that came from elsewhere; raises an error of ours."""
_SUFFIXES = {"jpeg": ".jpg", "png": ".png"}
_LIKELY = (".png", ".jpg", ".webp", ".gif", ".avif", ".bmp")


def asset_name(sha256: str, suffix: str) -> str:
    names.required(names.is_asset(sha256, suffix), f"{sha256}{suffix}")
    return f"assets/{sha256[:2]}/{sha256}{suffix}"


def record_name(art_key: str) -> str:
    names.required(names.is_key(art_key), art_key)
    return f"keys/art/{art_key}.json"


def manifest_name(final_key: str) -> str:
    names.required(names.is_key(final_key), final_key)
    return f"keys/{final_key}.json"


@contextmanager
def remote_errors(remote: Remote) -> Iterator[None]:
    """What the system says while something is sent, as a RemoteError."""
    try:
        yield
    except OSError as error:
        raise RemoteError(f"{remote.shown} cannot be used: {error.strerror or error}") from error


def record_there(remote: Remote, art_key: str) -> dict[str, Any] | None:
    """The record that is there, None where there is none. Raises AssetDamaged for one that names no art of its
    request."""
    found = _json_there(remote, record_name(art_key))
    if found is not None and told_art(found, art_key) is None:
        raise AssetDamaged(f"{record_name(art_key)} in {remote.shown} does not name the art of its request")
    return found


def _json_there(remote: Remote, name: str) -> dict[str, Any] | None:
    data = remote.get(name, MOST_JSON)
    if data is None:
        return None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise AssetDamaged(f"{name} in {remote.shown} cannot be read")
    return found


def bring_picture(
    store: AssetStore, remote: Remote, sha256: str, suffix: str = "", check: Check | None = None
) -> tuple[str, str] | None:
    """Have a picture here by its hash, from there where it is not; its (sha256, suffix), None where it is nowhere.
    Without a suffix each is tried. Raises AssetDamaged where it has other bytes there than its name says, and what
    `check` raises; then nothing was written here."""
    if suffix and store.path(sha256, suffix).is_file():
        try:
            store.verify(sha256, suffix)
            return sha256, suffix
        except AssetDamaged:  # the right bytes take its place
            pass
    elif not suffix and (here := stored_art(store, sha256)):
        return here
    for kind in (suffix,) if suffix else _LIKELY:
        name = asset_name(sha256, kind)
        data = remote.get(name, MAX_BYTES)
        if data is None:
            continue
        if ids.sha256_hex(data) != sha256:
            raise AssetDamaged(f"{name} in {remote.shown} holds other bytes than its name says")
        if check:
            check(data)
        store.put(data, kind, "brought.file")
        return sha256, kind
    return None


def bring_art(store: AssetStore, remote: Remote, art_key: str, check: Check | None = None) -> tuple[str, str] | None:
    """Have the art of a request here, with its record; its (sha256, suffix), None where nobody has shared it."""
    record = record_there(remote, art_key)
    told = told_art(record, art_key)
    if record is None or told is None:
        return None
    found = bring_picture(store, remote, *told, check=check)
    if found is None:
        raise AssetDamaged(f"{record_name(art_key)} in {remote.shown} names a picture that is not there")
    if recorded_art(store, art_key) is None:  # none here, or of a picture that is gone
        store.write_record(art_key, record)
    return found


def bring_chosen(
    store: AssetStore, remote: Remote, art_key: str, sha256: str, check: Check | None = None
) -> tuple[str, str] | None:
    """Have one art of a request here, by its hash, whoever was first; None where it is nowhere."""
    told = told_art(record_there(remote, art_key), art_key)
    if told and told[0] == sha256:
        return bring_art(store, remote, art_key, check)
    return bring_picture(store, remote, sha256, check=check)


def bring_final(store: AssetStore, remote: Remote, final_key: str) -> Manifest | None:
    """Have a final here, with its manifest; None where nobody has shared it."""
    content = _json_there(remote, manifest_name(final_key))
    if content is None:
        return None
    manifest = manifest_of(content, final_key)
    if manifest is None:
        raise AssetDamaged(f"{manifest_name(final_key)} in {remote.shown}: its keys do not follow from what it holds")
    suffix = _SUFFIXES.get(str(content["final"]["output"].get("format")), "")
    found = suffix and bring_picture(store, remote, manifest.final_sha256, suffix)
    if not (found or bring_picture(store, remote, manifest.final_sha256)):
        raise AssetDamaged(f"{manifest_name(final_key)} in {remote.shown} names a picture that is not there")
    if store.manifest(final_key) is None:
        store.write_manifest(final_key, content)
    return manifest


def send_picture(store: AssetStore, remote: Remote, sha256: str, suffix: str) -> bool:
    """Have a picture there; whether it is new. Raises AssetDamaged where it is not here as its name says."""
    data = _bytes(store, sha256, suffix)
    with remote_errors(remote), faults.step("share.picture"):
        return remote.put_once(asset_name(sha256, suffix), data)


def _bytes(store: AssetStore, sha256: str, suffix: str) -> bytes:
    """Those of a picture here, hashed: what goes out is right, or does not go."""
    try:
        data = read_regular(store.path(sha256, suffix), MAX_BYTES)
    except OSError as error:
        raise AssetDamaged(f"asset {sha256[:12]} cannot be read: {error.strerror}") from error
    if ids.sha256_hex(data) != sha256:
        raise AssetDamaged(f"asset {sha256[:12]} holds other bytes than its name says")
    return data


def send_art(store: AssetStore, remote: Remote, record: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Have an art there. Returns the record that stands there then, this one or that of whoever was first, and whether
    it is new."""
    art_key = str(record.get("art_key"))
    told = told_art(record, art_key)
    if told is None:
        raise AssetDamaged(f"{record_name(art_key)} does not name the art of its request")
    before = record_there(remote, art_key)
    if before:
        return before, False
    send_picture(store, remote, *told)
    with remote_errors(remote), faults.step("share.name"):
        is_ours = remote.put_once(record_name(art_key), json_bytes(record))
    stands = dict(record) if is_ours else record_there(remote, art_key)
    if stands is None:
        raise RemoteError(f"{remote.shown} takes no {record_name(art_key)} and has none")
    return stands, is_ours


def send_final(store: AssetStore, remote: Remote, final_key: str) -> bool:
    """Have a final there; whether it is new. False too where it is not here any more."""
    content = store.manifest(final_key)
    manifest = manifest_of(content, final_key)
    if content is None or manifest is None:
        return False
    if remote.get(manifest_name(final_key), MOST_JSON) is not None:
        return False
    picture = stored_art(store, manifest.final_sha256)
    if picture is None:
        return False
    send_picture(store, remote, *picture)
    with remote_errors(remote), faults.step("share.name"):
        return remote.put_once(manifest_name(final_key), json_bytes(content))
