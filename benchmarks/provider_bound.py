"""How much of a batch's time is the provider's: wall time against items / n x latency, for a slow fake provider."""

from __future__ import annotations

import math
import tempfile
import time
from pathlib import Path

from benchmarks.sample import doit, project

ITEMS, DELAY_S, AT_ONCE = 200, 2.0, 16


def measure() -> str:
    with tempfile.TemporaryDirectory() as folder:
        root = project(Path(folder), ITEMS, delay_ms=int(DELAY_S * 1000), max_concurrency=AT_ONCE)
        began = time.perf_counter()
        doit(root, "batch", "series=bench", "--dry-run")
        start_up = time.perf_counter() - began
        began = time.perf_counter()
        made = doit(root, "batch", "series=bench", "-n", str(AT_ONCE))
        wall = time.perf_counter() - began
    if made.returncode:
        raise SystemExit(made.stderr[-2000:])
    ideal = math.ceil(ITEMS / AT_ONCE) * DELAY_S + start_up
    return (
        f"{ITEMS} items, {DELAY_S:g} s a call, {AT_ONCE} at once, 1280x720: "
        f"{wall:.1f} s, ideal {ideal:.1f} s, ratio {wall / ideal:.3f} (target 1.1)"
    )
