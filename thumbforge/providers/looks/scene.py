"""A hero for those who have none: a sun over ridges that are area charts, in the manner of a poster."""

from __future__ import annotations

import math
import random
from functools import lru_cache

from PIL import Image, ImageDraw

from thumbforge.pixels.heroes import HeroPicture
from thumbforge.pixels.subject import in_box
from thumbforge.providers.looks.layers import Size, field

SKY, HAZE, SUN = (26, 34, 62), (205, 128, 112), (255, 228, 172)
RIDGES = ((0.72, (128, 88, 122)), (0.82, (78, 66, 108)), (0.93, (34, 40, 74)))


@lru_cache(maxsize=4)
def abstract_hero(size: Size, number: int) -> HeroPicture:
    """One of the scenes; its subject is the sun."""
    large = (size[0] * 2, size[1] * 2)
    picture = _sky(large)
    draw = ImageDraw.Draw(picture)
    x, y, radius = 0.72 * large[0], (0.44 + 0.03 * number) * large[1], 0.24 * large[1]
    for grown, share in ((1.75, 0.16), (1.36, 0.30), (1.0, 1.0)):
        _disc(picture, (x, y), radius * grown, share)
    rng = random.Random(number)  # noqa: S311
    for base, colour in RIDGES:
        line = _ridge(rng, base * large[1], large)
        draw.polygon([*line, (large[0], large[1]), (0, large[1])], fill=colour)
    sun = (x - radius) / large[0], (y - radius) / large[1], 2 * radius / large[0], 2 * radius / large[1]
    rgb = picture.reduce(2)
    return HeroPicture(rgb, in_box(rgb.size, sun, None))


def _sky(size: Size) -> Image.Image:
    mask = field(size, lambda x, y: 0.95 * math.exp(-((((x - 0.72) / 0.5) ** 2) + ((y - 0.62) / 0.42) ** 2)))
    picture = Image.new("RGB", size, SKY)
    picture.paste(HAZE, (0, 0, *size), mask)
    return picture


def _disc(picture: Image.Image, centre: tuple[float, float], radius: float, share: float) -> None:
    mask = Image.new("L", picture.size)
    box = (centre[0] - radius, centre[1] - radius, centre[0] + radius, centre[1] + radius)
    ImageDraw.Draw(mask).ellipse(box, fill=round(255 * share))
    picture.paste(SUN, (0, 0, *picture.size), mask)


def _ridge(rng: random.Random, base: float, size: Size) -> list[tuple[float, float]]:
    heights = [rng.uniform(0.0, 0.2) * size[1] for _ in range(9)]
    step = size[0] / (len(heights) - 1)
    line = []
    for x in range(0, size[0] + 8, 8):
        left = min(int(x / step), len(heights) - 2)
        share = (1 - math.cos(math.pi * min(x / step - left, 1.0))) / 2
        line.append((float(x), base - heights[left] * (1 - share) - heights[left + 1] * share))
    return line
