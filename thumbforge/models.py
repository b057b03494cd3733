"""What the specs say, as frozen models. Field names here are the names in YAML.

Lengths in a layout are pixels of its canvas (1280x720 unless it says otherwise) and are scaled to the output's size.
Colours are `#RRGGBB`, or a word: `auto` is the accent that a series shares (for a title: light or dark, as its ground
asks), `own` the picture's own hue at its strongest, `auto-dark` a deep tone of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from thumbforge import ids

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
VideoId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{11}$")]
PlaylistId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{2,64}$")]
Hex = Annotated[str, StringConstraints(pattern=r"^#[0-9A-Fa-f]{6}$")]
Share = Annotated[float, Field(ge=0, le=1)]
Colour = Annotated[str, StringConstraints(pattern=r"^(#[0-9A-Fa-f]{6}|auto|own|auto-dark)$")]
Help = Literal["none", "shade", "plate"]
Contrast = Annotated[float, Field(ge=1, le=21)]
Part = Annotated[int, Field(ge=0, le=100_000)]
VarName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Scalar = str | int | float | bool | None


class Model(BaseModel):
    """A validator is made for what is first read, not for each class as it is imported: that would be a tenth of a
    start-up. So a default that is a model is constructed, not validated."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """What was computed from the old values, such as a hash, is not taken along."""
        copied = super().model_copy(update=update, deep=deep)
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied


class Size(Model):
    """Pixels."""

    width: int = Field(1280, ge=640, le=7680)
    height: int = Field(720, ge=360, le=4320)

    @model_validator(mode="after")
    def _is_16_to_9(self) -> Size:
        if self.width * 9 != self.height * 16:
            raise ValueError(f"{self.width}x{self.height} is not 16:9")
        return self


class Box(Model):
    """A rectangle on the canvas; x and y count from the top left."""

    x: int = Field(ge=0)
    y: int = Field(ge=0)
    w: int = Field(gt=0)
    h: int = Field(gt=0)


class NegativeSpace(Box):
    """The part of the picture that the prompt asks to keep calm, because text goes there."""

    def __str__(self) -> str:
        return f"x {self.x}, y {self.y}, {self.w} wide, {self.h} high"


def size_of_series(style: Any) -> Any:
    """`size: series` is short for the largest size with `of_series: true`."""
    if isinstance(style, dict) and style.get("size") == "series":
        return {name: value for name, value in style.items() if name != "size"} | {"of_series": True}
    return style


class TitleStyle(Model):
    box: Box
    font: Name = "anton"
    size: int = Field(150, ge=8, le=600, description="largest letter size, canvas pixels")
    of_series: bool = Field(False, description="all texts of the series have one size, but for what would not fit")
    min_size: int = Field(72, ge=8, le=600, description="smallest; a longer title is cut with an ellipsis")
    max_lines: int = Field(4, ge=1, le=8)
    line_height: float = Field(1.12, ge=0.8, le=2.0, description="in letter sizes")
    align: Literal["left", "center", "right"] = "left"
    anchor: Literal["top", "middle", "bottom"] = "middle"
    case: Literal["none", "upper"] = "none"
    color: Colour = "#FFFFFF"
    accent: Colour = "auto"
    stroke: float = Field(0.055, ge=0, le=0.2, description="outline width in letter sizes")
    stroke_color: Colour = "#101014"
    shadow: float = Field(0.65, ge=0, le=1, description="opacity of the soft shadow")
    behind: bool = Field(False, description="one or two words may pass behind a subject that is cut out")
    help: Help = Field("shade", description="what may be laid under letters that do not stand out")
    contrast: Contrast = Field(4.5, description="with the ground; a title's outline carries a third of it")

    _short = model_validator(mode="before")(size_of_series)

    @model_validator(mode="after")
    def _sizes_in_order(self) -> TitleStyle:
        if self.min_size > self.size:
            raise ValueError(f"min_size {self.min_size} is larger than size {self.size}")
        return self


class PartStyle(Model):
    """The badge that carries the part; an item without a part and label has none."""

    box: Box
    text: str = Field("PART {{ part_number }}", max_length=200, description="Jinja2, sees what the prompt sees")
    font: Name = "anton"
    size: int = Field(64, ge=8, le=400)
    min_size: int = Field(28, ge=8, le=400)
    align: Literal["left", "center", "right"] = "left"
    color: Colour = "#101014"
    fill: Colour | None = "auto"
    radius: int = Field(14, ge=0, le=200)
    case: Literal["none", "upper"] = "none"
    help: Help = Field("shade", description="what may be laid under letters that do not stand out")
    contrast: Contrast = Field(4.5, description="with the ground; a title's outline carries a third of it")


class LabelStyle(Model):
    """One line of small text: a kicker over the title, the series' name. What renders to nothing is not drawn."""

    box: Box
    text: str = Field(min_length=1, max_length=200, description="Jinja2, sees what the prompt sees")
    font: Name = "roboto-condensed"
    size: int = Field(52, ge=8, le=400)
    min_size: int = Field(40, ge=8, le=400)
    align: Literal["left", "center", "right"] = "left"
    color: Colour = "#FFFFFF"
    fill: Colour | None = None
    radius: int = Field(8, ge=0, le=200)
    case: Literal["none", "upper"] = "none"
    help: Help = Field("shade", description="what may be laid under letters that do not stand out")
    contrast: Contrast = Field(4.5, description="with the ground; a title's outline carries a third of it")


