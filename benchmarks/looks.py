"""What a picture of `local` costs, painted and finished, beside finishing the same alone: CPU time, one picture of a
series after another, with everything that a series shares made already."""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import get_args

from benchmarks.clock import take_turns
from benchmarks.figure import Figure, at_most, seconds
from benchmarks.sample import scratch
from thumbforge import models
from thumbforge.cancel import Cancel
from thumbforge.imaging.finalise import Drawing, finalise
from thumbforge.pixels.scene import File, Scene
from thumbforge.pixels.sides import free_side
from thumbforge.providers.base import Call, Reference, Request
from thumbforge.providers.local import LocalProvider
from thumbforge.specs.catalog import Catalog

ROUNDS = 15
LOOKS = tuple(name for name in get_args(models.LookName) if name != "auto")
BARE = "finishing alone"
HERO = Path(__file__).parents[1] / "specs" / "heroes" / "pandas.jpg"
MASK = HERO.with_name("pandas.mask.png")
TITLE = "Select rows\nby position"


def measure(*, quick: bool = False) -> list[Figure]:
    return [_figure(look, 5 if quick else ROUNDS) for look in LOOKS]


def _figure(look: str, repeats: int) -> Figure:
    layout, output = Catalog(scratch()).template("series-parts").layout, models.Output(width=1920, height=1080)
    scene = Scene(_file(HERO), mask=_file(MASK), look=look, free=free_side(layout))
    numbers = itertools.count()
    art = scratch() / "art.jpg"
    art.write_bytes(_painted(scene, "video000000"))

    def ours() -> None:
        own = scratch() / "own.jpg"
        own.write_bytes(_painted(scene, f"video{next(numbers):06}"))
        finalise(own, layout, Drawing(TITLE, "PART 7", scene=scene), output, scratch() / "ours.jpg")

    def bare() -> None:
        finalise(art, layout, Drawing(TITLE, "PART 7", scene=scene), output, scratch() / "bare.jpg")

    rounds = take_turns({"ours": _burnt(ours), BARE: _burnt(bare)}, repeats)
    return Figure(
        letter="e",
        what=f"painting with `local` and finishing, 1920x1080, look {look}, CPU",
        figure=f"{seconds(rounds.median('ours'))}, {BARE} {seconds(rounds.median(BARE))}",
        ratio=rounds.ratio("ours", BARE),
        of=BARE,
        target=at_most(2.5),
    )


def _painted(scene: Scene, video: str) -> bytes:
    assert scene.hero
    reference = Reference(scene.hero.sha256, scene.hero.path, "image/jpeg")
    request = Request("", None, 1920, 1080, None, reference, video, scene=scene)
    return LocalProvider({}).generate(request, Call(Cancel(), 60, "", "", scratch())).data


def _file(path: Path) -> File:
    return File(path, hashlib.sha256(path.read_bytes()).hexdigest())


def _burnt(run: Callable[[], object]) -> Callable[[], float]:
    """The same as a measurement: CPU seconds of this process."""

    def measure() -> float:
        began = time.process_time()
        run()
        return time.process_time() - began

    return measure
