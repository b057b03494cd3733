"""What elements are filled with, and what lies around them: one colour, a gradient, an outline, a shadow, a glow. All
change the picture in place."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, cos, hypot, radians, sin

from PIL import Image, ImageChops, ImageFilter

from thumbforge.imaging.canvas.forms import Form
from thumbforge.pixels import masks
from thumbforge.pixels.colour import Rgb

_STEPS = 256
_MAP = 96
"""Pixels of the longer side of the map that a slanted or round gradient is enlarged from."""
_QUARTER = 4
_FULL = 1.7
"""A glow's strength: blur takes it from the edge."""


@dataclass(frozen=True, slots=True)
class Ramp:
    """A gradient with its colours found: stops are (place, colour, opacity), places go up from 0 to 1."""

    stops: tuple[tuple[float, Rgb, float], ...]
    linear: float | None = None
    radial: tuple[float, float] | None = None

    @property
    def clear(self) -> bool:
        """Whether what lies under it is seen somewhere."""
        return any(opacity < 1 for _, _, opacity in self.stops)

    @property
    def one_colour(self) -> bool:
        return len({rgb for _, rgb, _ in self.stops}) == 1

    @property
    def solid(self) -> bool:
        """Whether it hides what lies under it."""
        return all(opacity > 0.5 for _, _, opacity in self.stops)


Paint = Rgb | Ramp


def fill(picture: Image.Image, form: Form, paint: Paint, opacity: float = 1.0) -> None:
    if not isinstance(paint, Ramp):
        if form.plain and opacity == 1:
            picture.paste(paint, form.box)
        else:
            picture.paste(paint, form.at, dimmed(form.mask, opacity))
        return
    colours, clear = _gradient(paint, form.mask.size)
    mask = clear if clear and form.plain else ImageChops.multiply(form.mask, clear) if clear else form.mask
    picture.paste(paint.stops[0][1] if paint.one_colour else colours, form.at, dimmed(mask, opacity))


def shadow(
    picture: Image.Image,
    form: Form,
    by: tuple[float, float],
    blur: float,
    rgb: Rgb,
    opacity: float,
    *,
    kept: bool = False,
) -> None:
    """`kept`: the form is that of a shape, which the next picture has, too."""
    mask, at = (_kept_soft if kept else soft)(form, blur / 2)
    picture.paste(rgb, (at[0] + round(by[0]), at[1] + round(by[1])), dimmed(mask, opacity))


def glow(picture: Image.Image, form: Form, size: float, rgb: Rgb, opacity: float, *, kept: bool = False) -> None:
    mask, at = (_kept_soft if kept else soft)(form, size / 2)
    picture.paste(rgb, at, dimmed(mask, opacity * _FULL))


def grown(form: Form, width: float) -> Form:
    """Larger by so many pixels all around, with round corners."""
    pad = ceil(width) + 3
    wider = Image.new("L", (form.mask.width + 2 * pad, form.mask.height + 2 * pad))
    wider.paste(form.mask, (pad, pad))
    return Form(masks.grown(wider, width), (form.at[0] - pad, form.at[1] - pad))


kept_grown = lru_cache(maxsize=24)(grown)
"""The same of a shape's form, which the next picture has, too."""


def dimmed(mask: Image.Image, opacity: float) -> Image.Image:
    return mask if opacity == 1 else masks.dimmed(mask, opacity)


def soft(form: Form, sigma: float) -> tuple[Image.Image, tuple[int, int]]:
    """Blurred at a quarter of the size: no eye sees it."""
    pad = ceil(sigma * 3 / _QUARTER + 1) * _QUARTER
    small = form.mask.reduce(_QUARTER)
    room = Image.new("L", (small.width + 2 * pad // _QUARTER, small.height + 2 * pad // _QUARTER))
    room.paste(small, (pad // _QUARTER, pad // _QUARTER))
    blurred = room.filter(ImageFilter.GaussianBlur(sigma / _QUARTER)) if sigma > 0 else room
    large = blurred.resize((blurred.width * _QUARTER, blurred.height * _QUARTER), Image.Resampling.BILINEAR)
    return large, (form.at[0] - pad, form.at[1] - pad)


_kept_soft = lru_cache(maxsize=24)(soft)


@lru_cache(maxsize=6)
def _gradient(ramp: Ramp, size: tuple[int, int]) -> tuple[Image.Image, Image.Image | None]:
    """Colours (RGB) and opacity (L, None where it is 1 everywhere) over an area. Do not change them."""
    tables = _tables(ramp)
    if ramp.linear is not None and ramp.linear % 90 == 0:
        turn = round(ramp.linear) // 90 % 4
        bands = [bytes(table if turn < 2 else reversed(table)) for table in tables]
        line = (_STEPS, 1) if turn % 2 == 0 else (1, _STEPS)
        found = [Image.frombytes("L", line, band).resize(size, Image.Resampling.BILINEAR) for band in bands]
    else:
        place = _map(ramp, size)
        found = [place.point(table) for table in tables]
    return Image.merge("RGB", found[:3]), found[3] if ramp.clear else None


def _tables(ramp: Ramp) -> list[list[int]]:
    """Red, green, blue and opacity at each of 256 places."""
    steps = [_at(ramp, step / (_STEPS - 1)) for step in range(_STEPS)]
    return [[round(step[channel]) for step in steps] for channel in range(4)]


def _at(ramp: Ramp, place: float) -> tuple[float, float, float, float]:
    before = ramp.stops[0]
    for stop in ramp.stops:
        if stop[0] >= place:
            share = (place - before[0]) / (stop[0] - before[0]) if stop[0] > before[0] else 1.0
            return _mixed(before, stop, share)
        before = stop
    return _mixed(before, before, 1.0)


def _mixed(
    one: tuple[float, Rgb, float], other: tuple[float, Rgb, float], share: float
) -> tuple[float, float, float, float]:
    share = max(share, 0.0)
    red, green, blue = (a + (b - a) * share for a, b in zip(one[1], other[1], strict=True))
    return red, green, blue, 255 * (one[2] + (other[2] - one[2]) * share)


def _map(ramp: Ramp, size: tuple[int, int]) -> Image.Image:
    """The place of each pixel in the gradient, 0 to 255, reckoned small and enlarged."""
    share = min(_MAP / max(size), 1.0)
    wide, high = max(round(size[0] * share), 2), max(round(size[1] * share), 2)
    w, h = float(size[0]), float(size[1])
    if ramp.radial is not None:
        cx, cy = ramp.radial[0] * w, ramp.radial[1] * h
        far = max(hypot(x - cx, y - cy) for x in (0.0, w) for y in (0.0, h)) or 1.0
        places = (
            hypot((x + 0.5) / wide * w - cx, (y + 0.5) / high * h - cy) / far for y in range(high) for x in range(wide)
        )
    else:
        angle = radians(ramp.linear or 0.0)
        dx, dy = cos(angle), sin(angle)
        reach = (abs(w * dx) + abs(h * dy)) or 1.0
        places = (
            0.5 + (((x + 0.5) / wide - 0.5) * w * dx + ((y + 0.5) / high - 0.5) * h * dy) / reach
            for y in range(high)
            for x in range(wide)
        )
    small = Image.frombytes("L", (wide, high), bytes(round(255 * min(max(place, 0.0), 1.0)) for place in places))
    return small.resize(size, Image.Resampling.BICUBIC)
