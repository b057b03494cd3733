"""What a reader of letters makes of thumbnails at 168x94, the size of the column beside a video: `-m ocr`, where
tesseract is installed."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import pytest
import yaml
from PIL import Image, ImageOps

from tests import built_in
from thumbforge import models
from thumbforge.imaging.finalise import Drawing, finalise
from thumbforge.pixels.scene import File, Scene
from thumbforge.pixels.sides import free_side
from thumbforge.providers.base import Reference, Request
from thumbforge.providers.local import LocalProvider
from thumbforge.testing import a_call

pytestmark = [
    pytest.mark.ocr,
    pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed"),
]
ROOT = Path(__file__).parent.parent
HERO = ROOT / "specs/heroes/pandas.jpg"
BUILTIN = ROOT / "thumbforge/specs/builtin/templates"
NAMES = [path.stem for path in built_in.FIRST]
SMALL = models.Output(width=1280, height=720)
TINY, ENLARGED = (168, 94), (6, 4)


def items() -> list[dict[str, str]]:
    found: list[dict[str, str]] = yaml.safe_load((ROOT / "specs/playlists/pandas-30.yaml").read_text("utf-8"))["items"]
    return found


def layout(name: str) -> models.Layout:
    return models.Template(**yaml.safe_load((BUILTIN / f"{name}.yaml").read_text("utf-8"))).layout


def raw_titles() -> list[str]:
    """Sixty as YouTube lists them, in Latin letters."""
    lines = (ROOT / "tests/data/titles.txt").read_text("utf-8").splitlines()
    others = [json.loads(line.split("\t")[1]) for line in lines if not line.startswith("#")]
    return [*(item["title"] for item in items()), *(t for t in others if t.isascii() and 2 <= len(words(t)) <= 9)][:60]


def words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.findall(r"[a-z]{3,}", plain)


def file(path: Path) -> File:
    return File(path, hashlib.sha256(path.read_bytes()).hexdigest())


def finished(layout: models.Layout, text: str, video: str, folder: Path) -> tuple[Path, list[str]]:
    """A thumbnail by `local`, and its words as far as they are drawn."""
    hero = file(HERO)
    scene = Scene(hero, file(HERO.with_name("pandas.mask.png")), free=free_side(layout))
    request = Request("", None, 1280, 720, None, Reference(hero.sha256, HERO, ""), video, 1, scene)
    folder.mkdir()
    art = folder / "art.jpg"
    art.write_bytes(LocalProvider({}).generate(request, a_call(folder)).data)
    report = finalise(art, layout, Drawing(text, "Part 7", scene=scene), SMALL, folder / "final.jpg")
    cut = next(check.detail for check in report.checks if check.rule == "text.truncated")
    left_out = words(cut.removeprefix("left out: ").rpartition(": set a")[0]) if cut.startswith("left") else []
    drawn = words(text)
    return folder / "final.jpg", drawn[: len(drawn) - len(left_out)]


def unread(path: Path, drawn: list[str]) -> list[str]:
    """The words that are found nowhere in the small picture: enlarged by four or six, its tones as they are or turned
    round, as a block or as scattered words."""
    with Image.open(path) as picture:
        tiny = picture.convert("L").resize(TINY, Image.Resampling.LANCZOS)
    left = list(drawn)
    for by, turned, mode in product(ENLARGED, (False, True), ("6", "11")):
        if not left:
            break
        large = tiny.resize((TINY[0] * by, TINY[1] * by), Image.Resampling.BICUBIC)
        target = path.with_name("read.png")
        (ImageOps.invert(large) if turned else large).save(target)
        told = subprocess.run(["tesseract", target, "-", "--psm", mode], capture_output=True, text=True, check=True)
        seen = words(told.stdout)
        left = [word for word in left if not any(word in each for each in seen)]
    return left


def share_read(pictures: Iterator[tuple[Path, list[str]]]) -> tuple[float, list[tuple[str, list[str]]]]:
    """The share of all words that are read, and those that are not."""
    made = list(pictures)
    with ThreadPoolExecutor(2) as pool:
        left = list(pool.map(unread, *zip(*made, strict=True)))
    lost = [(path.parent.name, found) for (path, _), found in zip(made, left, strict=True) if found]
    return 1 - sum(map(len, left)) / sum(len(drawn) for _, drawn in made), lost


def test_the_series_of_the_readme_can_be_read(tmp_path: Path) -> None:
    """Of its short words 0.97 are read."""
    own = layout("series-parts")
    share, lost = share_read(finished(own, x["text"], x["video"], tmp_path / x["video"]) for x in items())
    assert share >= 0.97, lost


def test_raw_titles_can_be_read_in_every_template(tmp_path: Path) -> None:
    """Of sixty titles that nobody shortened, over all templates, 0.95 of the words are read."""
    names = [NAMES[number % len(NAMES)] for number in range(60)]
    share, lost = share_read(
        finished(layout(name), title, f"video-{number:05d}", tmp_path / f"{number}-{name}")
        for number, (name, title) in enumerate(zip(names, raw_titles(), strict=True))
    )
    assert share >= 0.95, lost
