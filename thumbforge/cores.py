"""How much of this machine the process may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Cores that this process may run on, at least 1; in a container often fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return max(len(os.sched_getaffinity(0)), 1)
    return os.cpu_count() or 1
