"""How a run ends: the first of its reasons decides the row, the exit code and the sentence."""

from __future__ import annotations

from typing import Any

import pytest

from thumbforge.errors import Exit, LedgerError, ProviderQuota, ThumbforgeError
from thumbforge.making.ending import Ending, ending_of
from thumbforge.making.rollup import Summary

RUN = "12345678-aaaa"
QUIET: dict[str, Any] = {
    "told": "1 made, 2 pending",
    "fault": None, "is_lost": False, "is_cancelled": False, "is_interrupted": False, "reason": None, "left_behind": [],
}  # fmt: skip
FAULT = LedgerError("the disk is full", hint="free some space")
QUOTA = ProviderQuota("openai: no credit", hint="pay")


def ended(summary: Summary, code: Exit, **what: Any) -> Ending:
    return ending_of(RUN, summary, code, **{**QUIET, **what})


@pytest.mark.parametrize(
    ("summary", "code", "expected"),
    [
        (Summary(2, 2, 0, 0), Exit.DONE, Ending("complete", Exit.DONE, None, None)),
        (Summary(2, 1, 1, 0), Exit.PARTIAL, Ending("fail", Exit.PARTIAL, "1 of 2 items failed", None)),
        (
            Summary(2, 1, 0, 1),
            Exit.PARTIAL,
            Ending("pause", Exit.PARTIAL, "the rest is being made in another run", None),
        ),
    ],
)
def test_without_a_reason_the_items_decide(summary: Summary, code: Exit, expected: Ending) -> None:
    """Complete, failed, or paused for what another run has in hand."""
    assert ended(summary, code) == expected


def test_the_first_reason_that_holds_is_told() -> None:
    """Another process before a fault, a fault before a cancel, a cancel before Ctrl-C, Ctrl-C before the brake."""
    reasons: dict[str, Any] = {
        "is_lost": True, "fault": FAULT, "is_cancelled": True, "is_interrupted": True, "reason": QUOTA,
    }  # fmt: skip
    told = []
    for name in ("is_lost", "fault", "is_cancelled", "is_interrupted", "reason"):
        end = ended(Summary(3, 1, 0, 2), Exit.PARTIAL, **reasons)
        told.append((end.event, end.exit_code, str(end.said).split(" ")[0]))
        reasons[name] = QUIET[name]
    assert told == [
        (None, Exit.UNEXPECTED, "Stopped:"),
        ("pause", Exit.UNEXPECTED, "Stopped:"),
        ("cancel", Exit.INTERRUPTED, "Cancelled:"),
        ("pause", Exit.INTERRUPTED, "Interrupted:"),
        ("pause", Exit.PARTIAL, "Paused:"),
    ]


@pytest.mark.parametrize("error", [FAULT, QUOTA], ids=["fault", "brake"])
def test_the_hint_follows_the_sentence(error: ThumbforgeError) -> None:
    """One line what is, one line what helps."""
    what = {"fault": error} if error is FAULT else {"reason": error}
    end = ended(Summary(3, 0, 1, 2), Exit.NOTHING_COMPLETED, **what)
    assert str(end.said).endswith(f"\nhint: {error.hint}")
    assert end.error == f"{error.code}: {error}"


def test_jobs_that_may_go_on_are_counted_by_place() -> None:
    """Where a service could not be stopped in time, the next run takes them up."""
    end = ended(
        Summary(3, 0, 0, 3), Exit.PARTIAL, is_interrupted=True, left_behind=["server a", "server b", "server a"]
    )
    assert str(end.said).splitlines()[1:] == [
        "2 jobs may still be on server a; the next run takes them up.",
        "1 job may still be on server b; the next run takes it up.",
    ]
