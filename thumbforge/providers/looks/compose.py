"""The three looks. Each works on grey layers as long as it can and colours them once: a third of the work of RGB, and
every item of a series gets the same tones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageOps

from thumbforge.providers.looks import layers
from thumbforge.providers.looks.hero import Hero
from thumbforge.providers.looks.layers import Size
from thumbforge.providers.looks.palette import DUOTONE, PANEL, accent, ramp
from thumbforge.providers.looks.variation import Variation, calmer

Check = Callable[[], None]
"""Called between steps; raises Interrupted when the run is to stop."""

PAPER = (250, 246, 238)
BACKDROP = 0.36
"""Highest mean tone of the blurred copy: with the shade over it, white text has a contrast of 4.5 on any hero."""

PLACE = 0.77
"""Where the subject stands, as a share of the width; the text has the other side."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """`mirrored`: the subject is on the left. `narrow`: the hero cannot fill the width with its subject on one side."""

    size: Size
    mirrored: bool
    narrow: bool

    @property
    def ratio(self) -> float:
        return self.size[0] / self.size[1]


def duotone(canvas: Canvas, hero: Hero, v: Variation, check: Check) -> Image.Image:
    """The whole hero in the tones of one hue, sharp around the subject, soft and dark where the text goes."""
    size, mirrored = canvas.size, canvas.mirrored
    tone = _staged(canvas, hero, v)
    check()
    tone = ImageChops.multiply(tone, layers.shade(size, mirrored))
    tone = ImageChops.screen(tone, layers.glow(size, v.light, mirrored))
    check()
    tone = ImageChops.add(tone, layers.dimmed(layers.pattern(size, v.pattern, mirrored), 0.14))
    check()
    return layers.coloured(layers.grained(tone), ramp(DUOTONE, v.hue))


def split(canvas: Canvas, hero: Hero, v: Variation, check: Check) -> Image.Image:
    """A coloured panel for the text, a bright slanted edge, the hero in its own colours."""
    size, mirrored = canvas.size, canvas.mirrored
    whole = _panel(canvas, v)
    check()
    shape = _edge(size, v.slant, mirrored)
    start = round(size[0] * (SPLIT - SLANT - 0.02))
    width = size[0] - start
    crop = hero.crop(width / size[1], 0.43 if mirrored else 0.57, calmer(v))
    part = hero.rgb.resize((width, size[1]), Image.Resampling.BICUBIC, box=crop)
    check()
    part = _tinted(part, v)
    left = 0 if mirrored else start
    box = (left, 0, left + width, size[1])
    part = ImageChops.multiply(part, Image.merge("RGB", [shape.shadow.crop(box)] * 3))
    whole.paste(part, box, shape.window.crop(box))
    check()
    whole.paste(accent(v.hue), (0, 0, *size), shape.line)
    return whole


def card(canvas: Canvas, hero: Hero, v: Variation, check: Check) -> Image.Image:
    """The hero as a tilted photo over a plate in the accent colour; behind both the same hero, blurred and tinted."""
    size, mirrored = canvas.size, canvas.mirrored
    whole = _panel(canvas, v, _blurred(canvas, hero, v))
    check()
    width, height, rim = round(size[0] * 0.325), round(size[1] * 0.82), round(size[1] * 0.016)
    inner = (width - 2 * rim, height - 2 * rim)
    photo = Image.new("RGB", (width, height), PAPER)
    cut = hero.rgb.resize(inner, Image.Resampling.BICUBIC, box=hero.crop(inner[0] / inner[1], 0.5, calmer(v)))
    photo.paste(cut, (rim, rim), _rounded(inner, round(size[1] * 0.034)))
    check()
    tilt = (3.0 + v.slant) * (-1 if v.shift_x < 0 else 1)
    centre = (size[0] * (0.205 if mirrored else 0.795), size[1] * 0.5)
    shape = _rounded((width, height), round(size[1] * 0.05))
    plate = Image.new("RGB", (width, height), accent(v.hue))
    whole = ImageChops.multiply(whole, Image.merge("RGB", [_drop_shadow(size, (width, height), mirrored)] * 3))
    _lay(whole, plate, shape, centre, -tilt * 1.6)
    check()
    _lay(whole, photo, shape, centre, tilt)
    return whole


LOOKS: dict[str, Callable[[Canvas, Hero, Variation, Check], Image.Image]] = {
    "duotone": duotone,
    "split": split,
    "card": card,
}


def canvas_for(size: Size, hero: Hero, subject: str) -> Canvas:
    """Text is on the left unless the subject is; a hero with its subject in the middle, or a tall one, is set aside."""
    return Canvas(size, mirrored=subject == "left", narrow=subject == "center" or hero.ratio < 1.45)


def _staged(canvas: Canvas, hero: Hero, v: Variation) -> Image.Image:
    """The hero's tones over the canvas: sharp on the subject's side, a blurred copy on the other."""
    size = canvas.size
    backdrop = _blurred(canvas, hero, v)
    share = min(max(hero.ratio / canvas.ratio, 0.52), 0.76) if canvas.narrow else 1.0
    width = round(size[0] * share)
    left = 0 if canvas.mirrored else size[0] - width
    place = 0.5 if canvas.narrow else 1 - PLACE if canvas.mirrored else PLACE
    sharp = hero.tone.resize((width, size[1]), Image.Resampling.BICUBIC, box=hero.crop(width / size[1], place, v))
    mask = layers.reveal(size, max(0.26, 1 - share), canvas.mirrored)
    box = (left, 0, left + width, size[1])
    backdrop.paste(sharp, box, mask.crop(box))
    return backdrop


def _blurred(canvas: Canvas, hero: Hero, v: Variation) -> Image.Image:
    width, height = max(canvas.size[0] // 16, 8), max(canvas.size[1] // 16, 8)
    place = 0.5 if canvas.narrow else 1 - PLACE if canvas.mirrored else PLACE
    small = hero.tone.resize((width, height), Image.Resampling.BOX, box=hero.crop(canvas.ratio, place, v))
    small = small.filter(ImageFilter.GaussianBlur(width / 24))
    mean = sum(small.tobytes()) / (255 * width * height)
    if mean > BACKDROP:
        small = layers.dimmed(small, BACKDROP / mean)
    return small.resize(canvas.size, Image.Resampling.BICUBIC)


def _panel(canvas: Canvas, v: Variation, backdrop: Image.Image | None = None) -> Image.Image:
    """Coloured ground: lit from one corner, with the item's pattern."""
    size, mirrored = canvas.size, canvas.mirrored
    tone = _ground(size, v.light[1] < 0.3, mirrored)
    if backdrop:
        tone = Image.blend(tone, ImageChops.multiply(backdrop, layers.shade(size, mirrored)), 0.45)
    tone = ImageChops.add(tone, layers.dimmed(layers.pattern(size, v.pattern, mirrored), 0.19))
    return layers.coloured(layers.grained(tone), ramp(PANEL, v.hue))


