"""Whether bytes are a picture of this project: recorded in the ledger, kept in the store, or named by a manifest."""

from __future__ import annotations

from functools import cached_property

from thumbforge.store.assets import AssetStore
from thumbforge.store.database import Database
from thumbforge.store.witness import named_by_all


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
