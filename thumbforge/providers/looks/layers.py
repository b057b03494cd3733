"""Grey layers that many pictures share: light, shade, patterns, grain. All are made for a subject on the right and
mirrored where it is on the left. Cached by size, for one series or two: 2 MB a layer at 1920x1080. A cached picture is
never drawn upon.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from functools import lru_cache

from PIL import Image, ImageChops, ImageDraw, ImageOps

from thumbforge.pixels.masks import smooth
from thumbforge.providers.looks.palette import Ramp

Size = tuple[int, int]
COARSE = 240
"""Width in pixels on which smooth layers are computed before they are enlarged."""

GRAIN = 5
"""Grey levels that the grain spreads over: the least that hides the steps of a dark gradient after JPEG."""


def coloured(tone: Image.Image, ramp: Ramp) -> Image.Image:
    """A grey picture in the ramp's colours."""
    return Image.merge("RGB", (tone, tone, tone)).point([*ramp[0], *ramp[1], *ramp[2]])


def field(size: Size, value: Callable[[float, float], float]) -> Image.Image:
    """A smooth grey layer: `value` takes shares of width and height and gives 0 to 1."""
    width, height = COARSE, max(COARSE * size[1] // size[0], 2)
    data = bytes(
        round(255 * min(max(value(x / (width - 1), y / (height - 1)), 0.0), 1.0))
        for y in range(height)
        for x in range(width)
    )
    return Image.frombytes("L", (width, height), data).resize(size, Image.Resampling.BICUBIC)


@lru_cache(maxsize=2)
def grain(size: Size) -> Image.Image:
    """Noise of 0 to GRAIN - 1 grey levels, the same in every process."""
    side = 512
    raw = hashlib.shake_256(b"thumbforge grain").digest(side * side)
    tile = Image.frombytes("L", (side, side), raw).point([value * GRAIN // 256 for value in range(256)])
    whole = Image.new("L", size)
    for x in range(0, size[0], side):
        for y in range(0, size[1], side):
            whole.paste(tile, (x, y))
    return whole


def grained(tone: Image.Image) -> Image.Image:
    return ImageChops.add(tone, grain(tone.size), 1, -(GRAIN // 2))


@lru_cache(maxsize=2)
def shade(size: Size, mirrored: bool) -> Image.Image:
    """Darkens the calm side to a third and the corners a little."""

    def value(x: float, y: float) -> float:
        calm = 0.28 + 0.72 * smooth(0.30, 0.76, x)
        corner = math.hypot((x - 0.56) / 0.78, (y - 0.48) / 0.80)
        return calm * (1 - 0.55 * smooth(0.55, 1.25, corner))

    return _sided(field(size, value), mirrored)


@lru_cache(maxsize=4)
def glow(size: Size, light: tuple[float, float], mirrored: bool) -> Image.Image:
    """A pool of light behind the subject and a faint one over the calm side, so that it is colour and not black."""

    def value(x: float, y: float) -> float:
        pool = math.exp(-(((x - light[0]) / 0.34) ** 2 + ((y - light[1]) / 0.46) ** 2))
        calm = math.exp(-(((x - 0.16) / 0.42) ** 2 + ((y - 0.5 + (light[1] - 0.3) * 0.5) / 0.62) ** 2))
        return 0.26 * pool + 0.20 * calm

    return _sided(field(size, value), mirrored)


@lru_cache(maxsize=6)
def pattern(size: Size, name: str, mirrored: bool) -> Image.Image:
    """A pattern in white on black that fades out before it reaches the subject; nothing in it is finer than 1/40 of
    the width, which would vanish on a thumbnail 168 pixels wide."""
    large = (size[0] * 2, size[1] * 2)
    drawn = Image.new("L", large)
    _PATTERNS[name](ImageDraw.Draw(drawn), *large)
    fade = field(
        size, lambda x, y: (1 - smooth(0.30, 0.62, x)) * (0.45 + 0.55 * smooth(1.1, 0.1, math.hypot(x, y - 1)))
    )
    return _sided(ImageChops.multiply(drawn.reduce(2), fade), mirrored)


def _sided(layer: Image.Image, mirrored: bool) -> Image.Image:
    return ImageOps.mirror(layer) if mirrored else layer


def _dots(draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
    step = width / 32
    for row in range(int(height / step) + 2):
        for column in range(24):
            x, y = (column + row % 2 / 2) * step, row * step
            radius = step * 0.30 * (1 - column / 30)
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)


def _rays(draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
    x, y, reach = -0.06 * width, 1.12 * height, 1.6 * width
    for ray in range(9):
        start = math.radians(-88 + ray * 11)
        ends = [(x + reach * math.cos(a), y + reach * math.sin(a)) for a in (start, start + math.radians(5))]
        draw.polygon([(x, y), *ends], fill=255)


def _rings(draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
    x, y = 0.02 * width, 1.04 * height
    for ring in range(2, 16):
        radius = ring * width / 24
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), outline=255, width=round(width / 90))


def _stripes(draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
    step = width / 22
    for stripe in range(-12, 24):
        x = stripe * step
        draw.polygon(
            [(x, height), (x + step * 0.42, height), (x + step * 0.42 + height * 0.6, 0), (x + height * 0.6, 0)],
            fill=255,
        )


def _waves(draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
    step, swing = height / 11, height / 26
    for wave in range(-1, 13):
        points = [
            (x, wave * step + swing * math.sin(x / width * 15 + wave * 0.5))
            for x in range(0, width, max(width // 160, 1))
        ]
        draw.line(points, fill=255, width=round(width / 100), joint="curve")


_PATTERNS: dict[str, Callable[[ImageDraw.ImageDraw, int, int], None]] = {
    "dots": _dots,
    "rays": _rays,
    "rings": _rings,
    "stripes": _stripes,
    "waves": _waves,
}
