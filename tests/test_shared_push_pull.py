"""`push`, `pull`, `prune --remote`, `audit --remote`."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from tests.project import Project, item, make_project
from tests.test_shared_batch import WRITE, clone, pictures, shared

ITEMS = 3


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """All made, and nothing shared. To be cloned or copied."""
    project = make_project(tmp_path_factory.mktemp("made") / "project", ITEMS)
    assert project.batch().code == 0
    return project


@pytest.fixture
def there(tmp_path: Path) -> Path:
    folder = tmp_path / "there"
    folder.mkdir()
    return folder


@pytest.fixture
def ours(made: Project, tmp_path: Path, there: Path) -> Project:
    project = made.copy(tmp_path / "ours")
    return project.with_environment(THUMBFORGE_STORE__REMOTE=str(there), **WRITE)


def age(there: Path, days: float) -> None:
    """Make all that lies there this much older."""
    for path in there.rglob("*"):
        if path.is_file():
            os.utime(path, (time.time(), path.stat().st_mtime - days * 86_400))


def test_what_is_pushed_is_pulled(ours: Project, there: Path, tmp_path: Path) -> None:
    """All of it, once; a clone that has pulled works without the place, and has the same files."""
    assert ours.shown("push", "--dry-run")["arts"] == ITEMS
    assert shared(there) == set()
    told = ours.shown("push")
    assert (told["arts"], told["finals"], told["failed"], ours.calls) == (ITEMS, ITEMS, [], 0)
    before = shared(there)
    assert "Nothing to do" in ours.run("push").out
    theirs = clone(ours, tmp_path / "theirs", THUMBFORGE_STORE__MODE="read")
    assert theirs.shown("pull", "--dry-run")["finals"] == ITEMS
    assert not theirs.home.exists()
    told = theirs.shown("pull")
    assert (told["arts"], told["finals"]) == (ITEMS, ITEMS)
    assert "Nothing to do" in theirs.run("pull").out
    alone = theirs.with_environment(THUMBFORGE_STORE__REMOTE=str(tmp_path / "away"))
    assert (alone.batch("--locked").code, alone.batch("max_images=0").code, alone.calls) == (0, 0, 0)
    assert pictures(alone) == pictures(ours)
    assert alone.run("audit").code == 0
    assert shared(there) == before


def test_one_series_goes_over_alone(ours: Project, there: Path, tmp_path: Path) -> None:
    """What its specs ask for and its lock names; the other's stays."""
    ours.playlist((item(7), item(8)), "other")
    ours.series("other", playlist="other")
    assert ours.with_environment(THUMBFORGE_STORE__MODE="off").run("batch", "series=other").code == 0
    told = ours.shown("push", "series=other")
    assert (told["arts"], told["finals"]) == (2, 2)
    assert ours.shown("push")["arts"] == ITEMS
    theirs = clone(ours, tmp_path / "theirs")
    told = theirs.shown("pull", "series=show")
    assert (told["arts"], told["finals"]) == (ITEMS, ITEMS)
    assert theirs.shown("pull")["arts"] == 2


def test_the_pictures_of_local_are_those_of_the_lock(ours: Project, there: Path, tmp_path: Path) -> None:
    """On another platform `local` may paint other bytes: where the pictures are shared, `--locked` takes them as they
    are."""
    ours.series(provider="local")
    assert ours.batch().code == 0
    assert ours.run("push", "series=show").code == 0
    record = there / "keys/art"
    shutil.rmtree(record)
    theirs = clone(ours, tmp_path / "theirs")
    told = theirs.batch("--locked", "--json")
    assert (told.code, {each["action"] for each in told.document["items"]}) == (0, {"skip"})
    assert pictures(theirs) == pictures(ours)


def test_who_only_reads_pushes_nothing(ours: Project, there: Path) -> None:
    """It is told which variable says so; and a project without a place is told how one is named."""
    told = ours.with_environment(THUMBFORGE_STORE__MODE="read").run("push")
    assert (told.code, shared(there)) == (2, set())
    assert "THUMBFORGE_STORE__MODE=write" in told.err
    told = ours.with_environment(THUMBFORGE_STORE__REMOTE="").run("pull")
    assert told.code == 2
    assert "[store] remote" in told.err
    assert ours.with_environment(THUMBFORGE_STORE__MODE="off").run("pull").code == 2


def test_a_place_that_is_away_is_an_error_of_push(ours: Project, tmp_path: Path) -> None:
    told = ours.with_environment(THUMBFORGE_STORE__REMOTE=str(tmp_path / "away")).run("push")
    assert told.code == 1
    assert told.err.startswith("remote_failed: there is no folder")


