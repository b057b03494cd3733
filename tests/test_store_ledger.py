"""The run ledger: frozen plans, one executor at a time, and what becomes of a run whose process died."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from thumbforge import ids
from thumbforge.errors import LeaseLost, LedgerError, NotFound, ReplayDivergence, UsageError
from thumbforge.store.attempts import Art, Spent
from thumbforge.store.database import Database
from thumbforge.store.leases import new_owner
from thumbforge.store.ledger import Fence, Ledger
from thumbforge.store.pictures import StoredPicture
from thumbforge.store.plans import PlannedItem
from thumbforge.store.runs import NewRun
from thumbforge.store.views import list_runs, show_run
from thumbforge.store.work import Busy, Work
from thumbforge.store.world import ProfileRow, remember_profile

PARTS = {"video": "v", "prompt": "p"}
REQUEST = {"prompt": "p"}
SPENT = Spent(calls=1)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(Database.open(tmp_path / "ledger.sqlite3")) as opened:
        yield opened


@pytest.fixture
def ledger(database: Database, clock: Clock) -> Ledger:
    return Ledger(database, new_owner(), 30, clock)


@pytest.fixture
def other(database: Database, clock: Clock) -> Ledger:
    """The ledger as another process has it."""
    return Ledger(database, new_owner(), 30, clock)


def new_run(n: int = 1) -> NewRun:
    run_id = f"0000000{n}-0000-4000-8000-000000000000"
    return NewRun(run_id, "batch", series="show", params={"n": n})


def planned(n: int = 1, **fields: Any) -> PlannedItem:
    item = PlannedItem(f"video:v{n}:1", f"key-{n}", {**PARTS, "video": f"v{n}"}, "create", "new", {"position": n})
    return replace(item, **fields)


def picture(n: int = 1) -> StoredPicture:
    return StoredPicture(f"{n}" * 64, ".jpg", "image/jpeg", 10 + n, 1280, 720)


def iteration_of(database: Database, n: int = 1) -> str:
    return str(database.rows("SELECT id FROM iteration WHERE idempotency_key = ?", (f"key-{n}",))[0]["id"])


def claimed(work: Work, iteration: str, art_key: str = "art-1") -> str:
    attempt = work.claim(iteration, art_key, 1, REQUEST, lost_art=None)
    assert isinstance(attempt, str)
    return attempt


def stored(database: Database, table: str) -> Any:
    """The only row of a table."""
    [row] = database.rows(f"SELECT * FROM {table}")
    return row


def dump(database: Database) -> list[tuple[Any, ...]]:
    names = [row["name"] for row in database.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return [tuple(row) for name in sorted(names) for row in database.rows(f"SELECT * FROM {name}")]


def started(ledger: Ledger, database: Database, clock: Clock, n: int = 1) -> tuple[Fence, Work, str]:
    fence = ledger.open_run(new_run(n), [planned(n)])
    return fence, Work(database, fence, clock), iteration_of(database, n)


# Opening


def test_a_run_is_opened_with_its_whole_plan(ledger: Ledger, database: Database) -> None:
    """Its items in order under derived ids, a pending iteration where there is work, and the lease, at once."""
    done = planned(2, key_parts=None, action="skip", reason="up to date")
    fence = ledger.open_run(new_run(), [planned(1), done])
    run = database.rows("SELECT * FROM run")[0]
    assert (run["status"], run["lease_owner"], run["lease_epoch"], run["claims"]) == ("running", ledger.owner, 1, 1)
    assert (run["lease_expires_at"], run["started_at"]) == (130.0, 100.0)
    rows = database.rows("SELECT * FROM run_item ORDER BY ordinal")
    assert [row["id"] for row in rows] == [ids.run_item_id(fence.run_id, f"video:v{n}:1") for n in (1, 2)]
    assert [row["action"] for row in rows] == ["create", "skip"]
    assert rows[0]["iteration_id"] == ids.iteration_id(fence.run_id, "video:v1:1", "key-1")
    assert rows[1]["iteration_id"] is None
    [iteration] = database.rows("SELECT * FROM iteration")
    assert (iteration["status"], json.loads(iteration["key_parts_json"])) == ("pending", {**PARTS, "video": "v1"})


def test_a_second_run_lands_on_the_iteration_that_has_the_key(ledger: Ledger, database: Database) -> None:
    """One iteration per key over all runs."""
    first = ledger.open_run(new_run(1), [planned()])
    ledger.open_run(new_run(2), [planned()])
    assert database.rows("SELECT count(*) FROM iteration")[0][0] == 1
    found = {row["iteration_id"] for row in database.rows("SELECT iteration_id FROM run_item")}
    assert found == {ids.iteration_id(first.run_id, "video:v1:1", "key-1")}


def test_a_key_with_other_parts_is_a_divergence(ledger: Ledger, database: Database) -> None:
    """The run is not opened: the two items only look alike, and none may get the other's picture."""
    ledger.open_run(new_run(1), [planned()])
    before = dump(database)
    with pytest.raises(ReplayDivergence, match="recorded with other parts"):
        ledger.open_run(new_run(2), [planned(2), planned(key_parts={**PARTS, "video": "other"})])
    assert dump(database) == before


