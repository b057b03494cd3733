"""Projects to measure on, made in a scratch directory that goes when the process ends."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

if TYPE_CHECKING:
    from thumbforge.making.batch import Batch
    from thumbforge.making.executor import Placement

DODO = """\
from thumbforge.tasks.dodo import DOIT_CONFIG, task_sheet, task_thumb

__all__ = ["DOIT_CONFIG", "task_sheet", "task_thumb"]
"""


@cache
def scratch() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="thumbforge-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def project(root: Path, items: int, *, delay_ms: int = 0, max_concurrency: int = 4, width: int = 1280) -> Path:
    """A project with one series `bench` of `items` items on the fake provider."""
    from PIL import Image

    for folder in ("playlists", "providers", "series", "heroes"):
        (root / "specs" / folder).mkdir(parents=True)
    (root / "dodo.py").write_text(DODO)
    rows = "".join(
        f"  - {{video: bench{n:06d}, title: 'What item {n} of the series is really about', part: {n}}}\n"
        for n in range(1, items + 1)
    )
    (root / "specs/playlists/bench.yaml").write_text(f"playlist: {{id: PLbench0000000}}\nitems:\n{rows}")
    (root / "specs/providers/bench.yaml").write_text(
        f"name: bench\nprovider: fake\nparams: {{delay_ms: {delay_ms}}}\nmax_concurrency: {max_concurrency}\n"
    )
    (root / "specs/series/bench.yaml").write_text(
        "playlist: bench\nhero: specs/heroes/hero.jpg\nprovider: bench\n"
        f"output: {{width: {width}, height: {width * 9 // 16}}}\n"
    )
    Image.radial_gradient("L").resize((1280, 720)).convert("RGB").save(root / "specs/heroes/hero.jpg")
    return root


@cache
def finished(items: int) -> Path:
    """A project with everything made, its sheet too; the same one for everybody who asks for this size."""
    from benchmarks.commands import DOIT, told

    root = finished_project(scratch() / f"finished-{items}", items)
    told(root, *DOIT)
    return root


def finished_project(root: Path, items: int, art: bytes | None = None) -> Path:
    """A project with every item made, all of them with one picture that nobody draws, `art` or the hero.

    Every step of a batch is gone through but the drawing and the decoding, and nothing waits for the disk: 10,000 take
    half a minute.
    """
    from benchmarks.copies import Copied
    from thumbforge.store import database

    project(root, items, max_concurrency=64)
    picture = art or (root / "specs/heroes/hero.jpg").read_bytes()
    with (
        patch.object(os, "fsync", lambda _: None),
        patch.object(database, "_PRAGMAS", ("journal_mode = WAL", "synchronous = OFF", "foreign_keys = ON")),
    ):
        batch = opened(root, Copied(processes=0, picture=picture))
        make(batch, [row.wanted.item_key for row in batch.planned.rows], threads=1)
        summary = batch.close({}).summary
    assert summary.completed == items, summary
    return root


def opened(root: Path, placement: Placement) -> Batch:
    """The batch of the series, opened as `doit batch` does. Close it in the end."""
    from thumbforge.cancel import Cancel
    from thumbforge.making.batch import Batch
    from thumbforge.planning.decide import plan_series
    from thumbforge.planning.project import Project
    from thumbforge.planning.series import SeriesRequest, resolve

    found = Project(root)
    planned = plan_series(found, resolve(found.lookup(None), SeriesRequest(series="bench")))
    return Batch(found, planned, planned.rows, cancel=Cancel(), placement=placement)


def make(batch: Batch, keys: Iterable[str], threads: int) -> None:
    """Make these items, `threads` at a time."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(batch.outcome, keys))
