"""The ledger's file: private, migrated in one step, never touched by a reader."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from thumbforge.errors import LedgerError, LedgerTooNew, NotFound, ThumbforgeError
from thumbforge.store import database as database_module
from thumbforge.store.database import SCHEMA_VERSION, Database, insert

PLAYLIST = {"youtube_id": "PLsample", "title": "Sample", "created_at": 1.0}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "ledger.sqlite3"


def made(path: Path) -> None:
    with closing(Database.open(path)) as database, database.write("world.row") as connection:
        insert(connection, "playlist", PLAYLIST)


def seen(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir()}


def titles(database: Database) -> list[str]:
    return [row["title"] for row in database.rows("SELECT title FROM playlist ORDER BY title")]


def test_the_file_and_its_directory_are_the_users_own(path: Path) -> None:
    """Nobody else can read what is drawn for whom."""
    made(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_commit_survives_a_power_cut(path: Path) -> None:
    """WAL with synchronous=FULL, foreign keys on: a paid call whose record is lost would be paid again."""
    with closing(Database.open(path)) as database:
        pragmas = {
            name: database.rows(f"PRAGMA {name}")[0][0] for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_a_new_file_has_the_schema(path: Path) -> None:
    """It has every table, strict ones, and the current version."""
    with closing(Database.open(path)) as database:
        tables = database.rows(
            "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite%'"
        )
        assert database.rows("PRAGMA user_version")[0][0] == SCHEMA_VERSION
    assert {row["strict"] for row in tables} == {1}
    names = {row["name"] for row in tables}
    assert {"run", "run_item", "iteration", "attempt", "asset", "final", "template", "provider_profile"} <= names
    assert {"video", "playlist", "playlist_item", "item_fact", "lease", "export"} <= names


def test_opening_again_changes_nothing(path: Path) -> None:
    """What was written is there, and no backup is made."""
    made(path)
    with closing(Database.open(path)) as database:
        assert titles(database) == ["Sample"]
    assert list(seen(path)) == ["ledger.sqlite3"]


def test_a_transaction_is_all_or_nothing(path: Path) -> None:
    """An error inside the block leaves the ledger as it was, and the connection usable."""
    with closing(Database.open(path)) as database:

        def half() -> None:
            with database.write("world.row") as connection:
                insert(connection, "playlist", PLAYLIST)
                raise KeyError

        with pytest.raises(KeyError):
            half()
        assert titles(database) == []
        with database.write("world.row") as connection:
            insert(connection, "playlist", PLAYLIST)
        assert titles(database) == ["Sample"]


def test_insert_once_leaves_the_first_row(path: Path) -> None:
    """With `once` a row of the same key stays as it is; without it that is an error."""
    with closing(Database.open(path)) as database:
        with database.write("world.row") as connection:
            insert(connection, "playlist", PLAYLIST, once="youtube_id")
            insert(connection, "playlist", {**PLAYLIST, "title": "Other"}, once="youtube_id")
        assert titles(database) == ["Sample"]
        with pytest.raises(LedgerError, match="UNIQUE"), database.write("world.row") as connection:
            insert(connection, "playlist", PLAYLIST)


def test_threads_take_turns(path: Path) -> None:
    """One connection serves many threads; each transaction sees what the one before it wrote."""
    with closing(Database.open(path)) as database:

        def count_up() -> None:
            for _ in range(20):
                with database.write("world.row") as connection:
                    connection.execute("UPDATE playlist SET created_at = created_at + 1")

        with database.write("world.row") as connection:
            insert(connection, "playlist", {**PLAYLIST, "created_at": 0.0})
        threads = [threading.Thread(target=count_up) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert database.rows("SELECT created_at FROM playlist")[0][0] == 80


# Reading


def test_reading_writes_no_file(path: Path) -> None:
    """Neither the file nor its directory changes by a reader, not even for a moment while it is open."""
    made(path)
    before = seen(path)
    with closing(Database.open_for_reading(path)) as database:
        assert titles(database) == ["Sample"]
        assert seen(path) == before
    assert seen(path) == before


def test_a_reader_sees_what_a_writer_has_committed(path: Path) -> None:
    """Also while the writer has the ledger open."""
    with closing(Database.open(path)) as writer:
        with writer.write("world.row") as connection:
            insert(connection, "playlist", PLAYLIST)
        with closing(Database.open_for_reading(path)) as reader:
            assert titles(reader) == ["Sample"]


def test_a_reader_cannot_write(path: Path) -> None:
    """A write through it is refused."""
    made(path)
    with (
        closing(Database.open_for_reading(path)) as database,
        pytest.raises(LedgerError),
        database.write("world.row") as connection,
    ):
        insert(connection, "playlist", {**PLAYLIST, "youtube_id": "PLother"})
    with closing(Database.open_for_reading(path)) as database:
        assert titles(database) == ["Sample"]


def test_where_no_ledger_is_there_is_nothing_to_read(path: Path) -> None:
    """NotFound, and nothing is made."""
    with pytest.raises(NotFound):
        Database.open_for_reading(path)
    assert not path.parent.exists()


@pytest.mark.parametrize("name", ["a name with spaces", "100%", "what?", "#1", "ünïcode"])
def test_any_directory_will_do(tmp_path: Path, name: str) -> None:
    """A path is a path, whatever it would mean in an address."""
    path = tmp_path / name / "ledger.sqlite3"
    made(path)
    with closing(Database.open_for_reading(path)) as database:
        assert titles(database) == ["Sample"]


# What is refused


@pytest.mark.parametrize("open_it", [Database.open, Database.open_for_reading])
def test_a_newer_schema_is_refused(path: Path, open_it: object) -> None:
    """Nothing is written to a ledger of a later version; the message says to upgrade."""
    made(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    with pytest.raises(LedgerTooNew) as caught:
        open_it(path)  # type: ignore[operator]
    assert f"has schema {SCHEMA_VERSION + 1}" in str(caught.value)
    assert caught.value.hint == "upgrade thumbforge"
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT title FROM playlist").fetchall() == [("Sample",)]


@pytest.mark.parametrize("open_it", [Database.open, Database.open_for_reading])
@pytest.mark.parametrize(
    "content", [b"this is no database, but long enough to be one" * 40, b"SQLite format 3\x00" + b"\xff" * 2000]
)
def test_what_is_no_database_is_refused(path: Path, content: bytes, open_it: object) -> None:
    """One line that names the file and says what to do; the file stays as it is."""
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(LedgerError, match="ledger") as caught:
        open_it(path)  # type: ignore[operator]
    assert str(path) in caught.value.hint
    assert path.read_bytes() == content


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_cannot_be_written_is_one_line(path: Path) -> None:
    """The hint names the directory whose permissions are wrong."""
    path.parent.mkdir()
    path.parent.chmod(0o500)
    try:
        with pytest.raises(LedgerError, match="cannot be written") as caught:
            Database.open(path)
    finally:
        path.parent.chmod(0o700)
    assert str(path.parent) in caught.value.hint


def test_a_place_that_is_taken_is_one_line(tmp_path: Path) -> None:
    """A file where the directory should be is told, not raised as an OSError."""
    (tmp_path / "home").write_text("in the way")
    with pytest.raises(LedgerError, match="cannot be written") as caught:
        Database.open(tmp_path / "home" / "ledger.sqlite3")
    assert isinstance(caught.value, ThumbforgeError)


# Migrations


@pytest.fixture
def next_schema(monkeypatch: pytest.MonkeyPatch) -> dict[int, str]:
    """A later version of thumbforge, whose schema has a column more."""
    scripts = {
        SCHEMA_VERSION + 1: "ALTER TABLE playlist ADD COLUMN colour TEXT;\nUPDATE playlist SET colour = 'red';\n"
    }
    monkeypatch.setattr(database_module, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    monkeypatch.setattr(database_module, "migrations", lambda: scripts)
    return scripts


def test_an_older_ledger_is_migrated_and_backed_up(path: Path, request: pytest.FixtureRequest) -> None:
    """It has the new schema and its old rows; beside it lies a copy with the old schema."""
    made(path)
    request.getfixturevalue("next_schema")
    with closing(Database.open(path)) as database:
        assert [tuple(row) for row in database.rows("SELECT title, colour FROM playlist")] == [("Sample", "red")]
        assert database.rows("PRAGMA user_version")[0][0] == SCHEMA_VERSION + 1
    backup = path.with_name(f"ledger.sqlite3.schema-{SCHEMA_VERSION}")
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert connection.execute("SELECT title FROM playlist").fetchall() == [("Sample",)]


def test_a_migration_that_fails_leaves_the_old_ledger(path: Path, request: pytest.FixtureRequest) -> None:
    """All of a migration is one transaction: its first statements go with the one that failed."""
    made(path)
    scripts = request.getfixturevalue("next_schema")
    scripts[SCHEMA_VERSION + 1] += "UPDATE no_such_table SET x = 1;\n"
    with pytest.raises(LedgerError, match="no_such_table"):
        Database.open(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        columns = [row[1] for row in connection.execute("PRAGMA table_info(playlist)")]
    assert "colour" not in columns


def test_a_statement_of_a_migration_may_span_lines(path: Path, request: pytest.FixtureRequest) -> None:
    """A trigger with statements of its own is one statement, comments are none."""
    made(path)
    scripts = request.getfixturevalue("next_schema")
    scripts[SCHEMA_VERSION + 1] += (
        "-- what; it; does\nCREATE TRIGGER paint AFTER INSERT ON playlist BEGIN\n"
        "  UPDATE playlist SET colour = 'blue' WHERE youtube_id = new.youtube_id;\nEND;\n"
    )
    with closing(Database.open(path)) as database:
        with database.write("world.row") as connection:
            insert(connection, "playlist", {**PLAYLIST, "youtube_id": "PLother"})
        colours = [row[0] for row in database.rows("SELECT colour FROM playlist ORDER BY colour")]
    assert colours == ["blue", "red"]


def test_the_shipped_migrations_lead_to_the_current_schema() -> None:
    """Their numbers go from 2 to the current version without a gap."""
    assert sorted(database_module.migrations()) == list(range(2, SCHEMA_VERSION + 1))
