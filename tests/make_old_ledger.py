"""Makes `tests/data/ledgers/schema-<n>/`: a project of the current schema whose batch was paused in its middle.

`python -m tests.make_old_ledger`. Run once per schema version, before it changes; what is there is never made again, so
that later versions are tested with what this one wrote.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from tests.crashes import Site
from thumbforge.store.database import SCHEMA_VERSION, Database
from thumbforge.store.leases import new_owner
from thumbforge.store.ledger import Ledger

TARGET = Path(__file__).parent / "data" / "ledgers" / f"schema-{SCHEMA_VERSION}"
ITEMS = 4


def paused_site(root: Path) -> Site:
    """One run: two items are finished, the third has a staged answer, the fourth may have been begun."""
    site = Site.make(root, ITEMS, delay_ms=300)
    told = site.batch("-n", "1", THUMBFORGE_FAULT="staged.after:kill:3")
    if told.returncode != -9:
        raise SystemExit(f"the batch was not stopped: {told.stderr}")
    with closing(Database.open(site.ledger)) as database:
        Ledger(database, new_owner(), 30).sweep(3)
    return site


def main() -> None:
    if TARGET.exists():
        raise SystemExit(f"{TARGET} is there already: it stands for what was written then")
    with tempfile.TemporaryDirectory() as folder:
        site = paused_site(Path(folder) / "site")
        with closing(sqlite3.connect(site.ledger)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("VACUUM")
        TARGET.mkdir(parents=True)
        for name in ("specs", "out"):
            shutil.copytree(site.root / name, TARGET / name)
        # Not under its own name: a project's .gitignore leaves .thumbforge out.
        shutil.copytree(
            site.root / ".thumbforge", TARGET / "home", ignore=shutil.ignore_patterns("logs", "*-wal", "*-shm")
        )
    size = sum(path.stat().st_size for path in TARGET.rglob("*") if path.is_file())
    sys.stdout.write(f"{TARGET}: {size / 1e6:.2f} MB\n")


if __name__ == "__main__":
    main()
