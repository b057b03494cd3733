"""States: a second, independent table of what may happen to a run and to an iteration, and what it becomes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from thumbforge.errors import LedgerError
from thumbforge.store import states
from thumbforge.store.database import Database, insert

RUN_STATES = ("pending", "running", "paused", "completed", "failed", "cancelled")
RUN_EVENTS = ("claim", "complete", "fail", "pause", "cancel")
RUN = {
    "pending": {"claim": "running", "cancel": "cancelled"},
    "running": {"complete": "completed", "fail": "failed", "pause": "paused", "cancel": "cancelled"},
    "paused": {"claim": "running", "cancel": "cancelled"},
    "failed": {"claim": "running", "cancel": "cancelled"},
    "completed": {},
    "cancelled": {},
}  # fmt: skip
ITERATION_STATES = ("pending", "running", "completed", "failed", "cancelled")
ITERATION_EVENTS = ("claim", "release", "complete", "fail", "cancel", "forget")
ITERATION = {
    "pending": {
        "claim": "running", "complete": "completed", "fail": "failed", "cancel": "cancelled", "forget": "cancelled",
    },
    "running": {
        "claim": "running", "release": "pending", "complete": "completed", "fail": "failed", "cancel": "cancelled",
        "forget": "cancelled",
    },
    "completed": {
        "claim": "completed", "release": "completed", "complete": "completed", "fail": "failed", "forget": "cancelled",
    },
    "failed": {
        "claim": "running", "complete": "completed", "fail": "failed", "cancel": "cancelled", "forget": "cancelled",
    },
    "cancelled": {"claim": "running", "complete": "completed", "fail": "failed", "forget": "cancelled"},
}  # fmt: skip


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with closing(Database.open(tmp_path_factory.mktemp("states") / "ledger.sqlite3")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def rows(database: Database) -> Iterator[None]:
    """A run and an iteration with art and final, of which each test sets the state that it wants."""
    times = {"created_at": 1.0, "updated_at": 1.0}
    asset = {"sha256": "a" * 64, "suffix": ".jpg", "media_type": "image/jpeg", "bytes": 1, "width": 1, "height": 1}
    with database.write("world.row") as connection:
        insert(connection, "run", {"id": "R", "kind": "batch", "status": "pending", "params_json": "{}", **times})
        iteration = {"id": "I", "run_id": "R", "item_key": "i", "idempotency_key": "k", "key_parts_json": "{}"}
        insert(connection, "iteration", {**iteration, "status": "pending", **times})
        insert(connection, "asset", {**asset, "created_at": 1.0})
        attempt = {"id": "A", "iteration_id": "I", "n": 1, "art_key": "art", "executor_run_id": "R", "lease_epoch": 1}
        closed = {"request_json": "{}", "opened_at": 1.0, "closed_at": 2.0, "outcome": "ok", "art_sha256": "a" * 64}
        insert(connection, "attempt", {**attempt, **closed})
        final = {"final_key": "f" * 64, "iteration_id": "I", "art_sha256": "a" * 64, "sha256": "a" * 64}
        insert(connection, "final", {**final, "compliant": 1, "report_json": "{}", "created_at": 1.0})
        connection.execute("UPDATE iteration SET attempt_id = 'A', final_key = ?", ("f" * 64,))
    yield
    with database.write("world.row") as connection:
        connection.execute("UPDATE iteration SET status = 'pending', attempt_id = NULL, final_key = NULL")
        for table in ("final", "attempt", "iteration", "run", "asset"):
            connection.execute(f"DELETE FROM {table}")


def put(database: Database, table: str, status: str) -> None:
    lease = ", lease_owner = 'o', lease_expires_at = 9, cancel_requested = 1, pause_requested = 1"
    with database.write("world.row") as connection:
        connection.execute(
            f"UPDATE {table} SET status = '{status}'{lease if (table, status) == ('run', 'running') else ''}"
        )


def row(database: Database, table: str) -> dict[str, Any]:
    return dict(database.rows(f"SELECT * FROM {table}")[0])


def change(database: Database, table: Any, event: Any, **columns: Any) -> str:
    with database.write("world.row") as connection:
        return states.change(connection, table, {"run": "R", "iteration": "I"}[table], event, 5.0, **columns)


PAIRS = [
    *(("run", s, e, RUN[s].get(e)) for s, e in itertools.product(RUN_STATES, RUN_EVENTS)),
    *(("iteration", s, e, ITERATION[s].get(e)) for s, e in itertools.product(ITERATION_STATES, ITERATION_EVENTS)),
]


@pytest.mark.parametrize(("table", "state", "event", "after"), [pair for pair in PAIRS if pair[3]])
def test_a_legal_event_changes_the_state(database: Database, table: str, state: str, event: str, after: str) -> None:
    """The new state is told and stored, with the time of the change."""
    put(database, table, state)
    assert change(database, table, event) == after
    found = row(database, table)
    assert (found["status"], found["updated_at"]) == (after, 5.0)


@pytest.mark.parametrize(("table", "state", "event"), [pair[:3] for pair in PAIRS if not pair[3]])
def test_any_other_event_is_refused(database: Database, table: str, state: str, event: str) -> None:
    """The row stays as it was in every column, and the message says what the row is."""
    put(database, table, state)
    before = row(database, table)
    with pytest.raises(LedgerError, match=f"is {state}: it cannot {event}"):
        change(database, table, event, error_text="never")
    assert row(database, table) == before


def test_the_tables_agree_in_size() -> None:
    """No pair is legal in the program that is not listed here."""
    assert {(s, e): a for s, to in RUN.items() for e, a in to.items()} == dict(states.RUN)
    assert {(s, e): a for s, to in ITERATION.items() for e, a in to.items()} == dict(states.ITERATION)


@pytest.mark.parametrize("event", ["complete", "fail", "pause", "cancel"])
def test_leaving_running_gives_the_lease_back(database: Database, event: str) -> None:
    """Whoever ends a run ends its lease and what was asked of it in the same place."""
    put(database, "run", "running")
    change(database, "run", event)
    names = ("lease_owner", "lease_expires_at", "cancel_requested", "pause_requested")
    assert [row(database, "run")[name] for name in names] == [None, None, 0, 0]


def test_other_columns_are_set_with_the_state(database: Database) -> None:
    """What belongs to the change is one statement with it."""
    put(database, "run", "running")
    change(database, "run", "fail", exit_code=6, error_text="two failed", finished_at=5.0)
    found = row(database, "run")
    assert (found["exit_code"], found["error_text"], found["finished_at"]) == (6, "two failed", 5.0)


@pytest.mark.parametrize("table", ["run", "iteration"])
def test_a_row_that_does_not_exist_is_an_error(database: Database, table: Any) -> None:
    """Nothing is made up."""
    with pytest.raises(LedgerError, match=f"there is no {table} nowhere"), database.write("world.row") as connection:
        states.change(connection, table, "nowhere", "claim", 5.0)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE run SET status = 'sleeping'",
        "UPDATE run SET lease_owner = 'o', lease_expires_at = 1",
        "UPDATE run SET cancel_requested = 1",
        "UPDATE iteration SET status = 'completed', final_key = NULL",
        "UPDATE iteration SET status = 'completed', attempt_id = NULL",
        "UPDATE attempt SET outcome = 'lost'",
        "UPDATE attempt SET closed_at = NULL",
        "DELETE FROM asset",
        "DELETE FROM run",
    ],
)
def test_the_schema_refuses_what_no_state_allows(database: Database, statement: str) -> None:
    """A lease on a run that does not run, a completed item without a picture and the like cannot even be written."""
    with pytest.raises(LedgerError), database.write("world.row") as connection:
        connection.execute(statement)
