"""A layout's texts: set, rasterised, given a ground to stand on, painted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from PIL import Image

from thumbforge import models
from thumbforge.imaging import badge, contrast, draw, ground, patches, room
from thumbforge.imaging.tones import DARK, Tones
from thumbforge.imaging.type import clean, fit, fonts, scripts, shape
from thumbforge.pixels import colour


@dataclass(frozen=True, slots=True)
class Wish:
    """What a layout says of a text beside its place: colours as words, help, the contrast wanted."""

    color: str
    accent: str
    help: ground.How = "shade"
    contrast: float = contrast.ENOUGH


@dataclass(frozen=True, eq=False)
class Block:
    """One text ready to be painted. `name` begins the names of its rules; `plate` is what a badge has behind it;
    `capital` the height of its capitals in pixels; `cut` what an ellipsis stands for."""

    name: str
    ink: draw.Ink
    style: draw.Paint
    wish: Wish
    plate: tuple[badge.Plate, colour.Rgb] | None
    capital: float
    dense: bool
    cut: str

    @property
    def box(self) -> patches.Box:
        return self.plate[0].box if self.plate else self.ink.box

    @cached_property
    def _whole(self) -> Image.Image:
        return self.ink.whole

    @property
    def letters(self) -> contrast.Letters:
        style = self.style
        words = tuple(
            contrast.Word(word.box, (style.fill,) * word.plain + (style.accent,) * word.accent)
            for word in self.ink.words
        )
        return contrast.Letters(
            self._whole, self.ink.at, self.ink.size, style.outline, style.outline_fill, words, self.wish.contrast
        )

    def coloured(self, tones: Tones, light: float) -> Block:
        """In the colours that it has on a ground of luminance `light`."""
        if self.plate:
            light = colour.luminance(self.plate[1])
        letters = tones.title if self.name == "text" else tones.accent
        fill = letters(self.wish.color, light)
        bright = colour.luminance(fill) < light
        accent = tones.accent(self.wish.accent, light if bright else min(light, DARK)) if self.name == "text" else fill
        return replace(self, style=replace(self.style, fill=fill, accent=accent))

    def plain(self) -> Block:
        """Without its accent colour."""
        return replace(self, style=replace(self.style, accent=self.style.fill))


_UNKNOWN: colour.Rgb = (255, 255, 255)
"""A colour until the ground is known."""

Set = tuple[Block | None, tuple[str, ...]]
"""A text, None where nothing of it can be drawn, and the clusters that no font has."""


def title(
    style: models.TitleStyle,
    text: str,
    speech: shape.Speech,
    tones: Tones,
    scale: float,
    beside: room.Beside | None = None,
) -> Set:
    """Lines that fit the title's box, and keep away from the subject that is `beside` them."""
    space = fit.Space(
        width=style.box.w * scale,
        height=style.box.h * scale,
        size=style.size * scale,
        min_size=style.min_size * scale,
        max_lines=style.max_lines,
        line_height=style.line_height,
        outline=style.stroke,
        cap=fonts.cap(style.font),
    )
    paint = draw.Paint(
        fill=_UNKNOWN,
        accent=_UNKNOWN,
        outline=style.stroke,
        outline_fill=tones.of(style.stroke_color),
        shadow=style.shadow,
    )
    frame = _frame(style.box, scale, style.align, style.anchor)
    marked = clean.marked(text, style.case, speech.language)
    wish = Wish(style.color, style.accent, style.help, style.contrast)
    return set_text("text", marked, style.font, speech, space, frame, paint, wish, beside)


def label(
    name: str,
    style: models.PartStyle | models.LabelStyle,
    text: str,
    speech: shape.Speech,
    tones: Tones,
    scale: float,
) -> Set:
    """`line` of a text in which *word* has the accent colour and a line end is a space."""
    return line(name, style, clean.marked(text.replace("\n", " "), style.case, speech.language), speech, tones, scale)


def line(
    name: str,
    style: models.PartStyle | models.LabelStyle,
    text: clean.Text,
    speech: shape.Speech,
    tones: Tones,
    scale: float,
) -> Set:
    """One line, on its plate where the style has one; a plate leaves padding left and right of its text."""
    whole = _frame(style.box, scale, style.align, "middle")
    frame = whole
    if style.fill:
        pad = badge.padding(frame.height)
        frame = replace(frame, left=frame.left + pad, width=max(frame.width - 2 * pad, 1))
    space = fit.Space(
        width=frame.width,
        height=frame.height,
        size=style.size * scale,
        min_size=style.min_size * scale,
        max_lines=1,
        line_height=1.0,
        outline=0.0,
        cap=fonts.cap(style.font),
    )
    wish = Wish(style.color, style.color, style.help, style.contrast)
    paint = draw.Paint(fill=_UNKNOWN, accent=_UNKNOWN)
    block, missing = set_text(name, text, style.font, speech, space, frame, paint, wish)
    if block and style.fill:
        plate = badge.around(block.ink, whole, style.radius * scale)
        block = replace(block, plate=(plate, tones.of(style.fill)))
    return block, missing


def paint(picture: Image.Image, block: Block, *, glow: bool = False, shade: colour.Rgb = (0, 0, 0)) -> None:
    """The letters; their shadow is of colour `shade`, white for dark letters (`glow`)."""
    draw.paint(picture, block.ink, replace(block.style, shade=(255, 255, 255) if glow else shade))


def set_text(
    name: str,
    text: clean.Text,
    font: str,
    speech: shape.Speech,
    space: fit.Space,
    frame: draw.Frame,
    style: draw.Paint,
    wish: Wish,
    beside: room.Beside | None = None,
    spacing: float = 0.0,
) -> Set:
    """A text set and rasterised; `spacing` is between letters, in em."""
    setting = shape.prepare(text, font, speech, spacing)
    if beside:
        fitted, space, frame = room.fitted(setting, space, frame, beside)
    else:
        fitted = fit.fit(setting, space)
    ink = draw.rasterise(setting, fitted, space, frame) if fitted else None
    if not ink or not fitted:
        return None, setting.missing
    capital = fonts.cap(setting.display) * shape.font_scale(setting.display, font) * ink.size
    dense = bool(scripts.DENSE.search(text.chars))
    return Block(name, ink, style, wish, None, capital, dense, fitted.cut), setting.missing


def _frame(box: models.Box, scale: float, align: str, anchor: str) -> draw.Frame:
    return draw.Frame(box.x * scale, box.y * scale, box.w * scale, box.h * scale, align, anchor)