def test_a_plan_names_no_item_twice(ledger: Ledger, database: Database) -> None:
    """Half a plan is never left behind."""
    before = dump(database)
    with pytest.raises(LedgerError):
        ledger.open_run(new_run(), [planned(1), planned(2), planned(1, idempotency_key="key-3")])
    assert dump(database) == before


def test_world_rows_are_made_once(database: Database) -> None:
    """The first stays with its name and time; one whose content differs is a divergence."""
    profile = ProfileRow("p" * 32, name="fake", provider="fake", version=1, params={})
    remember_profile(database, profile, 100.0)
    remember_profile(database, replace(profile, name="renamed"), 200.0)
    [stored] = database.rows("SELECT * FROM provider_profile")
    assert (stored["name"], stored["created_at"]) == ("fake", 100.0)
    with pytest.raises(ReplayDivergence, match="another params_json"):
        remember_profile(database, replace(profile, params={"delay_ms": 1}), 200.0)
    assert [dict(r) for r in database.rows("SELECT * FROM provider_profile")] == [dict(stored)]


# The fence


WRITES = ["claim", "begin_call", "release", "fail", "keep_art", "adopt", "record_final"]


def write(name: str, work: Work, iteration: str, attempt: str) -> None:
    art = Art(attempt, picture())
    calls: dict[str, Any] = {
        "claim": lambda: work.claim(iteration, "art-2", 1, REQUEST, lost_art=None),
        "begin_call": lambda: work.begin_call(attempt),
        "release": lambda: work.release(iteration, attempt),
        "fail": lambda: work.fail(iteration, attempt, "transient", "no answer", SPENT),
        "keep_art": lambda: work.keep_art(attempt, picture(), SPENT),
        "adopt": lambda: work.adopt(iteration, art, "art-2", 1, REQUEST),
        "record_final": lambda: work.record_final(iteration, art, "f" * 64, picture(2), {}, None),
    }
    calls[name]()


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("how", ["another owner", "another epoch", "no longer running"])
def test_who_lost_the_lease_writes_nothing(
    ledger: Ledger, database: Database, clock: Clock, name: str, how: str
) -> None:
    """Each write of an item checks, in its own transaction, that the run is still executed by this process."""
    _, work, iteration = started(ledger, database, clock)
    attempt = claimed(work, iteration)
    change = {
        "another owner": "UPDATE run SET lease_owner = 'somebody'",
        "another epoch": "UPDATE run SET lease_epoch = lease_epoch + 1",
        "no longer running": "UPDATE run SET status = 'paused', lease_owner = NULL, lease_expires_at = NULL",
    }[how]
    with database.write("beat") as connection:
        connection.execute(change)
    before = dump(database)
    with pytest.raises(LeaseLost):
        write(name, work, iteration, attempt)
    assert dump(database) == before


