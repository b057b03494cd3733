"""Ingest: a playlist's metadata as facts, from a frozen list, so that a crash at any entry is only redone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.crashes import Site
from tests.project import Project
from thumbforge import faults, ids
from thumbforge.errors import AssetDamaged, LeaseLost, LedgerError
from thumbforge.models import Item, Playlist, PlaylistHead
from thumbforge.playlists import ingest as ingest_module
from thumbforge.playlists.ingest import ingest, snapshot
from thumbforge.store.assets import AssetStore
from thumbforge.store.database import Database
from thumbforge.store.leases import new_owner
from thumbforge.store.ledger import Ledger
from thumbforge.store.world import remember_playlist

NAME = "PLingest"


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with closing(Database.open(tmp_path / "ledger.sqlite3")) as database:
        opened = Ledger(database, new_owner(), 30, Clock())
        remember_playlist(database, NAME, "", opened.now())
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> AssetStore:
    return AssetStore(tmp_path)


def listed(*titles: str, **changed: Any) -> Playlist:
    """A playlist whose videos are named after the titles' first letters."""
    items = [Item(video=f"video-{t[0]}0000", title=t, part=n, **changed) for n, t in enumerate(titles, 1)]
    return Playlist(playlist=PlaylistHead(id=NAME), items=tuple(items))


def open_facts(ledger: Ledger) -> dict[tuple[str, int, str], Any]:
    sql = """SELECT video_id, occurrence, predicate, value_json FROM item_fact
             JOIN playlist_item ON playlist_item.id = playlist_item_id WHERE valid_to IS NULL"""
    return {(r["video_id"][6], r["occurrence"], r["predicate"]): json.loads(r["value_json"]) for r in rows(ledger, sql)}


def rows(ledger: Ledger, sql: str) -> list[Any]:
    return ledger.database.rows(sql)


def everything(ledger: Ledger) -> list[tuple[Any, ...]]:
    return [
        tuple(row) for table in ("run", "item_fact", "playlist_item") for row in rows(ledger, f"SELECT * FROM {table}")
    ]


def stop_after(monkeypatch: pytest.MonkeyPatch, chunks: int) -> None:
    """The disk fails once this many chunks are durable."""
    monkeypatch.setattr(faults, "_fault", faults._armed(f"ingest.chunk.before:eio:{chunks + 1}"))


def go_on(monkeypatch: pytest.MonkeyPatch, ledger: Ledger) -> None:
    monkeypatch.setattr(faults, "_fault", None)
    with ledger.database.write("sweep") as connection:  # its process is gone
        connection.execute("UPDATE run SET lease_owner = 'gone', lease_expires_at = 0 WHERE status = 'running'")
    ledger.sweep(3)


def test_every_entry_has_its_facts(ledger: Ledger, store: AssetStore) -> None:
    """Member, position, part and title; a video that is listed twice is two entries."""
    ingest(ledger, store, listed("One", "Two", "One again"))
    found = open_facts(ledger)
    assert len(found) == 12
    assert found["O", 2, "title"] == "One again"
    assert [found["O", 1, p] for p in ("member", "position", "part", "title")] == [True, 1, 1, "One"]
    [run] = rows(ledger, "SELECT * FROM run")
    assert (run["kind"], run["status"], run["exit_code"]) == ("ingest", "completed", 0)


def test_an_unchanged_list_writes_nothing(ledger: Ledger, store: AssetStore) -> None:
    """No run row, no fact, no file."""
    ingest(ledger, store, listed("One", "Two"))
    before = everything(ledger)
    assert ingest(ledger, store, listed("One", "Two")) is None
    assert everything(ledger) == before


def test_what_changed_is_superseded_and_what_went_is_closed(ledger: Ledger, store: AssetStore) -> None:
    """Only what differs gets a new fact; every fact of a removed entry ends; one that comes back has new ones."""
    ingest(ledger, store, listed("One", "Two", "Six"))
    ingest(ledger, store, listed("One", "Two, better"))
    found = open_facts(ledger)
    assert found["T", 1, "title"] == "Two, better"
    assert not [key for key in found if key[0] == "S"]
    assert len(rows(ledger, "SELECT id FROM item_fact WHERE valid_to IS NOT NULL")) == 5
    ingest(ledger, store, listed("One", "Two, better", "Six"))
    members = rows(ledger, "SELECT valid_to FROM item_fact JOIN playlist_item ON playlist_item.id = playlist_item_id"
                           " WHERE predicate = 'member' AND video_id = 'video-S0000' ORDER BY valid_from")  # fmt: skip
    assert [row["valid_to"] is None for row in members] == [False, True]