class Panel(Model):
    """A flat shape under the text. `slant` moves the lower right corner to the left by so many pixels."""

    box: Box
    color: Colour = "#101014"
    opacity: float = Field(1, gt=0, le=1)
    radius: int = Field(0, ge=0, le=360)
    slant: int = Field(0, ge=0, le=640)


class LogoSlot(Model):
    """Where the brand's logo goes, as large as the box allows; without one nothing is drawn."""

    box: Box
    align: Literal["left", "center", "right"] = "right"
    anchor: Literal["top", "middle", "bottom"] = "middle"


class PictureSlot(Model):
    """Where an item's own picture goes. An inset fills the box; a cut-out (a picture with a clear ground) stands in it,
    whole. Without a picture nothing is drawn."""

    box: Box
    kind: Literal["inset", "cutout"] = "inset"
    align: Literal["left", "center", "right"] = "center"
    anchor: Literal["top", "middle", "bottom"] = "bottom"
    radius: int = Field(24, ge=0, le=360)
    border: int = Field(8, ge=0, le=60)
    border_color: Colour = "#FFFFFF"


class Scrim(Model):
    """A soft shade from one side, so that letters stand on calm ground."""

    side: Literal["left", "right", "top", "bottom", "all"]
    reach: float = Field(0.7, gt=0, le=1, description="share of the canvas until it has faded out")
    opacity: float = Field(0.6, ge=0, le=1)
    color: Colour = "#000000"


class SubjectRules(Model):
    """Shares of the subject, and of its face where that is known, that words may cover and the canvas may cut: above
    the first a warning, above the second an error."""

    covered: tuple[float, float] = (0.10, 0.30)
    face_covered: tuple[float, float] = (0.02, 0.10)
    cut: tuple[float, float] = (0.10, 0.30)
    face_cut: tuple[float, float] = (0.02, 0.05)

    @model_validator(mode="after")
    def _in_order(self) -> SubjectRules:
        for name, (warning, error) in ((name, getattr(self, name)) for name in type(self).model_fields):
            if not 0 <= warning <= error <= 1:
                raise ValueError(f"{name} is two shares from 0 to 1, the first not above the second")
        return self


