"""Masks (mode L: 255 is subject): their body, their outline, whether one is good enough to cut with."""

from __future__ import annotations

from PIL import Image, ImageFilter

SOLID = 128
_SIDE = 128
_THIN = 0.06
"""Columns and rows with less than this share of the fullest one are whiskers, cables and haze."""
_AREA, _HAZE = (0.03, 0.75), 0.25
_HALF_CLEAR = (32, 224)

Shares = tuple[float, float, float, float]


def body(mask: Image.Image) -> Shares:
    """The mask's box (x, y, width, height as shares) without its thin parts; the whole picture for an empty one."""
    small = mask.resize((_SIDE, _SIDE), Image.Resampling.BOX, reducing_gap=2.0)
    ends: list[tuple[int, int]] = []
    for line in ((_SIDE, 1), (1, _SIDE)):
        sums = small.resize(line, Image.Resampling.BOX).tobytes()
        solid = [i for i, level in enumerate(sums) if level >= max(2, _THIN * max(sums))] or [0, _SIDE - 1]
        ends.append((solid[0], solid[-1] + 1))
    (x0, x1), (y0, y1) = ends
    return x0 / _SIDE, y0 / _SIDE, (x1 - x0) / _SIDE, (y1 - y0) / _SIDE


def holds_any(mask: Image.Image) -> bool:
    """Whether anything of the mask is solid."""
    return any(mask.histogram()[SOLID:])


def usable(mask: Image.Image) -> str:
    """Why a mask is too poor to cut with, or ""."""
    small = mask.resize((256, 256), Image.Resampling.BOX, reducing_gap=2.0)
    counts = small.histogram()
    total = 256 * 256
    solid = sum(counts[SOLID + 1 :])
    if not _AREA[0] <= solid / total <= _AREA[1]:
        return f"{solid / total:.0%} of the picture is subject, {_AREA[0]:.0%} to {_AREA[1]:.0%} wanted"
    haze = sum(counts[_HALF_CLEAR[0] : _HALF_CLEAR[1]])
    if haze > _HAZE * solid:
        return "its edge is haze"
    return ""


def grown(mask: Image.Image, reach: float, soft: float = 1.0) -> Image.Image:
    """The mask grown by `reach` pixels, round at its corners: a blur and a threshold at half the size.

    Pillow's MaxFilter does the same in a hundred times the time, with square corners.
    """
    sigma = max(reach / 2 / 1.28, 0.3)
    blurred = mask.reduce(2).filter(ImageFilter.GaussianBlur(sigma))
    half = 4.5 * soft / max(sigma / 7, 0.4)
    table = [round(255 * smooth(25.5 - half, 25.5 + half, level)) for level in range(256)]
    return blurred.resize(mask.size, Image.Resampling.BICUBIC).point(table)


def dimmed(layer: Image.Image, share: float) -> Image.Image:
    return layer.point([min(255, round(level * share)) for level in range(256)])


def weight(layer: Image.Image) -> float:
    """Sum of a grey layer's levels, in white pixels."""
    return sum(level * count for level, count in enumerate(layer.histogram())) / 255


def smooth(low: float, high: float, value: float) -> float:
    """0 below `low`, 1 above `high`, a soft step between."""
    share = min(max((value - low) / (high - low), 0.0), 1.0)
    return share * share * (3 - 2 * share)