def test_who_lost_the_lease_cannot_end_the_run(ledger: Ledger, database: Database, clock: Clock) -> None:
    """Neither a verdict nor a cancellation of a former executor reaches the run."""
    fence, _, _ = started(ledger, database, clock)
    stale = replace(fence, epoch=0)
    before = dump(database)
    for event in ("complete", "fail", "pause", "cancel"):
        with pytest.raises(LeaseLost):
            ledger.close_run(stale, event, 0)
    assert dump(database) == before


def test_a_heartbeat_prolongs_the_lease_and_hears_requests(ledger: Ledger, database: Database, clock: Clock) -> None:
    """It is how another process asks a live run to stop."""
    fence, _, _ = started(ledger, database, clock)
    clock.now = 110.0
    beat = ledger.beat([fence], lambda _: None)[fence.run_id]
    assert (beat.held, beat.cancel_requested, beat.pause_requested) == (True, False, False)
    assert database.rows("SELECT lease_expires_at FROM run")[0][0] == 140.0
    with database.write("beat") as connection:
        connection.execute("UPDATE run SET cancel_requested = 1, pause_requested = 1")
    beat = ledger.beat([fence], lambda _: None)[fence.run_id]
    assert (beat.held, beat.cancel_requested, beat.pause_requested) == (True, True, True)


def test_a_heartbeat_without_the_lease_prolongs_nothing(ledger: Ledger, database: Database, clock: Clock) -> None:
    """It says that the lease is lost, and the new owner's end stays as it was."""
    fence, _, _ = started(ledger, database, clock)
    before = dump(database)
    assert not ledger.beat([replace(fence, epoch=9)], lambda _: None)[fence.run_id].held
    assert dump(database) == before


# Ending, and dying


def test_a_closed_run_has_its_exit_code(ledger: Ledger, database: Database, clock: Clock) -> None:
    """Status, exit code, error and end are one change."""
    fence, _, _ = started(ledger, database, clock)
    clock.now = 150.0
    assert ledger.close_run(fence, "fail", 6, "1 of 2 items failed") == "failed"
    run = stored(database, "run")
    assert (run["exit_code"], run["error_text"], run["finished_at"]) == (6, "1 of 2 items failed", 150.0)


def test_cancelling_marks_what_was_not_finished(ledger: Ledger, database: Database, clock: Clock) -> None:
    """Items that are done stay done; iterations of other runs are none of its business."""
    ledger.open_run(new_run(2), [planned(3)])
    fence = ledger.open_run(new_run(1), [planned(1), planned(2), planned(3)])
    work = Work(database, fence, clock)
    one = iteration_of(database, 1)
    art = work.keep_art(claimed(work, one), picture(), SPENT)
    work.record_final(one, art, "f" * 64, picture(2), {}, None)
    ledger.close_run(fence, "cancel", 130)
    rows = database.rows("SELECT status FROM iteration ORDER BY idempotency_key")
    assert [row["status"] for row in rows] == ["completed", "cancelled", "pending"]


def test_a_run_that_does_not_hear_is_cancelled(ledger: Ledger, other: Ledger, database: Database, clock: Clock) -> None:
    """Asked once it has a whole lease to beat in; asked again after that it ends, though its lease says a year: the
    machine that had it is gone. Should it come back it is fenced off."""
    fence, _, _ = started(ledger, database, clock)
    with database.write("beat") as connection:
        connection.execute("UPDATE run SET lease_expires_at = ?", (clock.now + 3000,))
    assert other.cancel(fence.run_id) == "requested"
    clock.now += 29
    assert other.cancel(fence.run_id) == "requested"
    clock.now += 2
    assert other.cancel(fence.run_id) == "cancelled"
    assert not ledger.beat([fence], lambda _: None)[fence.run_id].held


