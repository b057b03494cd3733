"""The part of a picture that fills a 16:9 frame: cover, never stretch, without bars that are baked in."""

from __future__ import annotations

from PIL import Image

from thumbforge.pixels.bars import content


def cover(picture: Image.Image, width: int, height: int, focus: tuple[float, float]) -> Image.Image:
    """`picture` cut to width:height around `focus` (shares of width and height) and scaled to exactly that size.

    Bars of a letterboxed or pillarboxed picture are cut off first. A picture of the right size is returned as it is.
    """
    left, top, right, bottom = content(picture)
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
