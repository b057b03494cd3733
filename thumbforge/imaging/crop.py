"""The part of a picture that fills a 16:9 frame: cover, never stretch."""

from __future__ import annotations

from PIL import Image

_BAR_TONE = 20
"""Letterbox bars of a JPEG are not quite black."""
_LEAST_BAR = 0.04


def cover(picture: Image.Image, width: int, height: int, focus: tuple[float, float]) -> Image.Image:
    """`picture` cut to width:height around `focus` (shares of width and height) and scaled to exactly that size.

    Black bars of a letterboxed 16:9 still are cut off first. A picture of the right size is returned as it is.
    """
    left, top, right, bottom = _content(picture, width / height)
    wide, high = right - left, bottom - top
    scale = min(wide / width, high / height)
    keep_w, keep_h = min(width * scale, wide), min(height * scale, high)
    x = left + _slide(focus[0], wide, keep_w)
    y = top + _slide(focus[1], high, keep_h)
    if picture.size == (width, height) and (wide, high) == picture.size:
        return picture
    box = (x, y, min(x + keep_w, right), min(y + keep_h, bottom))
    return picture.resize((width, height), Image.Resampling.LANCZOS, box=box, reducing_gap=3.0)


def _slide(focus: float, whole: float, kept: float) -> float:
    """Where the kept stretch begins, so that the focus is in its middle as far as the picture goes."""
    return min(max(focus * whole - kept / 2, 0.0), whole - kept)


def _content(picture: Image.Image, ratio: float) -> tuple[int, int, int, int]:
    """The picture without its letterbox bars; the whole picture unless what is left has nearly the wanted shape."""
    whole = (0, 0, picture.width, picture.height)
    if picture.width / picture.height > ratio * 0.98:
        return whole
    lit = picture.convert("L").point([255 if value > _BAR_TONE else 0 for value in range(256)]).getbbox()
    if lit is None:
        return whole
    above, below = lit[1], picture.height - lit[3]
    even = abs(above - below) <= max(2, picture.height * 0.01) and min(above, below) >= picture.height * _LEAST_BAR
    left = picture.width / (picture.height - above - below)
    return (0, lit[1], picture.width, lit[3]) if even and abs(left / ratio - 1) < 0.03 else whole
