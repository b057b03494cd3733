"""What a template in version 1 of the language draws, to the byte, and what its identities are.

`WRITE_GOLDEN=1 pytest tests/test_version_1_drawn.py` writes tests/golden/version-1.json anew: only where drawing was
changed on purpose, which raises FINALISER_VERSION, too.
"""

from __future__ import annotations

import json
import os
import platform
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image, ImageDraw, ImageFilter

from thumbforge import ids, models
from thumbforge.imaging import brand, libraries
from thumbforge.imaging.finalise import Drawing, final_parts, finalise
from thumbforge.imaging.userfiles import picture_file
from thumbforge.pixels import picture

GOLDEN = Path(__file__).parent / "golden" / "version-1.json"
BUILTIN = Path(models.__file__).parent / "specs" / "builtin" / "templates"
OUTPUT = models.Output(width=1280, height=720, format="png", max_bytes=50_000_000)
OWN = {
    "own-band": """
        title: {box: {x: 64, y: 200, w: 700, h: 400}, case: upper, color: auto, font: roboto-condensed, stroke: 0}
        part: {box: {x: 64, y: 64, w: 400, h: 90}, fill: own, color: "#FFFFFF"}
        panels: [{box: {x: 0, y: 180, w: 800, h: 440}, color: "#FFE600", slant: 60}]
    """,
    "own-help": """
        title: {box: {x: 64, y: 64, w: 800, h: 500}, help: plate, contrast: 7, accent: own}
        kicker: {box: {x: 64, y: 580, w: 700, h: 60}, text: "{{ vars.kicker }}"}
        scrims: [{side: all, opacity: 0.2}, {side: left, reach: 0.5, opacity: 0.5, color: "#102030"}]
    """,
    "own-slots": """
        canvas: {width: 1920, height: 1080}
        title: {box: {x: 96, y: 500, w: 1000, h: 500}, align: right, anchor: bottom, line_height: 1.3, shadow: 0}
        series: {box: {x: 96, y: 96, w: 900, h: 80}, text: "{{ playlist.title }}", fill: auto-dark}
        logo: {box: {x: 1100, y: 96, w: 400, h: 100}}
        picture: {box: {x: 1200, y: 300, w: 400, h: 400}, radius: 60}
    """,
}
NAMES = (
    "bold-title", "corner-card", "minimal", "news-bar", "poster", "series-parts", "split-panel", *OWN,
)  # fmt: skip
TITLES = {"latin": "Sort a *table* by two columns", "arabic": "كيف أرتّب *جدولاً* من البيانات؟"}


def template(name: str) -> models.Template:
    if name in OWN:
        layout = models.Layout.model_validate(yaml.safe_load(OWN[name]))
        return models.Template(name=name, prompt="A picture of {{ topic }}", layout=layout)
    return models.Template(**yaml.safe_load((BUILTIN / f"{name}.yaml").read_text("utf-8")))


def scene() -> Image.Image:
    """A made-up picture: a soft sky, a disk, a dark hill."""
    sky = Image.new("RGB", (2, 2))
    sky.putdata([(40, 30, 90), (190, 80, 90), (230, 140, 80), (60, 30, 60)])
    found = sky.resize((688, 384), Image.Resampling.BICUBIC)
    ImageDraw.Draw(found).ellipse((470, 90, 600, 220), fill=(250, 220, 170))
    return found.filter(ImageFilter.GaussianBlur(2))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("version-1")
    scene().save(folder / "art.png")
    Image.new("RGB", (300, 300), "#3A7D5C").save(folder / "picture.png")
    Image.new("RGBA", (200, 80), "#FF5A00C0").save(folder / "logo.png")
    return folder


def drawn(name: str, title: str, folder: Path) -> dict[str, Any]:
    logo = picture_file(folder / "logo.png")
    drawing = Drawing(
        TITLES[title],
        "Part 7",
        kicker="New here",
        series="A whole series",
        picture=picture_file(folder / "picture.png"),
        brand=brand.Identity(models.BrandColors(), logo=logo),
    )
    layout, target = template(name).layout, folder / "final.png"
    target.unlink(missing_ok=True)
    report = finalise(folder / "art.png", layout, drawing, OUTPUT, target)
    pixels = picture.open_rgb(target).tobytes()
    parts = final_parts("0" * 64, layout, drawing, OUTPUT)
    told = json.dumps([check.as_dict() for check in report.checks if check.rule != "file.bytes"])
    return {
        "pixels": sha256(pixels).hexdigest(),
        "report": sha256(told.encode()).hexdigest(),
        "final_key": ids.final_key(parts),
        "spec_hash": template(name).spec_hash,
    }


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("name", NAMES)
def test_version_1_draws_what_it_drew(name: str, title: str, files: Path) -> None:
    """The same pixels, report and keys, to the byte. Other processors and libraries may round otherwise, so there only
    the keys are compared; what they draw is compared with a tolerance elsewhere."""
    found = drawn(name, title, files)
    if os.environ.get("WRITE_GOLDEN"):
        golden = json.loads(GOLDEN.read_text("utf-8")) if GOLDEN.exists() else {}
        golden[f"{name} {title}"] = found
        GOLDEN.write_text(json.dumps(golden, indent=1, sort_keys=True) + "\n", "utf-8")
    wanted = json.loads(GOLDEN.read_text("utf-8"))[f"{name} {title}"]
    if platform.machine() != "x86_64" or libraries.others():
        wanted = {key: wanted[key] for key in ("final_key", "spec_hash")}
    assert {key: found[key] for key in wanted} == wanted
