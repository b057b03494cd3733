"""The pictures of docs/images drawn anew: the looks, the templates and a series on the bundled hero, and photos.

    python -m benchmarks.pictures [--photos FOLDER]

Photos are no part of the repository. FOLDER holds those that `heroes.jpg` and `layers*.jpg` show, under the names in
`PHOTOS` and `LAYERED_ON`, and they are shown as a build shows them that is told nothing. Without it these stay as they
are.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PIL import Image

from benchmarks.gallery import OUTPUT, file_of, painted
from thumbforge.imaging.finalise import Drawing, finalise
from thumbforge.imaging.userfiles import picture_file
from thumbforge.layers import Template
from thumbforge.models import Item, PlaylistHead
from thumbforge.pixels.scene import Scene
from thumbforge.pixels.sides import free_side
from thumbforge.planning.preview import TEXTS
from thumbforge.specs.catalog import Catalog
from thumbforge.specs.prompts import Prompts
from thumbforge.specs.variables import variables_for

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


LAYERED = (
    "big-number",
    "red-band",
    "bright-tech",
    "documentary",
    "flat-shapes",
    "cover-story",
    "guest",
    "versus",
)
LAYERED_ON = ("pandas", "portrait", "astronaut", "thing", "sticker", "webcam")
SHEET_QUALITY = 62
BESIDE = "beside"
"""The picture of a guest, and of what the hero is compared with."""
USUAL = "Read *tabular* files"
BEHIND = "Missing *values*"
"""Wide enough to pass behind a head."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pictures")
    parser.add_argument("--photos", type=Path, metavar="FOLDER", help="what heroes.jpg shows")
    photos = parser.parse_args().photos
    pages = {"looks": LOOKS, "templates": TEMPLATES, "pandas-30": series()}
    if photos:
        pages["heroes"] = tuple(with_hero(shot, next(photos.glob(f"{name}.*"))) for name, shot in PHOTOS)
    for name, shots in pages.items():
        page(shots).save(ROOT / "docs/images" / f"{name}.jpg", quality=QUALITY, optimize=True)
    if photos:
        layered(photos)


def layered(photos: Path) -> None:
    """The templates from layers: each by itself, each on six heroes, and each on four texts, large and at 168x94."""
    folder = ROOT / "docs/images"
    for name in LAYERED:
        shot = Shot(BEHIND if name == "cover-story" else USUAL, "7", "yzIMircGU5I", name)
        cell = thumbnail(shot, photos).resize((480, 270), Image.Resampling.LANCZOS)
        cell.save(folder / f"{name}.jpg", quality=QUALITY, optimize=True)
    heroes = {hero: PANDAS if hero == "pandas" else next(photos.glob(f"{hero}.*")) for hero in LAYERED_ON}
    on_heroes = [
        thumbnail(Shot(USUAL, "7", f"{hero:0<11.11}", name, hero=path), photos)
        for name in LAYERED
        for hero, path in heroes.items()
    ]
    sheet(on_heroes, len(heroes)).save(folder / "layers-heroes.jpg", quality=SHEET_QUALITY, optimize=True)
    texts = (USUAL, *TEXTS.values())
    on_texts = [
        thumbnail(Shot(text, "7", f"text-{number:06}", name), photos)
        for name in LAYERED
        for number, text in enumerate(texts)
    ]
    sheet(on_texts, len(texts)).save(folder / "layers-texts.jpg", quality=SHEET_QUALITY, optimize=True)


def sheet(pictures: Sequence[Image.Image], columns: int) -> Image.Image:
    """Each at 240 pixels, and at the 168 at which most people see it under it."""
    wide, high = 240, 135
    cell = (wide + 6, high + 94 + 10)
    whole = Image.new("RGB", (columns * cell[0] + 6, -(-len(pictures) // columns) * cell[1] + 6), GROUND)
    for number, picture in enumerate(pictures):
        at = (6 + number % columns * cell[0], 6 + number // columns * cell[1])
        whole.paste(picture.resize((wide, high), Image.Resampling.LANCZOS), at)
        whole.paste(picture.resize((168, 94), Image.Resampling.LANCZOS), (at[0], at[1] + high + 2))
    return whole


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


def thumbnail(shot: Shot, photos: Path | None = None) -> Image.Image:
    template, mask = Catalog(ROOT).template(shot.template), shot.hero.with_suffix(".mask.png")
    layout = template.layout
    own = file_of(mask) if mask.is_file() else None
    scene = Scene(file_of(shot.hero), own, look=shot.look, free=free_side(layout))
    with tempfile.TemporaryDirectory() as scratch:
        art, final = Path(scratch) / "art.jpg", Path(scratch) / "final.png"
        art.write_bytes(painted(scene, shot.video, Path(scratch)))
        drawing = Drawing(shot.title, shot.part, scene=scene)
        if isinstance(template, Template):
            drawing = replace(drawing, **words(template, shot, photos))
        finalise(art, layout, drawing, OUTPUT, final)
        with Image.open(final) as picture:
            return picture.convert("RGB")


def words(template: Template, shot: Shot, photos: Path | None) -> dict[str, Any]:
    """What a layout of layers shows: its texts, and a second picture."""
    item = Item(video=shot.video, title=shot.title, part=int(shot.part))
    head = PlaylistHead(id="PLsample", title="pandas in short", channel="Data School", language="en")
    layout = template.layout
    seen = variables_for(item, head, {"guest": "Grace Hopper"}, 1280, 720, layout.negative_space, 7)
    texts = Prompts(template).texts({**seen, "text": shot.title})
    beside = picture_file(next(photos.glob(f"{BESIDE}.*"))) if photos else None
    images = [(name, beside) for name, image in layout.images.items() if image.source == "second" and beside]
    return {"texts": texts, "images": tuple(images), "picture": beside if layout.shows("picture") else None}


if __name__ == "__main__":
    main()
