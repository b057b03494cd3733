"""Facts about playlist items: who said what, from when to when; closed ones never change again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from thumbforge.errors import LedgerError
from thumbforge.store import facts
from thumbforge.store.database import Database, insert

PLAYLIST = "PLfacts"
ITEM = facts.playlist_item_id(PLAYLIST, "video-00001", 1)


def run_id(n: int) -> str:
    return f"{n:08d}-0000-4000-8000-000000000000"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(opened(tmp_path)) as database:
        yield database


def opened(folder: Path) -> Database:
    """A ledger with one item of one playlist."""
    database = Database.open(folder / "ledger.sqlite3")
    with database.write("world.row") as connection:
        insert(connection, "playlist", {"youtube_id": PLAYLIST, "title": "", "created_at": 0.0})
        insert(connection, "video", {"youtube_id": "video-00001", "created_at": 0.0})
        place = {"playlist_id": PLAYLIST, "video_id": "video-00001", "occurrence": 1}
        insert(connection, "playlist_item", {"id": ITEM, **place})
    return database


def say(database: Database, n: int, value: Any, *, predicate: str = "title", origin: facts.Origin = "ingest") -> None:
    """Run `n` states a value, at the time `n`."""
    with database.write("ingest.chunk") as connection:
        known = facts.open_facts(connection, PLAYLIST)
        facts.state(connection, known, ITEM, predicate, value, run_id=run_id(n), at=float(n), origin=origin)


def close(database: Database, fact: str, n: int) -> None:
    with database.write("ingest.chunk") as connection:
        facts.invalidate(connection, fact, run_id=run_id(n), at=float(n))


def rows(database: Database) -> list[tuple[Any, ...]]:
    """Value, from, to, origin, in the order of their times."""
    sql = "SELECT value_json, valid_from, valid_to, origin FROM item_fact ORDER BY valid_from"
    return [tuple(row) for row in database.rows(sql)]


def test_ids_are_derived_and_pinned() -> None:
    """The same item, run, predicate and value have the same id on every machine: persisted state."""
    assert facts.playlist_item_id("PLx", "abcdefghijk", 1) == "73859471-9138-52e8-b62d-8a83191825c9"
    assert facts.fact_id(run_id(1), ITEM, "title", '"A"') == "e482d48f-3f89-5441-92c4-a81ddce4adb2"


def test_a_changed_value_supersedes(database: Database) -> None:
    """The old fact ends when the new one begins and points to it; both stay."""
    say(database, 1, "A")
    say(database, 2, "B")
    assert rows(database) == [('"A"', 1.0, 2.0, "ingest"), ('"B"', 2.0, None, "ingest")]
    old, new = database.rows("SELECT * FROM item_fact ORDER BY valid_from")
    assert (old["superseded_by"], old["closed_by_run"], new["opened_by_run"]) == (new["id"], run_id(2), run_id(2))
    assert new["superseded_by"] is None


def test_the_same_value_changes_nothing(database: Database) -> None:
    """Not even who said it or when."""
    say(database, 1, "A")
    say(database, 2, "A")
    assert rows(database) == [('"A"', 1.0, None, "ingest")]


def test_there_and_back_are_three_facts(database: Database) -> None:
    """A title that goes from A to B and to A again held three times."""
    for n, title in enumerate("ABA", 1):
        say(database, n, title)
    assert rows(database) == [
        ('"A"', 1.0, 2.0, "ingest"),
        ('"B"', 2.0, 3.0, "ingest"),
        ('"A"', 3.0, None, "ingest"),
    ]


def test_what_a_user_said_stands(database: Database) -> None:
    """An ingest never replaces it; the user may; and a user replaces what an ingest said."""
    say(database, 1, 1, predicate="part")
    say(database, 2, 7, predicate="part", origin="user")
    say(database, 3, 1, predicate="part")
    assert rows(database) == [("1", 1.0, 2.0, "ingest"), ("7", 2.0, None, "user")]
    say(database, 4, 8, predicate="part", origin="user")
    assert rows(database)[1:] == [("7", 2.0, 4.0, "user"), ("8", 4.0, None, "user")]


def test_a_closed_fact_keeps_its_time(database: Database) -> None:
    """Closing it again, later and by another run, changes nothing; redoing a supersede neither."""
    say(database, 1, "A")
    say(database, 2, "B")
    before = [tuple(row) for row in database.rows("SELECT * FROM item_fact")]
    [old] = database.rows("SELECT id FROM item_fact WHERE valid_to IS NOT NULL")
    close(database, old["id"], 9)
    say(database, 2, "B")
    assert [tuple(row) for row in database.rows("SELECT * FROM item_fact")] == before


def test_an_unknown_fact_cannot_be_closed(database: Database) -> None:
    """It is an error, and nothing is written."""
    say(database, 1, "A")
    before = rows(database)
    with pytest.raises(LedgerError, match="there is no fact"):
        close(database, facts.fact_id(run_id(1), ITEM, "title", '"Z"'), 2)
    assert rows(database) == before


def test_a_run_does_not_say_twice_what_was_closed_since(database: Database) -> None:
    """A redo of a run whose fact another run has superseded meanwhile does not bring it back."""
    say(database, 1, "A")
    say(database, 2, "B")
    say(database, 1, "A")
    assert rows(database)[-1] == ('"B"', 2.0, None, "ingest")


def test_the_ledger_itself_refuses_a_second_open_fact(database: Database) -> None:
    """Whoever writes past the code."""
    say(database, 1, "A")
    row = {**dict(database.rows("SELECT * FROM item_fact")[0]), "id": "another"}
    with pytest.raises(LedgerError, match="UNIQUE"), database.write("ingest.chunk") as connection:
        insert(connection, "item_fact", row)


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from(["ingest", "user"])), max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_any_history(tmp_path_factory: pytest.TempPathFactory, history: list[tuple[str, facts.Origin]]) -> None:
    """Facts of an item and predicate never overlap and leave no gap; what was closed never changes; saying it all
    again changes nothing."""
    with closing(opened(tmp_path_factory.mktemp("ledger"))) as database:
        closed: set[tuple[Any, ...]] = set()
        for n, (value, origin) in enumerate(history, 1):
            say(database, n, value, origin=origin)
            found = rows(database)
            assert closed <= set(found)
            closed |= {row for row in found if row[2] is not None}
        found = rows(database)
        assert [row[2] for row in found] == [row[1] for row in found[1:]] + [None] * bool(found)
        by_user = [value for value, origin in history if origin == "user"]
        if by_user and found[-1][3] == "user":
            assert found[-1][0] == f'"{by_user[-1]}"'
        for n, (value, origin) in enumerate(history[-1:], len(history)):
            say(database, n, value, origin=origin)
        assert rows(database) == found
