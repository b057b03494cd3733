"""A hero without the black bars that are baked into it: stills of other shapes come letterboxed or pillarboxed."""

from __future__ import annotations

from PIL import Image

_LIT = [0] * 21 + [255] * 235
"""Bars of a JPEG are not quite black."""
_BAR = (0.04, 0.36)
"""Shares of a side; an upright 9:16 picture in a 16:9 frame has bars of 0.34."""
_LINES, _EDGE = 3, 0.5
"""A bar ends at once: this share of the first lines beside it is lit, where a dark scene fades into the dark."""


def without_bars(rgb: Image.Image) -> Image.Image:
    """The picture between even black bars left and right, above and below, or both; the same one without them."""
    lit = rgb.convert("L").point(_LIT)
    left, right = _between(lit, lit.height * 16 / 9)
    upended = lit.crop((left, 0, right, lit.height)).transpose(Image.Transpose.TRANSPOSE)
    top, bottom = _between(upended, (right - left) * 9 / 16)
    box = (left, top, right, bottom)
    return rgb if box == (0, 0, *rgb.size) else rgb.crop(box)


def _between(lit: Image.Image, still: float) -> tuple[int, int]:
    """The columns between the bars. What is `still` columns wide is a video's still, however dark its edges are."""
    side = lit.width
    left, _, right, _ = lit.getbbox() or (0, 0, *lit.size)
    bars = (left, side - right)
    if abs(bars[0] - bars[1]) > max(2, side * 0.01) or not all(_BAR[0] * side <= bar <= _BAR[1] * side for bar in bars):
        return 0, side
    edges = (lit.crop((x, 0, x + _LINES, lit.height)) for x in (left, right - _LINES))
    ends = all(edge.histogram()[255] >= _EDGE * _LINES * lit.height for edge in edges)
    return (left, right) if ends or abs((right - left) / still - 1) < 0.03 else (0, side)
