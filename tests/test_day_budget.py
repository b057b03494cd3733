"""`budget.day`: what the calls of one local day may cost, over all runs, on every way to a call."""

from __future__ import annotations

import threading
from decimal import Decimal
from pathlib import Path

import pytest

from tests.project import Project, item, make_project, video
from thumbforge.errors import LedgerError, LimitReached
from thumbforge.store.attempts import Spent
from thumbforge.store.database import Database
from thumbforge.store.spending import Allowance, day_of, reserve, settle, spent_on

NOON = 1_800_000_000.0
DAY = "THUMBFORGE_BUDGET__DAY"
TODAY = day_of(NOON)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path / "project", 3)
    made.profile("paid", price={"amount": "0.04"})
    made.series(provider="paid")
    return made


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database.open(tmp_path / "ledger.sqlite3")


def test_a_day_is_bounded_over_all_runs(project: Project) -> None:
    """What the first run spent leaves less to the second: refused with both sums, nothing called, exit 2."""
    bounded = project.with_environment(**{DAY: "0.12"})
    assert bounded.batch("only=1-2").code == 0
    told = bounded.batch("retake=yes", "only=1-2")
    assert (told.code, told.err.splitlines()[0]) == (
        2,
        "limit_reached: 2 calls would cost about 0.08 USD, and 0.08 of today's 0.12 USD is spent (budget.day)",
    )
    assert "THUMBFORGE_BUDGET__DAY=0.16" in told.err
    assert project.calls == 2
    assert bounded.batch().code == 0  # the one that is left fits


def test_what_was_spent_without_a_budget_counts_too(project: Project) -> None:
    """A budget that is set at noon knows of the morning, also where its run was deleted."""
    run = project.shown("batch", "series=show")["run"]
    assert project.run("runs", "delete", run, "--assets").code == 0
    told = project.with_environment(**{DAY: "0.13"}).batch("--dry-run")
    assert told.code == 2
    assert "0.12 of today's 0.13 USD is spent" in told.err


def test_yesterday_is_another_day(project: Project) -> None:
    """By local time, as it was when the call began."""
    assert project.batch().code == 0
    project.execute("UPDATE spending SET day = '2001-01-01'")
    assert project.with_environment(**{DAY: "0.12"}).batch("retake=yes", "--dry-run").code == 0


def test_it_is_told_before(project: Project) -> None:
    """By `status`, `--dry-run` and the run itself, in words and in JSON."""
    bounded = project.with_environment(**{DAY: "1.00"})
    assert bounded.batch("only=1").code == 0
    budget = {"day": "1.00", "spent": "0.04", "currency": "USD"}
    assert "Budget: 0.04 of today's 1.00 USD is spent." in bounded.run("status").out.splitlines()
    assert bounded.shown("status")["budget"] == [budget]
    assert "Budget: 0.04 of today's 1.00 USD is spent." in bounded.batch("--dry-run").out.splitlines()
    planned = bounded.shown("batch", "series=show", "--dry-run")
    assert (planned["calls"], planned["price"], planned["budget"]) == (2, {"amount": "0.08", "currency": "USD"}, budget)
    assert "2 provider calls, about 0.08 USD, 0.04 of today's 1.00 USD is spent" in bounded.batch().err


def test_the_next_command_fits_into_the_day(project: Project) -> None:
    """It makes what there is room for, and is not refused; where there is none, that is said."""
    bounded = project.with_environment(**{DAY: "0.10"})
    [found] = bounded.shown("status")["series"]
    assert found["next"] == "thumbforge batch series=show only=1-2 max_cost=0.08"
    told = bounded.run("status").out
    assert "1 picture of show has no room in today's budget." in told
    assert bounded.run(*found["next"].split()[1:]).code == 0
    assert bounded.shown("status")["series"][0]["next"] is None
    assert "up to date" not in bounded.run("status").out
    assert project.with_environment(**{DAY: "0.12"}).shown("status")["series"][0]["next"].endswith("max_cost=0.04")


def test_a_profile_without_a_price_is_refused_while_it_is_set(project: Project) -> None:
    """Where its calls cost money; what costs nothing is none of a budget's business."""
    project.write("specs/providers/cloud.yaml", "provider: openai\nparams: {model: gpt-image-1.5}\n")
    bounded = project.with_environment(**{DAY: "5"})
    told = bounded.batch("provider=cloud", "--dry-run")
    assert told.code == 2
    assert "usage: budget.day is 5, and profile cloud names no price" in told.err
    for free in ("fake", "local"):
        project.profile("fake")
        assert bounded.batch(f"provider={free}", "--dry-run").code == 0


