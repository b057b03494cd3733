"""An item's colours: its ground's hue, from the series' palette and the video's id, and the accent of its lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from PIL import Image

from thumbforge.pixels.colour import Rgb, from_hex, to_oklch
from thumbforge.pixels.heroes import HeroPicture
from thumbforge.providers.looks.palette import DUOTONE, GROUND, HUES, Ramp, ramp
from thumbforge.providers.looks.variation import Variation

YELLOW: Rgb = (255, 224, 20)
"""The accent that stands out from every ground there is."""
_MUD, _GREEN = (75.0, 130.0), 146.0
"""Dark yellows are mud; a ground that would have one is green."""
_NEAR = (0, 36, -36, 18, -54, 54, -18)
_APART = 26
"""Degrees that a ground keeps from the subject's own hue."""
_GREY_CHROMA, _SLATE = 0.04, 258.0
_PLAIN_CHROMA = 0.02
_NEXT_TAKE = 14
"""Degrees between the takes of a series in one hue."""


@dataclass(frozen=True, slots=True)
class Ink:
    """`ground` and `duotone` colour grey layers, `accent` is that of lines and plates."""

    hue: float
    ground: Ramp
    duotone: Ramp
    accent: Rgb
    variation: Variation


def ink_for(hues: Sequence[float], accent: Rgb, v: Variation) -> Ink:
    """The item's hue is that of its number among the series' hues: an item more, or another order, moves none. Each
    take has another hue than the one before."""
    count = len(hues)
    step = next(step for step in range(5, 5 + count + 1) if math.gcd(step, count) == 1)
    hue = hues[(v.number + step * (v.take - 1)) % count]
    if count == 1:
        hue = (hue + _NEXT_TAKE * (v.take - 1)) % 360
    return Ink(hue, ramp(GROUND, hue), ramp(DUOTONE, hue), accent, v)


def series_hues(hero: HeroPicture | None, palette: tuple[str, ...], hues: str) -> tuple[float, ...]:
    """The hues that the grounds of a series have: those of a palette, or some that set the hero's subject off."""
    own = _coloured(palette)
    if own and not hues:
        return own
    subject = subject_hue(hero) if hero else None
    base = own[0] if own else _clear((subject + 180) % 360) if subject is not None else _SLATE
    if hues == "one":
        return (base,)
    if hues == "near":
        return tuple(_clear((base + step) % 360) for step in _NEAR)
    return tuple(hue for hue in HUES if subject is None or own or _apart(hue, subject) > _APART)


def accent_for(palette: tuple[str, ...]) -> Rgb:
    """The lightest strong colour of a palette, else yellow."""
    found = [from_hex(colour) for colour in palette]
    light = [colour for colour in found if to_oklch(colour)[0] >= 0.72 and to_oklch(colour)[1] >= 0.08]
    return max(light, key=lambda colour: to_oklch(colour)[1], default=YELLOW)


@lru_cache(maxsize=8)
def subject_hue(hero: HeroPicture) -> float | None:
    """The hue that weighs most in the subject: count x chroma over twelve colours; None for a grey one."""
    rgb = hero.rgb.resize((96, 54), Image.Resampling.BOX, reducing_gap=2.0)
    subject = hero.subject
    if subject.mask is not None:
        inside = subject.mask.resize((96, 54), Image.Resampling.BOX, reducing_gap=2.0)
        grey = Image.new("RGB", rgb.size, (128, 128, 128))
        rgb = Image.composite(rgb, grey, inside)
    elif subject.box is not None:
        x, y, w, h = subject.box
        rgb = rgb.crop((round(x * 96), round(y * 54), round((x + w) * 96) or 1, round((y + h) * 54) or 1))
    few = rgb.quantize(12, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    colours = few.getpalette() or []
    weighed: list[tuple[float, float]] = []
    for count, index in cast("list[tuple[int, int]]", few.getcolors() or []):
        red, green, blue = colours[3 * index : 3 * index + 3]
        _, chroma, hue = to_oklch((red, green, blue))
        if chroma > _GREY_CHROMA:
            weighed.append((count * chroma, hue))
    return max(weighed)[1] if weighed else None


def _coloured(palette: tuple[str, ...]) -> tuple[float, ...]:
    """The hues of those colours that have one."""
    found = [to_oklch(from_hex(colour)) for colour in palette]
    return tuple(dict.fromkeys(hue for _, chroma, hue in found if chroma > _PLAIN_CHROMA))


def _clear(hue: float) -> float:
    return _GREEN if _MUD[0] < hue < _MUD[1] else hue


def _apart(one: float, other: float) -> float:
    return abs((one - other + 180) % 360 - 180)
