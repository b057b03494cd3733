"""Where something stands out in a picture, with Pillow alone: four maps, and the rectangle that holds most of them.

Unlike the border, sharp, sharper or softer than the border, of the colours of skin; weighed towards the middle.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import accumulate
from operator import add, sub
from typing import cast

from PIL import Image, ImageChops, ImageFilter

GRID = 96
"""Cells of the longest side while the maps are made; half as many where the rectangle is looked for."""
_UNLIKE, _EDGES, _SHARPER, _SKIN, _CAP = 0.35, 0.35, 0.5, 0.1, 0.7
_PRIOR, _PRIOR_X, _PRIOR_Y = 0.3, 0.42, 0.7
_FLAT = 12
"""Levels of contrast under which there is nothing to see."""
_GAIN = 0.0045
"""Share of the whole that a rectangle must hold above the mean; the weakest real subject seen had 0.011."""
_ABOVE, _GROW, _CROWN = 1.25, 0.85, 0.9
_UPRIGHT, _STANDING = 1.2, (0.12, 0.04, 0.76, 0.96)
"""Who holds a camera upright has somebody or something in the middle, however busy the ground."""
_FOOT = 0.86
"""What reaches so far down stands on the lower edge."""
_ROUNDING = 1e-9

Cells = tuple[int, int, int, int]


def salient_box(picture: Image.Image) -> tuple[float, float, float, float] | None:
    """x, y, width and height as shares of the picture (RGB), or None where no part stands out from the rest."""
    (w, h), values, contrast = _values(picture)
    mean = sum(values) / len(values)
    if contrast < _FLAT or mean == 0:
        return None
    gain, cells = densest(w, h, values, _ABOVE * mean)
    if gain / sum(values) < _GAIN:
        return _STANDING if picture.height >= _UPRIGHT * picture.width else None
    x0, y0, x1, y1 = _grown(w, h, values, cells, _GROW * mean)
    if y1 > _FOOT * h:
        y1 = h
    third = max((x1 - x0) // 3, 1)
    while y0 > 0 and max(_row(values, w, y0 - 1, x, third) for x in (x0, x0 + third, x1 - third)) > _CROWN * mean:
        y0 -= 1  # a head is narrower than its shoulders: a third of the row is enough
    return x0 / w, y0 / h, (x1 - x0) / w, (y1 - y0) / h


def _values(picture: Image.Image) -> tuple[tuple[int, int], list[float], int]:
    """The grid's size, a value for each cell, row by row, and the picture's contrast in levels."""
    share = GRID / max(picture.size)
    grid = (max(round(picture.width * share), 8), max(round(picture.height * share), 8))
    large = picture.resize((grid[0] * 4, grid[1] * 4), Image.Resampling.BOX, reducing_gap=2.0)
    small = large.resize(grid, Image.Resampling.BOX)
    ycc = Image.merge("RGB", small.convert("YCbCr").split())  # Pillow blurs no YCbCr
    unlike, most_unlike = _stretched(_unlike_border(small, ycc))
    energy = _energy(large, grid)
    edges, most_edges = _stretched(energy)
    sharper, _ = _stretched(_unlike_level(energy))
    w, h = max(grid[0] // 2, 4), max(grid[1] // 2, 4)
    maps = [layer.resize((w, h), Image.Resampling.BOX).tobytes() for layer in (unlike, edges, sharper, _skin(ycc))]
    values = [
        min((_UNLIKE * u + _EDGES * e + _SHARPER * d + _SKIN * s) / 255, _CAP) * near
        for u, e, d, s, near in zip(*maps, _prior(w, h), strict=True)
    ]
    return (w, h), values, max(most_unlike, most_edges)


@lru_cache(maxsize=8)
def _prior(w: int, h: int) -> list[float]:
    """What each cell counts, row by row: all in the middle, less towards the edges."""
    across = [-(abs(((x + 0.5) / w - 0.5) / _PRIOR_X) ** 4) for x in range(w)]
    down = [-(abs(((y + 0.5) / h - 0.5) / _PRIOR_Y) ** 4) for y in range(h)]
    return [1 - _PRIOR + _PRIOR * math.exp(x + y) for y in down for x in across]


def _unlike_border(small: Image.Image, ycc: Image.Image) -> Image.Image:
    """Distance to the nearest colour of the border. A subject stands on the lower edge, so that is not asked."""
    data = b"".join(small.crop(box).tobytes() for box in _border(small.size))
    strip = Image.frombytes("RGB", (len(data) // 3, 1), data)
    few = strip.quantize(6, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    palette = few.getpalette() or []
    nearest = Image.new("L", small.size, 255)
    for count, index in cast("list[tuple[int, int]]", few.getcolors() or []):
        if count < 0.08 * strip.width:
            continue
        colour = Image.new("RGB", (1, 1), tuple(palette[3 * index : 3 * index + 3])).convert("YCbCr").getpixel((0, 0))
        y, cb, cr = ImageChops.difference(ycc, Image.new("RGB", ycc.size, cast("tuple[int, int, int]", colour))).split()
        far = ImageChops.add(_scaled(y, 0.6), _scaled(ImageChops.add(cb, cr), 1.6))
        nearest = ImageChops.darker(nearest, far)
    return nearest


def _energy(large: Image.Image, grid: tuple[int, int]) -> Image.Image:
    """What a small blur takes away: sharp parts are strong, a blurred room is not."""
    grey = large.convert("L")
    fine = ImageChops.difference(grey, grey.filter(ImageFilter.GaussianBlur(2)))
    return fine.resize(grid, Image.Resampling.BOX).filter(ImageFilter.GaussianBlur(GRID * 0.02))


def _unlike_level(energy: Image.Image) -> Image.Image:
    """Sharper or softer than the border's median: on a lawn the calm thing stands out, in a blurred room the sharp."""
    levels = sorted(b"".join(energy.crop(box).tobytes() for box in _border(energy.size)))
    middle = levels[len(levels) // 2]
    return energy.point([abs(level - middle) for level in range(256)])


def _border(size: tuple[int, int]) -> tuple[Cells, ...]:
    w, h = size
    thick = max(2, round(min(w, h) * 0.06))
    return (0, 0, w, thick), (0, 0, thick, round(h * 0.6)), (w - thick, 0, w, round(h * 0.6))


def _skin(ycc: Image.Image) -> Image.Image:
    return skin(ycc).filter(ImageFilter.GaussianBlur(GRID * 0.015))


def skin(ycc: Image.Image) -> Image.Image:
    """255 where a picture (YCbCr, merged as RGB) has a colour that skin can have, dark or light."""
    y, cb, cr = ycc.split()
    inside = ImageChops.multiply(_band(cr, 136, 172), _band(cb, 85, 122))
    return ImageChops.multiply(inside, _band(y, 70, 235))


def _band(layer: Image.Image, low: int, high: int) -> Image.Image:
    return layer.point([255 if low <= level <= high else 0 for level in range(256)])


def _scaled(layer: Image.Image, share: float) -> Image.Image:
    return layer.point(_steps(share))


@lru_cache(maxsize=256)
def _steps(share: float) -> list[int]:
    return [min(255, round(level * share)) for level in range(256)]


def _stretched(layer: Image.Image) -> tuple[Image.Image, int]:
    """The layer with its 98th percentile at 255, and that percentile."""
    left, top = 0.02 * layer.width * layer.height, 255
    for level, count in reversed(list(enumerate(layer.histogram()))):
        left -= count
        if left < 0:
            top = max(level, 1)
            break
    return _scaled(layer, 255 / top), top


def densest(w: int, h: int, values: list[float], floor: float) -> tuple[float, Cells]:
    """The rectangle with the largest sum of (value - floor): the best run of columns over every pair of rows. Rows
    below a pair can add no more than what is positive in them; where that is too little, they are not tried."""
    rows = [[value - floor for value in values[y * w : (y + 1) * w]] for y in range(h)]
    below = [0.0]
    for row in reversed(rows):
        below.append(below[-1] + sum(value for value in row if value > 0))
    below.reverse()
    best, cells = -1.0, (0, 0, w, h)
    for y0 in range(h):
        if below[y0] + _ROUNDING < best:
            break
        column = [0.0] * w
        for y1 in range(y0, h):
            column = list(map(add, column, rows[y1]))
            sums = list(accumulate(column, initial=0.0))
            least = list(accumulate(sums, min))
            runs = list(map(sub, sums[1:], least))
            if (run := max(runs)) > best:
                x1 = runs.index(run)
                best, cells = run, (sums.index(least[x1]), y0, x1 + 1, y1 + 1)
            elif run + below[y1 + 1] + _ROUNDING < best:
                break
    return best, cells


def _grown(w: int, h: int, values: list[float], cells: Cells, floor: float) -> Cells:
    """Each side moves out while the next row or column is nearly as strong."""
    x0, y0, x1, y1 = cells

    def mean(left: int, top: int, right: int, foot: int) -> float:
        total = sum(sum(values[y * w + left : y * w + right]) for y in range(top, foot))
        return total / ((right - left) * (foot - top))

    while True:
        if x0 > 0 and mean(x0 - 1, y0, x0, y1) > floor:
            x0 -= 1
        elif x1 < w and mean(x1, y0, x1 + 1, y1) > floor:
            x1 += 1
        elif y0 > 0 and mean(x0, y0 - 1, x1, y0) > floor:
            y0 -= 1
        elif y1 < h and mean(x0, y1, x1, y1 + 1) > floor:
            y1 += 1
        else:
            return x0, y0, x1, y1


def _row(values: list[float], w: int, y: int, x: int, wide: int) -> float:
    return sum(values[y * w + x : y * w + x + wide]) / max(wide, 1)