class Layout(Model):
    canvas: Size = Size.model_construct()
    title: TitleStyle
    part: PartStyle | None = None
    scrims: tuple[Scrim, ...] = ()
    panels: tuple[Panel, ...] = ()
    kicker: LabelStyle | None = None
    series: LabelStyle | None = None
    logo: LogoSlot | None = None
    picture: PictureSlot | None = None
    negative_space: NegativeSpace | None = None
    subject: SubjectRules = SubjectRules.model_construct()
    focus: tuple[float, float] = Field((0.5, 0.4), description="what a crop keeps, as shares of width and height")

    @model_validator(mode="after")
    def _boxes_inside(self) -> Layout:
        boxes = [(f"{name}.box", slot.box) for name, slot in self.slots]
        boxes += [(f"panels.{number}.box", panel.box) for number, panel in enumerate(self.panels)]
        if self.negative_space:
            boxes.append(("negative_space", self.negative_space))
        for name, box in boxes:
            if box.x + box.w > self.canvas.width or box.y + box.h > self.canvas.height:
                raise ValueError(f"{name} reaches outside the {self.canvas.width}x{self.canvas.height} canvas")
        if not all(0 <= share <= 1 for share in self.focus):
            raise ValueError("focus is two shares between 0 and 1")
        return self

    @property
    def slots(self) -> tuple[tuple[str, TitleStyle | PartStyle | LabelStyle | LogoSlot | PictureSlot], ...]:
        """Everything that has a box of its own and something to say, by its name in YAML."""
        named = {
            "title": self.title,
            "part": self.part,
            "kicker": self.kicker,
            "series": self.series,
            "logo": self.logo,
            "picture": self.picture,
        }
        return tuple((name, slot) for name, slot in named.items() if slot)

    @cached_property
    def content(self) -> ids.Shared:
        """What keys are made of. Defaults are left out, so a new field with a default changes no key."""
        return ids.Shared(self.model_dump(mode="json", exclude_defaults=True))


class Template(Model):
    """A prompt and a layout. Immutable per version: `spec_hash` is its identity."""

    name: Name
    version: int = Field(1, ge=1)
    prompt: str = Field(min_length=1, max_length=20_000)
    negative_prompt: str | None = Field(None, max_length=20_000)
    layout: Layout

    @cached_property
    def spec_hash(self) -> str:
        return ids.spec_hash(self.prompt, self.negative_prompt, self.layout.content)


Amount = Annotated[str, StringConstraints(pattern=r"^\d{1,9}(\.\d{1,9})?$")]
"""Money as a decimal text, so that no cent is lost."""


class Price(Model):
    """What one picture costs."""

    amount: Amount
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] = "USD"
    as_of: str | None = None


class Profile(Model):
    """A provider with its parameters. `params`, `provider` and `version` make its identity; limits and prices don't."""

    name: Name
    provider: Name
    version: int = Field(1, ge=1)
    params: dict[str, Any] = {}
    max_concurrency: int | None = Field(None, ge=1)
    timeout_s: float = Field(300, gt=0, le=3600)
    price: Price | None = None

    @cached_property
    def id(self) -> str:
        return ids.profile_id(self.provider, self.version, self.params)


class Item(Model):
    """A video at a place in a playlist. `title` is YouTube's; `text` is drawn; `topic` is what prompts speak of."""

    video: VideoId
    title: str = Field(max_length=1000)
    part: Part | None = None
    label: str | None = Field(None, max_length=100)
    duration: float | None = Field(None, ge=0, description="seconds")
    text: str | None = Field(None, max_length=1000)
    topic: str | None = Field(None, max_length=1000)
    picture: str | None = Field(None, min_length=1, max_length=1000, description="file for the layout's picture slot")
    vars: dict[VarName, Scalar] = {}
    removed: bool = False


class PlaylistHead(Model):
    id: PlaylistId
    title: str = ""
    channel: str = ""
    url: str = ""
    language: str | None = None

    @cached_property
    def shown(self) -> dict[str, str | None]:
        """What a template sees of it."""
        return self.model_dump(include={"id", "title", "channel", "language"})


class Playlist(Model):
    playlist: PlaylistHead
    items: tuple[Item, ...]

    @field_validator("items")
    @classmethod
    def _parts_once(cls, items: tuple[Item, ...]) -> tuple[Item, ...]:
        seen: dict[int, int] = {}
        for position, item in enumerate(items, 1):
            if item.part is not None and (first := seen.setdefault(item.part, position)) != position:
                raise ValueError(f"part {item.part} is given to items {first} and {position}")
        return items


_NAME_PATTERN = re.compile(r"(?:[A-Za-z0-9._-]|\{(?:part|position)(?::0?[1-9])?\}|\{(?:slug|video)\})+")


