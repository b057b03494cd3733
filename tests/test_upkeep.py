"""audit, repair, prune: what they find, what they leave alone, and that looking changes nothing."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.project import Project, item, make_project
from thumbforge import ids
from thumbforge.cancel import Cancel
from thumbforge.errors import Exit, LeaseLost
from thumbforge.planning.project import Project as Opened
from thumbforge.store import pictures
from thumbforge.store.assets import AssetStore
from thumbforge.store.database import Database
from thumbforge.store.deletion import delete_run
from thumbforge.upkeep import repair as repair_module
from thumbforge.upkeep.audit import Audit
from thumbforge.upkeep.audit import audit as audited
from thumbforge.upkeep.job import Job
from thumbforge.upkeep.repair import repair

ITEMS = 3


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("made") / "project", ITEMS)
    assert project.batch().code == 0
    return project


@pytest.fixture
def project(made: Project, tmp_path: Path) -> Project:
    """Three items, all made; to do with as one likes. No call is in its log."""
    return made.copy(tmp_path / "project")


def audit(project: Project) -> Any:
    told = project.run("audit", "--json")
    assert told.code in {0, 1}, told.err
    document = told.document
    assert document["exit_code"] == told.code == int(bool(document["findings"]))
    return document


def looked(project: Project) -> Audit:
    """The same in this process, without a row of its own."""
    here = opened(project)
    with here.reading() as database:
        assert database is not None
        return audited(here, database, "", time.time(), here.settings.number("repair.grace_s"), lambda: None)


def kinds(project: Project) -> list[str]:
    return sorted(finding.kind for finding in looked(project).findings)


def notes(project: Project) -> list[str]:
    return sorted(note.kind for note in looked(project).notes)


def asset(project: Project, column: str = "sha256") -> Path:
    """The file of the first item's final, or of its art."""
    [row] = project.query(f"SELECT final.{column} AS sha FROM iteration JOIN final USING (final_key)"
                          " WHERE item_key = 'video:video-00001:1'")  # fmt: skip
    return next((project.home / "assets").rglob(f"{row['sha']}.*"))


def aged(path: Path, hours: float = 24) -> Path:
    then = time.time() - hours * 3600
    os.utime(path, (then, then))
    return path


def stray(project: Project, name: str, hours: float = 24) -> Path:
    path = project.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"left behind")
    return aged(path, hours)


STRAYS = {
    "asset": f"assets/ab/{'ab' * 32}.jpg",
    "temporary": "staging/tmp-0123456789abcdef.jpg",
    "staged": "staging/00000000-0000-5000-8000-000000000000",
    "manifest": f"keys/{'c' * 64}.json",
}


# Audit


def test_a_sound_project_has_no_finding(project: Project) -> None:
    """Exit 0, with how much was looked at; its result is kept in the ledger."""
    document = audit(project)
    assert (document["findings"], document["notes"]) == ([], [])
    assert document["checked"] == {"asset": 7, "run": 4, "iteration": 4, "attempt": 4, "final": 4, "export": 3}
    [run] = project.query("SELECT * FROM run WHERE kind = 'audit'")
    assert (run["id"], run["status"], run["exit_code"]) == (document["run"], "completed", 0)
    assert json.loads(run["result_json"])["findings"] == []


def test_looking_changes_nothing_but_its_own_row(project: Project) -> None:
    """Every other row and every byte of every file are as before, also where there are findings."""
    asset(project).write_bytes(b"other bytes")
    before, rows = files(project), tables(project)
    assert audit(project)["exit_code"] == 1
    assert files(project) == before
    after = tables(project)
    assert [row for row in after.pop("run") if row[1] != "audit"] == rows.pop("run")
    assert after == rows


def files(project: Project) -> dict[str, bytes]:
    outside = ("ledger.sqlite3", "thumbforge.jsonl")
    return {name: data for name, (_, data) in project.files().items() if not any(part in name for part in outside)}


