"""`init`: a project that works at once, in any directory, without touching what is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import Project, Told


@pytest.fixture
def here(tmp_path: Path) -> Project:
    """A directory that is no project, to stand in."""
    project = Project(tmp_path / "here", {"THUMBFORGE_OUTPUT__WIDTH": "1280", "THUMBFORGE_OUTPUT__HEIGHT": "720"})
    project.root.mkdir()
    return project


def made(told: Told) -> set[str]:
    assert told.code == 0, told.err
    return {line.split()[1] for line in told.out.splitlines() if line.startswith("made ")}


def test_a_new_project_works(here: Project) -> None:
    """Three commands after each other: it is made, its example is painted, and everything is up to date."""
    told = here.run("init", "my channel")
    assert {"dodo.py", ".gitignore", "thumbforge.toml", "specs/playlists/example.yaml"} <= made(told)
    new = Project(here.root / "my channel", here.extra)
    batch = new.run("batch", "series=example", tool="doit")
    assert batch.code == 0, batch.err
    assert len(new.out("example")) == 3
    assert set(new.statuses().values()) == {"U"}
    assert new.run("batch", "series=example").out.startswith("Nothing to do")


def test_a_project_may_be_made_where_one_stands(here: Project) -> None:
    """An existing empty directory will do."""
    assert "dodo.py" in made(here.run("init", "."))
    assert here.doit("list", "--all").code == 0


def test_nothing_is_overwritten(here: Project) -> None:
    """In a filled directory only what is missing is made; a second time nothing is."""
    here.write("dodo.py", "# mine\n")
    here.write("specs/series/example.yaml", "mine: true\n")
    here.write("notes.txt", "mine")
    before = here.files()
    told = here.run("init", ".")
    assert "dodo.py" not in made(told)
    assert "kept  dodo.py" in told.out
    assert {name: here.files()[name] for name in before if before[name][1]} == {n: f for n, f in before.items() if f[1]}
    again = here.files()
    assert made(here.run("init", ".")) == set()
    assert here.files() == again


@pytest.mark.parametrize("words", [[], ["one", "two"], ["--no-such", "x"], ["taken"]])
def test_what_is_no_directory_is_refused(here: Project, words: list[str]) -> None:
    """Exit 2, nothing made."""
    here.write("taken", "a file")
    before = here.files()
    told = here.run("init", *words)
    assert (told.code, told.err.startswith("usage: "), here.files() == before) == (2, True, True)


def test_what_a_project_makes_is_not_for_git(here: Project) -> None:
    """Store, exports and doit's database are in .gitignore."""
    made(here.run("init", "."))
    assert set((here.root / ".gitignore").read_text().split()) >= {"/.thumbforge/", "/out/", "/.doit.db*"}
