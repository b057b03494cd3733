"""Projects to measure on, made in a scratch directory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

DODO = """\
from thumbforge.build.dodo import DOIT_CONFIG, task_sheet, task_thumb

__all__ = ["DOIT_CONFIG", "task_sheet", "task_thumb"]
"""


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


def doit(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `doit …` in the project as a user would, in a process of its own."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("THUMBFORGE_")}
    return subprocess.run(
        [sys.executable, "-m", "doit", *words], cwd=root, env=environ, capture_output=True, text=True, check=False
    )


def finished_project(root: Path, items: int) -> Path:
    """The same with every item made, all of them with one small picture, so that 10,000 take a minute or two."""
    import threading

    from thumbforge.imaging.rules import Report
    from thumbforge.providers.base import Answer, Cancel
    from thumbforge.providers.fake import FakeProvider
    from thumbforge.runs import batch as batches
    from thumbforge.runs import make as making
    from thumbforge.runs.project import Project
    from thumbforge.runs.series import SeriesRequest, resolve

    project(root, items, max_concurrency=64)
    picture = (root / "specs/heroes/hero.jpg").read_bytes()
    report = Report((), 1280, 720, len(picture), "image/jpeg")

    def finalise(art: object, layout: object, drawing: object, output: object, target: Path) -> Report:
        target.write_bytes(picture)
        return report

    before = making.finalise, FakeProvider.generate
    making.finalise = finalise  # type: ignore[assignment]
    FakeProvider.generate = lambda *_: Answer(picture, "image/jpeg")  # type: ignore[method-assign, assignment]
    try:
        found = Project(root)
        planned = batches.plan_series(found, resolve(found.place(None), SeriesRequest(series="bench")))
        batch = batches.Batch(found, planned, planned.rows, cancel=Cancel())
        keys = iter([row.wanted.item_key for row in planned.rows])
        lock = threading.Lock()

        def work() -> None:
            while True:
                with lock:
                    key = next(keys, None)
                if key is None:
                    return
                batch.outcome(key)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        batch.close({})
    finally:
        making.finalise, FakeProvider.generate = before  # type: ignore[method-assign]
    return root
