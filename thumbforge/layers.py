"""A template's layout in version 2 of the language: texts, images and shapes by name, drawn from back to front.

Lengths are pixels of the layout's canvas and are scaled to the output's size; those of a text's outline, shadow, glow
and corner hold for its largest size and shrink with it. Loaded only where a template is written in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, StringConstraints, Tag, model_validator

from thumbforge import ids
from thumbforge.models import (
    Box,
    Colour,
    Contrast,
    Help,
    Layout,
    Model,
    Name,
    NegativeSpace,
    Share,
    Size,
    SubjectRules,
    size_of_series,
)
from thumbforge.models import Template as FirstTemplate

SUBJECT = "subject"
"""The name in `order` of what the hero shows: it is laid over all that stands before it."""
ACCENT = "accent"
PICTURE_COLOURS = ("auto", "own", "auto-dark", ACCENT)
"""Colours that the picture decides. As letters `auto` is white or almost black, `accent` the accent of the series; as
shapes both are that."""
MARKS = ("texts", "images", "shapes", "order")
"""Fields that only a layout of this version has."""
MOST = 60
"""Elements of a layout."""

LayerName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
Ink = Annotated[str, StringConstraints(pattern=r"^(#[0-9A-Fa-f]{6}|[a-z][a-z0-9_-]{0,31})$")]
"""`#RRGGBB`, `auto`, `own`, `auto-dark`, `accent`, or a name in `colors`."""
Point = tuple[int, int]
Align = Literal["left", "center", "right"]
Anchor = Literal["top", "middle", "bottom"]
Turn = Annotated[float, Field(ge=-180, le=180)]
Loc = tuple[str | int, ...]


def _listed(value: Any) -> Any:
    """One name stands for a list of one."""
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


Names = Annotated[tuple[LayerName, ...], BeforeValidator(_listed)]


class Area(Model):
    """A rectangle on the canvas; x and y count from the top left, and may lie outside where the element bleeds."""

    x: int = Field(ge=-8000, le=8000)
    y: int = Field(ge=-8000, le=8000)
    w: int = Field(gt=0, le=16_000)
    h: int = Field(gt=0, le=16_000)


class Stop(Model):
    """A colour of a gradient; `at` is its place from 0 to 1, which is spread evenly where it is left out."""

    color: Ink
    at: Share | None = None
    opacity: Share = 1


class Gradient(Model):
    """From stop to stop: `linear` is the direction in degrees (0 to the right, 90 down), `radial` the middle as shares
    of the element's box."""

    linear: float | None = Field(None, ge=-360, le=360)
    radial: tuple[float, float] | None = None
    stops: tuple[Stop, ...] = ()


def _kind_of_fill(value: Any) -> str:
    return "colour" if isinstance(value, str) else "gradient"


Fill = Annotated[Annotated[Ink, Tag("colour")] | Annotated[Gradient, Tag("gradient")], Discriminator(_kind_of_fill)]


class Stroke(Model):
    """An outline around the whole element."""

    width: float = Field(gt=0, le=200)
    color: Ink = "#101014"


class Shadow(Model):
    """The element's own form, soft, moved by x and y."""

    x: float = Field(0, ge=-200, le=200)
    y: float = Field(6, ge=-200, le=200)
    blur: float = Field(12, ge=0, le=200)
    color: Ink = "#000000"
    opacity: Share = 0.6


class Glow(Model):
    """Light around the element, `size` pixels far."""

    size: float = Field(24, gt=0, le=200)
    color: Ink = "auto"
    opacity: Share = 0.8


class Layer(Model):
    """What all elements have."""

    rotate: Turn = Field(0, description="degrees, clockwise, about the middle")
    opacity: Share = 1
    stroke: Stroke | None = None
    shadow: Shadow | None = None
    glow: Glow | None = None
    mask: LayerName | None = Field(None, description="a shape whose form is all that is seen of the element")
    only_with: Names = Field((), description="texts or images, one of which has to be drawn for this one to be")
    hidden: bool = Field(False, description="not drawn; takes away what an extended template draws")


class Plate(Model):
    """What a text of one line stands on: as high as its box, as wide as the text."""

    fill: Ink = "auto"
    opacity: float = Field(1, gt=0.5, le=1)
    corner: int = Field(0, ge=0, le=400)


class Text(Layer):
    """Words in a box. What renders to nothing is not drawn."""

    text: str = Field(min_length=1, max_length=1000, description="Jinja2; `{{ text }}` is what the item says is drawn")
    box: Area
    font: Name = "anton"
    size: int = Field(96, ge=8, le=800, description="largest letter size")
    of_series: bool = Field(False, description="all texts of the series have one size, but for what would not fit")
    min_size: int = Field(40, ge=8, le=600, description="smallest; a longer text is cut with an ellipsis")
    max_lines: int = Field(1, ge=1, le=8)
    line_height: float = Field(1.1, ge=0.8, le=2.0, description="in letter sizes")
    letterspacing: float = Field(0, ge=-0.1, le=1, description="between letters, in letter sizes")
    align: Align = "left"
    anchor: Anchor = "middle"
    case: Literal["none", "upper"] = "none"
    fill: Fill = "auto"
    accent: Ink = Field("auto", description="of words between asterisks")
    plate: Plate | None = None
    help: Help = Field("shade", description="what may be laid under letters that do not stand out")
    contrast: Contrast = 4.5
    beside: bool = Field(False, description="makes room for the subject: another line break, height or size")
    fine_print: bool = Field(False, description="need not be read at 168x94")

    _short = model_validator(mode="before")(size_of_series)

    def at_most(self, size: int) -> Text:
        """With this largest size, and all that shrinks with the letters in the same measure."""
        share = size / self.size
        lengths = {"stroke": ("width",), "shadow": ("x", "y", "blur"), "glow": ("size",)}
        own = {
            name: effect.model_copy(update={field: getattr(effect, field) * share for field in fields})
            for name, fields in lengths.items()
            if (effect := getattr(self, name))
        }
        return self.model_copy(update={"size": size, "min_size": min(size, self.min_size), **own})


