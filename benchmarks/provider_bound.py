"""(d) How much of a batch's time is the provider's: items / n x latency, over the wall time of the whole command.

The latency is at least 2 x n x finalising time / cores: below that the cores could not draw as fast as pictures come.
The last pictures are drawn when no call is left to wait for, so a batch needs some rounds of calls to come near to 1.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from dataclasses import dataclass

from benchmarks.commands import DOIT, Usage, usage
from benchmarks.figure import Figure, at_least, megabytes, seconds
from benchmarks.sample import project, scratch
from benchmarks.throughput import SIZE, art

LEAST_LATENCY = 2.0
ROUNDS = {1: 6, 4: 6, 16: 13, 64: 4}
"""Calls after one another in each of n slots."""
TARGETS = {16: at_least(0.95)}


@dataclass(frozen=True, slots=True)
class Load:
    """`rounds` calls of `latency` seconds in each of `slots` slots."""

    slots: int
    rounds: int
    latency: float

    @property
    def items(self) -> int:
        return self.slots * self.rounds

    @property
    def ideal(self) -> float:
        return self.rounds * self.latency


def measure(*, quick: bool = False) -> list[Figure]:
    drawing = finalising_seconds()
    if quick:
        return [_figure(Load(4, 3, 1.0), drawing, quick=True)]
    cores = os.cpu_count() or 1
    return [_figure(Load(n, rounds, latency(n, drawing, cores)), drawing) for n, rounds in ROUNDS.items()]


def _figure(load: Load, drawing: float, *, quick: bool = False) -> Figure:
    took = _batch(load)
    return Figure(
        letter="d",
        what=f"provider-bound, n = {load.slots}: {load.items} items at {load.latency:g} s, drawn in {seconds(drawing)}",
        figure=f"{seconds(took.seconds)}, ideal {seconds(load.ideal)}, peak {megabytes(took.peak)}",
        ratio=load.ideal / took.seconds,
        of="ideal",
        target=None if quick else TARGETS.get(load.slots),
    )


def latency(slots: int, drawing: float, cores: int) -> float:
    """Seconds of a call, up to a tenth."""
    return max(LEAST_LATENCY, math.ceil(20 * slots * drawing / cores) / 10)


def _batch(load: Load) -> Usage:
    root = scratch() / f"bound-{load.slots}"
    project(root, load.items, delay_ms=round(load.latency * 1000), max_concurrency=load.slots)
    return usage(root, *DOIT, "batch", "series=bench", "-n", str(load.slots))


def finalising_seconds() -> float:
    """What one drawing takes on one core; the median of some."""
    from thumbforge import models
    from thumbforge.imaging.finalise import Drawing, finalise
    from thumbforge.specs.catalog import Catalog

    source, target = scratch() / "finalise-art.jpg", scratch() / "finalise.jpg"
    source.write_bytes(art())
    layout = Catalog(scratch()).template("series-parts").layout
    output = models.Output(width=SIZE[0], height=SIZE[1])
    times = []
    for n in range(12):
        began = time.perf_counter()
        finalise(source, layout, Drawing(f"What item {n} of the series is really about", f"Part {n}"), output, target)
        times.append(time.perf_counter() - began)
    return statistics.median(times[1:])
