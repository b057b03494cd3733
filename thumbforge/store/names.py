"""Names that are ours. Text from a file or a database becomes a path only once it has the shape of one of these.

assets/<2 hex>/<64 hex><suffix>     a stored file, under the first digits of its hash
keys/<32 or 64 hex>.json            a manifest, by final key
keys/art/<64 hex>.json              the record of one art, by art key
staging/<uuid>                      a provider's answer, by attempt
staging/tmp-<16 hex><suffix>        a file that is being written
staging/call-<uuid>/                what a provider works in
out/<series>/<name>                 an export: two plain components
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from thumbforge.errors import AssetDamaged, StoreError

SUFFIXES = frozenset({".jpg", ".png", ".webp", ".gif", ".avif", ".bmp", ".json"})
"""Of stored files: pictures as they came, and the frozen lists of playlists."""

Kind = Literal["asset", "manifest", "record", "staged", "temporary", "scratch"]

_HASH = re.compile(r"[0-9a-f]{64}")
_KEY = re.compile(r"[0-9a-f]{32}(?:[0-9a-f]{32})?")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TEMPORARY = re.compile(r"tmp-[0-9a-f]{16}(?:\.[a-z]{1,8})?")
_PLAIN = re.compile(r"[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*")


def is_asset(sha256: str, suffix: str) -> bool:
    return suffix in SUFFIXES and _HASH.fullmatch(sha256) is not None


def is_asset_name(name: str) -> bool:
    return is_asset(name[:64], name[64:])


def is_key(text: str) -> bool:
    """Whether it has the shape of a final key or an art key."""
    return _KEY.fullmatch(text) is not None


def is_key_name(name: str) -> bool:
    """Whether a file of this name is a manifest's or an art record's."""
    return name.endswith(".json") and is_key(name[:-5])


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def is_temporary_name(name: str) -> bool:
    return _TEMPORARY.fullmatch(name) is not None


def is_scratch_name(name: str) -> bool:
    """Whether a folder of this name is one that a provider works in."""
    return name.startswith("call-") and is_id(name[5:])


def is_plain(name: str) -> bool:
    """Whether it names a visible file or folder in the place where it is looked for, and nowhere else."""
    return _PLAIN.fullmatch(name) is not None


def is_export(path: str) -> bool:
    parts = path.split("/")
    return len(parts) == 2 and all(map(is_plain, parts))


def kind_of(parts: Sequence[str]) -> Kind | None:
    """What a file with this path below `.thumbforge/` is by its name and place; None where it is not ours."""
    match parts:
        case ["assets", fold, name] if is_asset_name(name) and name[:2] == fold:
            return "asset"
        case ["keys", name] if is_key_name(name):
            return "manifest"
        case ["keys", "art", name] if is_key_name(name):
            return "record"
        case ["staging", name] if is_id(name):
            return "staged"
        case ["staging", name] if is_temporary_name(name):
            return "temporary"
        case ["staging", name] if is_scratch_name(name):
            return "scratch"
    return None


def holds_ours(parts: Sequence[str]) -> bool:
    """Whether a folder with this path below `.thumbforge/` is one of those that our files lie in."""
    match parts:
        case ["assets" | "keys" | "staging"] | ["keys", "art"]:
            return True
        case ["assets", fold]:
            return re.fullmatch("[0-9a-f]{2}", fold) is not None
    return False


def required(is_ours: bool, text: str) -> None:
    """Raise AssetDamaged for text that names no stored file."""
    if not is_ours:
        raise AssetDamaged(
            f"{text[:80]!r} is not the name of a stored file", hint="thumbforge audit shows what else is wrong"
        )


def export_path(out: Path, path: str) -> Path:
    """The file of an export. StoreError where `path` is not `<series>/<name>`."""
    if not is_export(path):
        raise StoreError(f"{path[:80]!r} is no file in out/", hint="thumbforge audit shows what else is wrong")
    return out / path
