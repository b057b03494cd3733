"""The look `duotone`: the whole hero in the tones of one hue, by choice only, because it recolours skin."""

from __future__ import annotations

import math

from PIL import Image, ImageChops, ImageOps

from thumbforge.pixels import masks
from thumbforge.pixels.placing import floor_of
from thumbforge.providers.looks import layers
from thumbforge.providers.looks.ink import Ink
from thumbforge.providers.looks.photo import on_ground
from thumbforge.providers.looks.stage import Stage

MIDDLE = 0.44
"""Mean tone of the hero, so that a dark one and a bright one give series of the same weight."""
_BRIGHTEST = 0.60
"""Mean tone of a hero as bright as paper: white can still be read on its shaded side."""
_PATTERN = 0.14


class Duotone:
    """The hero's even greys are the series'; light, pattern and colour are the item's."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        picture = on_ground(stage) if stage.has_ground else _on_dark(stage)
        tone = ImageOps.autocontrast(picture.convert("L"), cutoff=(0.5, 0.5))
        self._tone = ImageChops.multiply(_evened(tone), _shade(stage))

    def item(self, ink: Ink) -> Image.Image:
        size, mirrored, v = self._stage.size, self._stage.mirrored, ink.variation
        tone = ImageChops.screen(self._tone, layers.glow(size, v.light, mirrored))
        if not self._stage.placed.free.across:
            tone = ImageChops.add(tone, masks.dimmed(layers.pattern(size, v.pattern, mirrored), _PATTERN))
        return layers.coloured(layers.grained(tone), ink.duotone)


def _on_dark(stage: Stage) -> Image.Image:
    whole = Image.new("RGB", stage.size, (70, 70, 70))
    whole.paste(stage.picture, (0, 0), stage.shape)
    return whole


def _shade(stage: Stage) -> Image.Image:
    if not stage.placed.free.across:
        return layers.shade(stage.size, stage.mirrored)
    floor = floor_of(stage.placed.free, stage.size[1]) / stage.size[1]
    return layers.field(stage.size, lambda _, y: 1 - 0.72 * masks.smooth(floor - 0.12, floor + 0.14, y))


def _evened(tone: Image.Image) -> Image.Image:
    """Gamma that moves the mean to MIDDLE, within bounds that keep the picture's own character."""
    mean = min(max(masks.weight(tone) / (tone.width * tone.height), 0.02), 0.98)
    gamma = min(max(math.log(MIDDLE) / math.log(mean), 0.65), 1.6)
    most = min(_BRIGHTEST / mean**gamma, 1.0)
    return tone.point([round(255 * most * (level / 255) ** gamma) for level in range(256)])
