"""(k) A saved text under `thumbforge watch`: from the save until the new picture lies in out/, over finishing the same
item alone.

A real watch in a process of its own, and real saves; the pause that ends a burst of saves is part of it.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from benchmarks.clock import take_turns, timed
from benchmarks.commands import DOIT, THUMBFORGE, environment, told
from benchmarks.figure import Figure, at_most, seconds
from benchmarks.sample import project, scratch
from thumbforge.imaging.finalise import finalise
from thumbforge.planning.decide import plan_series
from thumbforge.planning.project import Project
from thumbforge.planning.series import SeriesRequest, resolve

ITEMS, ITEM = 30, 7
TARGET = at_most(1000, "ms")
BARE = "finishing alone"


def measure(*, quick: bool = False) -> list[Figure]:
    root = project(scratch() / "watched", ITEMS, width=1920)
    told(root, *DOIT)
    watching = subprocess.Popen(
        (*THUMBFORGE, "watch"),
        cwd=root,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert watching.stdout
    try:
        watching.stdout.readline()
        texts = (f"Saved text number {n}" for n in count(1))
        rounds = take_turns({"watch": lambda: _save(root, next(texts)), BARE: timed(_finish(root))}, 3 if quick else 9)
    finally:
        watching.terminate()
        watching.communicate(timeout=60)
    return [
        Figure(
            letter="k",
            what=f"`watch`: one saved text of {ITEMS} items, until its file is there",
            figure=f"{seconds(rounds.median('watch'))}, {BARE} {seconds(rounds.median(BARE))}",
            ratio=rounds.ratio("watch", BARE),
            of=BARE,
            target=TARGET,
            value=1000 * rounds.median("watch"),
        )
    ]


def _save(root: Path, text: str) -> float:
    playlist, export = root / "specs/playlists/bench.yaml", root / f"out/bench/{ITEM:02}-bench{ITEM:06}.jpg"
    lines = playlist.read_text(encoding="utf-8").splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if f"bench{ITEM:06}" in line)
    lines[at] = lines[at].partition(", text:")[0].rstrip("}\n") + f", text: '{text}'}}\n"
    before, began = export.stat().st_ino, time.perf_counter()
    playlist.write_text("".join(lines), encoding="utf-8")
    while export.stat().st_ino == before:
        if time.perf_counter() - began > 60:
            raise SystemExit("watch drew nothing")
        time.sleep(0.002)
    took = time.perf_counter() - began
    time.sleep(1)  # until the sheet is written, too: it is no part of what the next one waits for
    return took


def _finish(root: Path) -> Callable[[], object]:
    """The drawing alone, of the same art with the same layout."""
    here = Project(root)
    row = plan_series(here, resolve(here.lookup(None), SeriesRequest(series="bench"))).rows[ITEM - 1]
    assert row.art
    wanted, art = row.wanted, here.store.path(row.art.picture.sha256, row.art.picture.suffix)
    layout, target = wanted.series.template.layout, scratch() / "alone.jpg"
    return lambda: finalise(art, layout, wanted.drawing, wanted.series.output, target)
