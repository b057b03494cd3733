"""What an earlier version has written is gone on with: for each schema ever released, a ledger and its store."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.crashes import DODO, findings
from tests.project import Project
from thumbforge import ids
from thumbforge.store.database import SCHEMA_VERSION, Database, migrate

LEDGERS = Path(__file__).parent / "data" / "ledgers"
VERSIONS = range(1, SCHEMA_VERSION + 1)
MAX_BYTES = 1_500_000


@pytest.fixture(params=VERSIONS)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    """The project as that version left it: a batch of four, paused in its middle."""
    return placed(LEDGERS / f"schema-{request.param}", tmp_path / "project")


def placed(source: Path, root: Path) -> Project:
    for name in ("specs", "out"):
        shutil.copytree(source / name, root / name)
    shutil.copytree(source / "home", root / ".thumbforge")
    (root / "dodo.py").write_text(DODO)
    return Project(root)


def statuses(project: Project) -> dict[str, str]:
    rows = project.query("SELECT item_key, status FROM iteration WHERE item_key LIKE 'video%'")
    return {row["item_key"][6:-2]: row["status"] for row in rows}


def finished(project: Project) -> dict[str, tuple[object, ...]]:
    rows = project.query("SELECT * FROM iteration WHERE status = 'completed'")
    return {row["id"]: tuple(row) for row in rows}


def run_of(project: Project) -> str:
    return str(project.query("SELECT id FROM run WHERE kind = 'batch'")[0]["id"])


def test_every_released_schema_is_here() -> None:
    """None is forgotten, and they are small."""
    assert {path.name for path in LEDGERS.iterdir()} == {f"schema-{version}" for version in VERSIONS}
    assert sum(path.stat().st_size for path in LEDGERS.rglob("*") if path.is_file()) < MAX_BYTES * len(VERSIONS)


def test_it_is_paused_in_its_middle(old: Project) -> None:
    """Two items are finished, two are not, and nothing is wrong with it."""
    assert sorted(statuses(old).values()) == ["completed", "completed", "pending", "pending"]
    assert old.query("SELECT status FROM run WHERE kind = 'batch'")[0]["status"] == "paused"
    assert findings(old.root) == []


def test_it_is_resumed(old: Project) -> None:
    """No call for what is finished or staged; rows of finished items are as they were, where drawing has not changed
    since; the result is sound."""
    before, run = finished(old), run_of(old)
    [staged] = [path.name for path in (old.home / "staging").iterdir() if len(path.name) == 36]
    told = old.run("runs", "resume", run, "--json")
    assert told.code == 0, (told.out, told.err)
    assert (old.calls, set(statuses(old).values())) == (1, {"completed"})
    assert tuple(old.query("SELECT outcome, calls FROM attempt WHERE id = ?", staged)[0]) == ("ok", 1)
    untouched = {entry["iteration_id"] for entry in told.document["items"] if entry["action"] == "skip"}
    after = finished(old)
    assert {key: after[key] for key in untouched} == {key: before[key] for key in untouched}
    assert all(after[key][:5] == row[:5] for key, row in before.items())
    assert (len(old.out("c")), findings(old.root)) == (4, [])
    assert old.run("batch", "series=c").out.startswith("Nothing to do")


def test_its_batch_goes_on_too(old: Project) -> None:
    """With the specs of today, the same keys: one call, for the one picture that nobody has."""
    told = old.run("batch", "series=c", "--json")
    assert (told.code, old.calls) == (0, 1), told.err
    assert len(old.query("SELECT id FROM iteration")) == 5  # four and the hero's


def test_its_ids_and_keys_are_golden(old: Project) -> None:
    """What was derived then is derived the same today: keys from their parts, ids from runs, items and numbers."""
    hero = hashlib.sha256((old.root / "specs/heroes/h.png").read_bytes()).hexdigest()
    assert old.query("SELECT id FROM run WHERE kind = 'hero'")[0]["id"] == ids.derive(ids.WORLD, f"hero:{hero}")
    for row in old.query("SELECT * FROM iteration WHERE item_key LIKE 'video%'"):
        assert row["id"] == ids.iteration_id(row["run_id"], row["item_key"], row["idempotency_key"])
    for row in old.query("SELECT id, iteration_id, n FROM attempt"):
        assert row["id"] == ids.attempt_id(row["iteration_id"], row["n"])


# Migrations of today, on the ledgers of then


def test_opening_it_keeps_every_row(old: Project) -> None:
    """Whatever the migrations do, no run, item, attempt, picture or fact goes."""
    tables = ("run", "run_item", "iteration", "attempt", "asset", "final", "export", "item_fact")
    before = {name: old.count(name) for name in tables}
    version = old.query("PRAGMA user_version")[0][0]
    with closing(Database.open(old.home / "ledger.sqlite3")) as database:
        assert database.rows("PRAGMA user_version")[0][0] == SCHEMA_VERSION
    assert {name: old.count(name) for name in tables} == before
    backup = old.home / f"ledger.sqlite3.schema-{version}"
    assert backup.exists() == (version < SCHEMA_VERSION)


def test_a_migration_that_dies_leaves_the_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One transaction with a backup beside it: where its second statement fails, nothing of the first is there, and the
    command of today goes on as if nothing had been tried."""
    project = placed(LEDGERS / f"schema-{SCHEMA_VERSION}", tmp_path / "project")
    path = project.home / "ledger.sqlite3"
    with monkeypatch.context() as patch, closing(sqlite3.connect(path, isolation_level=None)) as connection:
        patch.setattr("thumbforge.store.database.SCHEMA_VERSION", SCHEMA_VERSION + 1)
        scripts = {
            SCHEMA_VERSION + 1: "UPDATE run SET series = 'x';\nDROP TABLE export;\nSELECT no_such_column FROM run;\n"
        }
        patch.setattr("thumbforge.store.database.migrations", lambda: scripts)
        with pytest.raises(sqlite3.OperationalError, match="no_such_column"):
            migrate(connection, path)
    with closing(sqlite3.connect(path.with_name(f"ledger.sqlite3.schema-{SCHEMA_VERSION}"))) as backup:
        assert backup.execute("SELECT count(*) FROM run").fetchone()[0] == project.count("run")
    assert (project.count("export"), project.query("SELECT count(*) FROM run WHERE series = 'x'")[0][0]) == (2, 0)
    assert project.run("runs", "resume", run_of(project)).code == 0
