"""A run with nothing to do over finished items, against raw doit with as many tasks, file dependencies and targets."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.sample import doit, finished_project

SIZES = (100, 1000, 10_000)
REPEATS = 3

RAW = """
DOIT_CONFIG = {"default_tasks": ["thumb"]}


def task_thumb():
    for n in range(%d):
        yield {
            "name": str(n),
            "actions": ["true"],
            "file_dep": ["hero.jpg", f"keys/{n}.json"],
            "targets": [f"out/{n}.jpg"],
            "uptodate": [True],
        }
"""


def measure() -> str:
    return "\n" + "\n".join(_line(size) for size in SIZES)


def _line(size: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        ours = finished_project(Path(folder) / "ours", size)
        raw = _raw_project(Path(folder) / "raw", size)
        figures = {
            "raw doit": _median(lambda: _run(raw)),
            "doit": _median(lambda: _ours(ours)),
            "doit batch": _median(lambda: _ours(ours, "batch", "series=bench")),
            "doit list --all -s": _median(lambda: _ours(ours, "list", "--all", "-s")),
        }
    base = figures["raw doit"]
    return f"  {size:6} items: " + ", ".join(f"{name} {t:.2f} s ({t / base:.2f} x)" for name, t in figures.items())


def _median(run: Callable[[], None]) -> float:
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def _ours(root: Path, *words: str) -> None:
    done = doit(root, *words)
    if done.returncode or "R thumb" in done.stdout:
        raise SystemExit(f"not a no-op: {done.stdout[-500:]}{done.stderr[-500:]}")


def _run(root: Path) -> None:
    subprocess.run([sys.executable, "-m", "doit"], cwd=root, capture_output=True, check=True)


def _raw_project(root: Path, size: int) -> Path:
    for folder in ("keys", "out"):
        (root / folder).mkdir(parents=True)
    (root / "hero.jpg").write_bytes(b"hero" * 50_000)
    for n in range(size):
        (root / f"keys/{n}.json").write_text("{}")
        (root / f"out/{n}.jpg").write_bytes(b"")
    (root / "dodo.py").write_text(RAW % size)
    _run(root)
    return root
