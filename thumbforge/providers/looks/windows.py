"""The looks that show the hero in a window on a coloured panel: `split` beyond a slanted edge, `card` as a print."""

from __future__ import annotations

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageOps

from thumbforge.pixels import masks
from thumbforge.pixels.placed import slanted, split_window
from thumbforge.pixels.placing import PLATE_TILT, RIM, TILT
from thumbforge.providers.looks import layers
from thumbforge.providers.looks.ink import Ink
from thumbforge.providers.looks.photo import on_ground
from thumbforge.providers.looks.stage import Stage

_RADIUS = 26
_COARSE = 8
WHITE = (255, 255, 255)


class Split:
    """A panel for the words, a slanted edge with a line in the accent and a hair line beside it, the photo beyond."""

    def __init__(self, stage: Stage) -> None:
        size, flip = stage.size, stage.mirrored
        self._grey = _panel(stage)
        self._window = split_window(stage.placed, *size)
        self._box = self._window.getbbox() or (0, 0, *size)
        self._picture = on_ground(stage).crop(self._box)
        self._window = self._window.crop(self._box)
        line = slanted(*size, -0.006, 0.006, flip=flip)
        self._line = ImageChops.lighter(line, slanted(*size, -0.018, -0.0145, flip=flip))
        self._line_box = self._line.getbbox() or (0, 0, *size)
        self._line = self._line.crop(self._line_box)

    def item(self, ink: Ink) -> Image.Image:
        whole = layers.coloured(self._grey, ink.ground)
        whole.paste(self._picture, self._box, self._window)
        whole.paste(ink.accent, self._line_box, self._line)
        return whole


class Card:
    """A print with a white rim, turned a little over a second plate in the accent; by the same in the whole series."""

    def __init__(self, stage: Stage) -> None:
        left, top, right, foot = (round(side) for side in stage.placed.window)
        picture = on_ground(stage) if stage.placed.subject.kind != "none" else stage.picture
        rim = round(RIM * stage.u)
        photo = ImageOps.expand(picture.crop((left, top, right, foot)), rim, WHITE)
        shape = _rounded(photo.size, round(_RADIUS * stage.u))
        turn = -1 if stage.mirrored else 1
        centre = (left + right) / 2, (top + foot) / 2
        self._plate, self._plate_at = _turned(shape, PLATE_TILT * turn, centre)
        mask, self._at = _turned(shape, TILT * turn, centre)
        self._photo = photo.rotate(TILT * turn, Image.Resampling.BICUBIC, expand=True)
        self._mask = mask
        self._grey = ImageChops.multiply(_panel(stage), ImageChops.invert(_cast(stage, mask, self._at)))

    def item(self, ink: Ink) -> Image.Image:
        whole = layers.coloured(self._grey, ink.ground)
        at, plate = self._plate_at, self._plate
        whole.paste(ink.accent, (*at, at[0] + plate.width, at[1] + plate.height), plate)
        whole.paste(self._photo, self._at, self._mask)
        return whole


def _panel(stage: Stage) -> Image.Image:
    """Lit from the words' upper corner."""
    mirrored = stage.mirrored
    return layers.grained(layers.field(stage.size, lambda x, y: 0.52 - 0.26 * y - 0.10 * (1 - x if mirrored else x)))


def _rounded(size: tuple[int, int], radius: int) -> Image.Image:
    large = Image.new("L", (size[0] * 2, size[1] * 2))
    ImageDraw.Draw(large).rounded_rectangle((3, 3, large.width - 4, large.height - 4), radius * 2, fill=255)
    return large.reduce(2)


def _turned(shape: Image.Image, tilt: float, centre: tuple[float, float]) -> tuple[Image.Image, tuple[int, int]]:
    """The shape turned about the centre, and where its box's corner lies."""
    turned = shape.rotate(tilt, Image.Resampling.BICUBIC, expand=True)
    return turned, (round(centre[0] - turned.width / 2), round(centre[1] - turned.height / 2))


def _cast(stage: Stage, mask: Image.Image, at: tuple[int, int]) -> Image.Image:
    small = Image.new("L", (stage.size[0] // _COARSE, stage.size[1] // _COARSE))
    small.paste(mask.reduce(_COARSE), (at[0] // _COARSE, at[1] // _COARSE + 2))
    soft = small.filter(ImageFilter.GaussianBlur(3 * stage.u))
    return masks.dimmed(soft.resize(stage.size, Image.Resampling.BICUBIC), 0.6)
