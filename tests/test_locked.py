"""`batch --locked`: the pictures of the lock file, byte for byte, without a call, or a refusal that names the item."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.project import Project, item, make_project, video
from tests.test_lock import FILE, IGNORED, clone, commit, entries, git, text
from thumbforge.imaging import libraries


def pictures(project: Project) -> dict[str, bytes]:
    return {name: (project.root / "out/show" / name).read_bytes() for name in project.out()}


def made(root: Path, **series: Any) -> Project:
    """Three items, made and committed."""
    project = make_project(root, 3)
    project.series(**series)
    project.write(".gitignore", IGNORED)
    git(project, "init", "-q", "-b", "main")
    assert project.batch().code == 0
    commit(project)
    return project


@pytest.fixture
def a(tmp_path: Path) -> Project:
    return made(tmp_path / "a")


@pytest.fixture
def b(a: Project, tmp_path: Path) -> Project:
    """A clone with A's art beside it."""
    other = clone(a, tmp_path / "b")
    shutil.copytree(a.home / "assets", other.home / "assets")
    return other


def edited(project: Project, n: int, **fields: Any) -> None:
    """One entry of the lock says something else."""
    own = entries(project)
    own[video(n)] |= fields
    head = text(project).partition("items:\n")[0]
    project.write(FILE, f"{head}items:\n" + "".join(f"- {json.dumps(entry)}\n" for entry in own.values()))


def without_finals(project: Project) -> None:
    for entry in entries(project).values():
        [path] = project.home.rglob(f"{entry['final_sha256']}.*")
        path.unlink()


def test_local_is_painted_from_nothing_but_git(tmp_path: Path) -> None:
    """No store, no ledger: painted and drawn here, the same bytes, and the lock is left as it is."""
    a = made(tmp_path / "a", provider="local")
    b = clone(a, tmp_path / "b")
    told = b.batch("--locked", "--json")
    assert (told.code, told.document["summary"]["completed"]) == (0, 3), told.err
    assert pictures(b) == pictures(a)
    assert git(b, "status", "--short") == ""
    assert b.batch("--locked").out.startswith("Nothing to do")


def test_paid_art_comes_from_the_store(a: Project, b: Project) -> None:
    """Without a call, also where the finals have to be drawn."""
    without_finals(b)
    told = b.batch("--locked")
    assert (told.code, b.calls) == (0, 0), told.err
    assert pictures(b) == pictures(a)


def test_art_that_is_not_here_is_named_and_the_rest_is_made(a: Project, b: Project) -> None:
    """Exit 1, and never a call; a dry run says the same and makes nothing."""
    without_finals(b)
    [path] = b.home.rglob(f"{entries(b)[video(2)]['art_sha256']}.*")
    path.unlink()
    told = b.batch("--locked", "--dry-run")
    assert (told.code, b.out()) == (1, [])
    told = b.batch("--locked", "--json")
    assert (told.code, told.document["exit_code"], b.calls) == (1, 1, 0)
    assert [found["status"] for found in told.document["items"]] == ["completed", "failed", "completed"]
    assert f"lock_unmet: its art ({path.stem[:8]}) is not in the store" in told.document["items"][1]["error"]
    assert len(b.out()) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text": "Other"}, f"{FILE}: {video(2)}: final_key: not what the specs say"),
        ({"topic": "bread"}, f"{FILE}: {video(2)}: key, art_key: not what the specs say"),
        ({"part": 4}, f"{FILE}: {video(2)}: name, key, final_key: not what the specs say"),
    ],
)
def test_what_the_specs_say_otherwise_is_refused(b: Project, change: dict[str, Any], said: str) -> None:
    """Exit 2 with the item and the fields; nothing is made."""
    b.playlist([item(1), item(2, **change), item(3)])
    told = b.batch("--locked", "--json")
    assert (told.code, told.problem["code"], told.problem["message"]) == (2, "lock_differs", said)
    assert b.out() == []