def _a_file_name(pattern: str) -> str:
    """Whose fields are known, and which names a visible file in its own folder, whatever stands in them."""
    if not _NAME_PATTERN.fullmatch(pattern) or len(pattern) > 100:
        raise ValueError(
            "expected letters, digits, . _ - and the fields {part}, {position} ({part:02}), {slug}, {video}"
        )
    if pattern[0] in ".-" or "{" not in pattern:
        raise ValueError("expected a letter, a digit or a field in front, and at least one field")
    return pattern


class Output(Model):
    """The finished file. 2,000,000 bytes stay under YouTube's 2 MB for custom thumbnails whichever MB it means."""

    width: int = Field(1920, ge=1280, le=7680)
    height: int = Field(1080, ge=720, le=4320)
    format: Literal["jpeg", "png"] = "jpeg"
    max_bytes: int = Field(2_000_000, ge=20_000, le=50_000_000)
    name: Annotated[str, AfterValidator(_a_file_name)] | None = Field(
        None, exclude=True, description="what the file is called, without its ending; no key knows of it"
    )

    @model_validator(mode="after")
    def _is_16_to_9(self) -> Output:
        if self.width * 9 != self.height * 16:
            raise ValueError(f"{self.width}x{self.height} is not 16:9")
        return self

    @cached_property
    def content(self) -> ids.Shared:
        """What keys are made of."""
        return ids.Shared(self.model_dump(mode="json"))


class BrandColors(Model):
    """What takes the place of a template's colours; what is left out stays the template's."""

    title: Colour | None = None
    accent: Colour | None = None
    outline: Colour | None = None
    badge: Colour | None = None
    badge_text: Colour | None = None
    label: Colour | None = None
    panel: Colour | None = None
    scrim: Colour | None = None


class BrandFonts(Model):
    """Names of fonts that a layout may use, or paths of font files."""

    title: str | None = Field(None, min_length=1, max_length=1000)
    label: str | None = Field(None, min_length=1, max_length=1000, description="badge, kicker and series name")


class Brand(Model):
    """A channel's own look, laid over any template."""

    colors: BrandColors = BrandColors.model_construct()
    fonts: BrandFonts = BrandFonts.model_construct()
    logo: str | None = Field(None, min_length=1, max_length=1000, description="file for the layout's logo slot")


def _a_box(shares: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    x, y, w, h = shares
    if w <= 0 or h <= 0 or x + w > 1.001 or y + h > 1.001:
        raise ValueError("x, y, width and height are shares of the hero, from 0 to 1, and the box lies inside it")
    return shares


LookName = Literal["auto", "cutout", "photo", "split", "card", "duotone"]
"""How `local` shows a hero; `auto` takes what suits it."""
HeroBox = Annotated[tuple[Share, Share, Share, Share], AfterValidator(_a_box)]


class SeriesSpec(Model):
    """A declared batch: playlist + hero + template + profile."""

    playlist: str = Field(min_length=1)
    hero: str = Field(min_length=1)
    template: str = "series-parts"
    provider: str = "local"
    reference: Literal["final", "raw"] = "final"
    vars: dict[VarName, Scalar] = {}
    max_images: int | None = Field(None, ge=0)
    max_cost: Amount | None = Field(None, description="the most that the calls of one run may cost, such as '2.50'")
    output: Output | None = None
    brand: Brand | None = None
    subject: Literal["auto"] | HeroBox = Field("auto", description="where the subject is: x, y, w, h as shares")
    face: HeroBox | None = Field(None, description="where its face is: x, y, w, h as shares of the hero")
    mask: str | None = Field(None, min_length=1, max_length=1000, description="file that says what is subject")
    second_hero: str | None = Field(None, min_length=1, max_length=1000, description="file that a template may show")
    look: LookName | None = None
    palette: Literal["hero", "brand"] | Annotated[tuple[Hex, ...], Field(min_length=1, max_length=12)] | None = None
    hues: Literal["one", "near", "wheel"] | None = None
    consistency: Literal["off", "warn"] = Field("warn", description="tell pictures that are unlike their series")

    @field_validator("consistency", mode="before")
    @classmethod
    def _off_is_a_word(cls, value: object) -> object:
        """In YAML `off` without quotes is false."""
        return "off" if value is False else value
