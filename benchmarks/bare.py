"""`python -m benchmarks.bare bare|vips ART COUNT`: thumbnails drawn in a loop by Pillow or by pyvips, and nothing else.

What somebody writes who needs just this: decode, crop, a dark left side, a title in outlined letters, a badge, a JPEG
without halved colours. Prints pictures a second.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module, resources
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFilter, ImageFont, ImageOps

WIDTH, HEIGHT = 1280, 720
EM, STROKE, LEFT, TOP = 124, 6, 64, 216
QUALITY = 92
FONT = str(resources.files("fontpkg_anton").joinpath("files/Anton-Regular.ttf"))


def title(n: int) -> str:
    return f"WHAT ITEM {n}\nOF THE SERIES\nIS REALLY ABOUT"


def pillow(art: Path, target: Path, n: int) -> None:
    with Image.open(art) as opened:
        picture = ImageOps.fit(opened.convert("RGB"), (WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    scrim = Image.linear_gradient("L").rotate(-90).resize((WIDTH * 85 // 100, HEIGHT)).point(lambda v: v * 62 // 100)
    picture.paste((0, 0, 0), (0, 0), scrim)
    letters = Image.new("L", (WIDTH, HEIGHT))
    large = ImageFont.truetype(FONT, EM)
    ImageDraw.Draw(letters).multiline_text((LEFT, TOP), title(n), 255, large, spacing=-8, stroke_width=STROKE)
    shadow = letters.reduce(4).filter(ImageFilter.GaussianBlur(EM / 80)).resize(letters.size)
    picture.paste((0, 0, 0), (0, 5), shadow)
    draw = ImageDraw.Draw(picture)
    draw.multiline_text((LEFT, TOP), title(n), "white", large, spacing=-8, stroke_width=STROKE, stroke_fill=(8, 8, 12))
    draw.rounded_rectangle((LEFT, 64, LEFT + 240, 160), 16, fill=(255, 212, 0))
    draw.text((LEFT + 24, 72), f"PART {n}", (8, 8, 12), ImageFont.truetype(FONT, 66))
    picture.save(target, "JPEG", quality=QUALITY, subsampling=0, optimize=True)


def vips(art: Path, target: Path, n: int) -> None:
    """The outline is a dilated mask, which is what the library has for it."""
    pyvips: Any = import_module("pyvips")
    picture = pyvips.Image.thumbnail(str(art), WIDTH, height=HEIGHT, crop="centre")
    scrim = (pyvips.Image.identity().cast("float") * -0.62 + 158).resize(WIDTH * 0.85 / 256, vscale=HEIGHT)
    picture = _over(pyvips, picture, scrim.cast("uchar"), [0, 0, 0], 0, 0)
    letters = pyvips.Image.text(title(n), font=f"Anton {EM}px", fontfile=FONT, dpi=72)
    letters = letters.embed(16, 16, letters.width + 32, letters.height + 32)
    outline = letters.rank(2 * STROKE + 1, 2 * STROKE + 1, (2 * STROKE + 1) ** 2 - 1)
    picture = _over(pyvips, picture, outline.gaussblur(EM / 20), [0, 0, 0], LEFT, TOP - 30)
    picture = _over(pyvips, picture, outline, [8, 8, 12], LEFT, TOP - 35)
    picture = _over(pyvips, picture, letters, [255, 255, 255], LEFT, TOP - 35)
    badge = pyvips.Image.black(240, 96) + 255
    picture = _over(pyvips, picture, badge.cast("uchar"), [255, 212, 0], LEFT, 64)
    part = pyvips.Image.text(f"PART {n}", font="Anton 66px", fontfile=FONT, dpi=72)
    picture = _over(pyvips, picture, part, [8, 8, 12], LEFT + 24, 82)
    picture.jpegsave(str(target), Q=QUALITY, subsample_mode="off", optimize_coding=True, strip=True)


def _over(pyvips: Any, picture: Any, mask: Any, colour: list[int], left: int, top: int) -> Any:
    solid = pyvips.Image.black(mask.width, mask.height, bands=3) + colour
    layer = solid.cast("uchar").bandjoin(mask).copy(interpretation="srgb")
    return picture.composite2(layer, "over", x=left, y=top).flatten()


DRAW: dict[str, Callable[[Path, Path, int], None]] = {"bare": pillow, "vips": vips}


def per_second(kind: str, art: Path, count: int) -> float:
    """The first two, which load fonts and libraries, are not counted, as with ours."""
    draw = DRAW[kind]
    with tempfile.TemporaryDirectory() as folder:
        for n in range(2):
            draw(art, Path(folder) / "warm.jpg", n)
        began = time.perf_counter()
        for n in range(count):
            draw(art, Path(folder) / f"{n}.jpg", n)
        return count / (time.perf_counter() - began)


if __name__ == "__main__":
    os.environ["VIPS_CONCURRENCY"] = "1"  # a process for each core: threads of the library would only be in the way
    print(per_second(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
