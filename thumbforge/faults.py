"""Named fault points around every durable step, so that a test can stop the program exactly there.

`THUMBFORGE_FAULT=final.row.after:kill` ends the process with SIGKILL when it gets to that point; `:kill:2` the second
time. Modes: `kill`; `enospc` and `eio` raise that OSError, which after a step means "done, but reported as failed".
Without the variable a point is one comparison.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

STEPS = (
    "world.row",  # template, profile, playlist
    "hero.file",
    "hero.row",
    "hero.pick",
    "run.open",  # the run, its frozen plan, its lease
    "run.claim",  # an existing run is resumed
    "claim",  # iteration running, attempt open
    "slot.take",
    "call.begin",
    "call",  # the provider
    "staged",  # what it answered
    "slot.free",
    "art.file",
    "record.file",  # which art a request was answered with, for whoever finds no ledger
    "art.row",
    "adopt",
    "final.file",
    "manifest",
    "final.row",  # the final, its report, the verdict
    "take.use",
    "take.lock",
    "export.file",
    "export.row",
    "seen.row",  # what files were when they were last read
    "attempt.fail",
    "release",
    "beat",
    "sweep",
    "run.cancel",
    "run.close",
    "run.delete",
    "asset.unlink",
    "witness.unlink",
    "snapshot.file",
    "sheet.file",
    "share.picture",  # to the shared store: a picture, and after it what names it
    "share.name",
    "outbox.row",  # what waits to be shared is there
    "brought.file",  # a picture from the shared store
    "yield.row",  # somebody else's art of the same request was there first
    "lock.file",  # what the series is, for others
    "ingest.chunk",
    "job.result",  # audit, repair, prune
    "repair.row",
    "ledger.aside",  # repair --rebuild
    "rebuild.row",
)
MODES = {"kill": 0, "enospc": errno.ENOSPC, "eio": errno.EIO}


@dataclass
class _Fault:
    point: str
    mode: str
    left: int


def _armed(text: str | None) -> _Fault | None:
    if not text:
        return None
    point, _, rest = text.partition(":")
    mode, _, times = rest.partition(":")
    step, _, side = point.rpartition(".")
    if step not in STEPS or side not in {"before", "after"} or mode not in MODES:
        raise SystemExit(f"THUMBFORGE_FAULT={text}: expected <step>.before|after:{'|'.join(MODES)}[:times]")
    return _Fault(point, mode, int(times or 1))


_fault = _armed(os.environ.get("THUMBFORGE_FAULT"))
_lock = threading.Lock()


@contextmanager
def step(name: str) -> Iterator[None]:
    """A durable step: the points `<name>.before` and, where it succeeds, `<name>.after`."""
    if _fault is not None:
        _hit(f"{name}.before")
    yield
    if _fault is not None:
        _hit(f"{name}.after")


def _hit(point: str) -> None:
    assert _fault is not None
    with _lock:
        if point != _fault.point or _fault.left <= 0:
            return
        _fault.left -= 1
        if _fault.left:
            return
    if _fault.mode == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    number = MODES[_fault.mode]
    raise OSError(number, os.strerror(number))
