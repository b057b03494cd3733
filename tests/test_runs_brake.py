"""What stops a run that nobody interrupted."""

from __future__ import annotations

import threading
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.project import PROMPT, Project, make_project
from thumbforge.cancel import Cancel
from thumbforge.errors import Interrupted, LimitReached, ProviderAuth, ProviderRefused
from thumbforge.making.brake import PROBE_S, SAME_FAILURES, Brake, Budget
from thumbforge.models import Price, Profile
from thumbforge.planning.prices import spent_of


def brake(price: str = "0", max_cost: str | None = None, *, paid: bool = False) -> Brake:
    return Brake(Cancel(), Budget("", Decimal(price), None if max_cost is None else Decimal(max_cost)), paid=paid)


def test_a_failure_that_meets_every_item_stops_at_once() -> None:
    """A bad key is told once, not once per item."""
    found = brake()
    found.after_failure(ProviderAuth("no key"), 1)
    assert isinstance(found.reason, ProviderAuth)
    with pytest.raises(Interrupted):
        found.before_call()


def test_five_equal_failures_in_a_row_stop_and_other_ones_do_not() -> None:
    """A success, or another failure, begins the count anew."""
    found = brake()
    for _ in range(SAME_FAILURES - 1):
        found.after_failure(ProviderRefused("no"), 1)
    found.after_call(1)
    for n in range(SAME_FAILURES):
        found.after_failure(ProviderRefused(f"no {n}"), 1)
    assert found.reason is None
    for _ in range(SAME_FAILURES):
        found.after_failure(ProviderRefused("no"), 1)
    assert found.reason is not None


def test_the_call_that_would_cross_the_budget_is_not_begun() -> None:
    """Retries count; a call that was not made gives its price back. A retry that would cross it is not begun either."""
    found = brake("0.40", "1.00")
    found.before_call()
    found.after_call(0)
    found.before_call()
    found.before_retry()
    found.after_call(2)
    with pytest.raises(Interrupted):
        found.before_call()
    assert isinstance(found.reason, LimitReached)
    retrying = brake("0.40", "0.50")
    retrying.before_call()
    with pytest.raises(Interrupted):
        retrying.before_retry()


def test_the_hint_is_the_command_that_goes_on_to_the_end() -> None:
    """What is spent by then, before the run was resumed too, and the price of each picture that is missing."""
    budget = Budget("b7fadd70-1234", Decimal("0.40"), Decimal("1.60"), spent=Decimal("0.80"), calls=3)
    found = Brake(Cancel(), budget, paid=False)
    found.before_call()
    found.before_call()
    with pytest.raises(Interrupted):
        found.before_call()
    found.after_call(1)
    found.after_failure(ProviderRefused("no"), 1)
    assert found.reason is not None
    assert found.reason.message == "the next call would cross max_cost=1.60: 1.60 is spent"
    assert found.reason.hint == "thumbforge runs resume b7fadd70 max_cost=2.40"


def test_a_second_paid_call_waits_for_the_first_to_be_accepted() -> None:
    """The first call alone is refused where a key is bad; the others begin when it has ended."""
    found = brake(paid=True)
    found.before_call()
    begun = threading.Event()

    def second() -> None:
        found.before_call()
        begun.set()

    thread = threading.Thread(target=second)
    thread.start()
    time.sleep(0.1)
    assert not begun.is_set()
    found.after_call(1)
    thread.join(5)
    assert begun.is_set()


