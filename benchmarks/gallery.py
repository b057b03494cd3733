"""Every hero of a folder in every built-in template, to be looked at, and what becomes of the faces in them.

    python -m benchmarks.gallery FOLDER OUT [--looks auto,photo] [--templates poster] [--told]

FOLDER holds pictures, masks beside them (`me.mask.png`), and `faces.json`: for each file name where its face is, as
shares (x, y, width, height). The build is told of masks and faces only with `--told`; the judgement knows them always.
A face passes if it is whole, has its own colours, and no letter, plate or panel lies on more than 2 % of it; where it
is at least half as high as the subject's box, it also has a quarter of the height (34 % where the build is told of it).

OUT gets a PNG of each hero (a column for each template, at 640 and at 168 pixels) and the finals themselves.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageChops

from thumbforge import models
from thumbforge.cancel import Cancel
from thumbforge.imaging.finalise import Drawing, finalise
from thumbforge.pixels.heroes import open_hero
from thumbforge.pixels.placed import Placed, place
from thumbforge.pixels.scene import File, Scene, Shares
from thumbforge.pixels.sides import free_side
from thumbforge.providers.base import Call, Reference, Request
from thumbforge.providers.local import LocalProvider
from thumbforge.specs.catalog import Catalog

SUFFIXES = {".jpg", ".jpeg", ".png", ".webp"}
TITLES = ("Start *here*", "Compare *machine learning* models", "Why does this *work* so well?")
SIZE = (1280, 720)
SMALL = (168, 94)
OUTPUT = models.Output(width=1280, height=720, format="png", max_bytes=50_000_000)
_COVERED, _RECOLOURED, _CHANGED = 0.02, 16.0, 40
_QUARTER, _THIRD = 0.25, 0.34


@dataclass(frozen=True, slots=True)
class Judged:
    """One final: what is wrong with its face ("" where nothing is), and what the report warned of."""

    hero: str
    template: str
    look: str
    kind: str
    wrong: str
    notes: tuple[str, ...]
    picture: Path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gallery")
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--looks", default="auto")
    parser.add_argument("--templates", default="")
    parser.add_argument("--told", action="store_true", help="tell the build of masks and faces")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    faces: dict[str, list[float]] = json.loads((options.folder / "faces.json").read_text(encoding="utf-8"))
    templates = options.templates.split(",") if options.templates else list(Catalog(Path()).template_names())
    heroes = sorted(path for path in options.folder.iterdir() if is_hero(path))
    found: list[Judged] = []
    for hero in heroes:
        face = tuple(faces[hero.name]) if hero.name in faces else None
        rows = list(drawn(hero, face, options.looks.split(","), templates, options.out, told=options.told))
        sheet([row.picture for row in rows]).save(options.out / f"sheet-{hero.stem}.png")
        for row in rows:
            about = f"{row.hero:20} {row.template:14} {row.look:8} {row.kind:7}"
            print(f"{about} {row.wrong or 'ok':40} {'; '.join(row.notes)}")
        found += rows if face else []
    failed = [row for row in found if row.wrong]
    print(f"{len(found)} pictures of heroes with a face, {len(failed)} fail ({len(failed) / max(len(found), 1):.1%})")


def is_hero(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and not path.name.endswith(".mask.png")


def drawn(
    hero: Path, face: Shares | None, looks: list[str], templates: list[str], out: Path, *, told: bool
) -> Iterator[Judged]:
    """Each look in each template, with the titles in turn."""
    for number, (look, template) in enumerate((look, template) for look in looks for template in templates):
        layout = Catalog(Path()).template(template).layout
        mask = hero.with_name(f"{hero.stem}.mask.png")
        own = Scene(file_of(hero), look=look, free=free_side(layout))
        if told:
            own = Scene(own.hero, file_of(mask) if mask.is_file() else None, face=face, look=look, free=own.free)
        target = out / f"{hero.stem}-{template}-{look}.png"
        title = TITLES[number % len(TITLES)]
        with tempfile.TemporaryDirectory() as scratch:
            art = Path(scratch) / "art.jpg"
            art.write_bytes(painted(own, f"{hero.stem[:6]:0<6}{number:05}", Path(scratch)))
            report = finalise(art, layout, Drawing(title, "PART 2", scene=own), OUTPUT, target)
            opened = open_hero(own, *SIZE)
            assert opened
            placed = place(opened, look, own.free, *SIZE)
            wrong = "" if face is None else judged(placed, opened.rgb, face, art, target, told=told)
        notes = tuple(note for note in (*report.violations, *report.warnings) if note)
        yield Judged(hero.name, template, placed.look, placed.subject.kind, wrong, notes, target)


def judged(placed: Placed, rgb: Image.Image, face: Shares, art: Path, final: Path, *, told: bool) -> str:
    """What is wrong with the face of a final, or ""."""
    left, top, right, foot = placed.photo
    x, y, w, h = face
    wide, high = right - left, foot - top
    box = left + x * wide, top + y * high, left + (x + w) * wide, top + (y + h) * high
    if box[0] < -1 or box[1] < -1 or box[2] > SIZE[0] + 1 or box[3] > SIZE[1] + 1:
        return "cut"
    if placed.look == "card":
        return ""  # it is turned; the window's rule holds, and the sheet is looked at
    cells = tuple(round(side) for side in box)
    with Image.open(art) as painted, Image.open(final) as finished:
        before, after = painted.convert("RGB").crop(cells), finished.convert("RGB").crop(cells)
    sides = x * rgb.width, y * rgb.height, (x + w) * rgb.width, (y + h) * rgb.height
    source = rgb.crop(tuple(round(side) for side in sides))
    own = source.resize(before.size, Image.Resampling.BOX)
    recoloured = _apart(before, own)
    if recoloured > _RECOLOURED:
        return f"recoloured by {recoloured:.0f} levels"
    changed = ImageChops.difference(before, after).convert("L").point([0] * _CHANGED + [1] * (256 - _CHANGED))
    covered = sum(changed.tobytes()) / (changed.width * changed.height)
    if covered > _COVERED:
        return f"covered by {covered:.0%}"
    share, subject = (box[3] - box[1]) / SIZE[1], placed.box
    tall = subject is not None and box[3] - box[1] >= 0.5 * (subject[3] - subject[1])
    wanted = _THIRD if told else _QUARTER if tall else 0.0
    return f"small: {share:.0%} of the height" if share < wanted - 0.005 else ""


def _apart(one: Image.Image, other: Image.Image) -> float:
    small = (24, 24)
    pair = ImageChops.difference(one.resize(small, Image.Resampling.BOX), other.resize(small, Image.Resampling.BOX))
    return sum(pair.tobytes()) / len(pair.tobytes())


def sheet(pictures: list[Path], columns: int = 4) -> Image.Image:
    """All at 480 pixels, each with itself at 168 beside it."""
    cell = (480 + 8 + SMALL[0] + 12, 270 + 12)
    page = Image.new("RGB", (columns * cell[0], -(-len(pictures) // columns) * cell[1]), (24, 25, 28))
    for number, path in enumerate(pictures):
        at = (number % columns * cell[0], number // columns * cell[1])
        with Image.open(path) as picture:
            page.paste(picture.resize((480, 270), Image.Resampling.LANCZOS), at)
            page.paste(picture.resize(SMALL, Image.Resampling.LANCZOS), (at[0] + 488, at[1]))
    return page


def painted(scene: Scene, video: str, scratch: Path) -> bytes:
    assert scene.hero
    reference = Reference(scene.hero.sha256, scene.hero.path, "")
    request = Request("", None, *SIZE, None, reference, video[:11], scene=scene)
    return LocalProvider({}).generate(request, Call(Cancel(), 60, "", "", scratch)).data


def file_of(path: Path) -> File:
    return File(path, hashlib.sha256(path.read_bytes()).hexdigest())


if __name__ == "__main__":
    main()
