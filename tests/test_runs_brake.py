"""What stops a run that nobody interrupted."""

from __future__ import annotations

import threading
import time
from decimal import Decimal

import pytest

from tests.project import Project
from thumbforge.errors import Interrupted, LimitReached, ProviderAuth, ProviderRefused
from thumbforge.providers.base import Cancel
from thumbforge.runs.brake import SAME_FAILURES, Brake


def brake(price: str = "0", max_cost: str | None = None, *, paid: bool = False) -> Brake:
    return Brake(Cancel(), Decimal(price), None if max_cost is None else Decimal(max_cost), paid=paid)


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
    """Retries count; a call that was not made gives its price back."""
    found = brake("0.40", "1.00")
    found.before_call()
    found.after_call(0)
    found.before_call()
    found.after_call(2)
    with pytest.raises(Interrupted):
        found.before_call()
    assert isinstance(found.reason, LimitReached)


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