def test_a_lease_of_a_clock_that_was_ahead_is_swept(
    ledger: Ledger, other: Ledger, database: Database, clock: Clock
) -> None:
    """Its end is further away than any lease lasts."""
    fence, _, _ = started(ledger, database, clock)
    with database.write("beat") as connection:
        connection.execute("UPDATE run SET lease_expires_at = ?", (clock.now + 365 * 86400,))
    assert other.sweep(3) == [fence.run_id]


def test_a_live_run_is_not_swept(ledger: Ledger, other: Ledger, database: Database, clock: Clock) -> None:
    """A lease that has not ended is nobody else's."""
    started(ledger, database, clock)
    before = dump(database)
    clock.now = 129.0
    assert other.sweep(3) == []
    assert dump(database) == before


def test_a_dead_run_is_swept(ledger: Ledger, other: Ledger, database: Database, clock: Clock) -> None:
    """It is paused, its open attempt is lost and not charged, its iteration waits for the next try."""
    fence, work, iteration = started(ledger, database, clock)
    work.begin_call(claimed(work, iteration))
    clock.now = 131.0
    assert other.sweep(3) == [fence.run_id]
    run = stored(database, "run")
    assert (run["status"], run["error_text"], run["recoveries"], run["lease_owner"]) == (
        "paused",
        "process died",
        1,
        None,
    )
    [attempt] = database.rows("SELECT * FROM attempt")
    assert (attempt["outcome"], attempt["closed_at"]) == ("lost", 131.0)
    assert stored(database, "iteration")["status"] == "pending"
    with pytest.raises(LeaseLost):
        work.fail(iteration, attempt["id"], "transient", "too late", SPENT)
    assert other.sweep(3) == []


def test_an_item_in_which_processes_die_is_given_up(
    ledger: Ledger, other: Ledger, database: Database, clock: Clock
) -> None:
    """After `max_lost` calls in which a process died the item fails, so that it cannot sink every batch."""
    for n in (1, 2):
        fence = ledger.open_run(new_run(n), [planned()])
        work, iteration = Work(database, fence, clock), iteration_of(database)
        work.begin_call(claimed(work, iteration))
        clock.now += 31
        other.sweep(2)
        row = stored(database, "iteration")
        assert row["status"] == ("pending", "failed")[n - 1]
    assert "died 2 times" in row["error_text"]


def test_a_dead_run_that_was_to_be_cancelled_is_cancelled(
    ledger: Ledger, other: Ledger, database: Database, clock: Clock
) -> None:
    """What was asked of it before it died is done."""
    started(ledger, database, clock)
    with database.write("beat") as connection:
        connection.execute("UPDATE run SET cancel_requested = 1")
    clock.now = 131.0
    other.sweep(3)
    assert stored(database, "run")["status"] == "cancelled"


def test_a_new_take_that_died_leaves_the_picture_in_use(
    ledger: Ledger, other: Ledger, database: Database, clock: Clock
) -> None:
    """A completed iteration stays completed while another take of it is tried and lost."""
    _, work, iteration = started(ledger, database, clock)
    art = work.keep_art(claimed(work, iteration), picture(), SPENT)
    work.record_final(iteration, art, "f" * 64, picture(2), {}, None)
    claimed(work, iteration, "art-take-2")
    assert stored(database, "iteration")["status"] == "completed"
    clock.now = 131.0
    other.sweep(3)
    assert stored(database, "iteration")["status"] == "completed"


# One item


def test_one_open_attempt_per_iteration(ledger: Ledger, other: Ledger, database: Database, clock: Clock) -> None:
    """While a live run is at it nobody else opens one, whatever art it wants."""
    fence, work, iteration = started(ledger, database, clock)
    claimed(work, iteration)
    second = Work(database, other.open_run(new_run(2), [planned()]), clock)
    assert second.claim(iteration, "art-2", 1, REQUEST, lost_art=None) == Busy(fence.run_id)
    assert database.rows("SELECT count(*) FROM attempt")[0][0] == 1


