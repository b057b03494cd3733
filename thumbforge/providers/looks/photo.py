"""The look `photo`: the hero over the whole canvas in its own colours; where words stand its own ground grows on, soft
and toned in the item's hue. And the grey ground of the panels."""

from __future__ import annotations

import math

from PIL import Image, ImageChops

from thumbforge.pixels import masks
from thumbforge.pixels.placed import toned_from
from thumbforge.providers.looks import layers
from thumbforge.providers.looks.ink import Ink
from thumbforge.providers.looks.stage import Stage, around, toned

_TONES = (0.20, 0.54)
_LAID = 0.96
_SOFT_EDGE = 0.16
_LIT, _WIDE, _HIGH = 0.34, 0.42, 0.34


class Photo:
    """The soft ground, the sharp photo and where it is revealed are the series'; the tone over the words' part is the
    item's."""

    def __init__(self, stage: Stage) -> None:
        ground = around(stage)
        self._grey = toned(ground, *_TONES)
        if stage.placed.free.across:
            self._grey = ImageChops.screen(self._grey, _light(stage))
        self._words, reveal = _across(stage) if stage.placed.free.across else _beside(stage)
        self._picture = ground
        self._picture.paste(stage.picture, (0, 0), reveal)
        covered = ImageChops.multiply(self._words, ImageChops.invert(reveal))
        self._tone = masks.dimmed(self._words if stage.placed.free.across else covered, _LAID)
        self._box = self._tone.getbbox() or (0, 0, *stage.size)
        self._tone, self._grey = self._tone.crop(self._box), self._grey.crop(self._box)

    def item(self, ink: Ink) -> Image.Image:
        whole = self._picture.copy()
        whole.paste(layers.coloured(self._grey, ink.ground), self._box, self._tone)
        return whole


def _beside(stage: Stage) -> tuple[Image.Image, Image.Image]:
    """Where the tone lies, and where the photo is sharp: both change over beside the subject."""
    start, inner, mirrored = toned_from(stage.placed), stage.inner(_SOFT_EDGE), stage.mirrored

    def words(x: float, _: float) -> float:
        return 1 - masks.smooth(start - 0.02, start + 0.30, 1 - x if mirrored else x)

    def sharp(x: float, y: float) -> float:
        return masks.smooth(start + 0.02, start + 0.24, 1 - x if mirrored else x) * inner(x, y)

    reveal = layers.field(stage.size, sharp)
    return layers.field(stage.size, words), ImageChops.lighter(reveal, stage.shape)


def _across(stage: Stage) -> tuple[Image.Image, Image.Image]:
    """The photo above; the tone takes over where the words begin, and wherever the photo is not: between the two the
    photo's own soft ground would be a grey smear."""
    reveal = ImageChops.lighter(layers.field(stage.size, stage.inner(_SOFT_EDGE)), stage.shape)
    return ImageChops.lighter(stage.under_words(), ImageChops.invert(reveal)), reveal


def _light(stage: Stage) -> Image.Image:
    """A pool of light behind the photo, gone before words begin."""
    cx, cy = stage.centre

    def light(x: float, y: float) -> float:
        return _LIT * math.exp(-(((x - cx) / _WIDE) ** 2 + ((y - cy) / _HIGH) ** 2))

    return layers.field(stage.size, light)


def on_ground(stage: Stage) -> Image.Image:
    """The hero over its own ground, sharp as far as it reaches: what a window shows."""
    whole = around(stage)
    reveal = layers.field(stage.size, stage.inner(0.10))
    whole.paste(stage.picture, (0, 0), ImageChops.lighter(reveal, stage.shape))
    return whole