def test_cut_short_the_same_again_goes_on(ours: Project, there: Path, tmp_path: Path) -> None:
    """What is there is not sent again, what is here is not fetched again."""
    assert ours.run("push").code == 0
    lost = sorted(there.glob("keys/*.json"))[0]
    lost.unlink()
    assert ours.shown("push")["finals"] == 1
    theirs = clone(ours, tmp_path / "theirs")
    art = sorted(there.glob("keys/art/*"))[0]
    data = art.read_bytes()
    art.unlink()
    assert theirs.shown("pull")["arts"] == ITEMS - 1
    art.write_bytes(data)
    told = theirs.shown("pull")
    assert (told["arts"], told["finals"]) == (1, 0)


def test_a_damaged_picture_fails_alone(ours: Project, there: Path, tmp_path: Path) -> None:
    """It is named with why, the others come; the exit code says that some did not."""
    assert ours.run("push").code == 0
    record = json.loads(sorted(there.glob("keys/art/*"))[0].read_text())
    [art] = there.glob(f"assets/*/{record['sha256']}*")
    art.write_bytes(b"other bytes")
    theirs = clone(ours, tmp_path / "theirs")
    told = theirs.run("pull", "--json")
    assert (told.code, told.document["arts"], len(told.document["failed"])) == (6, ITEMS - 1, 1)
    assert told.document["failed"][0]["key"] == record["art_key"]
    assert "holds other bytes" in told.document["failed"][0]["error"]
    assert theirs.run("pull").code == 1
    assert theirs.batch().code == 0
    assert theirs.calls == 1


def test_audit_compares(ours: Project, there: Path) -> None:
    """Names without their picture, pictures of another size, and what is on one side alone."""
    assert ours.run("push").code == 0
    assert ours.run("audit", "--remote").code == 0
    record, other, gone = (json.loads(p.read_text()) for p in sorted(there.glob("keys/art/*")))
    next(there.glob(f"assets/*/{record['sha256']}*")).unlink()
    next(there.glob(f"assets/*/{other['sha256']}*")).write_bytes(b"short")
    (there / f"keys/art/{gone['art_key']}.json").unlink()
    (there / f"keys/{'a' * 64}.json").write_text("[]")
    told = ours.run("audit", "--remote", "--json")
    assert told.code == 1
    found = {finding["kind"] for finding in told.document["findings"]}
    assert found == {"remote-missing", "remote-damaged", "remote-name"}
    assert {note["kind"] for note in told.document["notes"]} >= {"remote-absent"}
    assert ours.run("audit").code == 0


def test_prune_takes_what_no_lock_names(ours: Project, there: Path, tmp_path: Path) -> None:
    """A superseded take and its final, what says nothing, and pictures without a name; after a grace of days, and only
    where it is told to. What is in use and what is of other projects stays."""
    assert ours.batch("retake=yes", "only=1").code == 0
    assert ours.run("push").code == 0
    stray = there / f"assets/ab/{'ab' * 32}.png"
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"left behind")
    (there / f"keys/art/.{'cd' * 32}.json.01234567.part").write_bytes(b"cut off")
    (there / "keys/art/notes.txt").write_bytes(b"somebody's own")
    theirs = make_project(tmp_path / "other", 1, **ours.extra)
    theirs.playlist([item(9)])
    assert theirs.batch("retake=yes").code == 0
    before = shared(there)
    assert ours.shown("prune", "--remote")["removed"] == []
    age(there, 31)
    dry = ours.shown("prune", "--remote")
    assert (dry["applied"], shared(there)) == (False, before)
    kinds = sorted(removed["kind"] for removed in dry["removed"])
    assert kinds == ["art", "final", "part", "picture", "picture", "picture"]
    told = ours.shown("prune", "--remote", "--apply")
    assert told["removed"] == dry["removed"]
    assert before - shared(there) == {removed["subject"] for removed in dry["removed"]}
    fresh = clone(ours, tmp_path / "fresh")
    assert (fresh.batch("--locked").code, fresh.calls) == (0, 0)
    assert ours.run("audit", "--remote").code == 0
    assert theirs.run("audit", "--remote").code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "prune needs --keep N"),
        (("--keep", "1", "--days", "3"), "--days goes with --remote"),
        (("--keep", "1", "--remote"), "this machine's store"),
    ],
)
def test_prune_is_about_one_store(ours: Project, words: tuple[str, ...], told: str) -> None:
    said = ours.run("prune", *words)
    assert (said.code, told in said.err) == (2, True)


def test_who_only_reads_deletes_nothing(ours: Project, there: Path) -> None:
    assert ours.run("push").code == 0
    before = shared(there)
    age(there, 100)
    shutil.rmtree(ours.root / "specs/locks")
    told = ours.with_environment(THUMBFORGE_STORE__MODE="read").run("prune", "--remote", "--apply")
    assert (told.code, shared(there)) == (2, before)
    assert ours.shown("prune", "--remote", "--apply")["removed"] == []
    assert shared(there) == before
