"""`runs resume`, `cancel`, `delete`, `cost`: a run is gone on with, ended, taken away or added up by its own record."""

from __future__ import annotations

import json
import signal
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.crashes import findings
from tests.project import ALL_MARKED, MARKED, Project, finish, item, kill, make_project, wait_until

PERMANENT = "[[FAIL_PERMANENT]]"
ITEMS = 3


def run_of(project: Project, kind: str = "batch", which: str = "DESC") -> str:
    sql = f"SELECT id FROM run WHERE kind = ? ORDER BY created_at {which}, rowid {which} LIMIT 1"
    return str(project.query(sql, kind)[0]["id"])


def status_of(project: Project, run: str) -> str:
    return str(project.query("SELECT status FROM run WHERE id = ?", run)[0]["status"])


def finished_at(project: Project) -> dict[str, tuple[Any, ...]]:
    """Of each completed item, when it was last touched."""
    rows = project.query("SELECT item_key, updated_at, attempt_id, final_key FROM iteration WHERE status = 'completed'")
    return {row["item_key"]: tuple(row)[1:] for row in rows}


@pytest.fixture(scope="module")
def partly(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Twelve items of which 3 and 7 fail for good. To be copied."""
    project = make_project(tmp_path_factory.mktemp("partly") / "project", 12)
    project.template(prompt=MARKED)
    project.series(vars={"fail": PERMANENT})
    assert project.batch().code == 6
    return project


@pytest.fixture
def partial(partly: Project, tmp_path: Path) -> Project:
    return partly.copy(tmp_path / "project")


@pytest.fixture
def paused(project: Project) -> Project:
    """Three items, the run killed when the first answer was staged."""
    assert project.with_environment(THUMBFORGE_FAULT="staged.after:kill").batch("-n", "1").code == -9
    return project


# Resume


@pytest.mark.parametrize("where", ["series", "export"])
def test_a_run_that_names_no_file_of_ours_is_not_resumed(paused: Project, tmp_path: Path, where: str) -> None:
    """A ledger that came along writes nothing outside out/, neither a picture nor a sheet: one line, exit 1."""
    if where == "series":
        paused.execute("UPDATE run SET params_json = json_set(params_json, '$.series', '../../x') WHERE kind = 'batch'")
    else:
        paused.execute("UPDATE run_item SET plan_json = json_set(plan_json, '$.export', '../../x.jpg')")
    told = paused.run("runs", "resume", run_of(paused))
    assert (told.code, "is not the name of a stored file" in told.err) == (1, True), (told.out, told.err)
    assert not list(tmp_path.rglob("x*"))


@pytest.mark.parametrize("words", [("runs", "resume"), ("batch", "--resume")], ids=" ".join)
def test_what_failed_is_made_with_other_variables(partial: Project, words: tuple[str, str]) -> None:
    """The two that failed are planned anew and made; the ten that are finished are not touched, not even their times;
    the failed iterations stay as history."""
    run, before = run_of(partial), finished_at(partial)
    assert len(before) == 11  # ten and the hero's
    told = partial.run(*words, run[:8], "var.fail=", "--json")
    assert told.code == 0, told.err
    assert (told.document["run"], told.document["summary"]["completed"]) == (run, 12)
    after = finished_at(partial)
    assert {key: after[key] for key in before} == before
    assert (partial.calls, len(partial.out()), status_of(partial, run)) == (2, 12, "completed")
    assert len(partial.query("SELECT id FROM iteration WHERE status = 'failed'")) == 2
    assert findings(partial.root) == []


def test_a_failed_run_is_tried_again_as_it_is(partial: Project) -> None:
    """Without other variables the same two fail again, which is charged: then their tries are used up."""
    run = run_of(partial)
    assert [partial.run("runs", "resume", run).code for _ in range(2)] == [6, 6]
    assert (partial.calls, status_of(partial, run)) == (2, "failed")


def test_a_dead_run_is_gone_on_with(paused: Project) -> None:
    """In place: the same run, no second one; the staged answer is not paid again."""
    run = run_of(paused)
    told = paused.run("runs", "resume", run, "-n", "2", "--json")
    assert (told.code, told.document["run"]) == (0, run), told.err
    assert (paused.calls <= ITEMS + 1, len(paused.out())) == (True, ITEMS)
    [row] = paused.query("SELECT * FROM run WHERE kind = 'batch'")
    assert (row["status"], row["exit_code"], row["recoveries"], row["claims"]) == ("completed", 0, 1, 2)


def test_the_plan_is_frozen(paused: Project) -> None:
    """What the specs have become since does not reach a run that was planned before: neither titles nor a template
    that is gone. A new batch sees them."""
    paused.playlist([item(1, title="Renamed"), item(9)])
    (paused.root / "specs/templates/plain.yaml").unlink()
    (paused.root / "specs/series/show.yaml").unlink()
    (paused.root / "specs/heroes/hero.png").unlink()
    assert paused.run("runs", "resume", run_of(paused)).code == 0
    assert paused.out() == [f"{n:02d}-video-{n:05d}.jpg" for n in (1, 2, 3)]
    plans = [json.loads(row["plan_json"]) for row in paused.query("SELECT plan_json FROM run_item ORDER BY ordinal")]
    assert [plan["item"]["title"] for plan in plans] == ["Lesson 1", "Lesson 2", "Lesson 3"]


def test_a_run_whose_items_are_all_made_is_only_rolled_up(project: Project) -> None:
    """It died between its last item and its end: resume counts from the rows, calls nobody, and closes it."""
    assert project.batch().code == 0
    project.execute("UPDATE run SET status = 'paused', exit_code = NULL WHERE kind = 'batch'")
    run, before, calls = run_of(project), finished_at(project), project.calls
    told = project.run("runs", "resume", run)
    assert told.code == 0, told.err
    assert (status_of(project, run), project.calls, finished_at(project)) == ("completed", calls, before)


@pytest.mark.parametrize(
    ("status", "word"), [("completed", "completed"), ("cancelled", "cancelled")], ids=["completed", "cancelled"]
)
def test_what_is_over_is_not_resumed(project: Project, status: str, word: str) -> None:
    """Exit 2, and the state is named."""
    assert project.batch().code == 0
    project.execute("UPDATE run SET status = ? WHERE kind = 'batch'", status)
    told = project.run("runs", "resume", run_of(project))
    assert (told.code, word in told.err) == (2, True)


def test_what_cannot_be_resumed_says_so(project: Project) -> None:
    """An audit or an ingest is started anew: exit 2. An unknown run is exit 3, in a project without a ledger, too."""
    assert project.run("runs", "resume", "12345678").code == 3
    assert project.batch().code == 0
    assert project.run("audit").code == 0
    project.execute("UPDATE run SET status = 'paused' WHERE kind IN ('audit', 'ingest')")
    for kind in ("audit", "ingest"):
        assert project.run("runs", "resume", run_of(project, kind)).code == 2
    assert project.run("runs", "resume", "zzzz").code == 3


def test_an_interrupt_in_a_long_call(project: Project) -> None:
    """SIGINT during a call of two seconds with -n 1: within a second the run is paused, the item is pending, and has
    "interrupted" in the ledger, exit 130; resume makes it, uncharged."""
    project.profile("slow", params={"delay_ms": 2000}, max_concurrency=1)
    project.series(provider="slow")
    process = project.start("batch", "series=show", "only=1", "-n", "1")
    wait_until(lambda: project.calls == 1)
    process.send_signal(signal.SIGINT)
    told = finish(process)
    run = run_of(project)
    assert (told.code, f"Interrupted: run {run[:8]} paused (1 pending)." in told.out) == (
        130,
        True,
    )
    assert f"thumbforge runs resume {run[:8]}" in told.out
    assert status_of(project, run) == "paused"
    [row] = project.query("SELECT status, error_text FROM iteration WHERE item_key LIKE 'video%'")
    assert tuple(row) == ("failed", "interrupted")
    assert project.run("runs", "resume", run).code == 0


# Runs that nobody has a lease on


@pytest.mark.parametrize(("age", "code"), [(1000, 0), (100, 6)])
def test_a_running_item_without_any_lease(paused: Project, age: float, code: int) -> None:
    """Left by something that kept no lease: after stale_after_s (900) it is tried again, before that it is believed."""
    paused.execute("UPDATE run SET status = 'paused', lease_owner = NULL, lease_expires_at = NULL, lease_epoch = 0"
                   " WHERE kind = 'batch'")  # fmt: skip
    paused.execute("UPDATE iteration SET started_at = ? WHERE status = 'running'",
                   time.time() - age)  # fmt: skip
    told = paused.batch("wait=no", "--json")
    assert told.code == code, (told.out, told.err)


def test_an_item_in_which_the_process_dies_is_given_up(project: Project) -> None:
    """After three deaths in its call (batch.max_lost) it fails with that reason, and the others are made."""
    deadly = project.with_environment(THUMBFORGE_FAULT="call.before:kill")
    assert [deadly.batch("only=2").code for _ in range(3)] == [-9] * 3
    told = project.batch("--json")
    assert told.code == 6, told.err
    [failed] = [entry for entry in told.document["items"] if entry["status"] == "failed"]
    assert (failed["part"], failed["error"]) == (2, "the process died 3 times in this item")
    assert len(project.out()) == 2


# Cancel


def test_cancel_by_state(partial: Project) -> None:
    """Failed becomes cancelled; again is a no-op; completed is refused; an unknown run is exit 3."""
    run = run_of(partial)
    assert partial.shown("runs", "cancel", run) == {"run": run, "state": "cancelled"}
    before = partial.query("SELECT * FROM run WHERE id = ?", run)[0]
    assert partial.shown("runs", "cancel", run) == {"run": run, "state": "cancelled"}
    assert tuple(partial.query("SELECT * FROM run WHERE id = ?", run)[0]) == tuple(before)
    ingest = run_of(partial, "ingest")
    told = partial.run("runs", "cancel", ingest)
    assert (told.code, "is completed" in told.err) == (2, True)
    assert partial.run("runs", "cancel", "zzzz").code == 3


def test_a_cancelled_run_leaves_its_items_to_the_next_batch(paused: Project) -> None:
    """Its unfinished items are cancelled with it; a new batch makes them, with what was staged."""
    paused.run("runs", "cancel", run_of(paused))
    states = {row["status"] for row in paused.query("SELECT status FROM iteration WHERE item_key LIKE 'video%'")}
    assert states == {"cancelled"}
    assert paused.batch().code == 0
    assert (len(paused.out()), paused.calls <= ITEMS + 1) == (ITEMS, True)


def test_cancel_leaves_what_another_run_is_making(project: Project) -> None:
    """A run shares its items with a later one that was making them when it died: cancelling the first leaves the open
    attempt alone, and the next batch closes it and goes on."""
    assert project.with_environment(THUMBFORGE_FAULT="claim.before:kill").batch("only=1").code == -9
    first = run_of(project)
    assert project.with_environment(THUMBFORGE_FAULT="call.before:kill").batch("only=1").code == -9
    assert project.run("runs", "cancel", first).code == 0
    told = project.batch("only=1")
    assert told.code == 0, (told.out, told.err)
    assert findings(project.root) == []


# Delete


def test_a_run_that_is_needed_is_not_deleted(done: Project) -> None:
    """A hero run while its batch exists: exit 2, naming the batch, nothing changed. The batch first, then it goes."""
    hero, batch = run_of(done, "hero"), run_of(done)
    told = done.run("runs", "delete", hero)
    assert (told.code, batch[:8] in told.err) == (2, True), told.err
    assert done.count("run") == 3
    assert done.run("runs", "delete", batch).code == 0
    assert done.run("runs", "delete", hero).code == 0
    assert done.run("runs", "delete", hero).code == 3
    assert findings(done.root) == []


def test_a_run_whose_items_another_one_shows_is_not_deleted(done: Project) -> None:
    """A later run that found some of its items made points at its iterations."""
    first = run_of(done)
    done.playlist([*done.items(), item(13)])
    assert done.batch().code == 0
    told = done.run("runs", "delete", first)
    assert (told.code, run_of(done)[:8] in told.err) == (2, True)


@pytest.mark.parametrize("words", [(), ("--assets",)], ids=["rows", "and files"])
def test_what_is_deleted(done: Project, words: tuple[str, ...]) -> None:
    """Rows go; with --assets the files that nothing else uses go, too; the hero's stays. Made again, all is there."""
    before = {path.name for path in (done.home / "assets").rglob("*.*")}
    told = done.shown("runs", "delete", run_of(done), *words)
    assert told["deleted"]["iterations"] == 12
    gone = before - {path.name for path in (done.home / "assets").rglob("*.*")}
    assert gone == set(told["deleted"]["assets"])
    assert len(gone) == (24 if words else 0)
    assert findings(done.root) == []
    assert done.batch().code == 0
    assert (len(done.out()), findings(done.root)) == (12, [])


def test_a_live_run_is_not_deleted(project: Project) -> None:
    """Exit 2 with a hint to cancel it first."""
    project.profile("slow", params={"delay_ms": 5000})
    project.series(provider="slow")
    process = project.start("batch", "series=show")
    wait_until(lambda: project.calls >= 1)
    told = project.run("runs", "delete", run_of(project))
    assert (told.code, "runs cancel" in told.err) == (2, True)
    kill(process)


def test_a_deleted_dead_run_holds_nobody_up(project: Project) -> None:
    """It was making an item of another run when it died: after it is deleted that item is free at once."""
    assert project.with_environment(THUMBFORGE_FAULT="claim.before:kill").batch("only=1").code == -9
    assert project.with_environment(THUMBFORGE_FAULT="call.before:kill").batch("only=1").code == -9
    dead = run_of(project)
    assert project.run("runs", "delete", dead).code == 0
    told = project.batch("only=1", "wait=no")
    assert told.code == 0, (told.out, told.err)
    assert findings(project.root) == []


# Cost


def test_what_nobody_knows_is_no_zero(done: Project) -> None:
    """Without a price the calls are counted as "no data", and no money is shown."""
    cost = done.shown("runs", "cost", run_of(done))["cost"]
    assert (cost["calls"], cost["no_data"], cost["money"], cost["tokens"]) == (12, 12, {}, None)
    told = done.run("runs", "cost", run_of(done))
    assert "no data" in told.out
    assert "0 USD" not in told.out


def test_prices_add_up(project: Project) -> None:
    """By currency, exactly; an item that was taken up costs nothing."""
    project.profile("priced", price={"amount": "0.039", "currency": "EUR"})
    project.series(provider="priced")
    assert project.batch().code == 0
    cost = project.shown("runs", "cost", run_of(project))["cost"]
    assert {name: Decimal(amount) for name, amount in cost["money"].items()} == {"EUR": Decimal("0.117")}
    assert (cost["calls"], cost["no_data"], cost["lost"], cost["seconds"] >= 0) == (3, 0, 0, True)


def test_failed_and_lost_calls_are_counted(project: Project) -> None:
    """What failed was called, and may have cost; what died in its call is told as lost."""
    project.template(prompt=ALL_MARKED)
    project.series(vars={"fail": PERMANENT})
    assert project.with_environment(THUMBFORGE_FAULT="call.before:kill").batch("only=1").code == -9
    run = run_of(project)
    assert project.run("runs", "resume", run).code == 4
    cost = project.shown("runs", "cost", run)["cost"]
    assert (cost["calls"], cost["lost"], cost["outcomes"]) == (2, 1, {"lost": 1, "permanent": 1})


def test_the_cost_of_an_unknown_run(project: Project) -> None:
    """Exit 3."""
    assert project.run("runs", "cost", "zzzz").code == 3