def test_a_list_that_goes_back_is_stated_again(ledger: Ledger, store: AssetStore) -> None:
    """A, B, A: three runs, and three facts of the title."""
    for title in ("One", "Other", "One"):
        assert ingest(ledger, store, listed(title)) is not None
    titles = rows(ledger, "SELECT value_json, valid_to FROM item_fact WHERE predicate = 'title' ORDER BY valid_from")
    assert [(row["value_json"], row["valid_to"] is None) for row in titles] == [
        ('"One"', False),
        ('"Other"', False),
        ('"One"', True),
    ]


def test_the_checkpoint_holds_the_next_entry_and_the_list(ledger: Ledger, store: AssetStore) -> None:
    """Persisted state: `{"next_index": n, "snapshot": sha}`, and the frozen list is a file of the store."""
    playlist = listed("One", "Two")
    ingest(ledger, store, playlist)
    sha256 = ids.sha256_hex(snapshot(playlist))
    [run] = rows(ledger, "SELECT checkpoint_json FROM run")
    assert run["checkpoint_json"] == f'{{"next_index":2,"snapshot":"{sha256}"}}'
    entries = json.loads(store.verify(sha256, ".json").read_bytes())
    assert entries[1] == {"video": "video-T0000", "occurrence": 1, "position": 2, "part": 2, "title": "Two"}


def resumed_from(ledger: Ledger, store: AssetStore, playlist: Playlist, next_index: int) -> None:
    """A paused ingest of this list with a checkpoint written by hand."""
    data = snapshot(playlist)
    store.put(data, ".json", "snapshot.file")
    checkpoint = json.dumps({"next_index": next_index, "snapshot": ids.sha256_hex(data)})
    with ledger.database.write("run.open") as connection:
        connection.execute(
            "INSERT INTO run (id, kind, status, playlist_id, params_json, checkpoint_json, created_at, updated_at)"
            " VALUES (?, 'ingest', 'paused', ?, '{}', ?, 1, 1)",
            (ids.new_run_id(), NAME, checkpoint),
        )
    ingest(ledger, store, playlist)


def test_it_goes_on_where_the_checkpoint_says(ledger: Ledger, store: AssetStore) -> None:
    """From the literal `{"next_index": 2, "snapshot": …}` only the third of three entries is stated."""
    resumed_from(ledger, store, listed("One", "Two", "Six"), 2)
    assert {key[0] for key in open_facts(ledger)} == {"S"}


@pytest.mark.parametrize("next_index", [3, 99, 10**12])
def test_a_checkpoint_at_or_past_the_end_is_the_end(ledger: Ledger, store: AssetStore, next_index: int) -> None:
    """Only the removals are left, and the run is completed."""
    resumed_from(ledger, store, listed("One", "Two", "Six"), next_index)
    assert (open_facts(ledger), rows(ledger, "SELECT status FROM run")[0]["status"]) == ({}, "completed")


def test_an_empty_checkpoint_starts_over(ledger: Ledger, store: AssetStore) -> None:
    """A run with the literal `{}` has frozen no list: the list is stated by a run of its own."""
    with ledger.database.write("run.open") as connection:
        connection.execute(
            "INSERT INTO run (id, kind, status, playlist_id, params_json, checkpoint_json, created_at, updated_at)"
            " VALUES ('x', 'ingest', 'paused', ?, '{}', '{}', 1, 1)", (NAME,),
        )  # fmt: skip
    ingest(ledger, store, listed("One"))
    assert len(open_facts(ledger)) == 4