def test_retries_are_money_of_the_day(project: Project) -> None:
    """The call that would cross it is not made although its item has begun: the run is paused, and goes on later."""
    project.template(prompt="A picture about {{ topic }}.{% if part_number == 1 %} [[FAIL_TRANSIENT]]{% endif %}")
    told = project.with_environment(**{DAY: "0.12"}).batch("-n", "1")
    assert "Paused: run" in told.out
    assert "the next call would cross budget.day=0.12: 0.12 USD of today is spent" in told.out
    assert "goes on, tomorrow or with a higher budget.day" in told.out
    assert project.calls == 3
    assert project.with_environment(**{DAY: "0.15"}).run("runs", "resume", _run(project)).code == 2
    assert project.calls == 3


def _run(project: Project) -> str:
    return str(project.shown("runs", "list")["runs"][0]["id"])


def test_two_runs_at_once_share_a_day(project: Project) -> None:
    """Both were planned while nothing was spent; what is set aside when a call begins keeps the sum below."""
    project.playlist([item(n) for n in range(1, 9)])
    project.series("other", provider="paid", template="minimal")
    bounded = project.with_environment(**{DAY: "0.32"})
    both = [bounded.start("batch", f"series={name}") for name in ("show", "other")]
    for process in both:
        process.communicate()
    assert project.calls == 8
    [row] = project.query("SELECT sum(calls) AS calls FROM spending")
    assert row["calls"] == 8


def test_threads_cannot_pass_it_together(database: Database) -> None:
    """The sum is read and the price set aside in one transaction."""
    refused: list[int] = []

    def begin(n: int) -> None:
        try:
            with database.write("call.begin") as connection:
                reserve(connection, f"attempt-{n}", Allowance(Decimal("0.04"), "USD", Decimal("0.20")), NOON)
        except LimitReached:
            refused.append(n)

    threads = [threading.Thread(target=begin, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 7
    assert spent_on(database, TODAY, "USD") == Decimal("0.20")


@pytest.mark.parametrize(
    ("spent", "left"),
    [
        (Spent(calls=2, cost="0.05", currency="USD"), "0.09"),  # one call at its price, one at what it cost
        (Spent(calls=2, cost="0.05", currency="EUR"), "0.08"),  # nothing is converted
        (Spent(calls=2), "0.08"),  # failed: perhaps billed
        (Spent(), "0"),  # nothing was called
    ],
)
def test_what_is_told_takes_the_place_of_what_was_set_aside(database: Database, spent: Spent, left: str) -> None:
    """However often the end is written: a staged answer that is taken up after a crash is settled again."""
    with database.write("test") as connection:
        for _ in range(2):
            reserve(connection, "a", Allowance(Decimal("0.04"), "USD"), NOON)
        for _ in range(2):
            settle(connection, "a", spent, NOON)
    assert spent_on(database, TODAY, "USD") == Decimal(left)
    assert spent_on(database, TODAY, "EUR") == 0


def test_a_price_that_only_the_service_tells_is_counted(database: Database) -> None:
    """The profile names none."""
    with database.write("test") as connection:
        settle(connection, "a", Spent(calls=1, cost="0.07", currency="USD"), NOON)
    assert spent_on(database, TODAY, "USD") == Decimal("0.07")


@pytest.mark.parametrize("amount", ["-100", "NaN", "Infinity", "much"])
def test_a_ledger_that_came_along_raises_no_budget(database: Database, amount: str) -> None:
    """An amount that is none is told as damage."""
    with database.write("test") as connection:
        connection.execute("INSERT INTO spending VALUES ('a', ?, 'USD', ?, 1, NULL)", (TODAY, amount))
    with pytest.raises(LedgerError, match="is no amount of money"):
        spent_on(database, TODAY, "USD")


def test_info_says_what_an_item_would_cost(project: Project) -> None:
    """The price with its call; what is painted here is no call."""
    assert "create (1 provider call, about 0.04 USD)" in project.run("info", video(1)).out
    project.series(provider="local")
    assert "create (no call)" in project.run("info", video(1)).out
