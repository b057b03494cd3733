"""Real processes side by side: the same batch many times, one that sleeps past its lease, one that is cancelled."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.crashes import findings
from tests.project import Project, finish, kill, make_hero, make_project, put_to_sleep, wait_until, wake
from tests.tiers import soak
from thumbforge import ids
from thumbforge.errors import LedgerError
from thumbforge.making.record import record_file_hero
from thumbforge.planning.reference import check_hero, hero_of_file
from thumbforge.store.database import Database, insert
from thumbforge.store.leases import new_owner
from thumbforge.store.ledger import Fence, Ledger
from thumbforge.store.plans import PlannedItem
from thumbforge.store.runs import NewRun
from thumbforge.store.work import Work

COUNT, LIMIT = 6, 2


@pytest.fixture
def shared(tmp_path: Path) -> Project:
    """Six items of which two may be painted at once."""
    project = make_project(tmp_path / "project", COUNT)
    project.profile("two", params={"delay_ms": 150}, max_concurrency=LIMIT)
    project.series(provider="two")
    return project


def in_flight(project: Project) -> int:
    """The most calls that were under way at once, as the provider saw it."""
    now, most = 0, 0
    for event in sorted(project.events(), key=lambda e: (e["at"], e["event"] == "start")):
        now += 1 if event["event"] == "start" else -1
        most = max(most, now)
    return most


def calls_by_key(project: Project) -> Counter[str]:
    return Counter(event["key"] for event in project.events() if event["event"] == "start")


def run_of(project: Project) -> str:
    return str(project.query("SELECT id FROM run WHERE kind = 'batch' ORDER BY created_at LIMIT 1")[0]["id"])


def run_row(project: Project, run: str) -> tuple[str, int | None, str | None]:
    return tuple(project.query("SELECT status, exit_code, error_text FROM run WHERE id = ?", run)[0])


@pytest.mark.parametrize("count", [2, 4])
def test_the_same_batch_at_once(shared: Project, count: int) -> None:
    """From nothing, in a project without a ledger: each picture is paid once, never more calls at a time than the
    profile allows, and each of the processes ends with every file there."""
    processes = [shared.start("batch", "series=show", "--json") for _ in range(count)]
    told = [finish(process) for process in processes]
    assert [one.code for one in told] == [0] * count, [one.err[-500:] for one in told]
    assert {entry["status"] for one in told for entry in one.document["items"]} == {"completed"}
    assert calls_by_key(shared).most_common(1)[0][1] == 1
    assert (shared.calls, in_flight(shared) <= LIMIT, len(shared.out())) == (COUNT, True, COUNT)
    assert {row["status"] for row in shared.query("SELECT status FROM run")} == {"completed"}
    assert findings(shared.root) == []


def test_the_same_resume_at_once(shared: Project) -> None:
    """One takes the run up; the other is told that there is nothing for it to resume, or finds it done. Nothing is
    paid twice."""
    process = shared.start("batch", "series=show")
    wait_until(lambda: shared.calls >= 3)
    kill(process)
    run = run_of(shared)
    told = [finish(process) for process in [shared.start("runs", "resume", run) for _ in range(2)]]
    assert sorted(one.code for one in told) in ([0, 2], [0, 0]), [one.err for one in told]
    assert all("Traceback" not in one.err for one in told)
    assert shared.calls <= COUNT + LIMIT
    assert len(shared.out()) == COUNT
    assert findings(shared.root) == []


@pytest.mark.parametrize("lapsed", [True, False], ids=["after its lease", "while its lease runs out"])
def test_a_sleeper_is_told_and_writes_nothing(shared: Project, lapsed: bool) -> None:
    """SIGSTOP past the end of its lease; another batch takes the work over, at once or when it has waited for the end;
    after SIGCONT the old one says so, exit 1, and leaves the ledger as the other has made it."""
    short = shared.with_environment(THUMBFORGE_LEASE__TTL_S="1", THUMBFORGE_LEASE__BEAT_S="0.2")
    short.profile("two", params={"delay_ms": 600}, max_concurrency=LIMIT)
    sleeper = short.start("batch", "series=show")
    wait_until(lambda: short.calls == 2)
    put_to_sleep(short, sleeper)
    if lapsed:
        wait_for_the_end_of_the_lease(short)
    other = short.batch()
    assert other.code == 0, other.err
    old = run_of(short)
    before = dump(short)
    assert run_row(short, old)[0] == "paused"
    wake(sleeper)
    told = finish(sleeper)
    assert (told.code, "taken over by another process" in told.out) == (1, True), (told.out, told.err)
    assert "Traceback" not in told.err
    assert dump(short) == before
    assert len(short.out()) == COUNT
    assert calls_by_key(short).most_common(1)[0][1] <= 2
    assert findings(short.root) == []


def wait_for_the_end_of_the_lease(project: Project) -> None:
    wait_until(lambda: project.query("SELECT max(lease_expires_at) FROM run")[0][0] < time.time())


def dump(project: Project) -> dict[str, list[tuple[object, ...]]]:
    tables = [row["name"] for row in project.query("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    rows = {name: [dict(row) for row in project.query(f"SELECT * FROM {name}")] for name in tables}
    return {name: [_told(row) for row in found] for name, found in rows.items()}


def _told(row: dict[str, object]) -> tuple[object, ...]:
    """Without what a file was when it was last read, which any process may note."""
    return tuple(value for name, value in row.items() if not name.endswith("seen"))


def test_a_short_sleep_costs_nothing(shared: Project) -> None:
    """A lease that lapsed in the sleep and that nobody took is simply prolonged: the batch goes on, exit 0."""
    short = shared.with_environment(THUMBFORGE_LEASE__TTL_S="0.4", THUMBFORGE_LEASE__BEAT_S="0.1")
    sleeper = short.start("batch", "series=show")
    wait_until(lambda: short.calls == 2)
    put_to_sleep(short, sleeper)
    wait_for_the_end_of_the_lease(short)
    wake(sleeper)
    assert finish(sleeper).code == 0
    assert short.calls == COUNT


def test_cancel_from_another_terminal(shared: Project) -> None:
    """The live run hears it at its next heartbeat, stops its calls, records cancelled, exit 130; again is a no-op."""
    slow = shared.with_environment(THUMBFORGE_LEASE__BEAT_S="0.1")
    slow.profile("two", params={"delay_ms": 60_000}, max_concurrency=LIMIT)
    process = slow.start("batch", "series=show")
    wait_until(lambda: slow.calls == LIMIT)
    run = run_of(slow)
    asked = slow.run("runs", "cancel", run)
    assert (asked.code, f"process {process.pid} does so at its next heartbeat" in asked.out) == (0, True), asked.out
    told = finish(process)
    assert (told.code, f"Cancelled: run {run[:8]}" in told.out) == (130, True), told.out
    assert run_row(slow, run) == ("cancelled", 130, "cancelled")
    states = Counter(row["status"] for row in slow.query("SELECT status FROM iteration WHERE run_id = ?", run))
    assert states["running"] == 0
    assert slow.query("SELECT * FROM lease") == slow.query("SELECT id FROM attempt WHERE closed_at IS NULL") == []
    assert slow.shown("runs", "cancel", run) == {"run": run, "state": "cancelled"}
    assert slow.run("runs", "resume", run).code == 2


def test_cancel_of_a_dead_run(shared: Project) -> None:
    """Nobody is there to hear it, so it is cancelled at once, and its open attempts are lost."""
    process = shared.start("batch", "series=show")
    wait_until(lambda: shared.calls >= 3)
    kill(process)
    run = run_of(shared)
    assert shared.shown("runs", "cancel", run) == {"run": run, "state": "cancelled"}
    assert run_row(shared, run)[0] == "cancelled"
    assert shared.query("SELECT id FROM attempt WHERE closed_at IS NULL") == []
    assert {row["status"] for row in shared.query("SELECT status FROM iteration")} <= {"completed", "cancelled"}
    assert shared.batch().code == 0
    assert len(shared.out()) == COUNT


@pytest.mark.parametrize("number", [signal.SIGINT, *soak(signal.SIGTERM)])
def test_two_signals_end_as_one(shared: Project, number: signal.Signals) -> None:
    """A second Ctrl-C, or SIGTERM, while the first is being obeyed: the run is paused, exit 130, nothing is torn."""
    shared.profile("two", params={"delay_ms": 400}, max_concurrency=LIMIT)
    process = shared.start("batch", "series=show")
    wait_until(lambda: len(shared.out()) >= 1)
    for _ in range(2):
        os.kill(process.pid, number)
        os.sched_yield()
    told = finish(process)
    assert (told.code, "Traceback" in told.err) == (130, False), told.err
    assert run_row(shared, run_of(shared))[:2] == ("paused", 130)
    assert shared.query("SELECT * FROM lease") == []
    assert findings(shared.root) == []
    assert shared.run("runs", "resume", run_of(shared)).code == 0
    assert len(shared.out()) == COUNT


def test_wait_no_names_what_another_makes(shared: Project) -> None:
    """Beside a live run of half the items: its own half is made, the others are named as pending, exit 6; then the
    run is paused and can be gone on with."""
    shared.profile("two", params={"delay_ms": 400}, max_concurrency=4)
    first = shared.start("batch", "series=show", "only=1-2")
    wait_until(lambda: shared.calls == 2)
    put_to_sleep(shared, first)
    told = shared.batch("wait=no", "--json")
    assert (told.code, told.document["summary"]["pending"]) == (6, 2), told.err
    pending = {entry["part"]: entry["error"] for entry in told.document["items"] if entry["status"] == "pending"}
    assert pending == {1: "running in another run", 2: "running in another run"}
    assert run_row(shared, told.document["run"])[:2] == ("paused", 6)
    wake(first)
    assert finish(first).code == 0
    assert shared.run("runs", "resume", told.document["run"]).code == 0
    assert shared.calls == COUNT


def test_an_answer_of_a_process_that_died_meanwhile_is_not_paid_again(shared: Project) -> None:
    """The other batch was waiting for the item when the first died with its answer staged: it takes the answer up."""
    shared.profile("two", params={"delay_ms": 1500}, max_concurrency=LIMIT)
    first = shared.with_environment(THUMBFORGE_FAULT="staged.after:kill").start("batch", "series=show", "only=1")
    wait_until(lambda: shared.calls == 1)
    second = shared.start("batch", "series=show", "only=1")
    wait_until(lambda: len(shared.query("SELECT id FROM run WHERE kind = 'batch'")) == 2)
    assert finish(first).code == -9
    assert finish(second).code == 0
    assert shared.calls == 1


def test_an_answer_for_the_same_art_is_not_paid_again(shared: Project) -> None:
    """It was staged for an item of another series that wants the same picture under another layout."""
    shared.template("other", layout={"part": {"size": 50}})
    shared.series("other", template="other", provider="two")
    assert shared.with_environment(THUMBFORGE_FAULT="staged.after:kill").batch("only=1").code == -9
    assert shared.run("batch", "series=other", "only=1").code == 0
    assert shared.batch("only=1").code == 0
    assert shared.calls == 1


# Two that both got past the look


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with closing(Database.open(tmp_path / "ledger.sqlite3")) as database:
        yield Ledger(database, new_owner(), 30, lambda: 100.0)


def opened(ledger: Ledger) -> Fence:
    items = [PlannedItem(f"video:{n}:1", f"key-{n}", {"video": n}, "create", "new", {}) for n in "ab"]
    return ledger.open_run(NewRun(ids.new_run_id(), "batch", series="s"), items)


def test_a_lease_that_was_prolonged_meanwhile_is_not_taken(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep that finds a lapsed lease looks again under the write lock: a late heartbeat came first."""
    fence = opened(ledger)
    late = Ledger(ledger.database, new_owner(), 30, lambda: 131.0)
    alive = Ledger(ledger.database, ledger.owner, 30, lambda: 130.0)
    write = ledger.database.write

    def after_a_beat(step: str) -> object:
        if step == "sweep":
            monkeypatch.undo()
            assert alive.beat([fence], lambda _: None)[fence.run_id].held
        return write(step)

    monkeypatch.setattr(ledger.database, "write", after_a_beat)
    assert late.sweep(3) == []
    assert ledger.database.rows("SELECT status, lease_epoch FROM run")[0]["status"] == "running"


