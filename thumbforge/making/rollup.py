"""What a batch came to: each item's state as the ledger has it afterwards, and the exit code that follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from thumbforge.errors import Exit, ThumbforgeError
from thumbforge.planning.decide import PlannedSeries
from thumbforge.planning.plan import Row
from thumbforge.store.finals import failed_checks

if TYPE_CHECKING:
    from thumbforge.making.make import Outcome


@dataclass(frozen=True, slots=True)
class Summary:
    total: int
    completed: int
    failed: int
    pending: int


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What an item is after the batch; `before` is its row of the plan, `after` its row in a plan made now."""

    before: Row
    after: Row
    outcome: Outcome | None

    @property
    def status(self) -> str:
        if self.outcome and self.outcome.status == "failed":
            return "failed"
        if self.after.is_in_place:
            return "completed"
        return "failed" if self.after.status == "failed" else "pending"

    @property
    def became(self) -> str:
        """What the run did for the item, in a reader's words; its status where it is not there."""
        if self.status != "completed":
            return self.status
        if self.before.restore:
            return "renamed" if self.before.moved_from else "put back"
        if self.before.idle:
            return "up to date"
        return "drawn again" if self.before.action == "refinish" else "made"

    @property
    def is_compliance_failure(self) -> bool:
        """Completed ones count too: what is asked is whether anything failed for another reason."""
        return self.status == "completed" or (self.after.final is not None and not self.after.final.compliant)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the report on its picture warns of, whether it was drawn now or before."""
        final = self.after.final
        return failed_checks(final.report, "warning") if final and not final.is_faultless else ()

    @property
    def error(self) -> str | None:
        if self.outcome and self.outcome.error:
            return self.outcome.error
        return self.after.reason if self.status == "failed" or self.after.busy_in else None

    @property
    def hint(self) -> str:
        """What helps against `error`, where its service or its code says so."""
        if self.outcome and self.outcome.error:
            return self.outcome.hint
        return self.after.hint if self.status == "failed" else ""

    @property
    def cure(self) -> str:
        """What the user has to do before the item can be made, where something is in the way of it."""
        return self.after.cure if self.status == "failed" else ""


@dataclass(frozen=True, slots=True)
class Result:
    """A finished batch. `run_id` is None where nothing was to do; `stop` says that and why it ended early, `reason` is
    the error that paused it. `rows` are all items of the series as they stand now, `items` those of the run."""

    planned: PlannedSeries
    run_id: str | None
    items: tuple[ItemResult, ...]
    summary: Summary
    exit_code: Exit
    stop: str | None = None
    reference_ignored: bool = False
    stop_is_final: bool = False
    reason: ThumbforgeError | None = None
    rows: tuple[Row, ...] = ()
    unlike: Mapping[str, str] = field(default_factory=dict)
    """Why an item's picture is unlike its series, by item key."""


def foreseen(rows: Sequence[Row], *, wait: bool = True) -> Exit:
    """How a run of these rows would end if all went well: what is used up or held back stays as it is, and without
    `wait` what another run is making, too."""
    failed = sum(row.idle and row.status != "completed" for row in rows)
    pending = sum(row.busy_in is not None and not wait for row in rows)
    if not failed and not pending:
        return Exit.DONE
    return Exit.NOTHING_COMPLETED if failed and failed + pending == len(rows) else Exit.PARTIAL


def tally(items: Iterable[ItemResult]) -> str:
    """`1 drawn again, 29 up to date`: what became of the items, the failures last."""
    found = Counter(item.became for item in items)
    order = ("made", "drawn again", "renamed", "put back", "up to date", "pending", "failed")
    return ", ".join(f"{found[word]} {word}" for word in order if found[word]) or "no items"


def roll_up(items: Sequence[ItemResult], kind: str = "batch") -> tuple[Summary, Exit]:
    """0 where everything is there, 4 where nothing completed and something failed, else 6. A hero run whose every
    failure is a picture that breaks a rule ends with 5."""
    statuses = [item.status for item in items]
    summary = Summary(len(items), *(statuses.count(s) for s in ("completed", "failed", "pending")))
    if summary.completed == summary.total:
        return summary, Exit.DONE
    if kind != "batch" and summary.failed and not summary.pending and all(i.is_compliance_failure for i in items):
        return summary, Exit.COMPLIANCE
    if summary.completed == 0 and summary.failed:
        return summary, Exit.NOTHING_COMPLETED
    return summary, Exit.PARTIAL


def as_locked(exit_code: Exit) -> Exit:
    """Of `batch --locked`: whether it is some or all that is not as the lock file has it, is one and the same."""
    return Exit.UNEXPECTED if exit_code in {Exit.PARTIAL, Exit.NOTHING_COMPLETED} else exit_code
