"""Records of art: a lost ledger costs no second payment, and what a record says is believed as far as its bytes bear it
out."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
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
    """And the lock file, which would name the art by its hash: here records alone tell."""
    for path in [*ledgers(project), *(project.root / "specs/locks").glob("*.yaml")]:
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


def test_a_record_of_the_same_art_stays(project: Project) -> None:
    """It is created only; other art for the same request has been paid for since, and takes the place."""
    path, content = record_of_first(project)
    store, before = AssetStore(project.home), (path.read_bytes(), path.stat().st_ino)
    store.write_record(path.stem, {**content, "provider": "another"})
    assert (path.read_bytes(), path.stat().st_ino) == before
    store.write_record(path.stem, {**content, "sha256": "ab" * 32})
    assert json.loads(path.read_bytes())["sha256"] == "ab" * 32


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


# repair --rebuild


def forget_records(project: Project) -> None:
    """As in a project from before there were records: manifests alone tell."""
    shutil.rmtree(project.home / "keys/art")


def rebuilt(project: Project, *words: str) -> Any:
    return project.shown("repair", "--rebuild", *words)


@pytest.mark.parametrize("ledger", [None, b"not a database", "cut"])
def test_a_ledger_is_rebuilt_from_what_the_store_tells(project: Project, ledger: bytes | str | None) -> None:
    """Gone, foreign bytes or cut in half: shown first, then written, the damaged one kept beside it. The next batch
    draws the same pictures without a call, and nothing is wrong then."""
    before = pictures(project)
    path = project.home / "ledger.sqlite3"
    content = path.read_bytes()[:9000] if ledger == "cut" else ledger
    lose_ledger(project)
    forget_records(project)
    if isinstance(content, bytes):
        path.write_bytes(content)
    dry = rebuilt(project)
    assert (dry["arts"], dry["records"], dry["applied"], dry["run"]) == (ITEMS, ITEMS, False, None)
    assert (path.read_bytes() if path.exists() else None, records_there(project)) == (content, [])
    assert rebuilt(project, "--apply")["arts"] == ITEMS
    assert len(records(project)) == ITEMS
    aside = project.home / "ledger.sqlite3.damaged-1"
    assert (aside.read_bytes() if aside.exists() else None) == content
    assert (rebuilt(project)["arts"], rebuilt(project)["records"]) == (0, 0)
    assert (project.batch().code, project.calls, pictures(project)) == (0, 0, before)
    assert project.shown("audit")["notes"] == []


def records_there(project: Project) -> list[Path]:
    return records(project) if (project.home / "keys/art").is_dir() else []


def test_the_hint_of_a_damaged_ledger_leads_to_it(project: Project) -> None:
    """As it is printed, it works."""
    lose_ledger(project)
    (project.home / "ledger.sqlite3").write_bytes(b"not a database")
    told = project.batch()
    assert (told.code, "repair --rebuild --apply" in told.err) == (1, True)
    assert project.run("repair", "--rebuild", "--apply").code == 0
    assert (project.batch().code, project.calls) == (0, 0)


def test_a_ledger_of_another_program_is_not_put_aside(project: Project) -> None:
    """Only damage is: what is whole belongs to somebody."""
    lose_ledger(project)
    with closing(sqlite3.connect(project.home / "ledger.sqlite3")) as connection, connection:
        connection.execute("CREATE TABLE theirs (x)")
    assert project.run("repair", "--rebuild", "--apply").code == 1
    assert [path.name for path in ledgers(project)] == ["ledger.sqlite3"]


def test_what_was_rebuilt_can_be_deleted(project: Project) -> None:
    """Its run has the iterations: with their pictures and what tells of them they go, and are paid for again."""
    lose_ledger(project)
    run = rebuilt(project, "--apply")["run"]
    deleted = project.shown("runs", "delete", run, "--assets")["deleted"]
    assert (deleted["iterations"], len(deleted["assets"])) == (ITEMS, ITEMS)
    assert records(project) == []
    assert (project.batch().code, project.calls) == (0, ITEMS)


@pytest.mark.parametrize("harm", ["key", "path", "cut", "other art"])
def test_a_manifest_that_is_not_its_own_is_left_out(project: Project, harm: str) -> None:
    """Keys that do not follow, a path for a hash, a cut file: told by name, by `audit` too, and nothing is written
    from it."""
    path = next((project.home / "keys").glob("*.json"))
    content = json.loads(path.read_bytes())
    if harm == "key":
        content["key_parts"]["prompt"] += " and more"
    elif harm == "path":
        content["final"]["art"] = "../../x"
    elif harm == "other art":
        content["final"]["art"] = "ab" * 32
    path.write_bytes(b"{" if harm == "cut" else json.dumps(content).encode())
    assert [f["kind"] for f in project.run("audit", "--json").document["findings"]] == ["manifest"]
    lose_ledger(project)
    forget_records(project)
    told = rebuilt(project, "--apply")
    assert (told["arts"], told["unread"]) == (ITEMS - 1, [path.name])


def test_audit_reads_records(project: Project) -> None:
    """One that names no art of its request is a finding; art without a record is a note, and `--rebuild` writes it."""
    path, content = record_of_first(project)
    other_request(path, content)
    assert [f["kind"] for f in project.run("audit", "--json").document["findings"]] == ["record"]
    path.unlink()
    assert [n["kind"] for n in project.shown("audit")["notes"]] == ["art-unwitnessed"]
    told = rebuilt(project, "--apply")
    assert (told["arts"], told["records"]) == (0, 1)
    assert project.shown("audit")["notes"] == []


def test_prune_keeps_art_that_is_not_drawn_yet(project: Project) -> None:
    """Of an item that has no picture nothing is superseded: what was paid for waits for the next batch."""
    lose_ledger(project)
    rebuilt(project, "--apply")
    assert project.shown("prune", "--keep", "0", "--apply")["removed"] == []
    assert (project.batch().code, project.calls) == (0, 0)
