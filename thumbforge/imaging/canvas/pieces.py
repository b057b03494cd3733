"""Shapes and pictures of a layout in version 2, drawn in place."""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image, ImageChops

from thumbforge.imaging import crop, slots
from thumbforge.imaging.canvas import fills, forms
from thumbforge.imaging.canvas.fills import Paint, Ramp
from thumbforge.imaging.canvas.forms import Form
from thumbforge.imaging.canvas.wording import ramp_of, shape_in
from thumbforge.imaging.tones import Tones
from thumbforge.layers import Gradient, Layers, Shape, Text
from thumbforge.layers import Image as Picture


@dataclass(frozen=True, slots=True, eq=False)
class Canvas:
    """What every element is drawn with: `scale` is pixels of the picture a pixel of the layout."""

    picture: Image.Image
    layout: Layers
    tones: Tones
    scale: float

    def paint_of(self, fill: str | Gradient) -> Paint:
        if isinstance(fill, Gradient):
            return ramp_of(fill, tuple(shape_in(self.tones, self.layout.colour(stop.color)) for stop in fill.stops))
        return shape_in(self.tones, self.layout.colour(fill))

    def clip_of(self, layer: Shape | Picture | Text) -> Form | None:
        """All that is seen of an element that has a mask."""
        return forms.of_shape(self.layout.shapes[layer.mask], self.scale, self.picture.size) if layer.mask else None


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """What was drawn: the form with its outline, and how much it hides of what is under it; `shade` where that shows
    through somewhere."""

    form: Form
    opacity: float
    shade: bool = False

    @property
    def solid(self) -> bool:
        return self.opacity > 0.5 and not self.shade


def shape(canvas: Canvas, layer: Shape, spared: Image.Image | None = None) -> Laid:
    """`spared` is a mask of the whole picture that no shade darkens."""
    form = forms.of_shape(layer, canvas.scale, canvas.picture.size)
    if clip := canvas.clip_of(layer):
        form = form.within(clip)
    paint = canvas.paint_of(layer.fill)
    shade = layer.opacity < 1 or (isinstance(paint, Ramp) and paint.clear)
    if shade and spared:
        form = Form(ImageChops.subtract(form.mask, spared.crop(form.box)), form.at)
    outer = _around(canvas, layer, form, kept=not (clip or (shade and spared)))
    fills.fill(canvas.picture, form, paint, layer.opacity)
    solid = not isinstance(paint, Ramp) or paint.solid
    return Laid(outer, layer.opacity if solid else 0.0, shade=not solid or layer.opacity <= 0.5)


def image(canvas: Canvas, layer: Picture, source: Image.Image) -> Laid | None:
    """`source` (RGBA), which fills its box or stands in it whole; None where nothing of it is seen."""
    photo, form = _cover(canvas, layer, source) if layer.fit == "cover" else _contain(canvas, layer, source)
    if photo is None or form is None:
        return None
    if layer.rotate:
        middle = form.at
        form = forms.turned(form.mask, middle, layer.rotate)
        photo = forms.turned(photo, middle, layer.rotate).mask
    if clip := canvas.clip_of(layer):
        form = form.within(clip)
    outer = _around(canvas, layer, form, kept=form is _frame(canvas, layer))
    if layer.fill is not None:
        ground = forms.rectangle(layer.box, layer.corner, layer.rotate, canvas.scale, canvas.picture.size)
        ground = ground.within(clip) if clip else ground
        fills.fill(canvas.picture, ground, canvas.paint_of(layer.fill), layer.opacity)
    canvas.picture.paste(photo, form.at, fills.dimmed(form.mask, layer.opacity))
    return Laid(outer, layer.opacity, shade=layer.opacity <= 0.5)


def _around(canvas: Canvas, layer: Shape | Picture, form: Form, *, kept: bool) -> Form:
    """Glow, shadow and outline, which lie under the element; the form with its outline. `kept` where that is a shape's
    own, which the next picture has, too."""
    scale, tones, layout, picture = canvas.scale, canvas.tones, canvas.layout, canvas.picture
    grown = fills.kept_grown if kept else fills.grown
    outer = grown(form, layer.stroke.width * scale) if layer.stroke else form
    if own := layer.glow:
        rgb = shape_in(tones, layout.colour(own.color))
        fills.glow(picture, outer, own.size * scale, rgb, own.opacity * layer.opacity, kept=kept)
    if shadow := layer.shadow:
        rgb, by = shape_in(tones, layout.colour(shadow.color)), (shadow.x * scale, shadow.y * scale)
        fills.shadow(picture, outer, by, shadow.blur * scale, rgb, shadow.opacity * layer.opacity, kept=kept)
    if layer.stroke:
        fills.fill(picture, outer, shape_in(tones, layout.colour(layer.stroke.color)), layer.opacity)
    return outer


def _cover(canvas: Canvas, layer: Picture, source: Image.Image) -> tuple[Image.Image, Form]:
    left, top, right, foot = slots.scaled(layer.box, canvas.scale)
    size = right - left, foot - top
    form = _frame(canvas, layer)
    if form.mask.size != size:  # it bleeds
        at_origin = layer.box.model_copy(update={"x": 0, "y": 0})
        form = Form(forms.rectangle(at_origin, layer.corner, 0, canvas.scale, size).mask, (left, top))
    if source.getchannel("A").getextrema()[0] == 255:
        return crop.cover(source.convert("RGB"), *size, layer.focus), form
    photo = _filling(source, size, layer.focus)
    return photo.convert("RGB"), Form(ImageChops.multiply(form.mask, photo.getchannel("A")), (left, top))


def _frame(canvas: Canvas, layer: Picture) -> Form:
    """The box of a picture, as it would be for all pictures of a series."""
    return forms.rectangle(layer.box, layer.corner, 0, canvas.scale, canvas.picture.size)


def _filling(source: Image.Image, size: tuple[int, int], focus: tuple[float, float]) -> Image.Image:
    """The part of a picture with clear places that fills a box."""
    scale = min(source.width / size[0], source.height / size[1])
    wide, high = min(size[0] * scale, source.width), min(size[1] * scale, source.height)
    x = min(max(focus[0] * source.width - wide / 2, 0), source.width - wide)
    y = min(max(focus[1] * source.height - high / 2, 0), source.height - high)
    box = (x, y, min(x + wide, source.width), min(y + high, source.height))
    return source.convert("RGBa").resize(size, Image.Resampling.LANCZOS, box=box).convert("RGBA")


def _contain(canvas: Canvas, layer: Picture, source: Image.Image) -> tuple[Image.Image | None, Form | None]:
    found = slots.fitted(source, slots.scaled(layer.box, canvas.scale), layer.align, layer.anchor)
    if found is None:
        return None, None
    shown, at = found
    return shown.convert("RGB"), Form(shown.getchannel("A"), at)
