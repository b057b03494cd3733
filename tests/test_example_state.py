"""The committed .doit.db.example: doit's record of the bundled series, which a clone can be looked at with."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.project import Project

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / ".doit.db.example"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled series, made by the README's command."""
    root = tmp_path_factory.mktemp("bundled") / "project"
    root.mkdir()
    shutil.copytree(ROOT / "specs", root / "specs")
    shutil.copy(ROOT / "dodo.py", root)
    shutil.copy(EXAMPLE, root)
    told = Project(root).doit("batch", "playlist=pandas-30", "hero=specs/heroes/pandas.jpg")
    assert told.code == 0, told.err
    return root


def attempts(root: Path) -> int:
    with closing(sqlite3.connect(root / ".thumbforge/ledger.sqlite3")) as connection:
        return int(connection.execute("SELECT count(*) FROM attempt").fetchone()[0])


def test_it_names_every_task_of_the_bundled_series() -> None:
    """One record for each of the 30 thumbnails and one for the sheet; no path of a machine in it."""
    records = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    thumbs = [name for name in records if name.startswith("thumb:pandas-30:")]
    assert (len(thumbs), "sheet:pandas-30" in records) == (30, True)
    assert not [dep for record in records.values() for dep in record.get("deps:", ()) if dep.startswith("/")]


def test_the_readmes_command_makes_thirty_pictures(made: Path) -> None:
    """30 JPEGs of 1920x1080, each under 2 MB, and a sheet."""
    from PIL import Image

    pictures = sorted((made / "out/pandas-30").glob("*.jpg"))
    assert len(pictures) == 30
    for path in pictures:
        with Image.open(path) as picture:
            assert (picture.format, picture.size) == ("JPEG", (1920, 1080))
        assert path.stat().st_size <= 2_000_000


def test_doit_reads_it_with_its_json_backend_and_calls_nothing(made: Path) -> None:
    """All tasks are up to date by the example alone, and a run on it makes no attempt."""
    words = ("--backend", "json", "--db-file", ".doit.db.example")
    listed = Project(made).doit("list", *words, "--all", "-s").out.splitlines()
    assert {line[0] for line in listed} == {"U"}
    before = attempts(made)
    assert Project(made).doit("run", *words).code == 0
    assert attempts(made) == before
