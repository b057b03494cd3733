"""Texts of a layout in version 2: set, turned, coloured by their ground, painted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from PIL import Image

from thumbforge.imaging import badge, contrast, draw, lettering, room
from thumbforge.imaging.canvas import fills
from thumbforge.imaging.canvas.fills import Ramp
from thumbforge.imaging.canvas.forms import Form, turn, turned
from thumbforge.imaging.tones import DARK, Tones
from thumbforge.imaging.type import clean, fit, fonts, quotes, shape
from thumbforge.layers import ACCENT, Gradient, Layers, Text
from thumbforge.pixels import colour
from thumbforge.pixels.colour import Rgb

_UNKNOWN: Rgb = (255, 255, 255)
"""A colour until the ground is known."""
MOST_STROKE = 0.2
"""Letter sizes of the widest outline."""

Box = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class Wording(lettering.Block):
    """`inks` are the colours of its fill as words, one or those of a gradient's stops, and `fills` what they are on its
    ground; `style` has the first. `text` is the element, `plate_form` what it stands on."""

    text: Text
    inks: tuple[str, ...]
    fills: tuple[Rgb, ...] = ()
    plate_form: Form | None = None

    @property
    def letters(self) -> contrast.Letters:
        found, style = super().letters, self.style
        if len(self.fills) < 2:
            return found
        words = tuple(
            contrast.Word(word.box, self.fills * word.plain + (style.accent,) * word.accent) for word in self.ink.words
        )
        return replace(found, words=words)

    def coloured(self, tones: Tones, light: float) -> Wording:
        """In the colours that it has on a ground of luminance `light`."""
        if self.plate:
            light = colour.luminance(self.plate[1])
        found = tuple(_through(letters_in(tones, ink, light), light, self.text.opacity) for ink in self.inks)
        accent = found[0]
        if self.ink.accent:  # the hue of a picture costs as much as a line of text
            bright = colour.luminance(found[0]) < light
            accent = tones.accent(self.wish.accent, light if bright else min(light, DARK))
            accent = _through(accent, light, self.text.opacity)
        return replace(self, fills=found, style=replace(self.style, fill=found[0], accent=accent))

    def plain(self) -> Wording:
        """Without its accent colour."""
        return replace(self, style=replace(self.style, accent=self.style.fill))


def letters_in(tones: Tones, ink: str, light: float) -> Rgb:
    """A colour of letters on a ground of this luminance."""
    return tones.accent("auto", light) if ink == ACCENT else tones.title(ink, light)


def shape_in(tones: Tones, ink: str) -> Rgb:
    """A colour of anything else."""
    return tones.of("auto" if ink == ACCENT else ink)


def _through(rgb: Rgb, light: float, opacity: float) -> Rgb:
    """What a colour looks like over a grey of this luminance."""
    if opacity == 1:
        return rgb
    grey = colour.to_byte(light)
    red, green, blue = (round(grey + (channel - grey) * opacity) for channel in rgb)
    return red, green, blue


def words(
    name: str,
    text: Text,
    content: str,
    speech: shape.Speech,
    tones: Tones,
    layout: Layers,
    scale: float,
    beside: room.Beside | None,
) -> tuple[Wording | None, tuple[str, ...]]:
    """The text in its box, None where nothing of it can be drawn; and the letters that no font has."""
    face, em = layout.face(text.font), text.size
    outline = min(text.stroke.width / em, MOST_STROKE) if text.stroke else 0.0
    whole = draw.Frame(
        text.box.x * scale, text.box.y * scale, text.box.w * scale, text.box.h * scale, text.align, text.anchor
    )
    frame = whole
    if text.plate:
        pad = badge.padding(frame.height)
        frame = replace(frame, left=frame.left + pad, width=max(frame.width - 2 * pad, 1), anchor="middle")
    space = fit.Space(
        width=frame.width,
        height=frame.height,
        size=text.size * scale,
        min_size=text.min_size * scale,
        max_lines=text.max_lines,
        line_height=text.line_height,
        outline=outline,
        cap=fonts.cap(face),
    )
    style = draw.Paint(
        fill=_UNKNOWN,
        accent=_UNKNOWN,
        outline=outline,
        outline_fill=shape_in(tones, layout.colour(text.stroke.color)) if text.stroke else (0, 0, 0),
    )
    marked_in = layout.colour(text.accent)
    wish = lettering.Wish("", "auto" if marked_in == ACCENT else marked_in, text.help, text.contrast)
    content = content.replace("\n", " ") if text.max_lines == 1 else content
    marked = clean.marked(quotes.quoted(content, speech.language), text.case, speech.language)
    block, missing = lettering.set_text(
        name, marked, face, speech, space, frame, style, wish, beside, text.letterspacing
    )
    if block is None:
        return None, missing
    inks = [stop.color for stop in text.fill.stops] if isinstance(text.fill, Gradient) else [text.fill]
    plate, form = None, None
    if text.plate:
        plate = (
            badge.around(block.ink, whole, text.plate.corner * scale),
            shape_in(tones, layout.colour(text.plate.fill)),
        )
        form = _plate_form(plate[0], whole, text.rotate)
    ink = block.ink if not text.rotate else _turned(block.ink, whole, text.rotate)
    return (
        Wording(
            name,
            ink,
            block.style,
            wish,
            plate,
            block.capital,
            block.dense,
            block.cut,
            text,
            tuple(layout.colour(word) for word in inks),
            plate_form=form,
        ),
        missing,
    )


def paint(picture: Image.Image, found: Wording, tones: Tones, layout: Layers, scale: float, clip: Form | None) -> None:
    """Plate, glow, shadow, outline, letters, in this order. `clip` is all that is seen of it."""
    text, ink = found.text, found.ink
    if found.plate and found.plate_form and text.plate:
        plate = found.plate_form.within(clip) if clip else found.plate_form
        fills.fill(picture, plate, found.plate[1], text.plate.opacity * text.opacity)
    share = ink.size / text.size
    whole = ink.whole
    solid = Form(draw.dilate(whole, found.style.outline * ink.size), ink.at)
    if text.glow:
        rgb = shape_in(tones, layout.colour(text.glow.color))
        fills.glow(picture, _clipped(solid, clip), text.glow.size * share, rgb, text.glow.opacity * text.opacity)
    if text.shadow:
        own = text.shadow
        rgb = shape_in(tones, layout.colour(own.color))
        by = own.x * share, own.y * share
        fills.shadow(picture, _clipped(solid, clip), by, own.blur * share, rgb, own.opacity * text.opacity)
    if found.style.outline:
        fills.fill(picture, _clipped(solid, clip), found.style.outline_fill, text.opacity)
    light = found.fills  # already mixed with the ground where the text is not opaque
    if isinstance(text.fill, Gradient):
        _letters(picture, found, _ramp_over(text.fill, light), clip)
    else:
        fills.fill(picture, _clipped(Form(ink.plain, ink.at), clip), found.style.fill)
    if ink.accent:
        fills.fill(picture, _clipped(Form(ink.accent, ink.at), clip), found.style.accent)
    if ink.emoji:
        mask = fills.dimmed(ink.emoji.getchannel("A"), text.opacity)
        picture.paste(ink.emoji.convert("RGB"), ink.at, _clipped(Form(mask, ink.at), clip).mask)


def _letters(picture: Image.Image, found: Wording, ramp: Ramp, clip: Form | None) -> None:
    """A gradient lies over the letters' own box, not over the room around them."""
    ink = found.ink
    left, top, right, foot = (side - ink.at[n % 2] for n, side in enumerate(ink.box))
    fills.fill(picture, _clipped(Form(ink.plain.crop((left, top, right, foot)), ink.box[:2]), clip), ramp)


