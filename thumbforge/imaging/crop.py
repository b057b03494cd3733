"""The part of a picture that fills a 16:9 frame: cover, never stretch, without bars that are baked in."""

from __future__ import annotations

from PIL import Image

_BAR_TONE = 20
"""Bars of a JPEG are not quite black."""
_LEAST_BAR, _LARGEST_BAR = 0.04, 0.36
"""Shares of a side; an upright 9:16 picture in a 16:9 frame has bars of 0.34."""
_EVEN = 0.01
_EDGE = 0.5
"""Share of a picture's first lines beside a bar that is lit: a dark scene fades into the dark, a bar ends at once."""
_LINES = 3
_NEARLY = 0.03
_LIT = [0] * (_BAR_TONE + 1) + [255] * (255 - _BAR_TONE)

Box = tuple[int, int, int, int]


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


def content(picture: Image.Image) -> Box:
    """The picture (RGB) without even black bars left and right, above and below, or both."""
    width, height = picture.size
    if not any(_dark(picture.crop(line)) for line in ((0, 0, width, 1), (0, 0, 1, height))):
        return 0, 0, width, height
    lit = picture.convert("L").point(_LIT)
    left, right = _between_bars(lit, height * 16 / 9)
    upended = lit.crop((left, 0, right, height)).transpose(Image.Transpose.TRANSPOSE)
    top, bottom = _between_bars(upended, (right - left) * 9 / 16)
    return left, top, right, bottom


def _dark(line: Image.Image) -> bool:
    return line.convert("L").point(_LIT).getbbox() is None


def _between_bars(lit: Image.Image, still: float) -> tuple[int, int]:
    """The columns between even bars at the left and right; all of them where that is no picture with bars. What
    is `still` columns wide is a video's still in another frame, however dark its edges are."""
    side = lit.width
    left, _, right, _ = lit.getbbox() or (0, 0, *lit.size)
    before, behind = left, side - right
    even = abs(before - behind) <= max(2, side * _EVEN)
    if not even or not side * _LEAST_BAR <= min(before, behind) <= side * _LARGEST_BAR:
        return 0, side
    edges = (lit.crop((x, 0, x + _LINES, lit.height)) for x in (left, right - _LINES))
    if abs((right - left) / still - 1) < _NEARLY or all(
        edge.histogram()[255] >= _EDGE * _LINES * lit.height for edge in edges
    ):
        return left, right
    return 0, side
