"""Records of art: a lost ledger costs no second payment, and what a record says is believed as far as its bytes bear it
out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.project import Project, item, make_project
from thumbforge import ids
from thumbforge.store.assets import AssetStore
from thumbforge.store.witness import record_of, recorded_art

ITEMS = 2


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("made") / "project", ITEMS)
    assert project.batch().code == 0
    return project


@pytest.fixture
def project(made: Project, tmp_path: Path) -> Project:
    """Two items, all made; no call is in its log."""
    return made.copy(tmp_path / "project")


def ledgers(project: Project) -> list[Path]:
    return list(project.home.glob("ledger.sqlite3*"))


def lose_ledger(project: Project) -> None:
    for path in ledgers(project):
        path.unlink()


def pictures(project: Project) -> dict[str, bytes]:
    return {name: (project.root / "out/show" / name).read_bytes() for name in project.out()}


def records(project: Project) -> list[Path]:
    return sorted((project.home / "keys/art").iterdir())


def record_of_first(project: Project) -> tuple[Path, dict[str, Any]]:
    for path in records(project):
        content = json.loads(path.read_bytes())
        if content["art"]["video"] == "video-00001":
            return path, content
    raise AssertionError("there is no record of the first item")


def test_a_record_tells_what_was_asked_and_what_came(project: Project) -> None:
    """Its name is the art key of the fields that it holds; the art that it names is in the store."""
    assert len(records(project)) == ITEMS
    store = AssetStore(project.home)
    for path in records(project):
        content = json.loads(path.read_bytes())
        assert ids.art_key(content["art"]) == content["art_key"] == path.stem
        assert recorded_art(store, path.stem) == (content["sha256"], content["suffix"])
        assert content["provider"] == "fake"


def test_without_its_ledger_a_project_pays_nothing_again(project: Project) -> None:
    """The art is taken up, drawn to the same pictures, and out/ is as it was; nothing is left to do after that."""
    before = pictures(project)
    lose_ledger(project)
    assert [row["action"] for row in project.plan()] == ["refinish"] * ITEMS
    told = project.batch()
    assert (told.code, project.calls, pictures(project)) == (0, 0, before), told.err
    assert project.batch().out.startswith("Nothing to do")
    [paid] = project.query("SELECT sum(calls) AS calls FROM attempt")
    assert paid["calls"] == 0  # what it cost then nobody knows now
    assert project.run("audit").code == 0


def test_an_older_ledger_knows_what_was_made_since(project: Project, tmp_path: Path) -> None:
    """A backup is put back: items that were made after it are taken up by their records."""
    for path in ledgers(project):
        shutil.copy(path, tmp_path / path.name)
    project.playlist([*project.items(), item(ITEMS + 1)])
    assert (project.batch().code, project.calls) == (0, 1)
    lose_ledger(project)
    for path in tmp_path.glob("ledger.sqlite3*"):
        shutil.copy(path, project.home / path.name)
    assert (project.batch().code, project.calls, len(project.out())) == (0, 1, ITEMS + 1)


def test_art_that_was_kept_is_witnessed_before_its_row(tmp_path: Path) -> None:
    """Killed between the two, and the ledger lost besides: still no second call."""
    project = make_project(tmp_path / "project", 1)
    assert project.with_environment(THUMBFORGE_FAULT="record.file.after:kill").batch().code == -9
    lose_ledger(project)
    assert (project.batch().code, project.calls) == (0, 1)


def test_repair_keeps_what_only_a_record_tells_of(project: Project) -> None:
    """However old the files are; `audit` notes them, and finds nothing wrong."""
    lose_ledger(project)
    assert project.with_environment(THUMBFORGE_REPAIR__GRACE_S="0").batch("only=1").code == 0
    old = project.with_environment(THUMBFORGE_REPAIR__GRACE_S="0")
    removed = {entry["kind"] for entry in old.shown("repair", "--apply")["removed"]}
    assert removed <= {"asset"}  # the list that the lost ingest went by
    noted = {note["kind"] for note in old.shown("audit")["notes"]}
    assert {"asset-unrecorded", "record-unrecorded", "manifest-unrecorded"} <= noted
    assert (project.batch().code, project.calls) == (0, 0)


def gone(path: Path, content: dict[str, Any]) -> None:
    path.unlink()


def cut(path: Path, content: dict[str, Any]) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def a_list(path: Path, content: dict[str, Any]) -> None:
    path.write_text("[]")


def a_folder(path: Path, content: dict[str, Any]) -> None:
    path.unlink()
    path.mkdir()


def other_request(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps({**content, "art": {**content["art"], "take": 7}}))


def a_path(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps({**content, "sha256": "../../../specs/heroes/hero", "suffix": ".png"}))


def damaged_art(path: Path, content: dict[str, Any]) -> None:
    found = AssetStore(path.parents[2]).path(content["sha256"], content["suffix"])
    found.write_bytes(found.read_bytes()[:-1])


@pytest.mark.parametrize("harm", [gone, cut, a_list, a_folder, other_request, a_path, damaged_art])
def test_a_record_that_does_not_bear_it_out_is_not_believed(
    project: Project, harm: Callable[[Path, dict[str, Any]], None]
) -> None:
    """Without the ledger, and with a record that is damaged or names no art of its request: that item is painted, the
    other one is not."""
    harm(*record_of_first(project))
    lose_ledger(project)
    told = project.batch()
    assert (told.code == 0) == (harm is not a_folder), told.err
    assert project.calls == 1


def forge(project: Project, data: bytes) -> None:
    """A record, right in every word, of art that came with the store and is none."""
    path, content = record_of_first(project)
    sha256 = AssetStore(project.home).put(data, ".png", "art.file")
    path.write_text(json.dumps(record_of(content["art"], sha256, ".png", "fake", None)))


def test_art_that_is_no_picture_fails_its_item_without_a_call(project: Project) -> None:
    """It is judged like a provider's answer. No call was planned, so none is made; the next batch plans one."""
    forge(project, b"not a picture")
    lose_ledger(project)
    told = project.batch()
    assert (told.code, project.calls) == (6, 0)
    assert "the art that a record names is not usable" in told.out + told.err
    assert (project.batch().code, project.calls) == (0, 1)
    assert len(project.out()) == ITEMS


def test_a_retake_leaves_word_of_itself(project: Project) -> None:
    """Each take has a record; without the ledger the first one is shown, and the others are there to go back to."""
    assert project.batch("retake=yes", "only=1").code == 0
    assert (project.calls, len(records(project))) == (1, ITEMS + 1)
    lose_ledger(project)
    assert (project.batch().code, project.calls) == (0, 1)