def _ramp_over(gradient: Gradient, rgbs: tuple[Rgb, ...]) -> Ramp:
    return ramp_of(gradient, rgbs, opaque=True)


def ramp_of(gradient: Gradient, rgbs: tuple[Rgb, ...], *, opaque: bool = False) -> Ramp:
    """A gradient with its colours found; places that are left out are spread evenly between their neighbours."""
    places = [stop.at for stop in gradient.stops]
    places[0], places[-1] = places[0] or 0.0, 1.0 if places[-1] is None else places[-1]
    known = [n for n, place in enumerate(places) if place is not None]
    for first, last in pairwise(known):
        start, end = places[first] or 0.0, places[last] or 0.0
        for n in range(first + 1, last):
            places[n] = start + (end - start) * (n - first) / (last - first)
    stops = tuple(
        (float(place or 0.0), rgb, 1.0 if opaque else stop.opacity)
        for place, rgb, stop in zip(places, rgbs, gradient.stops, strict=True)
    )
    return Ramp(stops, gradient.linear, gradient.radial)


def _clipped(form: Form, clip: Form | None) -> Form:
    return form.within(clip) if clip else form


def _plate_form(plate: badge.Plate, whole: draw.Frame, degrees: float) -> Form:
    from thumbforge.imaging import slots

    mask = slots.rounded((max(plate.width, 1), max(plate.height, 1)), plate.radius)
    form = turned(mask, (plate.left, plate.top), degrees)
    if not degrees:
        return form
    about = whole.left + whole.width / 2, whole.top + whole.height / 2
    own = plate.left + plate.width / 2, plate.top + plate.height / 2
    x, y = turn(own, about, degrees)
    return Form(form.mask, (round(x - form.mask.width / 2), round(y - form.mask.height / 2)))


def _turned(ink: draw.Ink, frame: draw.Frame, degrees: float) -> draw.Ink:
    """The letters turned about the middle of their box."""
    about = frame.left + frame.width / 2, frame.top + frame.height / 2
    plain = turned(ink.plain, ink.at, degrees).mask
    middle = ink.at[0] + ink.plain.width / 2, ink.at[1] + ink.plain.height / 2
    x, y = turn(middle, about, degrees)
    at = round(x - plain.width / 2), round(y - plain.height / 2)

    def around(box: Box) -> Box:
        points = [turn(point, about, degrees) for point in ((box[0], box[1]), (box[2], box[1]))]
        points += [turn(point, about, degrees) for point in ((box[0], box[3]), (box[2], box[3]))]
        xs, ys = zip(*points, strict=True)
        return round(min(xs)), round(min(ys)), round(max(xs)), round(max(ys))

    return replace(
        ink,
        plain=plain,
        accent=ink.accent and turned(ink.accent, ink.at, degrees).mask,
        emoji=ink.emoji and turned(ink.emoji, ink.at, degrees).mask,
        at=at,
        box=around(ink.box),
        words=tuple(replace(word, box=around(word.box)) for word in ink.words),
        glyphs=tuple(around(box) for box in ink.glyphs),
    )
