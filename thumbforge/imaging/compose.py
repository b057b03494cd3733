"""One thumbnail, drawn: crop, scrims, panels, pictures, text. What could not be drawn as asked comes back as checks.

All grounds are calmed before the first letter is drawn, so no text is taken for the ground of another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import reduce

from PIL import Image, ImageChops

from thumbforge import models
from thumbforge.imaging import badge, contrast, crop, ground, lettering, patches, room, rules, slots, subject, tones
from thumbforge.imaging.lettering import Block
from thumbforge.imaging.subject import Subject
from thumbforge.imaging.surfaces import Surfaces, without
from thumbforge.imaging.type import shape
from thumbforge.pixels import colour
from thumbforge.pixels.placed import GAP, Placed

_FEW = 2
"""Words that may pass behind the subject."""
HIDDEN, LOST = 0.12, 0.5
"""Share of a title's ink, and of one letter's, that the subject may hide."""


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
    art: Image.Image, layout: models.Layout, content: Content, output: models.Output, placed: Placed | None = None
) -> tuple[Image.Image, tuple[rules.Check, ...]]:
    """The finished RGB picture at the output's size, and the checks on its text. `placed` is where the subject of the
    art stands, if `local` put it there."""
    scale = output.width / layout.canvas.width
    picture = crop.cover(art, output.width, output.height, layout.focus)
    if picture is art:
        picture = art.copy()
    seen = subject.known(picture, placed)
    colours = tones.Tones(picture, placed.taken(*contrast.TINY) if placed else None)
    surfaces = _ground(picture, layout, colours, scale, placed)
    boxes = _pictures(picture, layout, content, colours, scale)
    blocks, missing, covering = _blocks(layout, content, colours, scale, seen)
    checks = [rules.glyphs(missing)]
    if not any(block.name == "text" for block in blocks):
        checks.append(rules.Check("text.title", "warning", False, "no title is drawn: nothing of it can be seen"))
    standing = standing_on(picture, blocks, surfaces, colours, seen, covering)
    bare = picture.copy() if covering else picture
    for text in standing:
        ground.lay(picture, text.ground, surfaces)
        if text.block.plate:
            badge.paint(picture, *text.block.plate)
    for text in standing:
        lettering.paint(picture, text.block, glow=not text.ground.dark, shade=text.shade)
        if covering and text.block.name == "text":
            picture.paste(bare, (0, 0), covering)
    tiny = picture.resize(contrast.TINY, Image.Resampling.BOX, reducing_gap=2.0)
    tone = contrast.tones(contrast.in_patches(picture))
    for text in standing:
        checks += _judged(picture.width, tone, tiny, text)
    checks += _of_subject(seen, standing, layout, surfaces, covering)
    boxes += [block.box for block in blocks]
    checks.append(rules.overlay([at_720(box, output) for box in boxes]))
    return picture, tuple(checks)


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """A block in its colours, what it stands on, what was laid under it, the colour of its shadow."""

    block: Block
    stand: contrast.Stand
    ground: ground.Ground
    shade: colour.Rgb


def standing_on(
    picture: Image.Image,
    blocks: list[Block],
    surfaces: Surfaces,
    colours: tones.Tones,
    seen: Subject,
    covering: Image.Image | None,
) -> list[Standing]:
    """Every text judged on its own ground, before any help is laid. A dark text's surroundings are kept free from the
    shade of a light one, and the other way round."""
    small = contrast.in_patches(picture)
    light = contrast.tones(small)
    bodies = [contrast.body(block.letters, picture.size) for block in blocks]
    taken = [_taken(block, body, picture.size) for block, body in zip(blocks, bodies, strict=True)]
    if covering:
        taken.append(patches.touched(patches.covered(covering, (0, 0), picture.size)))
    keep_off = seen.keep_off() if seen.placed else None
    found = [
        _on_ground(block, body, small, light, surfaces, colours, _all_but(taken, number), keep_off)
        for number, (block, body) in enumerate(zip(blocks, bodies, strict=True))
    ]
    for number, text in enumerate(found):
        foreign = [other.stand.ground for other in found if other.ground.dark != text.ground.dark]
        if text.ground.veil and foreign:
            veil = without(text.ground.veil, *foreign)
            found[number] = replace(text, ground=replace(text.ground, veil=veil))
    return found


def _on_ground(
    block: Block,
    body: Image.Image,
    small: Image.Image,
    light: Image.Image,
    surfaces: Surfaces,
    colours: tones.Tones,
    others: Image.Image | None,
    keep_off: Image.Image | None,
) -> Standing:
    if plate := block.plate:
        block = block.coloured(colours, 0.0)
        stand = contrast.stand(block.letters, surfaces.size, patches.inside(plate[0].box, surfaces.size), others, body)
        return Standing(block, stand, ground.Ground((), dark=True), (0, 0, 0))
    on = surfaces.under(body)
    own = surfaces.ground(on)
    if keep_off and not contrast.meet(body, keep_off):
        others = ImageChops.lighter(others, keep_off) if others else keep_off
    stand = contrast.stand(block.letters, surfaces.size, own, others, body)
    block = block.coloured(colours, contrast.middle(light, stand.ground))
    stand = replace(stand, letters=block.letters)
    found = ground.plan(stand, small, on, block.wish.help, block.style.fill, keep_off)
    if found.plain:
        block = block.plain()
        stand = replace(stand, letters=block.letters)
    return Standing(block, stand, found, ground.shade_of(stand, small))


def _taken(block: Block, body: Image.Image, size: tuple[int, int]) -> Image.Image:
    """What a text takes from the ground of others, in patches."""
    return patches.outside(block.plate[0].box, size) if block.plate else patches.grown(body, 1)


def _all_but(masks: list[Image.Image], number: int) -> Image.Image | None:
    others = masks[:number] + masks[number + 1 :]
    return reduce(ImageChops.lighter, others) if others else None


def _ground(
    picture: Image.Image, layout: models.Layout, colours: tones.Tones, scale: float, placed: Placed | None
) -> Surfaces:
    """Scrims, which leave a subject that was placed in its own colours, then panels."""
    bare = picture.copy() if placed and layout.scrims else None
    for scrim in layout.scrims:
        slots.scrim(picture, scrim.side, scrim.reach, scrim.opacity, colours.of(scrim.color))
    if bare and placed:
        picture.paste(bare, (0, 0), placed.spared())
    shapes = [slots.shape(panel, scale) for panel in layout.panels]
    for panel, (mask, at) in zip(layout.panels, shapes, strict=True):
        slots.panel(picture, mask, at, colours.of(panel.color), panel.opacity)
    return Surfaces(picture.size, shapes)


def _pictures(
    picture: Image.Image, layout: models.Layout, content: Content, colours: tones.Tones, scale: float
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
            slots.inset(picture, photo, slot, scale, colours.of(slot.border_color))
    if layout.logo and content.logo:
        logo = layout.logo
        return [slots.whole(picture, content.logo, slots.scaled(logo.box, scale), logo.align, logo.anchor)]
    return []


def _blocks(
    layout: models.Layout, content: Content, colours: tones.Tones, scale: float, seen: Subject
) -> tuple[list[Block], tuple[str, ...], Image.Image | None]:
    """Every text of the layout that has something to show, set and rasterised; the letters that no font has; and what
    is laid over the title again, where it passes behind the subject."""
    (title, lost), covering = _title(layout.title, content, colours, scale, seen)
    found = [(title, lost), *_labels(layout, content, colours, scale)]
    missing = dict.fromkeys(cluster for _, lost in found for cluster in lost)
    return [block for block, _ in found if block], tuple(missing), covering


def _title(
    style: models.TitleStyle, content: Content, colours: tones.Tones, scale: float, seen: Subject
) -> tuple[lettering.Set, Image.Image | None]:
    """The title beside the subject; or behind it, where the layout lets it, it is short, and no letter is lost."""

    def title(into: float) -> lettering.Set:
        return lettering.title(style, content.title, content.speech, colours, scale, beside(seen.placed, into))

    wide = seen.size[0]
    outline = subject.OUTLINE * wide / 1280 if seen.placed and seen.placed.look == "cutout" else 0
    if style.behind and (covering := subject.behind(seen, outline)):
        found = title((subject.INTO + GAP / 1280) * wide)
        block = found[0]
        if block and len(block.ink.words) <= _FEW:
            share, letter = subject.hidden(block.ink, covering)
            if 0 < share <= HIDDEN and letter <= LOST:
                return found, covering
    return title(0.0), None


def beside(placed: Placed | None, into: float) -> room.Beside | None:
    if placed is None:
        return None
    return room.Beside(placed, placed.free.side == "left", placed.free.across, into)


def _of_subject(
    seen: Subject, standing: list[Standing], layout: models.Layout, surfaces: Surfaces, covering: Image.Image | None
) -> Iterator[rules.Check]:
    """What lies over the subject: letters, plates, and panels that hide what is under them."""
    size = surfaces.size
    panels = zip(layout.panels, surfaces.panels, strict=True)
    solids = [subject.quarter(mask, at, size, panel.opacity) for panel, (mask, at) in panels if panel.opacity > 0.5]
    plates = [box for text in standing for box in text.ground.plates.values()]
    plates += [text.block.box for text in standing if text.block.plate]
    for left, top, right, bottom in plates:
        solids.append(subject.quarter(Image.new("L", (right - left, bottom - top), 255), (left, top), size))
    inks = [(text.block.ink, text.block.style.outline) for text in standing if not text.block.plate]
    ink = subject.ink_of(inks, solids, size)
    if covering:
        ink = ImageChops.subtract(ink, subject.quarter(covering, (0, 0), size))
    return subject.checks(seen, ink, layout.subject)


def _labels(
    layout: models.Layout, content: Content, colours: tones.Tones, scale: float
) -> Iterator[tuple[Block | None, tuple[str, ...]]]:
    labels: tuple[tuple[str, models.PartStyle | models.LabelStyle | None, str | None], ...] = (
        ("part", layout.part, content.part),
        ("kicker", layout.kicker, content.kicker),
        ("series", layout.series, content.series),
    )
    for name, style, text in labels:
        if style and text:
            yield lettering.label(name, style, text, content.speech, colours, scale)


def _judged(width: int, tone: Image.Image, tiny: Image.Image, text: Standing) -> Iterator[rules.Check]:
    block, letters = text.block, text.stand.letters
    shown = block.name in ("text", "part")
    small = contrast.seen_small(tiny, text.stand) if shown else None
    if block.plate:
        ratio, laid = contrast.on_plain(letters, block.plate[1]), "on a plate"
    else:
        ratio, laid = contrast.measured(tone, text.stand, text.ground.plates), str(text.ground)
    yield rules.contrast(f"{block.name}.contrast", ratio, small, laid, letters.enough)
    if shown:
        yield rules.height(
            f"{block.name}.height", block.capital * 1280 / width, dense=block.dense and block.name == "text"
        )
    if block.name == "text":
        yield rules.truncated(block.cut)


def at_720(box: slots.Box, output: models.Output) -> slots.Box:
    left, top, right, bottom = (round(side * 1280 / output.width) for side in box)
    return left, top, right, bottom
