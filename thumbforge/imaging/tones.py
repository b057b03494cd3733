"""The colours of a layout's words in one picture: `#RRGGBB`, or one that the picture decides.

`auto` is the accent that a whole series shares, `own` the picture's own hue at its strongest, `auto-dark` a deep tone
of that hue. As letters they give way to their ground: on a bright one they are dark.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from math import ceil, floor
from typing import cast

from PIL import Image

from thumbforge.pixels import colour
from thumbforge.pixels.colour import Rgb

YELLOW: Rgb = (255, 224, 20)
"""The accent of a series: one for all its hues, and the only hue that is as strong as it is light."""
WHITE: Rgb = (255, 255, 255)
BRIGHT = 0.4
"""Luminance from which a ground is bright: dark letters need less help there."""
_STRONG, _STRONG_DARK = 0.15, 0.14
"""OKLCH chroma below which an accent of the picture's own hue looks pale, light and dark."""
DARK = 0.12
"""Luminance of the lightest ground on which yellow has 4.5: help brings a brighter one down to it."""
_COOL_HUE = 262.0
"""Degrees; what a grey picture gets."""
_GREY_CHROMA = 0.022
"""Below this a picture has no hue of its own."""
_DEEP_LIGHTNESS, _DEEP_CHROMA = 0.27, 0.085
_MUD, _MUDDY_CHROMA = (70.0, 125.0), 0.025
_SHADE, _GLOW = (0.17, 0.07), (0.965, 0.03)
"""Lightness and chroma of what is laid under light letters, and under dark ones."""
_PALETTE = 12
_SAMPLE = (96, 54)
_SOLID, _LEAST = 96, 0.15


class Tones:
    """A layout's colours in one picture; where its subject is known (`subject`, grey, of any size), those of its
    ground: a panel goes with what it lies beside, not with the colours of a face."""

    def __init__(self, picture: Image.Image, subject: Image.Image | None = None) -> None:
        self._small = picture.resize(_SAMPLE, Image.Resampling.BOX, reducing_gap=1.0)
        if subject:
            self._small = _without(self._small, subject.resize(_SAMPLE, Image.Resampling.BOX, reducing_gap=1.0))

    def of(self, text: str) -> Rgb:
        """Of a shape: a panel, a badge, a border."""
        if text == "auto":
            return YELLOW
        if text == "own":
            return accent(self._hue, DARK, own=True)
        return self._deep if text == "auto-dark" else colour.from_hex(text)

    def title(self, text: str, ground: float) -> Rgb:
        """Of letters on a ground of this luminance. `auto` is white, or almost black where the ground is bright."""
        if text != "auto":
            return self.of(text) if text != "own" else accent(self._hue, ground, own=True)
        return shade(self._hue) if ground > BRIGHT else WHITE

    def accent(self, text: str, ground: float) -> Rgb:
        """Of words that stand out from a text on a ground of this luminance."""
        if text not in ("auto", "own"):
            return self.of(text)
        if text == "auto" and ground <= BRIGHT:
            return YELLOW  # whatever the hue, which costs as much as a line of text
        return accent(self._hue, ground, own=text == "own")

    @cached_property
    def _hue(self) -> float | None:
        return _hue(self._small)

    @cached_property
    def _deep(self) -> Rgb:
        """Dark yellows are mud, so they get almost no colour."""
        hue = _COOL_HUE if self._hue is None else self._hue
        strong = self._hue is not None and not _MUD[0] < hue < _MUD[1]
        return colour.from_oklch(_DEEP_LIGHTNESS, _DEEP_CHROMA if strong else _MUDDY_CHROMA, hue)


def _without(small: Image.Image, subject: Image.Image) -> Image.Image:
    """The pixels outside the subject as a strip; all of them where hardly any are outside."""
    cells = zip(*(iter(small.tobytes()),) * 3, strict=True)
    kept = [cell for cell, level in zip(cells, subject.tobytes(), strict=True) if level < _SOLID]
    if len(kept) < _LEAST * small.width * small.height:
        return small
    return Image.frombytes("RGB", (len(kept), 1), bytes(channel for cell in kept for channel in cell))


def accent(hue: float | None, ground: float, *, own: bool) -> Rgb:
    """A colour that stands out from a ground of this luminance by 4.5 or more: on a dark one the series' yellow, or the
    `own` hue where it is strong enough; on a bright one the own hue, or almost black."""
    if ground > BRIGHT:
        found = None if hue is None else strongest(round(hue), floor(ground * 1000))
        return found if found and colour.to_oklch(found)[1] >= _STRONG_DARK else shade(hue)
    found = strongest(round(hue), ceil(min(ground, DARK) * 1000)) if own and hue is not None else None
    return found if found and colour.to_oklch(found)[1] >= _STRONG else YELLOW


@lru_cache(maxsize=512)
def strongest(hue: int, ground: int, wanted: float = 4.5) -> Rgb | None:
    """The colour of most chroma in a hue (degrees) among those that have the contrast wanted with a ground, whose
    luminance is told in thousandths; None where none has it."""
    shown = [colour.from_oklch(step / 50, 0.4, hue) for step in range(10, 49)]
    readable = [rgb for rgb in shown if colour.ratio(colour.luminance(rgb), ground / 1000) >= wanted]
    return max(readable, key=lambda rgb: colour.to_oklch(rgb)[1], default=None)


def shade(hue: float | None) -> Rgb:
    """What darkens a ground of this hue: never black, which looks like smoke on a colour."""
    return colour.from_oklch(*_SHADE, hue) if hue is not None else colour.from_oklch(_SHADE[0], 0.02, _COOL_HUE)


def glow(hue: float | None) -> Rgb:
    """What lightens a ground of this hue."""
    return colour.from_oklch(*_GLOW, hue) if hue is not None else (250, 250, 250)


def hue_of(rgb: Rgb) -> float | None:
    """Degrees; None for a grey."""
    _, chroma, hue = colour.to_oklch(rgb)
    return hue if chroma > _GREY_CHROMA else None


def _hue(small: Image.Image) -> float | None:
    """The hue that weighs most in a picture, count x (0.25 + 6 x chroma) over 12 colours; None for a grey one."""
    few = small.quantize(_PALETTE, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    palette = few.getpalette() or []
    found: list[tuple[float, float]] = []
    for count, index in cast("list[tuple[int, int]]", few.getcolors() or []):
        red, green, blue = palette[3 * index : 3 * index + 3]
        _, chroma, hue = colour.to_oklch((red, green, blue))
        if chroma > _GREY_CHROMA:
            found.append((count * (0.25 + 6 * chroma), hue))
    return max(found)[1] if found else None
