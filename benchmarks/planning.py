"""(c) What a plan takes per item once the specs are loaded, and what a no-op holds in memory per item."""

from __future__ import annotations

import statistics
import sys
import time
from functools import partial
from itertools import pairwise
from pathlib import Path

from benchmarks.clock import take_turns
from benchmarks.commands import DOIT, child, usage
from benchmarks.figure import Figure, at_most, megabytes
from benchmarks.peers import raw_doit
from benchmarks.sample import finished

SIZES = (12, 1000, 10_000, 50_000)
PLAN = at_most(60, "µs")
MEMORY = at_most(1024, "B")
REPEATS = 3


def measure(*, quick: bool = False) -> list[Figure]:
    sizes = SIZES[: 2 if quick else 4]
    return [*_times(sizes[1:]), *_peaks(sizes)]


def _times(sizes: tuple[int, ...]) -> list[Figure]:
    rounds = take_turns({str(n): partial(_plan_in_child, n) for n in sizes}, REPEATS)
    first = f"{sizes[0]:,}"
    each = {n: rounds.median(str(n)) / n * 1e6 for n in sizes}
    return [
        Figure(
            letter="c",
            what=f"plan of {n:,} finished items, per item",
            figure=f"{each[n]:.0f} µs",
            ratio=None if n == sizes[0] else each[n] / each[sizes[0]],
            of=f"that of {first}",
            target=PLAN,
            value=each[n],
        )
        for n in sizes
    ]


def _peaks(sizes: tuple[int, ...]) -> list[Figure]:
    """From one size to the next, so that what an empty interpreter holds is off."""
    ours = {n: _peak(finished(n)) for n in sizes}
    raw = {n: _peak(raw_doit(n)) for n in sizes}
    found = []
    for few, many in pairwise(sizes):
        own, theirs = ((peaks[many] - peaks[few]) / (many - few) for peaks in (ours, raw))
        found.append(
            Figure(
                letter="c",
                what=f"memory of a no-op above raw doit's, per item, {few:,} to {many:,}",
                figure=f"{own - theirs:,.0f} B ({megabytes(ours[many])}, raw doit {megabytes(raw[many])})",
                ratio=ours[many] / raw[many],
                of="raw doit's peak",
                target=MEMORY,
                value=own - theirs,
            )
        )
    return found


def _peak(root: Path) -> float:
    return statistics.median(usage(root, *DOIT).peak for _ in range(REPEATS))


def _plan_in_child(items: int) -> float:
    return float(child("planning", str(finished(items)), str(finished(SIZES[0]))))


def _plan_seconds(root: Path, small: Path) -> float:
    """A small plan first: what it imports is start-up, which is measured by itself."""
    from thumbforge.cores import collect_rarely
    from thumbforge.planning.decide import plan_series
    from thumbforge.planning.project import Project
    from thumbforge.planning.series import SeriesRequest, resolve

    collect_rarely()  # as every command does
    for at in (small, root):
        project = Project(at)
        series = resolve(project.lookup(None), SeriesRequest(series="bench"))
        began = time.perf_counter()
        planned = plan_series(project, series)
        took = time.perf_counter() - began
        assert all(row.idle for row in planned.rows)
    return took


if __name__ == "__main__":
    print(_plan_seconds(Path(sys.argv[1]), Path(sys.argv[2])))
