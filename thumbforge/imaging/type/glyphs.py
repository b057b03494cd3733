"""Glyphs to masks and pictures. The only module that calls HarfBuzz's rasteriser, which is new and may change.

Another rasteriser takes over by giving `mask` and `painted` the same shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

import uharfbuzz
from PIL import Image

from thumbforge.imaging.type import fonts

QUARTERS = 4
"""Pen positions are rounded to 1/4 pixel: finer is not seen, and equal letters share a mask."""


@dataclass(frozen=True, slots=True)
class Mask:
    """8-bit coverage of one glyph, or its own colours (RGBA) where `coloured`; `left` and `top` (pixels, y downwards)
    are counted from the pen position."""

    image: Image.Image
    left: int
    top: int
    coloured: bool = False


def drawn(font: str, gid: int, size: float, quarter: int) -> Mask | None:
    """The glyph at `size` pixels an em, shifted right by `quarter`/4 pixel; None where it has no ink."""
    return painted(font, gid, size) if fonts.face(font).coloured else mask(font, gid, size, quarter)


def mask(font: str, gid: int, size: float, quarter: int) -> Mask | None:
    """Coverage of an outline."""
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


def painted(font: str, gid: int, size: float) -> Mask | None:
    """A glyph of a colour font (COLR) in its own colours; one without colours is a mask."""
    face = fonts.face(font)
    unit = size / face.upem
    found = face.hb.get_glyph_extents(gid)
    if found is None or found.width == 0 or found.height == 0:
        return None
    left, right = floor(found.x_bearing * unit) - 1, ceil((found.x_bearing + found.width) * unit) + 1
    top, bottom = ceil(found.y_bearing * unit) + 1, floor((found.y_bearing + found.height) * unit) - 1
    raster = uharfbuzz.RasterPaint()
    raster.transform = (unit, 0, 0, unit, 0, 0)
    raster.extents = uharfbuzz.RasterExtents(left, bottom, right - left, top - bottom, 0)
    if not raster.paint_glyph_or_fail(face.hb, gid):
        return mask(font, gid, size, 0)
    image = raster.render()
    if image is None:
        return None
    shape = (image.extents.width, image.extents.height)
    blue, green, red, alpha = Image.frombytes(
        "RGBa", shape, image.buffer, "raw", "RGBa", image.extents.stride, -1
    ).split()
    return Mask(Image.merge("RGBa", (red, green, blue, alpha)).convert("RGBA"), left, -top, coloured=True)
