"""Exit codes of a batch, from what became of its items."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from tests.test_runs_plan import ONE, decide, made
from thumbforge.errors import Exit
from thumbforge.making.make import Outcome
from thumbforge.making.rollup import ItemResult, foreseen, roll_up
from thumbforge.planning.plan import Row
from thumbforge.planning.snapshot import Snapshot

DONE = decide(ONE, made())
OPEN = decide(ONE, Snapshot(0))


def result(status: str) -> ItemResult:
    """An item that the ledger says is completed, that failed now, or of which nothing came."""
    row, outcome = {
        "completed": (DONE, Outcome("completed")),
        "failed": (OPEN, Outcome("failed", error="no answer")),
        "pending": (OPEN, None),
    }[status]
    return ItemResult(row, row, outcome)


@pytest.mark.parametrize("counts", list(itertools.product(range(3), repeat=3)))
def test_the_exit_code_follows_from_the_counts(counts: tuple[int, int, int]) -> None:
    """0 when all are there, 4 when none is and something failed, else 6."""
    completed, failed, pending = counts
    items = [result("completed")] * completed + [result("failed")] * failed + [result("pending")] * pending
    summary, code = roll_up(items)
    assert (summary.total, summary.completed, summary.failed, summary.pending) == (sum(counts), *counts)
    if not failed and not pending:
        assert code == Exit.DONE
    elif not completed and failed:
        assert code == Exit.NOTHING_COMPLETED
    else:
        assert code == Exit.PARTIAL


def test_what_the_ledger_says_afterwards_counts() -> None:
    """An item that another run completed meanwhile is completed, whatever this run had planned."""
    assert ItemResult(OPEN, DONE, None).status == "completed"
    assert ItemResult(DONE, DONE, None).error is None


def test_an_item_that_failed_again_without_a_try_tells_why() -> None:
    """The reason of its plan row is its error."""
    from dataclasses import replace

    given_up: Row = replace(OPEN, action="skip", status="failed", reason="tries used up (2 of max_retries=2): x")
    found = ItemResult(given_up, given_up, None)
    assert (found.status, found.error) == ("failed", "tries used up (2 of max_retries=2): x")


USED_UP = replace(OPEN, action="skip", status="failed", is_stuck=True)
BUSY = replace(OPEN, action="skip", busy_in="a run")


@pytest.mark.parametrize("wait", [True, False])
@pytest.mark.parametrize("counts", list(itertools.product(range(2), repeat=4)))
def test_a_dry_run_foresees_the_exit_code(counts: tuple[int, int, int, int], wait: bool) -> None:
    """What is to do goes well, what is used up fails again, what another run is making is waited for, or is pending."""
    rows = [row for row, count in zip((DONE, OPEN, USED_UP, BUSY), counts, strict=True) for _ in range(count)]
    ends = {id(DONE): "completed", id(OPEN): "completed", id(USED_UP): "failed"}
    results = [result(ends.get(id(row), "completed" if wait else "pending")) for row in rows]
    assert foreseen(rows, wait=wait) == roll_up(results)[1]
