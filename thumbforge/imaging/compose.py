"""One thumbnail, drawn: crop, scrims, panels, pictures, text. What could not be drawn as asked comes back as checks.

All grounds are calmed before the first letter is drawn, so no text is taken for the ground of another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from PIL import Image

from thumbforge import models
from thumbforge.imaging import contrast, crop, lettering, rules, slots
from thumbforge.imaging.lettering import Block
from thumbforge.imaging.type import shape
from thumbforge.pixels import colour


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """What goes into a layout's slots; None leaves a slot empty. `logo` and `picture` are RGBA."""

    title: str
    part: str | None = None
    kicker: str | None = None
    series: str | None = None
    speech: shape.Speech = field(default=shape.PLAIN)
    logo: Image.Image | None = None
    picture: Image.Image | None = None


def compose(
    art: Image.Image, layout: models.Layout, content: Content, output: models.Output
) -> tuple[Image.Image, tuple[rules.Check, ...]]:
    """The finished RGB picture at the output's size, and the checks on its text."""
    scale = output.width / layout.canvas.width
    picture = crop.cover(art, output.width, output.height, layout.focus)
    if picture is art:
        picture = art.copy()
    tones = colour.Tones(picture)
    _ground(picture, layout, tones, scale)
    boxes = _pictures(picture, layout, content, tones, scale)
    blocks, missing = _blocks(layout, content, tones, scale)
    checks = [rules.glyphs(missing)]
    if not any(block.name == "text" for block in blocks):
        checks.append(rules.Check("text.title", "warning", False, "no title is drawn: nothing of it can be seen"))
    grounds = [lettering.prepare(picture, block) for block in blocks]
    for block, ground in zip(blocks, grounds, strict=True):
        lettering.paint(picture, block, ground)
    tiny = picture.resize(contrast.TINY, Image.Resampling.BOX, reducing_gap=2.0)
    for block, ground in zip(blocks, grounds, strict=True):
        apart = tuple(other.box for other in blocks if other is not block)
        checks += _judged(picture, tiny, block, ground, apart)
    boxes += [block.box for block in blocks]
    checks.append(rules.overlay([_at_720(box, output) for box in boxes]))
    return picture, tuple(checks)


def _ground(picture: Image.Image, layout: models.Layout, tones: colour.Tones, scale: float) -> None:
    for scrim in layout.scrims:
        contrast.shade(picture, scrim.side, scrim.reach, scrim.opacity, tones.of(scrim.color))
    for panel in layout.panels:
        slots.panel(picture, panel, scale, tones.of(panel.color))


def _pictures(
    picture: Image.Image, layout: models.Layout, content: Content, tones: colour.Tones, scale: float
) -> list[slots.Box]:
    """Draw the item's picture and the logo; where the logo lies is returned."""
    if layout.picture and content.picture:
        slot = layout.picture
        box = slots.scaled(slot.box, scale)
        if slot.kind == "cutout":
            slots.whole(picture, content.picture, box, slot.align, slot.anchor)
        else:
            photo = Image.new("RGB", content.picture.size, (255, 255, 255))
            photo.paste(content.picture, (0, 0), content.picture)
            photo = crop.cover(photo, box[2] - box[0], box[3] - box[1], (0.5, 0.4))
            slots.inset(picture, photo, slot, scale, tones.of(slot.border_color))
    if layout.logo and content.logo:
        logo = layout.logo
        return [slots.whole(picture, content.logo, slots.scaled(logo.box, scale), logo.align, logo.anchor)]
    return []


def _blocks(
    layout: models.Layout, content: Content, tones: colour.Tones, scale: float
) -> tuple[list[Block], tuple[str, ...]]:
    """Every text of the layout that has something to show, set and rasterised; and the letters that no font has."""
    found: list[Block] = []
    missing: list[str] = []
    panels = [slots.straight(panel, scale) for panel in layout.panels]
    for block, lost in _set(layout, content, tones, scale):
        missing += lost
        if block:
            around = [box for box in panels if slots.holds(box, block.ink.box)]
            found.append(replace(block, panel=around[-1] if around else None))
    return found, tuple(dict.fromkeys(missing))


def _set(
    layout: models.Layout, content: Content, tones: colour.Tones, scale: float
) -> Iterator[tuple[Block | None, tuple[str, ...]]]:
    yield lettering.title(layout.title, content.title, content.speech, tones, scale)
    labels: tuple[tuple[str, models.PartStyle | models.LabelStyle | None, str | None], ...] = (
        ("part", layout.part, content.part),
        ("kicker", layout.kicker, content.kicker),
        ("series", layout.series, content.series),
    )
    for name, style, text in labels:
        if style and text:
            yield lettering.label(name, style, text, content.speech, tones, scale)


def _judged(
    picture: Image.Image, tiny: Image.Image, block: Block, ground: lettering.Ground, apart: tuple[contrast.Box, ...]
) -> Iterator[rules.Check]:
    letters = block.letters(apart)
    ratio = ground.contrast or contrast.measured(picture, letters)
    shown = block.name in ("text", "part")
    small = contrast.seen_small(tiny, letters, picture.size) if shown else None
    yield rules.contrast(f"{block.name}.contrast", ratio, small, str(ground))
    if shown:
        yield rules.height(
            f"{block.name}.height", block.capital * 1280 / picture.width, dense=block.dense and block.name == "text"
        )
    if block.name == "text":
        yield rules.truncated(block.cut)


def _at_720(box: slots.Box, output: models.Output) -> slots.Box:
    left, top, right, bottom = (round(side * 1280 / output.width) for side in box)
    return left, top, right, bottom