def test_one_open_attempt_per_art_key(ledger: Ledger, other: Ledger, database: Database, clock: Clock) -> None:
    """Two items that want the same picture share one call: the second waits, then takes up what the first made."""
    fence, work, iteration = started(ledger, database, clock)
    attempt = claimed(work, iteration)
    _, second, another = started(other, database, clock, 2)
    assert second.claim(another, "art-1", 1, REQUEST, lost_art=None) == Busy(fence.run_id)
    art = work.keep_art(attempt, picture(), SPENT)
    assert second.claim(another, "art-1", 1, REQUEST, lost_art=None) == art
    own = second.adopt(another, art, "art-1", 1, REQUEST)
    adopted = database.rows("SELECT * FROM attempt WHERE id = ?", (own.attempt_id,))[0]
    assert (adopted["iteration_id"], adopted["outcome"], adopted["calls"]) == (another, "ok", 0)
    assert json.loads(adopted["response_json"]) == {"adopted_from": attempt}
    assert second.adopt(another, art, "art-1", 1, REQUEST) == own


def test_an_open_attempt_of_a_dead_run_is_taken_over(
    ledger: Ledger, other: Ledger, database: Database, clock: Clock
) -> None:
    """It is closed as lost, and the next one is opened in the same transaction."""
    _, work, iteration = started(ledger, database, clock)
    first = claimed(work, iteration)
    clock.now = 131.0
    second = claimed(Work(database, other.open_run(new_run(2), [planned()]), clock), iteration)
    rows = database.rows("SELECT id, n, outcome FROM attempt ORDER BY n")
    assert [(r["id"], r["n"], r["outcome"]) for r in rows] == [(first, 1, "lost"), (second, 2, None)]
    assert [first, second] == [ids.attempt_id(iteration, n) for n in (1, 2)]


def test_art_whose_file_is_gone_is_made_again(ledger: Ledger, database: Database, clock: Clock) -> None:
    """The caller names the lost art; it is not handed out again."""
    _, work, iteration = started(ledger, database, clock)
    art = work.keep_art(claimed(work, iteration), picture(), SPENT)
    assert work.claim(iteration, "art-1", 1, REQUEST, lost_art=None) == art
    assert isinstance(work.claim(iteration, "art-1", 1, REQUEST, lost_art=picture().sha256), str)


def test_a_failed_call_is_recorded_with_what_it_cost(ledger: Ledger, database: Database, clock: Clock) -> None:
    """Outcome and error on the attempt, failed on the iteration."""
    _, work, iteration = started(ledger, database, clock)
    work.fail(iteration, claimed(work, iteration), "transient", "no answer", Spent(3, 1, "0.12", "USD", 7))
    [attempt] = database.rows("SELECT * FROM attempt")
    assert (attempt["outcome"], attempt["calls"], attempt["perhaps_billed"]) == ("transient", 3, 1)
    assert (attempt["cost"], attempt["currency"], attempt["tokens"]) == ("0.12", "USD", 7)
    assert (stored(database, "iteration")["status"], stored(database, "iteration")["error_text"]) == (
        "failed",
        "no answer",
    )


def test_interrupted_before_the_call_is_as_if_not_begun(ledger: Ledger, database: Database, clock: Clock) -> None:
    """The iteration is pending again, the attempt counts as no try."""
    _, work, iteration = started(ledger, database, clock)
    work.release(iteration, claimed(work, iteration))
    assert stored(database, "iteration")["status"] == "pending"
    assert database.rows("SELECT outcome FROM attempt")[0][0] == "interrupted"


def test_an_answer_that_was_found_after_a_crash_makes_its_attempt_ok(
    ledger: Ledger, other: Ledger, database: Database, clock: Clock
) -> None:
    """A lost attempt whose staged answer was whole is no longer lost; when it was closed stays."""
    _, work, iteration = started(ledger, database, clock)
    attempt = claimed(work, iteration)
    clock.now = 131.0
    other.sweep(3)
    clock.now = 140.0
    second = Work(database, other.open_run(new_run(2), [planned()]), clock)
    second.keep_art(attempt, picture(), SPENT)
    row = database.rows("SELECT * FROM attempt")[0]
    assert (row["outcome"], row["closed_at"], row["art_sha256"]) == ("ok", 131.0, picture().sha256)