def test_the_clock_of_the_first_call_starts_when_its_request_goes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large hero that is prepared for seconds lets no second call out before anything was asked."""
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    found = brake(paid=True)
    found.before_call()
    now += PROBE_S * 3
    assert found._must_wait()
    found.sent()
    now += PROBE_S / 2
    found.sent()  # what another request says later moves nothing
    assert found._must_wait()
    now += PROBE_S
    assert not found._must_wait()


def test_a_bad_key_pauses_a_real_batch_after_one_call(project: Project) -> None:
    """Exit 4, one failed item that is not charged, the rest pending, and the run can be resumed."""
    project.profile("cloud", provider="openai", price={"amount": "0.04"})
    told = project.batch("provider=cloud", "--json")
    assert (told.code, told.document["summary"]) == (4, {"total": 3, "completed": 0, "failed": 1, "pending": 2})
    run = project.shown("runs", "show", told.document["run"])
    assert run["run"]["status"] == "paused"
    assert [attempt["outcome"] for attempt in run["attempts"] if attempt["calls"]] == ["interrupted"]


def test_max_cost_refuses_before_any_call(project: Project) -> None:
    """Three pictures at 0.04 are more than 0.10: exit 2, nothing written; without a price nobody can tell: exit 2."""
    project.profile("paid", provider="fake", price={"amount": "0.04"})
    before = project.files()
    assert project.batch("provider=paid", "max_cost=0.10").code == 2
    assert project.batch("provider=fake", "max_cost=0.10").code == 2
    assert (project.files(), project.calls) == (before, 0)
    assert project.batch("provider=paid", "max_cost=0.12").code == 0


def priced(project: Project, prompt: str = PROMPT, **fields: Any) -> Project:
    """Its items cost 0.04 USD each, by the provider `fake`."""
    project.template(prompt=prompt)
    project.profile("priced", price={"amount": "0.04"})
    project.series(provider="priced", **fields)
    return project


def run_of(project: Project) -> str:
    [run] = project.query("SELECT id FROM run WHERE kind = 'batch'")
    return str(run["id"])[:8]


def recorded_ceiling(project: Project) -> Any:
    return project.shown("runs", "show", run_of(project))["run"]["params"]["max_cost"]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("runs", "resume"), id="runs resume", marks=pytest.mark.soak),
        pytest.param(("batch", "--resume"), id="batch --resume"),
    ],
)
def test_a_ceiling_holds_over_a_resume(tmp_path: Path, words: tuple[str, ...]) -> None:
    """One of six items is called again and again, so the money for six is gone before all are made: paused, exit 6.
    What the run spent counts when it is resumed: refused (2) under the same ceiling, and each time the hint is the
    command that goes on. With it the rest is made, and the new ceiling is the run's."""
    project = make_project(tmp_path / "project", 6)
    priced(
        project, PROMPT + "{% if part_number == 3 %} {{ vars.fail }}{% endif %}", vars={"fail": "[[FAIL_TRANSIENT]]"}
    )
    told = project.batch("max_cost=0.24", "-n", "1")
    run, missing = run_of(project), 6 - len(project.out())
    needed = Decimal("0.24") + Decimal("0.04") * missing
    on = f"hint: thumbforge runs resume {run} max_cost={needed}"
    assert (told.code, project.calls, missing >= 1) == (6, 6, True), told.err
    assert "limit_reached: the next call would cross max_cost=0.24: 0.24 is spent" in told.out
    assert on in told.out.splitlines()
    assert "Go on with" not in told.out
    for given in ((), ("max_cost=0.27",)):
        refused = project.run(*words, run, *given)
        assert (refused.code, refused.err.splitlines()[1]) == (2, on)
        assert f"limit_reached: run {run} has spent 0.24, {missing} call" in refused.err
    assert (project.calls, recorded_ceiling(project)) == (6, "0.24")
    again = project.run(*words, run, "var.fail=", f"max_cost={needed}")
    assert again.code == 0, again.err
    assert f"about {needed - Decimal('0.24')} USD, 0.24 spent before" in again.err
    assert (project.calls, recorded_ceiling(project), len(project.out())) == (6 + missing, str(needed), 6)


def test_a_retry_does_not_cross_the_ceiling(project: Project) -> None:
    """The item's second call is within it, its third is not: two are paid, the run is paused."""
    priced(project, PROMPT + " [[FAIL_TRANSIENT]]")
    told = project.batch("max_cost=0.08", "only=1")
    assert (told.code, project.calls) == (4, 2), told.err
    assert "would cross max_cost=0.08: 0.08 is spent" in told.out
    assert [row["outcome"] for row in project.query("SELECT outcome FROM attempt WHERE calls > 0")] == ["interrupted"]


