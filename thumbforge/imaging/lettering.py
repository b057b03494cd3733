"""A layout's texts: set, rasterised, given a ground to stand on, painted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from PIL import Image

from thumbforge import models
from thumbforge.imaging import badge, contrast, draw
from thumbforge.imaging.type import clean, fit, fonts, scripts, shape
from thumbforge.pixels import colour

_PLATE_DARK, _PLATE_LIGHT = (16, 16, 20), (250, 250, 250)
_PLATE_PAD, _PLATE_RADIUS = 0.3, 0.18
"""Of a plate under a title, in letter sizes."""


@dataclass(frozen=True, eq=False)
class Block:
    """One text ready to be painted. `name` begins the names of its rules; `plate` is what a badge has behind it;
    `capital` the height of its capitals in pixels; `cut` what an ellipsis stands for; `panel` the panel around it."""

    name: str
    ink: draw.Ink
    style: draw.Paint
    plate: tuple[badge.Plate, colour.Rgb] | None
    capital: float
    dense: bool
    cut: str
    panel: contrast.Box | None = None

    @property
    def box(self) -> contrast.Box:
        return self.plate[0].box if self.plate else self.ink.box

    @cached_property
    def colours(self) -> tuple[colour.Rgb, ...]:
        return (self.style.fill, self.style.accent) if self.ink.accent else (self.style.fill,)

    @cached_property
    def _whole(self) -> Image.Image:
        return self.ink.whole

    def letters(self, apart: tuple[contrast.Box, ...] = ()) -> contrast.Letters:
        within = self.plate[0].box if self.plate else self.panel
        at, em, outline = self.ink.at, self.ink.size, self.style.outline
        return contrast.Letters(self._whole, at, em, outline, self.colours, apart, within)


@dataclass(frozen=True, slots=True)
class Ground:
    """What was laid under a text. `contrast` is known beforehand on a plate, 0 where it has to be measured; `plain`
    says that its accent colour cannot be read there and is not used."""

    scrim: float = 0.0
    dark: bool = True
    plate: tuple[badge.Plate, colour.Rgb] | None = None
    contrast: float = 0.0
    plain: bool = False

    def __str__(self) -> str:
        if self.plate:
            return "on a plate"
        return f"scrim {self.scrim:.2f}"


Set = tuple[Block | None, tuple[str, ...]]
"""A text, None where nothing of it can be drawn, and the clusters that no font has."""


def title(style: models.TitleStyle, text: str, speech: shape.Speech, tones: colour.Tones, scale: float) -> Set:
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
        fill=tones.of(style.color),
        accent=tones.of(style.accent),
        outline=style.stroke,
        outline_fill=tones.of(style.stroke_color),
        shadow=style.shadow,
    )
    frame = _frame(style.box, scale, style.align, style.anchor)
    marked = clean.marked(text, style.case, speech.language)
    return _block("text", marked, style.font, speech, space, frame, paint)


def label(
    name: str,
    style: models.PartStyle | models.LabelStyle,
    text: str,
    speech: shape.Speech,
    tones: colour.Tones,
    scale: float,
) -> Set:
    """`line` of a text in which *word* has the accent colour and a line end is a space."""
    return line(name, style, clean.marked(text.replace("\n", " "), style.case, speech.language), speech, tones, scale)


def line(
    name: str,
    style: models.PartStyle | models.LabelStyle,
    text: clean.Text,
    speech: shape.Speech,
    tones: colour.Tones,
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
    fill = tones.of(style.color)
    block, missing = _block(name, text, style.font, speech, space, frame, draw.Paint(fill=fill, accent=fill))
    if block and style.fill:
        plate = badge.around(block.ink, whole, style.radius * scale)
        block = replace(block, plate=(plate, tones.of(style.fill)))
    return block, missing


def prepare(picture: Image.Image, block: Block) -> Ground:
    """Make the ground under a text calm enough; on a plate there is nothing to do."""
    if block.plate:
        return Ground(plate=block.plate, contrast=_on_plate(block.colours, block.plate[1]))
    needed = contrast.calm(picture, block.letters())
    if not needed.plate:
        return Ground(needed.scrim, needed.dark)
    fill = max((_PLATE_DARK, _PLATE_LIGHT), key=lambda rgb: _on_plate(block.colours[:1], rgb))
    reached, first = _on_plate(block.colours, fill), _on_plate(block.colours[:1], fill)
    plain = reached < contrast.ENOUGH <= first
    plate = (_behind(block, picture.size), fill)
    return Ground(0.0, fill == _PLATE_DARK, plate, first if plain else reached, plain)


def paint(picture: Image.Image, block: Block, ground: Ground) -> None:
    if ground.plate:
        badge.paint(picture, *ground.plate)
    accent = block.style.fill if ground.plain else block.style.accent
    draw.paint(picture, block.ink, replace(block.style, accent=accent, glow=not ground.dark))


def _block(
    name: str,
    text: clean.Text,
    font: str,
    speech: shape.Speech,
    space: fit.Space,
    frame: draw.Frame,
    style: draw.Paint,
) -> Set:
    setting = shape.prepare(text, font, speech)
    fitted = fit.fit(setting, space)
    ink = draw.rasterise(setting, fitted, space, frame) if fitted else None
    if not ink or not fitted:
        return None, setting.missing
    capital = fonts.cap(setting.display) * shape.font_scale(setting.display, font) * ink.size
    dense = bool(scripts.DENSE.search(text.chars))
    return Block(name, ink, style, None, capital, dense, fitted.cut), setting.missing


def _behind(block: Block, size: tuple[int, int]) -> badge.Plate:
    """A plate around all lines of a text, inside the picture."""
    pad = round(block.ink.size * (_PLATE_PAD + block.style.outline))
    left, top, right, bottom = block.ink.box
    left, top = max(left - pad, 0), max(top - pad, 0)
    right, bottom = min(right + pad, size[0]), min(bottom + pad, size[1])
    return badge.Plate(left, top, right - left, bottom - top, round(block.ink.size * _PLATE_RADIUS))


def _on_plate(colours: tuple[colour.Rgb, ...], fill: colour.Rgb) -> float:
    ground = colour.luminance(fill)
    return min(colour.ratio(colour.luminance(rgb), ground) for rgb in colours)


def _frame(box: models.Box, scale: float, align: str, anchor: str) -> draw.Frame:
    return draw.Frame(box.x * scale, box.y * scale, box.w * scale, box.h * scale, align, anchor)
