"""Colours as numbers: sRGB, OKLCH, WCAG luminance, and the accent that a picture gives itself."""

from __future__ import annotations

from functools import cached_property
from math import atan2, cos, hypot, radians, sin
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from PIL import Image

Rgb = tuple[int, int, int]

ACCENT_LIGHTNESS = 0.88
"""OKLCH lightness of accents: black on it has a contrast of 14 or more at every hue."""
_ACCENT_CHROMA = 0.17
_GREY_CHROMA = 0.022
"""Below this a picture has no hue of its own."""
_WARM_HUE = 92.0
"""Degrees; the yellow that a grey picture gets."""
_COOL_HUE = 262.0
_DEEP_LIGHTNESS, _DEEP_CHROMA = 0.27, 0.085
_MUD, _MUDDY_CHROMA = (70.0, 125.0), 0.025
_PALETTE = 12
_SAMPLE = (96, 54)


def from_hex(text: str) -> Rgb:
    """`#RRGGBB` as three bytes."""
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def to_linear(byte: float) -> float:
    """sRGB byte to linear light, 0 to 1 (WCAG 2.2)."""
    share = byte / 255
    return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)


def to_byte(linear: float) -> float:
    """Linear light to sRGB, 0 to 255, not rounded."""
    return 255 * (12.92 * linear if linear <= 0.0031308 else float(1.055 * linear ** (1 / 2.4) - 0.055))


def luminance(rgb: Rgb) -> float:
    """WCAG relative luminance, 0 to 1."""
    red, green, blue = (to_linear(byte) for byte in rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(one: float, other: float) -> float:
    """WCAG contrast of two luminances, 1 to 21."""
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def to_oklch(rgb: Rgb) -> tuple[float, float, float]:
    """Lightness (0 to 1), chroma and hue (degrees). Matrices: https://bottosson.github.io/posts/oklab/"""
    red, green, blue = (to_linear(byte) for byte in rgb)
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    medium = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    light = 0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short
    a = 1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short
    b = 0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short
    return light, hypot(a, b), atan2(b, a) * 57.29577951308232 % 360


def from_oklch(light: float, chroma: float, hue: float) -> Rgb:
    """sRGB of an OKLCH colour (hue in degrees); where the screen cannot show it, the chroma gives way."""
    linear = _oklch_linear(light, chroma, hue)
    if not _shown(linear, 1e-4):
        low, high = 0.0, chroma
        for _ in range(14):
            middle = (low + high) / 2
            low, high = (middle, high) if _shown(_oklch_linear(light, middle, hue), 1e-4) else (low, middle)
        linear = _oklch_linear(light, low, hue)
    return _rounded(linear)


def _accent_tone(light: float, chroma: float, hue: float) -> Rgb:
    """`from_oklch` in steps of chroma: the accents of every final so far were rounded like this, and they stay."""
    while chroma > 0 and not _shown(_oklch_linear(light, chroma, hue), 5e-4):
        chroma -= 0.004
    return _rounded(_oklch_linear(light, chroma, hue))


def _shown(linear: tuple[float, float, float], beyond: float) -> bool:
    return all(-beyond <= channel <= 1 + beyond for channel in linear)


def _rounded(linear: tuple[float, float, float]) -> Rgb:
    red, green, blue = (round(to_byte(min(max(channel, 0.0), 1.0))) for channel in linear)
    return red, green, blue


def _oklch_linear(light: float, chroma: float, hue: float) -> tuple[float, float, float]:
    a, b = chroma * cos(radians(hue)), chroma * sin(radians(hue))
    long = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (light - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )


def accent(picture: Image.Image) -> Rgb:
    """A light accent in the hue that weighs most in the picture: count x (0.25 + 6 x chroma) over 12 colours, times the
    chroma that the hue has when light. A light blue is almost white, so a yellow beside it makes the better accent."""
    weighed: list[tuple[float, Rgb]] = []
    for weight, hue in _hues(picture):
        light = _accent_tone(ACCENT_LIGHTNESS, _ACCENT_CHROMA, hue)
        weighed.append((weight * to_oklch(light)[1], light))
    warm = _accent_tone(ACCENT_LIGHTNESS, _ACCENT_CHROMA, _WARM_HUE)
    return max(weighed, key=lambda found: found[0], default=(0.0, warm))[1]


def deep(picture: Image.Image) -> Rgb:
    """A dark tone of the hue that weighs most; slate for a grey picture. Dark yellows are mud, so they get almost no
    colour."""
    weight, hue = max(_hues(picture), default=(0.0, _COOL_HUE))
    strong = weight > 0 and not _MUD[0] < hue < _MUD[1]
    return _accent_tone(_DEEP_LIGHTNESS, _DEEP_CHROMA if strong else _MUDDY_CHROMA, hue)


def _hues(picture: Image.Image) -> list[tuple[float, float]]:
    """The weight and hue (degrees) of the picture's colours; none for grey ones."""
    from PIL import Image

    small = picture.resize(_SAMPLE, Image.Resampling.BOX, reducing_gap=1.0)
    few = small.quantize(_PALETTE, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    palette = few.getpalette() or []
    found: list[tuple[float, float]] = []
    for count, index in cast("list[tuple[int, int]]", few.getcolors() or []):
        red, green, blue = palette[3 * index : 3 * index + 3]
        _, chroma, hue = to_oklch((red, green, blue))
        if chroma > _GREY_CHROMA:
            found.append((count * (0.25 + 6 * chroma), hue))
    return found


class Tones:
    """A layout's colours in one picture: `#RRGGBB`, or one of the picture's own."""

    def __init__(self, picture: Image.Image) -> None:
        from PIL import Image

        self._small = picture.resize(_SAMPLE, Image.Resampling.BOX, reducing_gap=1.0)

    def of(self, text: str) -> Rgb:
        if text == "auto":
            return self._accent
        return self._deep if text == "auto-dark" else from_hex(text)

    @cached_property
    def _accent(self) -> Rgb:
        return accent(self._small)

    @cached_property
    def _deep(self) -> Rgb:
        return deep(self._small)
