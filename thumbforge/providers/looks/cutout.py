"""The look `cutout`: the subject as a sticker in its own colours, before a ground in the item's hue."""

from __future__ import annotations

import math

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from thumbforge.pixels import masks
from thumbforge.providers.looks import layers
from thumbforge.providers.looks.ink import Ink
from thumbforge.providers.looks.stage import Stage

_RAYS = 18
_CALM, _LIT, _RAY = 0.22, 0.58, 0.055
_WIDE, _HIGH, _HIGH_ABOVE = 0.40, 0.62, 0.40
_GLOW, _GLOW_BLUR = 0.62, 34
_DROP, _DROP_BY, _DROP_BLUR = 0.50, (16, 18), 15
_SUNK = 0.94
_COARSE = 8
WHITE = (255, 255, 255)


class Cutout:
    """The grey ground with its light, rays, glow and shadow; each item only colours it and lays the sticker on."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._outline, self._shape = stage.outline, stage.shape
        if stage.placed.free.across:  # the white edge of a sticker behind letters would need a dark cloud
            kept = ImageChops.invert(masks.dimmed(stage.under_words(), _SUNK))
            self._outline, self._shape = (ImageChops.multiply(layer, kept) for layer in (stage.outline, stage.shape))
        self._box = stage.outline.getbbox()
        cx, cy = stage.centre
        high = _HIGH_ABOVE if stage.placed.free.across else _HIGH

        def light(x: float, y: float) -> float:
            return _CALM + _LIT * math.exp(-(((x - cx) / _WIDE) ** 2 + ((y - cy) / high) ** 2))

        grey = layers.field(stage.size, light)
        grey = ImageChops.add(grey, masks.dimmed(_rays(stage.size, cx, cy), _RAY))
        small = stage.shape.reduce(_COARSE)
        grey = ImageChops.screen(grey, masks.dimmed(_blurred(stage, small, _GLOW_BLUR), _GLOW))
        if contact := _contact(stage, small.size):
            grey = ImageChops.multiply(grey, ImageChops.invert(contact))
        self._grey = layers.grained(ImageChops.multiply(grey, ImageChops.invert(_shadow(stage, small))))

    def item(self, ink: Ink) -> Image.Image:
        whole = layers.coloured(self._grey, ink.ground)
        if self._box is None:
            return whole
        whole.paste(WHITE, self._box, self._outline.crop(self._box))
        whole.paste(self._stage.picture.crop(self._box), self._box, self._shape.crop(self._box))
        return whole


def _blurred(stage: Stage, small: Image.Image, blur: float) -> Image.Image:
    soft = small.filter(ImageFilter.GaussianBlur(blur * stage.u / _COARSE))
    return soft.resize(stage.size, Image.Resampling.BICUBIC)


def _shadow(stage: Stage, small: Image.Image) -> Image.Image:
    """Cast down and towards the words."""
    side = 0 if stage.placed.free.across else 1 if stage.mirrored else -1
    by = (round(side * _DROP_BY[0] * stage.u / _COARSE), round(_DROP_BY[1] * stage.u / _COARSE))
    drop = Image.new("L", small.size)
    drop.paste(small, by)
    return masks.dimmed(_blurred(stage, drop, _DROP_BLUR), _DROP)


def _contact(stage: Stage, small: tuple[int, int]) -> Image.Image | None:
    """The shade under a thing that stands free above the canvas's foot."""
    box = stage.placed.box
    if box is None or stage.placed.face or stage.placed.subject.at_foot or box[3] > 0.97 * stage.size[1]:
        return None
    share = small[0] / stage.size[0]
    middle, half = (box[0] + box[2]) / 2 * share, 0.4 * (box[2] - box[0]) * share
    foot, high = box[3] * share, 0.03 * small[1]
    layer = Image.new("L", small)
    ImageDraw.Draw(layer).ellipse((middle - half, foot - high, middle + half, foot + high), fill=round(255 * 0.45))
    return _blurred(stage, layer, 12)


def _rays(size: tuple[int, int], cx: float, cy: float) -> Image.Image:
    large = Image.new("L", (size[0] // 2, size[1] // 2))
    draw = ImageDraw.Draw(large)
    x, y, far = cx * large.width, cy * large.height, float(size[0])
    for ray in range(_RAYS):
        start = math.tau * ray / _RAYS
        ends = [(x + far * math.cos(a), y + far * math.sin(a)) for a in (start, start + math.pi / _RAYS)]
        draw.polygon([(x, y), *ends], fill=255)
    soft = large.filter(ImageFilter.GaussianBlur(1.2))
    return soft.resize(size, Image.Resampling.BICUBIC)
