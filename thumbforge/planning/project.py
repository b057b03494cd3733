"""Where things are: the project directory, its specs, its settings, its store and ledger, and out/."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from thumbforge import settings as settings_module
from thumbforge.errors import NotFound
from thumbforge.planning.series import Place
from thumbforge.specs.catalog import Catalog
from thumbforge.store.assets import AssetStore
from thumbforge.store.database import Database

LEDGER = "ledger.sqlite3"


class Project:
    """One project directory. `cwd` is where the user stands: relative paths on the command line count from it."""

    def __init__(self, root: Path, cwd: Path | None = None) -> None:
        self.root = root.absolute()
        self.cwd = (cwd or root).absolute()
        self.out = self.root / "out"
        self.home = Path(os.environ.get("THUMBFORGE_HOME") or self.root / ".thumbforge").absolute()
        self.store = AssetStore(self.home)
        self.catalog = Catalog(self.root)

    @cached_property
    def settings(self) -> settings_module.Settings:
        return settings_module.load(self.root)

    @property
    def ledger_path(self) -> Path:
        return self.home / LEDGER

    def read_ledger(self) -> Database | None:
        """The ledger for reading, None where nothing was ever made. Nothing is written. Close it soon."""
        try:
            return Database.open_for_reading(self.ledger_path)
        except NotFound:
            return None

    def write_ledger(self) -> Database:
        return Database.open(self.ledger_path)

    def place(self, database: Database | None) -> Place:
        return Place(self.root, self.cwd, self.home, self.catalog, self.settings, database)


def relative(path: Path, root: Path) -> str:
    """As JSON and messages show it: from the project directory where it lies below it."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
