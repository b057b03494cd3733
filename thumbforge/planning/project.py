"""Where things are: the project directory, its specs, its settings, its store and ledger, and out/."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import cached_property
from pathlib import Path

from thumbforge import settings as settings_module
from thumbforge.errors import NotFound
from thumbforge.named import refuse_ways_out
from thumbforge.planning.series import Lookup
from thumbforge.specs.catalog import Catalog
from thumbforge.store.assets import AssetStore
from thumbforge.store.database import Database, ledger_errors
from thumbforge.store.leases import new_owner
from thumbforge.store.ledger import Ledger

LEDGER = "ledger.sqlite3"
_WRITTEN = ("out", "specs/locks", ".doit.db", ".doit.db-wal", ".doit.db-shm")
_KEPT = (
    ".thumbforge",
    *(f".thumbforge/{name}" for name in (LEDGER, "assets", "keys", "keys/art", "staging", "logs", "sheets", "fetch")),
    ".thumbforge/thumbnails",
    ".thumbforge/sheets/previews",
)
"""What is written to, and may have come with a clone as a link to elsewhere."""


class Project:
    """One project directory. `cwd` is where the user stands: relative paths on the command line count from it."""

    def __init__(self, root: Path, cwd: Path | None = None) -> None:
        self.root = root.absolute()
        self.cwd = (cwd or root).absolute()
        self.out = self.root / "out"
        own = os.environ.get("THUMBFORGE_HOME")
        self.home = Path(own or self.root / ".thumbforge").absolute()
        refuse_ways_out(self.root, _WRITTEN if own else (*_WRITTEN, *_KEPT))
        self.store = AssetStore(self.home)
        self.catalog = Catalog(self.root)

    @cached_property
    def settings(self) -> settings_module.Settings:
        return settings_module.load(self.root)

    @property
    def ledger_path(self) -> Path:
        return self.home / LEDGER

    def has_ledger(self) -> bool:
        """Raises LedgerError where that cannot be told: the folder is another user's."""
        with ledger_errors(self.ledger_path):
            return self.ledger_path.exists()

    @contextmanager
    def reading(self) -> Iterator[Database | None]:
        """The ledger for reading, None where nothing was ever made; nothing is written."""
        database: Database | None
        try:
            database = Database.open_for_reading(self.ledger_path)
        except NotFound:
            database = None
        with closing(database) if database else nullcontext():
            yield database

    @contextmanager
    def ledger(self) -> Iterator[Ledger]:
        """The ledger for changes, made where there is none, with this process as the owner of what it executes."""
        with closing(Database.open(self.ledger_path)) as database:
            yield Ledger(database, new_owner(), self.settings.number("lease.ttl_s"))

    def lookup(self, database: Database | None) -> Lookup:
        return Lookup(self.root, self.cwd, self.home, self.catalog, self.settings, database)


def relative(path: Path, root: Path) -> str:
    """As JSON and messages show it: from the project directory where it lies below it."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
