"""How a run ends: what is written into its row, its exit code, and the sentence that says it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from thumbforge.errors import Exit, LeaseLost, ThumbforgeError
from thumbforge.making.rollup import Summary
from thumbforge.store.states import RunEvent


@dataclass(frozen=True, slots=True)
class Ending:
    """`event` is None where the run is no longer ours to close; `said` is None where the result says it all."""

    event: RunEvent | None
    exit_code: Exit
    error: str | None
    said: str | None


def ending_of(
    run_id: str,
    summary: Summary,
    exit_code: Exit,
    *,
    told: str,
    fault: ThumbforgeError | None,
    is_lost: bool,
    is_cancelled: bool,
    is_interrupted: bool,
    reason: ThumbforgeError | None,
    left_behind: Iterable[str],
) -> Ending:
    """The first that holds: another process has the run, a fault, a cancel, Ctrl-C, the brake (`reason`), items that
    another run is making; else what became of the items, which `told` says in words. `left_behind`: the place of each
    job that may go on."""
    run = f"run {run_id[:8]}"
    if is_lost or isinstance(fault, LeaseLost):
        return Ending(None, Exit.UNEXPECTED, None, f"Stopped: {run} was taken over by another process ({told}).")
    if fault:
        said = stopped(fault, f"{run} paused ({told})")
        return Ending("pause", Exit.UNEXPECTED, f"{fault.code}: {fault}", said)
    left = "".join(_jobs_left(where, jobs) for where, jobs in Counter(left_behind).items())
    if is_cancelled:
        return Ending("cancel", Exit.INTERRUPTED, "cancelled", f"Cancelled: {run} ({told}).{left}")
    if is_interrupted:
        return Ending("pause", Exit.INTERRUPTED, "interrupted", f"Interrupted: {run} paused ({told}).{left}")
    if reason:
        text = f"{reason.code}: {reason}"
        hint = f"\nhint: {reason.hint}" if reason.hint else ""
        code = Exit.PARTIAL if summary.completed else Exit.NOTHING_COMPLETED
        return Ending("pause", code, text, f"Paused: {run} ({told}): {text}{hint}")
    if summary.pending and not summary.failed:
        return Ending("pause", exit_code, "the rest is being made in another run", None)
    if exit_code == Exit.DONE:
        return Ending("complete", exit_code, None, None)
    return Ending("fail", exit_code, f"{summary.failed} of {summary.total} items failed", None)


def stopped(fault: ThumbforgeError, what: str) -> str:
    """What a fault of ledger or store leaves, and what helps."""
    return f"Stopped: {fault.message}; {what}." + (f"\nhint: {fault.hint}" if fault.hint else "")


def _jobs_left(where: str, n: int) -> str:
    jobs, them = ("1 job", "it") if n == 1 else (f"{n} jobs", "them")
    return f"\n{jobs} may still be on {where}; the next run takes {them} up."
