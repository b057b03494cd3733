"""The pictures of docs/images drawn anew: the looks, the templates and a series on the bundled hero, and photos.

    python -m benchmarks.pictures [--photos FOLDER]

Photos are no part of the repository. FOLDER holds those that `heroes.jpg` shows, under the names in `PHOTOS`, and they
are shown as a build shows them that is told nothing. Without it `heroes.jpg` stays as it is.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from benchmarks.gallery import OUTPUT, file_of, painted
from thumbforge.imaging.finalise import Drawing, finalise
from thumbforge.pixels.scene import Scene
from thumbforge.pixels.sides import free_side
from thumbforge.specs.catalog import Catalog

ROOT = Path(__file__).parents[1]
PANDAS = ROOT / "specs/heroes/pandas.jpg"
CELL, GAP, GROUND, QUALITY = (420, 236), 8, "#FFFFFF", 84
SHOWN = (1, 2, 3, 7, 9, 11, 12, 18, 21, 24, 27, 30)
"""Parts of the bundled series."""


@dataclass(frozen=True, slots=True)
class Shot:
    """One thumbnail; the hero's mask lies beside it, if it has one."""

    title: str
    part: str
    video: str
    template: str = "series-parts"
    look: str = "auto"
    hero: Path = PANDAS


LOOKS = (
    Shot("What is *pandas*?", "Part 1", "yzIMircGU5I", look="cutout"),
    Shot("Select a *series*", "Part 3", "zxqjeyKP2Tk", look="photo"),
    Shot("Use *string* methods", "Part 12", "bofaC0IckHo", look="split"),
    Shot("*Rename* columns", "Part 5", "0uBirYFhizE", look="card"),
    Shot("Remove *duplicate* rows", "Part 29", "ht5buXUMqkQ", look="duotone"),
    Shot("Create a *DataFrame*", "Part 28", "-Ov1N1_FbP8", "bold-title"),
)
TEMPLATES = tuple(
    Shot("Read *tabular* files", "Part 2", video, template)
    for template, video in (
        ("series-parts", "5_QXMwezPJE"),
        ("bold-title", "zxqjeyKP2Tk"),
        ("minimal", "bofaC0IckHo"),
        ("corner-card", "0uBirYFhizE"),
        ("split-panel", "yzIMircGU5I"),
        ("news-bar", "ht5buXUMqkQ"),
    )
)
PHOTOS = (
    ("portrait", Shot("Start *here*", "Part 4", "photo-00001")),
    ("thing", Shot("Compare *beans* and roasts", "Part 4", "photo-00002")),
    ("upright", Shot("Why does this *work* so well?", "Part 4", "photo-00003", "news-bar")),
    ("webcam", Shot("Live from *orbit*", "Part 4", "photo-00004", look="split")),
    ("upright", Shot("Ask me *anything*", "Part 4", "photo-00005", look="card")),
    ("screenshot", Shot("Write *clean* functions", "Part 4", "photo-00006")),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pictures")
    parser.add_argument("--photos", type=Path, metavar="FOLDER", help="what heroes.jpg shows")
    photos = parser.parse_args().photos
    pages = {"looks": LOOKS, "templates": TEMPLATES, "pandas-30": series()}
    if photos:
        pages["heroes"] = tuple(with_hero(shot, next(photos.glob(f"{name}.*"))) for name, shot in PHOTOS)
    for name, shots in pages.items():
        page(shots).save(ROOT / "docs/images" / f"{name}.jpg", quality=QUALITY, optimize=True)


def series() -> tuple[Shot, ...]:
    """Twelve of the bundled series, as `doit batch playlist=pandas-30` makes them."""
    items = Catalog(ROOT).playlist_file("pandas-30").items
    return tuple(Shot(x.text or x.title, f"Part {x.part}", x.video) for x in items if x.part in SHOWN)


def with_hero(shot: Shot, hero: Path) -> Shot:
    return Shot(shot.title, shot.part, shot.video, shot.template, shot.look, hero)


def page(shots: Sequence[Shot], columns: int = 3) -> Image.Image:
    rows = -(-len(shots) // columns)
    wide, high = CELL[0] + GAP, CELL[1] + GAP
    whole = Image.new("RGB", (columns * wide + GAP, rows * high + GAP), GROUND)
    for number, shot in enumerate(shots):
        at = (GAP + number % columns * wide, GAP + number // columns * high)
        whole.paste(thumbnail(shot).resize(CELL, Image.Resampling.LANCZOS), at)
    return whole


def thumbnail(shot: Shot) -> Image.Image:
    layout, mask = Catalog(ROOT).template(shot.template).layout, shot.hero.with_suffix(".mask.png")
    own = file_of(mask) if mask.is_file() else None
    scene = Scene(file_of(shot.hero), own, look=shot.look, free=free_side(layout))
    with tempfile.TemporaryDirectory() as scratch:
        art, final = Path(scratch) / "art.jpg", Path(scratch) / "final.png"
        art.write_bytes(painted(scene, shot.video, Path(scratch)))
        finalise(art, layout, Drawing(shot.title, shot.part, scene=scene), OUTPUT, final)
        with Image.open(final) as picture:
            return picture.convert("RGB")


if __name__ == "__main__":
    main()
