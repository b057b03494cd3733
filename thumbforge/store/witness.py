"""What tells of paid work without the ledger: a manifest for each final, a record for each art.

They name pictures by hash. They are believed as far as the bytes bear them out, and what they name is never deleted.
"""

from __future__ import annotations

import re
from pathlib import Path

from thumbforge.store import names

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
