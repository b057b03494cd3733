"""How much of this machine the process may use."""

from __future__ import annotations

import gc
import os


def usable_cores() -> int:
    """Cores that this process may run on, at least 1; in a container often fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return max(len(os.sched_getaffinity(0)), 1)
    return os.cpu_count() or 1


def collect_rarely() -> None:
    """From here on the cyclic collector looks more rarely: what is imported, and a plan of thousands of items, is all
    live, and looking through it again and again was a quarter of a run with nothing to do."""
    gc.set_threshold(100_000, 20, 50)
