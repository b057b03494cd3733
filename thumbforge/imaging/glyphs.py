"""Outlines to masks. The only module that calls HarfBuzz's rasteriser, which is new and may change.

Another rasteriser takes over by giving `mask` the same shape; colour emoji would be a second function beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import uharfbuzz
from PIL import Image

from thumbforge.imaging import fonts

QUARTERS = 4
"""Pen positions are rounded to 1/4 pixel: finer is not seen, and equal letters share a mask."""


@dataclass(frozen=True, slots=True)
class Mask:
    """8-bit coverage of one glyph; `left` and `top` (pixels, y downwards) are counted from the pen position."""

    image: Image.Image
    left: int
    top: int


def mask(font: str, gid: int, size: float, quarter: int) -> Mask | None:
    """The glyph at `size` pixels an em, shifted right by `quarter`/4 pixel; None where it has no ink."""
    face = fonts.face(font)
    unit = size / face.upem
    raster = uharfbuzz.RasterDraw()
    raster.transform = (unit, 0, 0, unit, quarter / QUARTERS, 0)
    raster.draw_glyph(face.hb, gid)
    drawn = raster.render()
    if drawn is None or drawn.extents.width == 0 or drawn.extents.height == 0:
        return None
    extents = drawn.extents
    shape = (extents.width, extents.height)
    image = Image.frombytes("L", shape, drawn.buffer, "raw", "L", extents.stride, -1)
    return Mask(image, extents.x_origin, -(extents.y_origin + extents.height))