def test_a_picture_that_breaks_a_rule_fails_the_item_and_is_kept(
    ledger: Ledger, database: Database, clock: Clock
) -> None:
    """The final stays for inspection, marked as not compliant; the violations are the error."""
    _, work, iteration = started(ledger, database, clock)
    art = work.keep_art(claimed(work, iteration), picture(), SPENT)
    work.record_final(iteration, art, "f" * 64, picture(2), {"ok": False}, "text.glyphs: no font")
    row = stored(database, "iteration")
    assert (row["status"], row["error_text"], row["final_key"]) == ("failed", "text.glyphs: no font", "f" * 64)
    assert database.rows("SELECT compliant FROM final")[0][0] == 0


def test_a_final_is_recorded_once(ledger: Ledger, database: Database, clock: Clock) -> None:
    """The same again changes nothing; the same key with other art is a divergence."""
    _, work, iteration = started(ledger, database, clock)
    art = work.keep_art(claimed(work, iteration), picture(), SPENT)
    for now in (110.0, 120.0):
        clock.now = now
        work.record_final(iteration, art, "f" * 64, picture(2), {"ok": True}, None)
    assert database.rows("SELECT created_at FROM final")[0][0] == 110.0
    other_art = work.keep_art(claimed(work, iteration, "art-2"), picture(3), SPENT)
    with pytest.raises(ReplayDivergence, match="recorded with other art"):
        work.record_final(iteration, other_art, "f" * 64, picture(2), {"ok": True}, None)


def test_an_asset_with_other_facts_is_a_divergence(ledger: Ledger, database: Database, clock: Clock) -> None:
    """The same bytes cannot have two sizes."""
    _, work, iteration = started(ledger, database, clock)
    attempt = claimed(work, iteration)
    work.keep_art(attempt, picture(), SPENT)
    with pytest.raises(ReplayDivergence, match="another width"):
        work.keep_art(attempt, replace(picture(), width=1), SPENT)


# Looking


def test_a_run_is_found_by_the_start_of_its_id(ledger: Ledger, database: Database, clock: Clock) -> None:
    """Exactly one must begin so, and a text is no pattern: none is NotFound, several a UsageError."""
    started(ledger, database, clock, 1)
    started(ledger, database, clock, 2)
    assert show_run(database, "00000001")["run"]["id"] == new_run(1).id
    for prefix, error in (("0000000", UsageError), ("", UsageError), ("9", NotFound), ("%", NotFound)):
        with pytest.raises(error):
            show_run(database, prefix)


def test_runs_are_listed_newest_first(ledger: Ledger, database: Database, clock: Clock) -> None:
    """By kind, by status, and no more than asked for."""
    fence, _, _ = started(ledger, database, clock, 1)
    ledger.close_run(fence, "complete", 0)
    clock.now = 200.0
    started(ledger, database, clock, 2)

    def listed(kind: str | None = None, status: str | None = None, limit: int = 9) -> list[str]:
        return [run["id"][:8] for run in list_runs(database, kind=kind, status=status, limit=limit)]

    assert listed() == ["00000002", "00000001"]
    assert listed(status="completed") == ["00000001"]
    assert (listed(kind="hero"), listed(limit=1)) == ([], ["00000002"])


def test_a_run_is_shown_with_its_items_and_attempts(ledger: Ledger, database: Database, clock: Clock) -> None:
    """Counts are of its plan; an item is told by what was planned for it."""
    fence, work, iteration = started(ledger, database, clock)
    attempt = claimed(work, iteration)
    shown = show_run(database, fence.run_id[:8])
    assert shown["summary"] == {"total": 1, "completed": 0, "failed": 0, "pending": 1}
    assert [(i["id"], i["position"], i["status"]) for i in shown["iterations"]] == [(iteration, 1, "running")]
    assert [(a["id"], a["outcome"], a["request"]) for a in shown["attempts"]] == [(attempt, None, REQUEST)]