class Image(Layer):
    """A picture in a box: a file of the project, or what the item, the brand or the series brings."""

    source: Literal["picture", "logo", "second"] | None = None
    file: str | None = Field(None, min_length=1, max_length=1000)
    box: Area
    fit: Literal["cover", "contain"] = "cover"
    focus: tuple[Share, Share] = (0.5, 0.4)
    align: Align = "center"
    anchor: Anchor = "middle"
    fill: Fill | None = Field(None, description="under a picture that is clear in places")
    corner: int = Field(0, ge=0, le=4000)
    bleed: bool = Field(False, description="may reach outside the canvas")


class Shape(Layer):
    """A flat form: rectangle and circle fill a box; line, polygon and arrow go from point to point."""

    kind: Literal["rectangle", "circle", "line", "polygon", "arrow"]
    box: Area | None = None
    points: tuple[Point, ...] = Field((), max_length=200)
    width: float = Field(12, gt=0, le=800, description="of a line or an arrow")
    corner: int = Field(0, ge=0, le=4000)
    fill: Fill = "auto-dark"
    bleed: bool = Field(False, description="may reach outside the canvas")

    @property
    def panel(self) -> Area | None:
        """The box that it hides, as a ground for words; None for what is no ground or lets the picture through."""
        stops = self.fill.stops if isinstance(self.fill, Gradient) else ()
        if self.opacity <= 0.5 or self.mask or any(stop.opacity <= 0.5 for stop in stops):
            return None
        if self.kind == "polygon" and self.points:
            xs, ys = zip(*self.points, strict=True)
            return Area(x=min(xs), y=min(ys), w=max(max(xs) - min(xs), 1), h=max(max(ys) - min(ys), 1))
        return self.box if self.kind == "rectangle" else None


class Layers(Model):
    """The whole of it. `order` names every element that is drawn, the first at the back; without one shapes come first,
    then images, then texts."""

    canvas: Size = Size()
    colors: dict[LayerName, Colour] = Field({}, description="names for colours; a brand takes the place of its own")
    fonts: dict[Literal["title", "label"], Name] = Field({}, description="faces; a brand takes the place of its own")
    shapes: dict[LayerName, Shape] = Field({}, max_length=MOST)
    images: dict[LayerName, Image] = Field({}, max_length=MOST)
    texts: dict[LayerName, Text] = Field(min_length=1, max_length=MOST)
    order: tuple[LayerName, ...] = Field((), max_length=3 * MOST)
    free: Literal["left", "right", "middle", "foot"] | None = Field(None, description="where the subject goes")
    negative_space: NegativeSpace | None = None
    subject: SubjectRules = SubjectRules()
    focus: tuple[Share, Share] = Field((0.5, 0.4), description="what a crop keeps, as shares of width and height")

    @cached_property
    def content(self) -> ids.Shared:
        """What keys are made of. Defaults are left out, so a new field with a default changes no key."""
        return ids.Shared(self.model_dump(mode="json", exclude_defaults=True))

    def __hash__(self) -> int:
        return hash(self.content.json)

    @cached_property
    def elements(self) -> Mapping[str, Text | Image | Shape]:
        """All of them by name."""
        return {**self.shapes, **self.images, **self.texts}

    @cached_property
    def drawn(self) -> tuple[str, ...]:
        """Names from back to front, without what is hidden."""
        names = self.order or tuple(self.elements)
        return tuple(
            name for name in names if name == SUBJECT or (name in self.elements and not self.elements[name].hidden)
        )

    @cached_property
    def seen_texts(self) -> Mapping[str, Text]:
        """The texts that are drawn, from back to front."""
        return {name: self.texts[name] for name in self.drawn if name in self.texts}

    def shows(self, source: str) -> bool:
        """Whether an image of this source is drawn."""
        return any(image.source == source for name, image in self.images.items() if name in self.drawn)

    def files(self) -> Iterator[tuple[str, str]]:
        """Name and path of each image of the template's own that is drawn."""
        for name in self.drawn:
            if name in self.images and (path := self.images[name].file):
                yield name, path

    def face(self, font: str) -> str:
        """The face that a text's `font` means: one of `fonts`, or a face by its own name."""
        return {str(name): face for name, face in self.fonts.items()}.get(font, font)

    def colour(self, ink: str) -> str:
        """`#RRGGBB`, or a colour that the picture decides."""
        found = self.colors.get(ink, ink)
        return ACCENT if ink == ACCENT and found == "auto" else found


class Template(Model):
    """A prompt and a layout in version 2. `version` counts the template's own changes."""

    name: Name
    version: int = Field(1, ge=1)
    prompt: str = Field(min_length=1, max_length=20_000)
    negative_prompt: str | None = Field(None, max_length=20_000)
    layout: Layers

    @cached_property
    def spec_hash(self) -> str:
        return ids.spec_hash(self.prompt, self.negative_prompt, self.layout.content)


AnyLayout = Layout | Layers
AnyTemplate = FirstTemplate | Template


def box_of(box: Area) -> Box:
    """An area inside the canvas as the box of version 1."""
    return Box(x=max(box.x, 0), y=max(box.y, 0), w=box.w, h=box.h)
