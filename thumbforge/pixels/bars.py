"""Black bars that are baked into a picture: stills of other shapes come letterboxed or pillarboxed.

Here, and in no part of the package, because the provider that paints from the hero and the finaliser that crops art
have to see the same picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

_TONE = 20
"""Bars of a JPEG are not quite black."""
_LEAST, _LARGEST = 0.04, 0.36
"""Shares of a side; an upright 9:16 picture in a 16:9 frame has bars of 0.34."""
_EVEN = 0.01
_EDGE = 0.5
"""Share of a picture's first lines beside a bar that is lit: a dark scene fades into the dark, a bar ends at once."""
_LINES = 3
_NEARLY = 0.03
_LIT = [0] * (_TONE + 1) + [255] * (255 - _TONE)

Box = tuple[int, int, int, int]


def content(picture: Image.Image) -> Box:
    """The picture (RGB) without even black bars left and right, above and below, or both: left, top, right, bottom."""
    width, height = picture.size
    if not any(_dark(picture.crop(line)) for line in ((0, 0, width, 1), (0, 0, 1, height))):
        return 0, 0, width, height
    lit = picture.convert("L").point(_LIT)
    left, right = _between(lit, height * 16 / 9)
    top, bottom = _between(_upended(lit.crop((left, 0, right, height))), (right - left) * 9 / 16)
    return left, top, right, bottom


def _dark(line: Image.Image) -> bool:
    return line.convert("L").point(_LIT).getbbox() is None


def _upended(lit: Image.Image) -> Image.Image:
    from PIL import Image

    return lit.transpose(Image.Transpose.TRANSPOSE)


def _between(lit: Image.Image, still: float) -> tuple[int, int]:
    """The columns between even bars at the left and right; all of them where that is no picture with bars. What
    is `still` columns wide is a video's still in another frame, however dark its edges are."""
    side = lit.width
    left, _, right, _ = lit.getbbox() or (0, 0, *lit.size)
    before, behind = left, side - right
    even = abs(before - behind) <= max(2, side * _EVEN)
    if not even or not side * _LEAST <= min(before, behind) <= side * _LARGEST:
        return 0, side
    edges = (lit.crop((x, 0, x + _LINES, lit.height)) for x in (left, right - _LINES))
    ends = all(edge.histogram()[255] >= _EDGE * _LINES * lit.height for edge in edges)
    return (left, right) if ends or abs((right - left) / still - 1) < _NEARLY else (0, side)