def test_a_frozen_list_that_is_damaged_is_told(ledger: Ledger, store: AssetStore) -> None:
    """Nothing is stated from a file that is not what its name says."""
    playlist = listed("One")
    path = store.path(ids.sha256_hex(snapshot(playlist)), ".json")
    store.put(snapshot(playlist), ".json", "snapshot.file")
    path.write_bytes(b"[]")
    store.put = lambda *_: ""  # type: ignore[method-assign]
    with pytest.raises(AssetDamaged):
        ingest(ledger, store, playlist)
    assert open_facts(ledger) == {}


@pytest.mark.parametrize("chunks", [0, 1, 2, 3, 4])
def test_a_long_list_that_was_cut_short_is_gone_on_with(
    ledger: Ledger, store: AssetStore, monkeypatch: pytest.MonkeyPatch, chunks: int
) -> None:
    """Stopped after any chunk: the same run goes on, and ends with what an undisturbed one has. Nothing is closed
    before the last entry is stated."""
    monkeypatch.setattr(ingest_module, "CHUNK", 2)
    ingest(ledger, store, listed("Gone", "Fold"))
    playlist = listed("A", "B", "C", "D", "E", "F")
    stop_after(monkeypatch, chunks)
    if chunks < 4:
        with pytest.raises(LedgerError):
            ingest(ledger, store, playlist)
        assert open_facts(ledger)["G", 1, "member"] is True
        go_on(monkeypatch, ledger)
    run = ingest(ledger, store, playlist)
    if chunks < 4:
        assert [row["id"] for row in rows(ledger, "SELECT id FROM run WHERE kind = 'ingest'")][1:] == [run]
    found = open_facts(ledger)
    assert sorted(key[0] for key in found if key[2] == "title") == list("ABCDEF")
    assert [found[letter, 1, "position"] for letter in "ABCDEF"] == [1, 2, 3, 4, 5, 6]


