"""A picked hero as a file that git carries, and a series that names a run of another machine."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.project import Project, video
from thumbforge import ids


@pytest.fixture
def run(project: Project) -> str:
    """Two candidates, nothing picked."""
    return str(project.shown("hero", "generate", video(1), "--count", "2", "--provider", "fake")["run"])


def test_the_art_of_a_pick_becomes_a_file_of_the_project(project: Project, run: str) -> None:
    """Its bytes as the provider sent them, under the name that was asked for; the line for the series that names the
    run is told, and works."""
    project.series(hero=run[:8])
    told = project.run("hero", "pick", run, "2", "--save", "specs/heroes/ours")
    assert told.code == 0, told.err
    [path] = project.root.glob("specs/heroes/ours.*")
    [art] = project.query("SELECT art_sha256 FROM attempt WHERE take = 2")
    assert ids.sha256_hex(path.read_bytes()) == art[0]
    *_, where, line = told.out.splitlines()
    assert where == "For specs/series/show.yaml, in git with it:"
    assert line == f"hero: specs/heroes/{path.name}"
    assert project.run("hero", "pick", run, "2", "--save", f"specs/heroes/{path.name}").code == 0
    project.series(hero=line.removeprefix("hero: "))
    assert project.batch().code == 0


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("specs/heroes/x.webp", "is named as another"),
        ("../x", "leads out of the project"),
        ("/tmp/x", "leads out of the project"),
        ("specs/heroes/taken", "is there and is another picture"),
    ],
)
def test_what_cannot_be_saved_there_is_refused(project: Project, run: str, to: str, said: str) -> None:
    """Exit 2; no file is replaced and none is written elsewhere."""
    for suffix in (".png", ".jpg"):
        project.write(f"specs/heroes/taken{suffix}", "mine\n")
    before = project.files()
    told = project.run("hero", "pick", run, "1", "--save", to)
    assert (told.code, said in told.err) == (2, True), told.err
    assert {name for name in project.files() if name.startswith("specs/")} == {
        name for name in before if name.startswith("specs/")
    }


@pytest.fixture
def elsewhere(project: Project, run: str, tmp_path: Path) -> Project:
    """A clone in which one series names a run of the first machine, and another a file."""
    assert project.run("hero", "pick", run, "1").code == 0
    project.series("lost", hero=run[:8])
    other = project.copy(tmp_path / "other")
    shutil.rmtree(other.home)
    return other


def test_the_other_series_are_made(elsewhere: Project, run: str) -> None:
    """Plain doit: what it is, and which command makes it a file; exit 1, because not everything is there."""
    told = elsewhere.doit("run")
    assert told.code == 1
    assert len(elsewhere.out()) == 3
    assert elsewhere.out("lost") == []
    said = told.out + told.err
    assert f"not_found: there is no run or iteration {run[:8]} here" in said
    assert f"hero pick {run[:8]} N --save specs/heroes/{run[:8]} makes it a file for the series" in said
    assert elsewhere.doit("run").code == 1  # the same once there is a ledger


def test_the_other_series_can_be_listed_and_looked_at(elsewhere: Project, run: str) -> None:
    """`list` names the one that cannot be planned; `status` and `batch` say what helps."""
    told = elsewhere.doit("list", "--all")
    assert told.code == 0, told.err
    assert f"cannot be made here: there is no run or iteration {run[:8]}" in told.out
    assert told.out.count("thumb:show:") == 3
    assert elsewhere.doit("run", f"thumb:show:{video(1)}").code == 0
    for words in (["status"], ["batch", "series=lost"], ["check"]):
        told = elsewhere.run(*words)
        assert (told.code, f"hero pick {run[:8]} N --save" in told.err) == (3, True), told.err
    assert "show" in elsewhere.run("status").out
