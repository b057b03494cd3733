"""Text onto pixels: glyph masks, a round outline, a soft shadow, fills.

The outline is a dilation of the whole block's mask, not of each letter, so fonts and emoji get the same one (it saves
yellow faces on yellow ground) and no seam shows where letters meet. Masks carry enough padding that nothing wraps round
an edge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, cos, floor, pi, sin

from PIL import Image, ImageChops, ImageFilter

from thumbforge.imaging.type import glyphs
from thumbforge.imaging.type.fit import Fitted, Space
from thumbforge.imaging.type.shape import Setting, Shaped, shape_line
from thumbforge.pixels.colour import Rgb

_SHADOW_BLUR, _SHADOW_DROP = 0.05, 0.05
"""In letter sizes."""
_STEP = 5.0
"""Pixels that one octagon may grow a mask; the sum of turned octagons is round to 2 %."""


@dataclass(frozen=True, slots=True)
class Word:
    """The ink of one word (left, top, right, bottom in the picture), and which of the text's colours it has."""

    box: tuple[int, int, int, int]
    plain: bool
    accent: bool


@dataclass(frozen=True, slots=True)
class Ink:
    """Masks of one block of text. `plain`, `accent` and `emoji` (RGBA, what brings its own colours) are of one size,
    `at` is where their corner lies in the picture, `box` the letters' own ink (left, top, right, bottom) in the
    picture `words` and `glyphs` that of each; `size` pixels an em."""

    plain: Image.Image
    accent: Image.Image | None
    emoji: Image.Image | None
    at: tuple[int, int]
    box: tuple[int, int, int, int]
    size: int
    words: tuple[Word, ...] = ()
    glyphs: tuple[tuple[int, int, int, int], ...] = ()

    @property
    def letters(self) -> Image.Image:
        """What takes the text's colours."""
        return ImageChops.lighter(self.plain, self.accent) if self.accent else self.plain

    @property
    def whole(self) -> Image.Image:
        return ImageChops.lighter(self.letters, self.emoji.getchannel("A")) if self.emoji else self.letters


@dataclass(frozen=True, slots=True)
class Frame:
    """A box in pixels and how a block stands in it. `align` and `anchor` are the layout's words."""

    left: float
    top: float
    width: float
    height: float
    align: str
    anchor: str


@dataclass(frozen=True, slots=True)
class _Spot:
    mask: glyphs.Mask
    left: int
    top: int
    accent: bool
    word: tuple[int, int]

    @property
    def box(self) -> tuple[int, int, int, int]:
        return self.left, self.top, self.left + self.mask.image.width, self.top + self.mask.image.height


def rasterise(setting: Setting, fitted: Fitted, space: Space, frame: Frame) -> Ink | None:
    """Draw the fitted lines into masks; None where no glyph has ink. The block stands where the layout puts it; in a
    block at the left, right-to-left lines are even at their right."""
    shaped = [shape_line(setting, setting.paragraphs[x.paragraph], x.start, x.end, x.tail) for x in fitted.lines]
    widest = max(line.width for line in shaped) + 2 * space.outline
    size = min(fitted.size, floor(frame.width / widest)) if widest * fitted.size > frame.width else fitted.size
    size = max(size, 1)
    if setting.rtl and frame.align == "left":
        frame = replace(frame, width=min(widest * size, frame.width), align="right")
    spots = _spots(shaped, fitted, space, frame, size)
    return _paste(spots, space, size) if spots else None


def _spots(shaped: list[Shaped], fitted: Fitted, space: Space, frame: Frame, size: int) -> list[_Spot]:
    spots: list[_Spot] = []
    masks: dict[tuple[str, int, float, int], glyphs.Mask | None] = {}
    edge = space.outline * size
    free = frame.height - (fitted.height + 2 * space.outline) * size
    slack = {"top": 0.0, "middle": free / 2, "bottom": free}[frame.anchor]
    first = frame.top + slack + edge + fitted.top * size
    for number, line in enumerate(shaped):
        baseline = first + number * fitted.pitch * size
        room = frame.width - 2 * edge - line.width * size
        pen = frame.left + edge - line.left * size + {"left": 0.0, "center": room / 2, "right": room}[frame.align]
        for glyph in line.glyphs:
            quarter = round((pen + glyph.x * size) * glyphs.QUARTERS)
            x, part = divmod(quarter, glyphs.QUARTERS)
            key = (glyph.font, glyph.gid, glyph.scale, part)
            if key not in masks:
                masks[key] = glyphs.drawn(glyph.font, glyph.gid, size * glyph.scale, part)
            if mask := masks[key]:
                y = round(baseline - glyph.y * size)
                spots.append(_Spot(mask, x + mask.left, y + mask.top, glyph.accent, (number, glyph.word)))
    return spots