def test_another_list_meanwhile_is_a_run_of_its_own(
    ledger: Ledger, store: AssetStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cut ingest of an old list is never gone on with after a newer one: the newest list is what holds."""
    monkeypatch.setattr(ingest_module, "CHUNK", 1)
    stop_after(monkeypatch, 1)
    with pytest.raises(LedgerError):
        ingest(ledger, store, listed("Old", "Plan"))
    go_on(monkeypatch, ledger)
    ingest(ledger, store, listed("New"))
    assert {key[0] for key in open_facts(ledger)} == {"N"}
    ingest(ledger, store, listed("Old", "Plan"))
    assert {key[0] for key in open_facts(ledger)} == {"O", "P"}


@pytest.mark.parametrize("after", [0, 1, 2], ids=["before the first", "between two", "before the removals"])
def test_who_lost_the_lease_states_nothing_more(
    ledger: Ledger, store: AssetStore, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """Another process has taken the ingest over: from then on nothing is stated or closed, and the run is not ended."""
    ingest(ledger, store, listed("Gone"))
    monkeypatch.setattr(ingest_module, "CHUNK", 1)
    real, left = ledger.database.write, [after]

    def write(step: str) -> Any:
        if step == "ingest.chunk":
            if left[0] == 0:
                with real("run.claim") as connection:
                    connection.execute("UPDATE run SET lease_epoch = lease_epoch + 1 WHERE status = 'running'")
            left[0] -= 1
        return real(step)

    monkeypatch.setattr(ledger.database, "write", write)
    with pytest.raises(LeaseLost):
        ingest(ledger, store, listed("One", "Two"))
    found = open_facts(ledger)
    assert {key[0] for key in found} == {"G", *"OT"[:after]}
    assert rows(ledger, "SELECT status FROM run ORDER BY rowid DESC")[0]["status"] == "running"


@pytest.fixture
def other(ledger: Ledger) -> Ledger:
    """The ledger as another process has it."""
    return Ledger(ledger.database, new_owner(), 30, Clock())


def meanwhile(monkeypatch: pytest.MonkeyPatch, ledger: Ledger, method: str, happens: Callable[[], Any]) -> None:
    """Something happens in another process just before this ledger's method is called."""
    real = getattr(ledger, method)

    def late(*args: Any) -> Any:
        happens()
        return real(*args)

    monkeypatch.setattr(ledger, method, late)


def test_two_processes_may_state_the_same_list(
    ledger: Ledger, other: Ledger, store: AssetStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one is done between our look and our run: both end well, and every fact is there once."""
    meanwhile(monkeypatch, ledger, "open_run", lambda: ingest(other, store, listed("One", "Two")))
    assert ingest(ledger, store, listed("One", "Two")) is not None
    assert len(rows(ledger, "SELECT id FROM item_fact")) == 8
    assert {row["status"] for row in rows(ledger, "SELECT status FROM run")} == {"completed"}


def test_a_list_that_another_process_stated_meanwhile_is_not_taken_for_the_last(
    ledger: Ledger, other: Ledger, store: AssetStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What did not change since the last list that we saw may have been changed by one that we did not: the newest
    list is what holds, all of it."""
    ingest(ledger, store, listed("One", "Two"))
    meanwhile(monkeypatch, ledger, "open_run", lambda: ingest(other, store, listed("Ones", "Two")))
    ingest(ledger, store, listed("One", "Twos"))
    found = open_facts(ledger)
    assert (found["O", 1, "title"], found["T", 1, "title"]) == ("One", "Twos")


def test_what_the_last_list_stated_is_not_stated_again(
    ledger: Ledger, store: AssetStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One changed title among thousands is one transaction; where the last list's file is gone, all are."""
    monkeypatch.setattr(ingest_module, "CHUNK", 2)
    letters = "ABCDEFGH"
    ingest(ledger, store, listed(*(f"{letter} title" for letter in letters)))
    stated: list[int] = []
    real = ingest_module._state
    monkeypatch.setattr(ingest_module, "_state", lambda *args: (stated.append(len(args[2])), real(*args)))
    ingest(ledger, store, listed(*(f"{letter} title" for letter in letters[:-1]), "H other"))
    assert stated == [1]
    [checkpoint] = rows(ledger, "SELECT checkpoint_json FROM run ORDER BY rowid DESC LIMIT 1")
    store.path(json.loads(checkpoint["checkpoint_json"])["snapshot"], ".json").unlink()
    stated.clear()
    ingest(ledger, store, listed(*(f"{letter} title" for letter in letters)))
    assert stated == [2, 2, 2, 2]
    assert open_facts(ledger)["H", 1, "title"] == "H title"


def test_two_processes_may_go_on_with_the_same_list(
    ledger: Ledger, other: Ledger, store: AssetStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both find a cut ingest; the one that comes second has nothing to do, and is not told that it did wrong."""
    monkeypatch.setattr(ingest_module, "CHUNK", 1)
    stop_after(monkeypatch, 1)
    with pytest.raises(LedgerError):
        ingest(ledger, store, listed("One", "Two"))
    go_on(monkeypatch, ledger)
    meanwhile(monkeypatch, ledger, "resume_run", lambda: ingest(other, store, listed("One", "Two")))
    ingest(ledger, store, listed("One", "Two"))
    assert len(rows(ledger, "SELECT id FROM item_fact")) == 8


# Killed, on the real command line


def test_a_list_of_1200_killed_at_a_chunk(tmp_path: Path) -> None:
    """kill -9 when 400 entries are stated; the next batch states the rest in the same run."""
    site = Site.make(tmp_path / "site", 1200)
    told = site.batch("only=1", THUMBFORGE_FAULT="ingest.chunk.after:kill:2")
    assert told.returncode == -9
    count = "SELECT count(*) FROM item_fact WHERE predicate = 'member'"
    assert (site.query(count), site.calls()) == ([(400,)], (0, 0))
    [(run, checkpoint)] = site.query("SELECT id, checkpoint_json FROM run WHERE kind = 'ingest'")
    assert json.loads(checkpoint)["next_index"] == 400
    assert site.batch("only=1").returncode == 0
    assert site.query(count) == [(1200,)]
    assert site.query("SELECT id, status FROM run WHERE kind = 'ingest'") == [(run, "completed")]
    assert site.query("SELECT count(*) FROM item_fact WHERE valid_to IS NOT NULL") == [(0,)]


def test_a_batch_whose_list_is_known_writes_no_ingest(done: Project) -> None:
    """Making one item again is no reason to state the playlist again."""
    done.template(prompt="Another {{ topic }}.")
    assert done.batch("only=1").code == 0
    assert len(done.query("SELECT id FROM run WHERE kind = 'ingest'")) == 1