def test_a_call_whose_process_died_counts(project: Project) -> None:
    """Nobody knows whether it was billed, so it is taken as spent."""
    priced(project)
    assert project.with_environment(THUMBFORGE_FAULT="call.before:kill").batch("max_cost=0.12", "-n", "1").code == -9
    refused = project.run("runs", "resume", run_of(project))
    assert (refused.code, "has spent 0.04, 3 calls would cost about 0.12 USD more" in refused.err) == (2, True)
    assert project.run("runs", "resume", run_of(project), "--max-cost", "0.16").code == 0


def test_a_ceiling_outlives_the_profile(project: Project) -> None:
    """A run goes on from what was recorded of its profile, and the price was, too."""
    priced(project)
    assert project.with_environment(THUMBFORGE_FAULT="staged.after:kill").batch("max_cost=0.12", "-n", "1").code == -9
    project.profile("priced", params={"delay_ms": 1}, price={"amount": "9"})
    told = project.run("runs", "resume", run_of(project), "max_cost=0.16")
    assert (told.code, project.calls) == (0, 3), told.err


def test_what_a_run_has_spent() -> None:
    """What was told of a picture, in the currency of the price, and the price for each other call: failed ones,
    perhaps billed ones, those without a number because the process died. An adopted picture is free."""
    nothing = {"calls": 0, "called_at": None, "cost": None, "currency": None}
    attempts = [
        {**nothing, "calls": 3, "called_at": 1.0, "cost": "0.05", "currency": "EUR"},
        {**nothing, "calls": 1, "called_at": 1.0, "cost": "0.05", "currency": "USD"},
        {**nothing, "calls": 2, "called_at": 1.0, "perhaps_billed": 2},
        {**nothing, "called_at": 1.0},
        nothing,
    ]
    own = Profile(name="x", provider="x", price=Price(amount="0.04", currency="EUR"))
    assert spent_of(attempts, own) == Decimal("0.05") + Decimal("0.04") * (2 + 1 + 2 + 1)
    assert spent_of(attempts, Profile(name="x", provider="x")) == 0


@pytest.mark.parametrize("verb", ["show", "cancel", "cost", "delete"])
def test_only_a_resume_takes_a_ceiling(done: Project, verb: str) -> None:
    """Exit 2 elsewhere, and nothing happens."""
    run = run_of(done)
    assert done.run("runs", verb, run, "max_cost=1").code == 2
    assert done.run("runs", "resume", run, "max_cost=dear").code == 2
    assert done.count("run") == 3


# Order


@pytest.fixture
def held_up(tmp_path: Path) -> Project:
    """Fourteen items, of which the first seven fail alike: five of them have paused the run before anything was made.
    (Threads that wait for the one call take it in any order, so the five are any of the seven.)"""
    project = make_project(tmp_path / "project", 14)
    project.template(prompt=PROMPT + "{% if part_number < 8 %} [[FAIL_PERMANENT]]{% endif %}")
    assert project.batch("-n", "1").code == 4
    assert (project.calls, project.out()) == (5, [])
    return project


@pytest.mark.parametrize("words", [("runs", "resume"), ("batch", "series=show")], ids=" ".join)
def test_items_that_failed_before_come_last(held_up: Project, words: tuple[str, ...]) -> None:
    """Resumed, or given again, all others are made before the five are tried once more and pause it again; and each
    is told at its place in the playlist."""
    run = run_of(held_up)
    told = held_up.run(*words, *([run] if "resume" in words else []), "-n", "1", "--json")
    assert told.code == 6, told.err
    assert [name[:2] for name in held_up.out()] == [f"{part:02d}" for part in range(8, 15)]
    assert held_up.calls == 5 + 14
    assert [entry["part"] for entry in told.document["items"]] == list(range(1, 15))
    shown = held_up.shown("runs", "show", told.document["run"])
    assert [entry["part"] for entry in shown["iterations"]] == list(range(1, 15))
