"""What may be lost: doit's database, the exports, the manifests. None of it costs a call."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.project import Project, item, video


def garbage(path: Path) -> None:
    path.write_bytes(b"\x00\xffnonsense" * 500)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1500])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def foreign(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE other (x)")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def cut_records(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE doit SET task_data = substr(task_data, 1, 20)")


def emptied_records(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE doit SET task_data = '{}'")


def read_only(path: Path) -> None:
    path.chmod(0o400)


@pytest.fixture
def told(done: Project) -> Project:
    """All made, and doit has its records."""
    assert (done.root / ".doit.db").is_file()
    return done


@pytest.mark.parametrize("spoil", [Path.unlink, garbage, truncated, empty, foreign, folder, cut_records, read_only])
def test_a_spoilt_doit_database_costs_nothing(told: Project, spoil: Callable[[Path], None]) -> None:
    """Whatever became of .doit.db: no call, every item up to date, and nothing to do for doit."""
    spoil(told.root / ".doit.db")
    assert set(told.statuses().values()) == {"U"}
    again = told.doit()
    assert (again.code, again.out.count("-- thumb:show:"), told.calls) == (0, 12, 0)


@pytest.mark.parametrize("spoil", [Path.unlink, garbage, cut_records, emptied_records])
def test_doit_minus_a_is_the_only_way_to_pay_again(told: Project, spoil: Callable[[Path], None]) -> None:
    """A record that doit lost is no wish for a new picture."""
    spoil(told.root / ".doit.db")
    assert told.doit(f"thumb:show:{video(1)}").code == 0
    assert told.calls == 0


def test_lost_exports_are_put_back(done: Project) -> None:
    """out/ deleted: every file comes back with its bytes, without a call and without a run."""
    before = {name: (done.root / "out/show" / name).read_bytes() for name in done.out()}
    runs = done.count("run")
    shutil.rmtree(done.root / "out")
    told = done.batch("--json")
    assert (told.code, told.document["run"], done.calls, done.count("run")) == (0, None, 0, runs)
    assert {name: (done.root / "out/show" / name).read_bytes() for name in done.out()} == before


def test_lost_exports_are_told(done: Project) -> None:
    """`list` says to run, the plan says skip and why, and plain doit puts them back."""
    shutil.rmtree(done.root / "out")
    assert {(row["action"], row["reason"]) for row in done.plan()} == {("skip", "export restored")}
    assert set(done.statuses().values()) == {"R"}
    assert done.doit().code == 0
    assert (len(done.out()), done.calls, set(done.statuses().values())) == (12, 0, {"U"})


def test_a_lost_manifest_is_written_again(done: Project) -> None:
    """With the same content; no call, no run."""
    keys = done.home / "keys"
    before = {path.name: json.loads(path.read_bytes()) for path in keys.glob("*.json")}
    runs = done.count("run")
    shutil.rmtree(keys)
    assert done.batch().code == 0
    assert {path.name: json.loads(path.read_bytes()) for path in keys.glob("*.json")} == before
    assert (done.calls, done.count("run")) == (0, runs)


def test_a_manifest_explains_a_picture_without_the_ledger(done: Project) -> None:
    """It has the key with its parts, what was asked for, what was drawn, and the hash of the file."""
    [row] = done.query("SELECT * FROM export WHERE item_key = ?", f"video:{video(3)}:1")
    found = json.loads((done.home / "keys" / f"{row['final_key']}.json").read_bytes())
    assert (found["final_key"], found["final_sha256"]) == (row["final_key"], row["sha256"])
    assert found["key_parts"]["video"] == video(3)
    assert (found["final"]["title"], found["final"]["part"]) == ("Lesson 3", "PART 3")
    assert "Lesson 3" in found["art"]["reads"]["prompt"]


def test_a_lost_final_is_drawn_again(done: Project) -> None:
    """The art is there: no call, the same bytes."""
    [row] = done.query("SELECT * FROM export WHERE item_key = ?", f"video:{video(3)}:1")
    path = done.home / "assets" / row["sha256"][:2] / f"{row['sha256']}.jpg"
    before = path.read_bytes()
    path.unlink()
    told = done.batch("--json")
    assert (told.code, done.calls, path.read_bytes() == before) == (0, 0, True)
    assert [e["action"] for e in told.document["items"]].count("refinish") == 1


def test_a_lost_art_is_one_call(done: Project) -> None:
    """Only the item whose art is gone is painted again, and the reason says so."""
    [row] = done.query(
        "SELECT art_sha256 FROM attempt JOIN iteration ON iteration.id = iteration_id WHERE item_key = ?",
        f"video:{video(3)}:1",
    )
    (done.home / "assets" / row[0][:2] / f"{row[0]}.jpg").unlink()
    [lost] = [entry for entry in done.plan() if entry["action"] != "skip"]
    assert (lost["part"], lost["reason"]) == (3, "its art is gone from the store")
    assert (done.batch().code, done.calls) == (0, 1)
    assert done.batch().out.startswith("Nothing to do")


def test_a_lost_ledger_pays_nothing_again(done: Project) -> None:
    """The records beside the art vouch for it: every picture is drawn again, and none is asked for."""
    for path in done.home.glob("ledger.sqlite3*"):
        path.unlink()
    assert {row["action"] for row in done.plan()} == {"refinish"}
    assert (done.batch().code, done.calls) == (0, 0)
    assert {row["action"] for row in done.plan()} == {"skip"}


@pytest.mark.parametrize("spoil", [garbage, truncated])
def test_a_damaged_ledger_is_one_line(done: Project, spoil: Callable[[Path], None]) -> None:
    """Exit 1 and what to do, for every command that needs it; under doit too, without a traceback."""
    spoil(done.home / "ledger.sqlite3")
    for words in (["batch", "series=show"], ["runs", "list"], ["list", "--all", "-s"], ["run"]):
        told = done.run(*words)
        assert told.code in {1, 2}, words
        assert "Traceback" not in told.out + told.err
        assert "ledger" in told.err + told.out
    assert done.calls == 0


def test_one_text_is_one_refinish(done: Project) -> None:
    """list marks exactly one, info names both texts and the cost, batch draws it, the rest is untouched."""
    before = {row["item_key"]: row["updated_at"] for row in done.query("SELECT item_key, updated_at FROM iteration")}
    items = done.items()
    items[4]["text"] = "New *words*"
    done.playlist(items)
    statuses = done.statuses()
    assert [name for name, status in statuses.items() if status != "U"] == [video(5)]
    assert statuses[video(5)] == "R"
    info = done.doit("info", f"thumb:show:{video(5)}")
    assert info.code == 1
    assert "'Lesson 5' -> 'New *words*'" in info.out
    assert "no call" in info.out
    assert done.run("info", f"thumb:show:{video(5)}").code == 0
    told = done.batch("--json")
    assert (told.code, done.calls) == (0, 0)
    assert [e["part"] for e in told.document["items"] if e["action"] == "refinish"] == [5]
    after = {row["item_key"]: row["updated_at"] for row in done.query("SELECT item_key, updated_at FROM iteration")}
    assert {key for key in before if before[key] != after[key]} == {f"video:{video(5)}:1"}
    assert set(done.statuses().values()) == {"U"}


def test_a_text_that_comes_back_brings_its_picture_back(done: Project) -> None:
    """The final is still there: nothing is drawn or paid."""
    items = done.items()
    first = (done.root / f"out/show/05-{video(5)}.jpg").read_bytes()
    done.playlist([item(n) | ({"text": "Other"} if n == 5 else {}) for n in range(1, 13)])
    assert done.batch().code == 0
    assert (done.root / f"out/show/05-{video(5)}.jpg").read_bytes() != first
    finals = done.count("final")
    done.playlist(items)
    assert done.batch().code == 0
    assert (done.root / f"out/show/05-{video(5)}.jpg").read_bytes() == first
    assert (done.calls, done.count("final")) == (0, finals)


def test_a_read_only_project_can_be_looked_at(done: Project) -> None:
    """list and dry run work on files that nobody may change, and leave no file behind."""
    before = done.files()
    for path in [done.root, *done.root.rglob("*")]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        assert set(done.statuses().values()) == {"U"}
        assert done.batch("--dry-run").code == 0
    finally:
        for path in [done.root, *done.root.rglob("*")]:
            path.chmod(0o700 if path.is_dir() else 0o600)
    assert done.files() == before