def tables(project: Project) -> dict[str, list[tuple[Any, ...]]]:
    names = [row["name"] for row in project.query("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {name: [tuple(row) for row in project.query(f"SELECT * FROM {name}")] for name in names}


def unlink_final(project: Project) -> None:
    asset(project).unlink()


def damage_art(project: Project) -> None:
    path = asset(project, "art_sha256")
    path.write_bytes(path.read_bytes()[:-1])


def edit_export(project: Project) -> None:
    (project.root / "out/show" / project.out()[0]).write_bytes(b"edited by hand")


def other_key(project: Project) -> None:
    project.execute("UPDATE iteration SET key_parts_json = replace(key_parts_json, 'calm', 'wild')"
                    " WHERE item_key = 'video:video-00001:1'")  # fmt: skip


def other_plan_id(project: Project) -> None:
    project.execute("UPDATE run_item SET id = 'x' WHERE ordinal = 1")


def open_attempt(project: Project) -> None:
    project.execute("UPDATE iteration SET status = 'running', attempt_id = NULL, final_key = NULL"
                    " WHERE item_key = 'video:video-00001:1'")  # fmt: skip
    project.execute("UPDATE attempt SET closed_at = NULL, outcome = NULL, art_sha256 = NULL WHERE iteration_id ="
                    " (SELECT id FROM iteration WHERE item_key = 'video:video-00001:1')")  # fmt: skip


@pytest.mark.parametrize(
    ("harm", "expected"),
    [
        (unlink_final, ["asset-missing"]),
        (damage_art, ["asset-damaged"]),
        (edit_export, ["export-differs"]),
        (other_key, ["key"]),
        (other_plan_id, ["id"]),
        (open_attempt, ["attempt-open"]),
    ],
)
def test_each_harm_is_found(project: Project, harm: Callable[[Project], None], expected: list[str]) -> None:
    """What the ledger says and what is there are compared, one finding for each thing that is wrong."""
    harm(project)
    assert kinds(project) == expected


@pytest.mark.parametrize("kind", STRAYS)
def test_a_file_that_nothing_needs(project: Project, kind: str) -> None:
    """Young, it may be work in progress: a note. Older than the grace, a finding."""
    path = stray(project, STRAYS[kind], hours=0.1)
    assert (kinds(project), notes(project)) == ([], [f"{kind}-unreferenced"])
    aged(path)
    assert (kinds(project), notes(project)) == ([f"{kind}-unreferenced"], [])


def test_a_run_that_can_be_resumed_is_a_note(project: Project) -> None:
    """Paused on purpose, there is nothing wrong with it."""
    project.execute("UPDATE run SET status = 'paused' WHERE kind = 'batch'")
    assert (kinds(project), notes(project)) == ([], ["run-open"])


def test_an_export_that_is_gone_is_no_finding(project: Project) -> None:
    """The next batch puts it back."""
    (project.root / "out/show" / project.out()[0]).unlink()
    assert kinds(project) == []
    assert project.batch().code == 0
    assert len(project.out()) == ITEMS


@pytest.mark.parametrize("command", [("audit",), ("repair",), ("prune", "--keep", "0")], ids=" ".join)
def test_without_a_ledger_there_is_nothing_to_keep_up(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Exit 3, and no ledger is made."""
    project = make_project(tmp_path / "project", 1)
    assert project.run(*command).code == 3
    assert not project.home.exists()


def test_a_job_that_lost_its_lease_keeps_no_result(project: Project) -> None:
    """Its verdict would stand over that of whoever took it over."""
    with opened(project).ledger() as ledger:
        job, database = Job(ledger, opened(project).settings, "audit", Cancel()), ledger.database

        def work() -> None:
            with job:
                with database.write("run.claim") as connection:
                    connection.execute("UPDATE run SET lease_epoch = lease_epoch + 1 WHERE id = ?", (job.run_id,))
                job.finish({"findings": []}, Exit.DONE)

        with pytest.raises(LeaseLost):
            work()
        [row] = database.rows("SELECT status, result_json FROM run WHERE id = ?", (job.run_id,))
    assert tuple(row) == ("running", None)


# Repair


def removed(project: Project, *words: str) -> list[tuple[str, str]]:
    told = project.run(*words, "--json")
    assert told.code == 0, told.err
    return sorted((r["kind"], r["subject"]) for r in told.document["removed"])


def test_repair_only_says_what_it_would_do(project: Project) -> None:
    """Dry by default; it says exactly what --apply then does; a second time there is nothing left."""
    paths = [stray(project, name) for name in STRAYS.values()]
    would = removed(project, "repair")
    assert len(would) == len(paths)
    assert all(path.exists() for path in paths)
    assert removed(project, "repair", "--apply") == would
    assert not any(path.exists() for path in paths)
    assert removed(project, "repair", "--apply") == []
    assert (kinds(project), project.batch().code, project.calls) == ([], 0, 0)


def test_repair_leaves_young_files(project: Project) -> None:
    """Another process may be about to give them their row."""
    path = stray(project, STRAYS["asset"], hours=0.5)
    assert removed(project, "repair", "--apply") == []
    assert path.exists()
    assert removed(project.with_environment(THUMBFORGE_REPAIR__GRACE_S="60"), "repair", "--apply") == [
        ("asset", path.name)
    ]


def test_repair_keeps_an_answer_that_was_paid_for(project: Project) -> None:
    """However old: until its item has art, a staged answer is what saves the second payment."""
    project.playlist([*project.items(), item(ITEMS + 1)])
    project.with_environment(THUMBFORGE_FAULT="staged.after:kill").batch()
    [answer] = [path for path in (project.home / "staging").iterdir() if len(path.name) == 36]
    aged(answer, 1000)
    assert ("staged", answer.name) not in removed(project, "repair", "--apply")
    assert answer.exists()
    assert (project.batch().code, project.calls) == (0, 1)


def test_repair_keeps_the_list_of_the_last_ingest(project: Project) -> None:
    """It has no asset row, and is what an ingest goes on from."""
    [frozen] = (project.home / "assets").rglob("*.json")
    aged(frozen, 1000)
    assert removed(project, "repair", "--apply") == []
    assert frozen.exists()


def test_repair_leaves_what_is_not_ours(project: Project) -> None:
    """In folders that another program uses too, and behind a link: told, and left, however old."""
    theirs = ["assets/img/logo.svg", "keys/id_rsa", "staging/draft.md", f"assets/ab/{'cd' * 32}.jpg"]
    for name in theirs:
        stray(project, name, hours=1000)
    thesis = aged(stray(project, "../thesis/tmp-0123456789abcdef.jpg"), 1000)
    (project.home / "staging").rename(project.home / "drafts")
    (project.home / "staging").symlink_to(thesis.parent)
    told = project.shown("repair", "--apply", "--damaged")
    assert told["removed"] == []
    assert told["foreign"] == ["assets/ab/" + "cd" * 32 + ".jpg", "assets/img", "keys/id_rsa", "staging"]
    assert thesis.exists()
    assert all((project.home / name).exists() for name in theirs if not name.startswith("staging"))
    assert (kinds(project), notes(project)) == ([], ["foreign"] * 4)


def test_a_ledger_from_elsewhere_deletes_nothing(project: Project, tmp_path: Path) -> None:
    """Rows that name files outside are told by `audit`, and no command takes such a file away."""
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("precious")
    two.write_text("precious too")
    with closing(sqlite3.connect(project.home / "ledger.sqlite3")) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("INSERT INTO asset VALUES (?, '', 'x', 1, 1, 1, 0, NULL)", (str(one),))
        connection.execute("UPDATE export SET path = '../../two.txt', sha256 = ?", (ids.sha256_hex(two.read_bytes()),))
    assert kinds(project) == ["asset-name", *["export-name"] * ITEMS]
    retitled(project, "Anew")
    for words in (("repair", "--damaged", "--apply"), ("prune", "--keep", "0", "--apply")):
        assert project.run(*words).code == 0
    assert (one.read_text(), two.read_text()) == ("precious", "precious too")


def test_repair_repaints_damaged_art_only_when_asked(project: Project) -> None:
    """Without --damaged a damaged picture stays, for somebody to look at; with it the next batch pays for another."""
    damage_art(project)
    assert removed(project, "repair", "--apply") == []
    assert removed(project, "repair", "--damaged") == [("damaged", asset(project, "art_sha256").name)]
    assert project.calls == 0
    removed(project, "repair", "--damaged", "--apply")
    assert project.batch().code == 0
    assert (project.calls, kinds(project)) == (1, [])


def test_a_damaged_final_is_drawn_again_without_a_call(project: Project) -> None:
    """Only the art costs money."""
    asset(project).write_bytes(b"other bytes")
    removed(project, "repair", "--damaged", "--apply")
    assert project.batch().code == 0
    assert (project.calls, kinds(project)) == (0, [])


# Something happens between a look and a deletion


def opened(project: Project) -> Opened:
    return Opened(project.root)


def unlinked_late(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, happens: Callable[[], None]) -> None:
    real = getattr(module, name)

    def late(*args: Any, **kwargs: Any) -> Any:
        happens()
        return real(*args, **kwargs)

    monkeypatch.setattr(module, name, late)


def test_repair_looks_again_before_it_unlinks(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was given its row since the list was made stays."""
    path = stray(project, STRAYS["asset"])
    with opened(project).ledger() as ledger:
        database = ledger.database

        def recorded() -> None:
            with database.write("art.row") as connection:
                connection.execute(
                    "INSERT OR IGNORE INTO asset VALUES (?, '.jpg', 'image/jpeg', 11, 1, 1, 0, NULL)", (path.stem,)
                )

        unlinked_late(monkeypatch, repair_module, "_unlink_unneeded", recorded)
        assert list(repair(opened(project), database, time.time(), 3600, damaged=False, apply=True)) == []
    assert path.exists()


def test_repair_leaves_a_file_that_was_put_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes were put since the list was made, and their row is about to be written: the file is young."""
    store = AssetStore(project.home)
    sha256 = store.put(b"left behind", ".jpg", "art.file")
    path = aged(store.path(sha256, ".jpg"))

    def again() -> None:
        store.put(b"left behind", ".jpg", "art.file")

    unlinked_late(monkeypatch, repair_module, "_unlink_unneeded", again)
    with opened(project).ledger() as ledger:
        database = ledger.database
        assert list(repair(opened(project), database, time.time(), 3600, damaged=False, apply=True)) == []
    assert path.exists()


def test_delete_leaves_a_file_that_was_recorded_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the rows' commit and the unlink another run makes the same picture: its row must not lose its file."""
    run_id = project.query("SELECT id FROM run WHERE kind = 'batch'")[0]["id"]
    with opened(project).ledger() as ledger:
        database = ledger.database
        assets = {row["sha256"]: tuple(row) for row in database.rows("SELECT * FROM asset")}
        forget = pictures.forget
        gone: list[tuple[str, str]] = []

        def forgotten(*args: Any) -> list[tuple[str, str]]:
            gone[:] = forget(*args)
            return gone

        monkeypatch.setattr(pictures, "forget", forgotten)
        real = AssetStore.path

        def path(store: AssetStore, sha256: str, suffix: str) -> Path:
            if gone and sha256 == gone[0][0]:
                _record(database, assets[sha256])
            return real(store, sha256, suffix)

        monkeypatch.setattr(AssetStore, "path", path)
        delete_run(database, opened(project).store, run_id, time.time(), with_assets=True)
        rows = database.rows("SELECT sha256, suffix FROM asset")
    monkeypatch.undo()
    store = AssetStore(project.home)
    assert [row["sha256"] for row in rows if not store.path(row["sha256"], row["suffix"]).is_file()] == []


def _record(database: Database, row: tuple[Any, ...]) -> None:
    with database.write("art.row") as connection:
        connection.execute("INSERT OR IGNORE INTO asset VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


# Prune


def retitled(project: Project, word: str) -> None:
    project.playlist({**entry, "title": f"{word} {n}"} for n, entry in enumerate(project.items(), 1))
    assert project.batch().code == 0


def test_prune_drops_superseded_finals(project: Project) -> None:
    """Of each item the picture in use and the N newest before it stay; dry by default; files go with their rows."""
    project.template(prompt="The same for all.")  # the title is drawn, not painted
    assert project.batch().code == 0
    paid = project.calls
    for word in ("Chapter", "Part"):
        retitled(project, word)
    assert project.calls >= paid
    finals = project.count("final")
    would = removed(project, "prune", "--keep", "1")
    assert project.count("final") == finals
    done = removed(project, "prune", "--keep", "1", "--apply")
    assert [r for r in done if r[0] != "asset"] == would
    assert project.count("final") == finals - sum(kind == "final" for kind, _ in would)
    assert kinds(project) == []
    assert project.batch().out.startswith("Nothing to do")


def test_prune_keeps_what_is_in_use(project: Project) -> None:
    """With --keep 0, nothing that an item, an export or a hero shows goes."""
    before = files(project)
    assert removed(project, "prune", "--keep", "0", "--apply") == []
    assert files(project) == before


@pytest.mark.parametrize("words", [(), ("--keep", "-1"), ("--keep", "some"), ("--keep", "1", "more")])
def test_prune_wants_a_number(project: Project, words: tuple[str, ...]) -> None:
    """Exit 2; it has no default, because what is dropped is gone."""
    assert project.run("prune", *words).code == 2
