"""The badge that carries the part: a rounded plate as wide as its text."""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image, ImageDraw

from thumbforge.imaging.draw import Frame, Ink
from thumbforge.pixels.colour import Rgb

_SMOOTH = 4
"""Plates are drawn larger and shrunk: Pillow's shapes have no soft edge."""


@dataclass(frozen=True, slots=True)
class Plate:
    """Pixels in the picture."""

    left: int
    top: int
    width: int
    height: int
    radius: int

    @property
    def box(self) -> tuple[int, int, int, int]:
        return self.left, self.top, self.left + self.width, self.top + self.height


def padding(height: float) -> float:
    """Free space left and right of the text on a plate of this height."""
    return height * 0.24


def around(ink: Ink, frame: Frame, radius: float) -> Plate:
    """The plate behind a text that was set in `frame` less the padding: full height, text plus padding wide."""
    pad = padding(frame.height)
    left, right = round(ink.box[0] - pad), round(ink.box[2] + pad)
    height = round(frame.height)
    return Plate(left, round(frame.top), right - left, height, round(min(radius, height / 2)))


def paint(picture: Image.Image, plate: Plate, fill: Rgb) -> None:
    """Changes `picture` in place."""
    large = Image.new("L", (plate.width * _SMOOTH, plate.height * _SMOOTH))
    corner = (large.width - 1, large.height - 1)
    ImageDraw.Draw(large).rounded_rectangle(((0, 0), corner), plate.radius * _SMOOTH, fill=255)
    picture.paste(fill, (plate.left, plate.top), large.reduce(_SMOOTH))