@lru_cache(maxsize=2)
def _ground(size: Size, from_top: bool, mirrored: bool) -> Image.Image:
    def value(x: float, y: float) -> float:
        down = y if from_top else 1 - y
        return 0.62 - 0.34 * layers.smooth(0.0, 1.0, down) - 0.26 * layers.smooth(0.1, 0.95, x) * (1 - 0.4 * down)

    layer = layers.field(size, value)
    return ImageOps.mirror(layer) if mirrored else layer


SPLIT, SLANT = 0.64, 0.038
"""The edge stands at this share of the width, and leans by as much to either side."""


@dataclass(frozen=True, slots=True, eq=False)
class _Edge:
    window: Image.Image
    shadow: Image.Image
    line: Image.Image


@lru_cache(maxsize=3)
def _edge(size: Size, slant: float, mirrored: bool) -> _Edge:
    """Where the hero shows, the shade it gets from the panel, and the bright lines between them."""
    lean = SLANT * (1 + 0.25 * slant) - 0.010
    top, foot = SPLIT + lean, SPLIT - lean

    def band(start: float, end: float, opacity: int = 255) -> Image.Image:
        large = Image.new("L", (size[0] * 2, size[1] * 2))
        corners = ((top + start, 0), (top + end, 0), (foot + end, 1), (foot + start, 1))
        ImageDraw.Draw(large).polygon([(x * large.width, y * large.height) for x, y in corners], fill=opacity)
        layer = large.reduce(2)
        return ImageOps.mirror(layer) if mirrored else layer

    coarse = band(-2, 0.012).resize((size[0] // 8, size[1] // 8), Image.Resampling.BOX)
    cast = coarse.filter(ImageFilter.GaussianBlur(size[0] / 8 / 40)).resize(size, Image.Resampling.BICUBIC)
    shadow = cast.point([255 - round(value * 0.62) for value in range(256)])
    line = ImageChops.lighter(band(-0.004, 0.004), band(-0.016, -0.0135, 150))
    return _Edge(band(0, 2), shadow, line)


def _tinted(part: Image.Image, v: Variation) -> Image.Image:
    """A breath of the panel's hue, so that hero and panel belong together."""
    return Image.blend(part, layers.coloured(part.convert("L"), ramp(DUOTONE, v.hue)), 0.12)


@lru_cache(maxsize=4)
def _rounded(size: Size, radius: int) -> Image.Image:
    mask = Image.new("L", (size[0] * 2, size[1] * 2))
    ImageDraw.Draw(mask).rounded_rectangle((2, 2, size[0] * 2 - 3, size[1] * 2 - 3), radius * 2, fill=255)
    return mask.reduce(2)


@lru_cache(maxsize=2)
def _drop_shadow(size: Size, photo: Size, mirrored: bool) -> Image.Image:
    small = Image.new("L", (size[0] // 8, size[1] // 8), 255)
    x, y = small.width * (0.205 if mirrored else 0.795), small.height * 0.53
    half = (photo[0] / 16, photo[1] / 16)
    ImageDraw.Draw(small).rectangle((x - half[0], y - half[1], x + half[0], y + half[1]), fill=90)
    return small.filter(ImageFilter.GaussianBlur(small.width / 45)).resize(size, Image.Resampling.BICUBIC)


def _lay(whole: Image.Image, photo: Image.Image, shape: Image.Image, centre: tuple[float, float], tilt: float) -> None:
    """Paste a turned photo; its edge is smooth because the shape is turned with it."""
    turned = photo.rotate(tilt, Image.Resampling.BICUBIC, expand=True)
    mask = shape.rotate(tilt, Image.Resampling.BICUBIC, expand=True)
    whole.paste(turned, (round(centre[0] - turned.width / 2), round(centre[1] - turned.height / 2)), mask)
