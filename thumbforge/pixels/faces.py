"""A face inside a cut-out person, by the colours of skin: asked when a mask is made, and shown to a person."""

from __future__ import annotations

from PIL import Image, ImageChops

from thumbforge.pixels import masks
from thumbforge.pixels.saliency import densest, skin
from thumbforge.pixels.scene import Shares

_GRID = 96
_UPPER = 0.6
_RATIO = (0.6, 1.3)
_FULL = 0.62
_SMALLEST, _LARGEST = 0.10, 0.75
"""Of the subject's height."""


def face_of(rgb: Image.Image, mask: Image.Image) -> Shares | None:
    """The largest compact patch of skin in the upper part of a cut-out, as shares; None where none is like a face."""
    share = _GRID / max(rgb.size)
    size = max(round(rgb.width * share), 8), max(round(rgb.height * share), 8)
    small = rgb.resize(size, Image.Resampling.BOX, reducing_gap=2.0)
    shape = mask.resize(size, Image.Resampling.BOX, reducing_gap=2.0)
    ycc = Image.merge("RGB", small.convert("YCbCr").split())
    found = ImageChops.multiply(skin(ycc), shape)
    _, y, _, h = masks.body(mask)
    last = round((y + _UPPER * h) * size[1])
    rows = found.crop((0, 0, size[0], max(last, 2)))
    values = [level / 255 for level in rows.tobytes()]
    _, (x0, y0, x1, y1) = densest(size[0], rows.height, values, _FULL)
    wide, high = x1 - x0, y1 - y0
    full = sum(sum(values[row * size[0] + x0 : row * size[0] + x1]) for row in range(y0, y1)) / (wide * high)
    like = _RATIO[0] <= wide / high <= _RATIO[1] and full >= _FULL
    part = high / (h * size[1])
    if not like or not _SMALLEST <= part <= _LARGEST:
        return None
    return round(x0 / size[0], 4), round(y0 / size[1], 4), round(wide / size[0], 4), round(high / size[1], 4)
