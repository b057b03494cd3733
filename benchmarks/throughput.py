"""(e) Finished pictures a second in a batch, by workers, against bare loops that draw about the same on as many cores.

Ours goes through everything that a batch does to a picture: the stored art is hashed, the title is fitted, drawn,
measured and judged, the file is hashed, synced, recorded and exported. The bare loops decode, crop, shade, write two
lines and a badge, and encode; each core has a process of its own with it, so nothing is in its way.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from itertools import count
from pathlib import Path

from benchmarks.clock import Rounds, take_turns
from benchmarks.commands import REPOSITORY, child, environment
from benchmarks.figure import Figure, Target, at_least
from benchmarks.sample import finished_project, make, opened, scratch

ITEMS = 60
SIZE = (1280, 720)
PER_CORE, SCALING = at_least(0.9), at_least(1.8)
BARE, VIPS, OURS = "bare", "vips", "ours"
NAMES = {BARE: "bare Pillow", VIPS: "bare pyvips", OURS: "one worker"}


@dataclass(frozen=True, slots=True)
class Workers:
    """`count` of them. With `processes` they draw in as many processes beside the batch's, as in a long batch; without
    they are threads of its own process, as in a short one."""

    count: int
    processes: bool

    def __str__(self) -> str:
        one, several = ("process", "processes") if self.processes else ("thread", "threads")
        return f"{self.count} {one if self.count == 1 else several}"


ONE = Workers(1, processes=False)


def measure(*, quick: bool = False) -> list[Figure]:
    items, cores = 16 if quick else ITEMS, os.cpu_count() or 1
    several = sorted({2, cores} - {1})
    workers = [ONE, *(Workers(n, processes) for n in several for processes in (False, True))]
    root, changes = _project(items), count(1)
    names: dict[str, Callable[[], float]] = {f"{OURS} {own}": partial(_ours, root, own, changes) for own in workers}
    for kind in (BARE, VIPS) if find_spec("pyvips") else (BARE,):
        names |= {f"{kind} {n}": partial(_bare, kind, items, n) for n in (1, *several)}
    rounds = take_turns(names, 3 if quick else 5)
    return [_figure(rounds, own, kind) for own in workers for kind in (BARE, VIPS, OURS) if (own, kind) != (ONE, OURS)]


def _figure(rounds: Rounds, workers: Workers, kind: str) -> Figure:
    own, other = f"{OURS} {workers}", f"{OURS} {ONE}" if kind == OURS else f"{kind} {workers.count}"
    what = f"finalising at 1280x720, {workers}, against {NAMES[kind]}"
    if other not in rounds.measured:
        return Figure(letter="e", what=what, figure="left out: not installed")
    return Figure(
        letter="e",
        what=what,
        figure=f"{rounds.median(own):.1f}/s, {NAMES[kind]} {rounds.median(other):.1f}/s",
        ratio=rounds.ratio(own, other),
        of=NAMES[kind],
        target=_target(workers, kind),
    )


def _target(workers: Workers, kind: str) -> Target | None:
    """Threads beyond the first are for batches too short for a process to be worth its start."""
    if kind == VIPS or (workers != ONE and not workers.processes):
        return None
    if kind == BARE:
        return PER_CORE
    return SCALING if workers.count == 2 else None


@cache
def art() -> bytes:
    """A picture of the size that services give, with grain: what is costly to decode and to encode."""
    import io

    from PIL import Image

    colours = Image.frombytes("RGB", (8, 5), random.Random(7).randbytes(8 * 5 * 3))
    grain = Image.frombytes("L", (1376, 768), random.Random(8).randbytes(1376 * 768))
    ground = colours.resize(grain.size, Image.Resampling.BICUBIC)
    encoded = io.BytesIO()
    Image.blend(ground, Image.merge("RGB", (grain,) * 3), 0.1).save(encoded, "JPEG", quality=92)
    return encoded.getvalue()


@cache
def _project(items: int) -> Path:
    return finished_project(scratch() / f"throughput-{items}", items, art())


def _ours(root: Path, workers: Workers, changes: Iterator[int]) -> float:
    """Pictures a second of a batch that has the art of every item and draws all of them."""
    series = root / "specs/series/bench.yaml"
    output = f"output: {{width: {SIZE[0]}, height: {SIZE[1]}, max_bytes: {1_900_000 + next(changes)}}}\n"
    series.write_text("".join([*series.read_text().splitlines(keepends=True)[:3], output]))
    processes = workers.count if workers.processes else 0
    return float(child("throughput", str(root), str(workers.count), str(processes)))


def _bare(kind: str, items: int, cores: int) -> float:
    """Pictures a second of as many processes as `cores`, together."""
    (scratch() / "art.jpg").write_bytes(art())
    argv = [sys.executable, "-m", "benchmarks.bare", kind, str(scratch() / "art.jpg"), str(items // cores)]
    running = [
        subprocess.Popen(argv, cwd=REPOSITORY, env=environment(), stdout=subprocess.PIPE, text=True)
        for _ in range(cores)
    ]
    return sum(float(process.communicate()[0]) for process in running)


def _drawn_per_second(root: Path, concurrency: int, processes: int) -> float:
    """Of an opened batch; the first items, which load fonts and libraries, are start-up and not counted."""
    from thumbforge.making.batch import threads_for
    from thumbforge.making.executor import Placement

    placement = Placement(processes)
    batch = opened(root, placement)
    rows = batch.planned.rows
    assert {row.action for row in rows} == {"refinish"}
    keys, warm = [row.wanted.item_key for row in rows], 3 * concurrency
    threads = threads_for(batch.planned, rows, concurrency, placement)
    make(batch, keys[:warm], threads)
    began = time.perf_counter()
    make(batch, keys[warm:], threads)
    took = time.perf_counter() - began
    assert batch.close({}).summary.completed == len(keys)
    return (len(keys) - warm) / took


if __name__ == "__main__":
    print(_drawn_per_second(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
