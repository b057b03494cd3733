"""How much a finished picture is like the others of its series: structure and light, whatever its colours.

A picture is 16 x 9 tones and as many edges. Each is held against the median of the series at its place, in units of
what the series itself varies there: where every title is another, a letter says nothing. Art that is another at every
item has no outlier; a picture with another subject, layout or light in a series that holds together has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from PIL import Image, ImageChops, ImageFilter

MADE_BY = 1
"""Raised when the same picture gives another signature."""
GRID = (16, 9)
FEWEST = 5
"""Pictures from which on a series can be told from an outlier."""
LIMIT = 1.4
"""A figure above this is an outlier. On 24 series of eight finals (six heroes, four templates, other titles and hues)
it names none of the 192; of finals put among those of another series it misses 3 % where only the template is another,
3 % where only the hero is, and none where both are."""
_USUAL = 0.8
"""What a series may vary by in any case: the unit of the figure, or what three quarters of a looser one stay under."""
_SEEN = (256, 144)
_LEAST = (9.0, 12.0)
"""Levels by which tones and edges may differ in any series."""
_MOST = 3.5
"""What one place may say at most, in the same units."""


@dataclass(frozen=True, slots=True)
class Outlier:
    """`figure` in units of what the series varies by itself; `what` differs most, light or structure."""

    figure: float
    what: str

    def __str__(self) -> str:
        return f"unlike its series in {self.what}: {self.figure:.1f}, {LIMIT} is much"


def signature(path: Path) -> bytes:
    """Tones and edges of a finished picture, one byte each. Raises OSError where it cannot be read."""
    with Image.open(path) as picture:
        picture.draft("L", (_SEEN[0] * 2, _SEEN[1] * 2))
        grey = picture.convert("L").resize(_SEEN, Image.Resampling.BOX, reducing_gap=2.0)
    edges = ImageChops.difference(grey, grey.filter(ImageFilter.GaussianBlur(2)))
    small = [layer.resize(GRID, Image.Resampling.BOX) for layer in (grey, edges)]
    return small[0].tobytes() + small[1].point([min(3 * level, 255) for level in range(256)]).tobytes()


def outliers(found: Mapping[str, bytes]) -> dict[str, Outlier]:
    """Those of a series (signatures by any name) that are not like the rest; none in a series of fewer than five."""
    return {name: seen for name, seen in figures(found).items() if seen.figure > LIMIT}


def figures(found: Mapping[str, bytes]) -> dict[str, Outlier]:
    """The figure of every picture, held against all the others."""
    if len(found) < FEWEST:
        return {}
    half = GRID[0] * GRID[1]
    columns = list(zip(*found.values(), strict=True))
    middles = [median(column) for column in columns]
    spreads = [median(abs(x - middle) for x in column) for column, middle in zip(columns, middles, strict=True)]
    units = [max(1.4826 * spread, _LEAST[at >= half]) for at, spread in enumerate(spreads)]
    raw: dict[str, Outlier] = {}
    for name, own in found.items():
        away = [min(abs(x - m) / unit, _MOST) for x, m, unit in zip(own, middles, units, strict=True)]
        light, structure = _mean(away[:half]), _mean(away[half:])
        raw[name] = Outlier(max(light, structure), "light" if light >= structure else "structure")
    usual = max(sorted(outlier.figure for outlier in raw.values())[3 * len(raw) // 4], _USUAL)
    return {name: replace(outlier, figure=outlier.figure / usual) for name, outlier in raw.items()}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
