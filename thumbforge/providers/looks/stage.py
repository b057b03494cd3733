"""What all pictures of a series have in common: the hero at its place, its shape, its outline, the ground behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PIL import Image, ImageChops, ImageFilter

from thumbforge.pixels import masks
from thumbforge.pixels.heroes import HeroPicture, filled
from thumbforge.pixels.placed import Placed, fade, visible
from thumbforge.providers.looks import layers
from thumbforge.providers.looks.layers import Size

_ENLARGED = 1.2
"""From here on a hero is sharpened a little."""
_COARSE = 8
_SEAM, _GROUND_BLUR, _AWAY = 2, 26, 28
_OUTLINE = 9
_ABOVE, _BELOW = 0.03, 0.02
"""Shares of the height about where words begin, over which what stands behind them fades."""
_EDGE_SHARE = 0.2
"""Of the photo's own side: a narrow photo does not fade as a whole."""


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """`picture` is the canvas with the hero on it, black elsewhere; `out` is what of the canvas the hero covers (left,
    top, right, bottom); `shape` and `outline` are grey, empty where the subject is not cut out. `u` is a pixel of
    1280x720."""

    placed: Placed
    picture: Image.Image
    out: tuple[int, int, int, int]
    shape: Image.Image
    outline: Image.Image
    has_ground: bool = True

    @property
    def size(self) -> Size:
        return self.placed.width, self.placed.height

    @property
    def u(self) -> float:
        return self.placed.width / 1280

    @property
    def mirrored(self) -> bool:
        """The subject is at the left."""
        return self.placed.free.side == "left"

    @property
    def centre(self) -> tuple[float, float]:
        """The middle of the face, else of the subject, as shares of the canvas."""
        box = self.placed.face or self.placed.box or self.placed.photo
        width, height = self.size
        x = (max(box[0], 0) + min(box[2], width)) / 2 / width
        return x, 0.42 if not self.placed.free.across else min((box[1] + box[3]) / 2 / height, 0.42)

    def inner(self, edge: float) -> Callable[[float, float], float]:
        """1 inside the photo, falling to 0 at those of its edges that lie inside the canvas, over this share."""
        (w, h), (left, top, right, foot) = self.size, self.out
        x0, y0, x1, y1 = left / w, top / h, right / w, foot / h
        wide, high = min(edge, _EDGE_SHARE * (x1 - x0)), min(edge, _EDGE_SHARE * (y1 - y0))

        def value(x: float, y: float) -> float:
            share = masks.smooth(x0, x0 + wide, x) if left > 1 else 1.0
            share *= masks.smooth(1 - x1, 1 - x1 + wide, 1 - x) if right < w - 1 else 1.0
            share *= masks.smooth(y0, y0 + high, y) if top > 1 else 1.0
            return share * (masks.smooth(1 - y1, 1 - y1 + high, 1 - y) if foot < h - 1 else 1.0)

        return value

    def under_words(self) -> Image.Image:
        """White where words lie across, black above them: there a picture turns to the item's hue."""
        begin = self.placed.words_top() / self.placed.height
        return layers.field(self.size, lambda _, y: masks.smooth(begin - _ABOVE, begin + _BELOW, y))


def set_up(hero: HeroPicture, placed: Placed) -> Stage:
    """The hero resized to its place, as far as it is seen."""
    size = placed.width, placed.height
    out, source = visible(placed.lie, hero.rgb.size, *size)
    part_size = out[2] - out[0], out[3] - out[1]
    rgb = hero.rgb.resize(part_size, Image.Resampling.LANCZOS, box=source, reducing_gap=3.0)
    if placed.lie.scale > _ENLARGED:
        rgb = rgb.filter(ImageFilter.UnsharpMask(1.6 * size[0] / 1280, 60, 2))
    picture = Image.new("RGB", size)
    picture.paste(rgb, out[:2])
    shape = outline = Image.new("L", size)
    if hero.subject.mask is not None:
        part = hero.subject.mask.resize(part_size, Image.Resampling.BICUBIC, box=source, reducing_gap=3.0)
        shape = Image.new("L", size)
        shape.paste(part, out[:2])
        outline = masks.grown(shape, _OUTLINE * size[0] / 1280)
        if faded := fade(part, out, *size):  # the outline is made first: a faded shape would draw a haze
            shape, outline = (ImageChops.multiply(layer, faded) for layer in (shape, outline))
    return Stage(placed, picture, out, shape, outline, hero.has_ground)


def around(stage: Stage) -> Image.Image:
    """The photo's own ground over the whole canvas, soft: the subject is taken out, what is missing is filled in."""
    width, height = stage.size
    small = max(width // _COARSE, 8), max(height // _COARSE, 8)
    left, top, right, foot = stage.out
    inset = round(_SEAM * stage.u)
    known = Image.new("L", stage.size)
    seen = (
        left + inset * (left > 0),
        top + inset * (top > 0),
        right - inset * (right < width),
        foot - inset * (foot < height),
    )
    known.paste(255, seen)
    if stage.placed.exact:
        away = masks.grown(stage.shape, _AWAY * stage.u, 3)
        known = ImageChops.multiply(known, away.point([255 - level for level in range(256)]))
    layer = stage.picture.copy()
    layer.putalpha(known)
    coarse = layer.convert("RGBa").resize(small, Image.Resampling.BOX)
    blurred = filled(coarse).filter(ImageFilter.GaussianBlur(_GROUND_BLUR * stage.u / _COARSE))
    return blurred.resize(stage.size, Image.Resampling.BICUBIC)


def toned(ground: Image.Image, low: float, high: float) -> Image.Image:
    """The greys of a ground, spread from one tone to another: what letters can stand on, in any hue."""
    small = ground.resize((ground.width // _COARSE, ground.height // _COARSE), Image.Resampling.BOX).convert("L")
    histogram = small.histogram()
    darkest, lightest = _percentile(histogram, 0.01), _percentile(histogram, 0.99)
    span = max(lightest - darkest, 24)
    table = [round(255 * (low + (high - low) * min(max((level - darkest) / span, 0), 1))) for level in range(256)]
    return layers.grained(small.point(table).resize(ground.size, Image.Resampling.BICUBIC))


def _percentile(histogram: list[int], share: float) -> int:
    left = share * sum(histogram)
    for level, count in enumerate(histogram):
        left -= count
        if left < 0:
            return level
    return 255
