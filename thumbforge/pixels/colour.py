"""Colours as numbers: sRGB, OKLCH, WCAG luminance."""

from __future__ import annotations

from math import atan2, cos, hypot, radians, sin

Rgb = tuple[int, int, int]


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