def _paste(spots: list[_Spot], space: Space, size: int) -> Ink:
    left, top, right, bottom = _union(spots)
    pad = ceil(size * (space.outline + 3 * _SHADOW_BLUR + _SHADOW_DROP)) + 4
    shape = (right - left + 2 * pad, bottom - top + 2 * pad)
    plain = Image.new("L", shape)
    accent = Image.new("L", shape) if any(s.accent for s in spots) else None
    emoji = Image.new("RGBA", shape) if any(s.mask.coloured for s in spots) else None
    for spot in spots:
        corner = (spot.left - left + pad, spot.top - top + pad)
        if spot.mask.coloured and emoji:
            emoji.alpha_composite(spot.mask.image, corner)
            continue
        target = accent if spot.accent and accent else plain
        target.paste(255, corner, spot.mask.image)
    return Ink(
        plain,
        accent,
        emoji,
        (left - pad, top - pad),
        (left, top, right, bottom),
        size,
        _words(spots),
        tuple(spot.box for spot in spots),
    )


def _words(spots: list[_Spot]) -> tuple[Word, ...]:
    groups: dict[tuple[int, int], list[_Spot]] = {}
    for spot in spots:
        groups.setdefault(spot.word, []).append(spot)
    return tuple(
        Word(_union(own), plain=not all(spot.accent for spot in own), accent=any(spot.accent for spot in own))
        for own in groups.values()
    )


def _union(spots: list[_Spot]) -> tuple[int, int, int, int]:
    lefts, tops, rights, bottoms = zip(*(spot.box for spot in spots), strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


@dataclass(frozen=True, slots=True)
class Paint:
    """`outline` in letter sizes, `shadow` an opacity and `shade` its colour."""

    fill: Rgb
    accent: Rgb
    outline: float = 0.0
    outline_fill: Rgb = (0, 0, 0)
    shadow: float = 0.0
    shade: Rgb = (0, 0, 0)


def paint(picture: Image.Image, ink: Ink, style: Paint) -> None:
    """Shadow, outline, fill, in this order. Changes `picture` in place."""
    solid = dilate(ink.whole, style.outline * ink.size)
    if style.shadow > 0:
        _shadow(picture, solid, ink, style.shadow, style.shade)
    if style.outline > 0:
        picture.paste(style.outline_fill, ink.at, solid)
    picture.paste(style.fill, ink.at, ink.plain)
    if ink.accent:
        picture.paste(style.accent, ink.at, ink.accent)
    if ink.emoji:
        picture.paste(ink.emoji, ink.at, ink.emoji)


def _shadow(picture: Image.Image, solid: Image.Image, ink: Ink, opacity: float, rgb: Rgb) -> None:
    """Blurred at quarter size: half the time, and no eye sees it."""
    soft = solid.reduce(4).filter(ImageFilter.GaussianBlur(_SHADOW_BLUR * ink.size / 4))
    soft = soft.point([round(value * opacity) for value in range(256)]).resize(solid.size, Image.Resampling.BILINEAR)
    drop = round(_SHADOW_DROP * ink.size)
    picture.paste(rgb, (ink.at[0] + round(drop * 0.6), ink.at[1] + drop), soft)


def dilate(mask: Image.Image, radius: float) -> Image.Image:
    """Grown by `radius` pixels with round corners; at most the mask's padding."""
    if radius < 0.5:
        return mask
    steps = ceil(radius / _STEP)
    for step in range(steps):
        turn = step * pi / 4 / steps
        grown = mask
        for corner in range(8):
            angle = turn + corner * pi / 4
            offset = (round(cos(angle) * radius / steps), round(sin(angle) * radius / steps))
            grown = ImageChops.lighter(grown, ImageChops.offset(mask, *offset))
        mask = grown
    return mask