def test_a_hero_that_another_process_has_just_recorded(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both saw that it was not there; the second finds each of its rows made, and changes none."""
    make_hero(tmp_path / "hero.png")
    hero = hero_of_file(tmp_path / "hero.png")
    info = check_hero(hero)
    record_file_hero(ledger, hero, info)
    before = everything(ledger)
    monkeypatch.setattr(ledger.database, "row", lambda *_: None)
    record_file_hero(Ledger(ledger.database, new_owner(), 30, lambda: 200.0), hero, info)
    assert everything(ledger) == before


def everything(ledger: Ledger) -> list[tuple[object, ...]]:
    tables = ("run", "iteration", "attempt", "final", "asset", "item_fact")
    return [tuple(row) for name in tables for row in ledger.database.rows(f"SELECT * FROM {name}")]


@pytest.mark.parametrize("same", ["iteration_id", "art_key"])
def test_the_ledger_itself_refuses_a_second_open_attempt(ledger: Ledger, same: str) -> None:
    """Of an iteration, or for the same art: whoever writes past the look."""
    fence = opened(ledger)
    first, second = (row["id"] for row in ledger.database.rows("SELECT id FROM iteration ORDER BY item_key"))
    Work(ledger.database, fence).claim(first, "art-a", 1, {}, lost_art=None)
    row = {**dict(ledger.database.rows("SELECT * FROM attempt")[0]), "id": "another", "n": 2}
    row |= {"art_key": "art-b"} if same == "iteration_id" else {"iteration_id": second}
    with pytest.raises(LedgerError, match="UNIQUE"), ledger.database.write("claim") as connection:
        insert(connection, "attempt", row)


def test_the_ledger_itself_refuses_a_second_iteration_of_a_key(ledger: Ledger) -> None:
    """One picture is one row, whatever run wants it."""
    opened(ledger)
    row = {**dict(ledger.database.rows("SELECT * FROM iteration")[0]), "id": "another", "item_key": "video:c:1"}
    with pytest.raises(LedgerError, match="UNIQUE"), ledger.database.write("run.open") as connection:
        insert(connection, "iteration", row)
