"""`python -m benchmarks.titles [FOLDER]`: every troublesome title at three templates, to be looked at script by script.

Writes, for each template, a PNG at 384x216 a title and one at 168x94, and prints what the reports complain of and what
a picture took. FOLDER is `titles` in the current directory unless named.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter

from thumbforge import models
from thumbforge.imaging.finalise import Drawing, finalise
from thumbforge.imaging.rules import Report
from thumbforge.specs.catalog import Catalog

TITLES = Path(__file__).parent.parent / "tests" / "data" / "titles.txt"
TEMPLATES = ("series-parts", "minimal", "news-bar")
LARGE, SMALL = (384, 216), (168, 94)
COLUMNS = 6
OUTPUT = models.Output(width=1280, height=720)
LANGUAGES = {"japanese": "ja", "chinese": "zh", "korean": "ko", "turkish-i": "tr"}


def ground() -> Image.Image:
    """Soft colours, a bright disk, a dark hill: something for text to stand against."""
    sky = Image.new("RGB", (2, 2))
    sky.putdata([(40, 30, 90), (190, 80, 90), (230, 140, 80), (60, 30, 60)])
    scene = sky.resize((1280, 720), Image.Resampling.BICUBIC)
    ImageDraw.Draw(scene).ellipse((880, 170, 1120, 410), fill=(250, 220, 170))
    ImageDraw.Draw(scene).polygon([(0, 720), (420, 560), (900, 700), (1280, 600), (1280, 720)], fill=(30, 22, 44))
    return scene.filter(ImageFilter.GaussianBlur(3))


def titles() -> Iterator[tuple[str, str, str | None]]:
    """Id, title and language of every title, sorted by script so that a sheet can be read."""
    rows = [line.split("\t") for line in TITLES.read_text("utf-8").splitlines() if not line.startswith("#")]
    for key, text, tags in sorted(rows, key=lambda row: (row[2].split(",")[0], row[0])):
        language = next((LANGUAGES[tag] for tag in tags.split(",") if tag in LANGUAGES), None)
        yield key, json.loads(text), language


def draw(template: str, art: Path, scratch: Path) -> Iterator[tuple[str, Report, Image.Image, float]]:
    """Each title with its report, its picture, and the seconds that it took."""
    layout = Catalog(scratch).template(template).layout
    target = scratch / "final.jpg"
    for key, title, language in titles():
        began = time.perf_counter()
        report = finalise(art, layout, Drawing(title, "Part 7", language=language), OUTPUT, target)
        took = time.perf_counter() - began
        with Image.open(target) as opened:
            yield key, report, opened.convert("RGB"), took


def sheet(pictures: list[Image.Image], size: tuple[int, int]) -> Image.Image:
    rows = -(-len(pictures) // COLUMNS)
    page = Image.new("RGB", (COLUMNS * (size[0] + 4), rows * (size[1] + 4)), "#808080")
    for number, picture in enumerate(pictures):
        place = ((number % COLUMNS) * (size[0] + 4), (number // COLUMNS) * (size[1] + 4))
        page.paste(picture.resize(size, Image.Resampling.LANCZOS), place)
    return page


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        ground().save(scratch / "art.png")
        for template in TEMPLATES:
            pictures, times = [], []
            for key, report, picture, took in draw(template, scratch / "art.png", scratch):
                pictures.append(picture)
                times.append(took)
                for line in (*report.violations, *report.warnings):
                    print(f"{template} {key} {line}")
            sheet(pictures, LARGE).save(folder / f"{template}.png")
            sheet(pictures, SMALL).save(folder / f"{template}-168x94.png")
            median = sorted(times)[len(times) // 2]
            print(f"{template}: {len(pictures)} titles, median {median * 1000:.0f} ms at 1280x720")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("titles"))