def test_all_that_differs_is_told_at_once(b: Project) -> None:
    """The head, items that only one of both has, and that a merge left something open."""
    b.playlist([item(1), item(3), item(4)])
    b.template(prompt="Of {{ topic }}.")
    b.write(FILE, text(b) + text(b).splitlines()[-1] + "\n")
    told = b.batch("--locked", "--json")
    assert [problem.removeprefix(f"{FILE}: ") for problem in told.problem["problems"]] == [
        "items: a merge left several lines for an item",
        "template: is not what the specs say",
        f"{video(1)}: key, art_key: not what the specs say",
        f"{video(2)}: is in the lock, and no item of the list",
        f"{video(3)}: is not in the lock",
        f"{video(4)}: is not in the lock",
    ]


def test_only_some_of_it(a: Project, b: Project) -> None:
    """What the others are is not asked."""
    b.playlist([item(1), item(2), item(4)])
    assert b.batch("--locked", "only=1,2").code == 0
    assert pictures(b).items() < pictures(a).items()


@pytest.mark.parametrize("field", ["art_sha256", "final_sha256"])
def test_other_bytes_than_the_locks_are_not_put_into_out(tmp_path: Path, field: str) -> None:
    """Painted by another platform, or the lock was written by hand: this item fails, exit 1, the others are there."""
    a = made(tmp_path / "a", provider="local")
    b = clone(a, tmp_path / "b")
    wrong = {field: "e" * 64}
    edited(b, 2, **wrong)
    if field == "art_sha256":  # its final follows from it
        told = b.batch("--locked")
        assert (told.code, "final_key: not what the specs say" in told.err) == (2, True)
        return
    before = text(b)
    told = b.batch("--locked", "--json")
    assert told.code == 1
    assert [found["status"] for found in told.document["items"]] == ["completed", "failed", "completed"]
    assert "lock_unmet: its picture has other bytes here than the lock file's (eeeeeeee)" in str(told.document)
    assert (len(b.out()), text(b)) == (2, before)


def other_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if another Pillow were installed."""
    versions = {**libraries.versions(), "pillow": "13.9.0"}
    monkeypatch.setattr(libraries, "versions", lambda: versions)
    monkeypatch.setattr(libraries, "others", lambda: {"pillow": "13.9.0"})


def test_other_libraries_need_the_pictures_themselves(a: Project, b: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they are in the store they are copied; else exit 1 names the versions. What the specs changed is still
    told as that."""
    other_libraries(monkeypatch)
    told = b.batch("--locked")
    assert (told.code, b.calls) == (0, 0), told.err
    assert pictures(b) == pictures(a)
    assert git(b, "status", "--short") == ""
    shutil.rmtree(b.root / "out")
    without_finals(b)
    told = b.batch("--locked", "--json")
    assert told.code == 1
    error = told.document["items"][0]["error"]
    assert "pillow 13.0.0 (here 13.9.0), and its picture is not in the store" in error
    assert b.out() == []
    b.playlist([item(1, text="Other"), item(2), item(3)])
    assert f"{video(1)}: final_key: not what the specs say" in b.batch("--locked").err


def test_an_approved_picture_is_what_was_approved(a: Project, b: Project) -> None:
    """Whatever the specs say by now."""
    assert a.run("takes", "lock", "2", "series=show").code == 0
    b.write(FILE, text(a))
    for project in (a, b):
        project.playlist([item(1), item(2, text="Later"), item(3)])
    assert a.batch().out.startswith("Nothing to do")
    told = b.batch("--locked")
    assert told.code == 0, told.err
    assert pictures(b) == pictures(a)


@pytest.mark.parametrize(
    ("words", "said"),
    [((), "has no lock file"), (("retake=yes",), "a new take is none of it"), (("resume=1",), "--resume")],
)
def test_what_cannot_be_locked_is_refused(project: Project, words: tuple[str, ...], said: str) -> None:
    """Exit 2, and nothing is made."""
    told = project.batch("--locked", *words)
    assert (told.code, said in told.err) == (2, True), told.err
    assert project.calls == 0
