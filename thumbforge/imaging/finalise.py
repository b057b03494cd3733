"""Art in, finished thumbnail out, and what its identity is made of.

`final_parts` is asked for every item of every plan, so this module imports no Pillow until a picture is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thumbforge import models
from thumbforge.errors import PictureError
from thumbforge.imaging import brand, libraries
from thumbforge.imaging.brand import Identity
from thumbforge.imaging.type import clean, fonts
from thumbforge.imaging.userfiles import FontFile, PictureFile
from thumbforge.pixels.scene import File, Scene

if TYPE_CHECKING:
    from PIL import Image

    from thumbforge.imaging.rules import Check, Report
    from thumbforge.imaging.type.common import Room
    from thumbforge.imaging.type.shape import Speech
    from thumbforge.layers import AnyLayout, Layers, Text
    from thumbforge.pixels.placed import Placed

FINALISER_VERSION = 4
"""Raised when the same input gives other pixels: every final is made anew from its art, without a call."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """What to draw, already rendered. In `title` a newline breaks the line and *word* has the accent colour.

    `language` is the playlist's (BCP 47): it decides the face of Han letters and Turkish capitals. `kicker` and
    `series` are the texts of the layout's slots of these names, `picture` is the item's own, `texts` and
    `images` (but those that show the item's own) are those of a layout in version 2 by name, `brand` is laid over the
    layout, `emoji` is a colour font that goes before the one-colour emoji.
    """

    title: str
    part: str | None
    language: str | None = None
    kicker: str | None = None
    series: str | None = None
    picture: PictureFile | None = None
    brand: Identity | None = None
    emoji: FontFile | None = None
    scene: Scene | None = None
    """What `local` placed the subject by; `pixels.placed.staged` reckons the place again. None for other art."""
    texts: tuple[tuple[str, str], ...] = ()
    images: tuple[tuple[str, PictureFile], ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()
    """The largest size of each text whose size is the series', by the text's name; canvas pixels."""

    @property
    def files(self) -> tuple[FontFile | PictureFile | File, ...]:
        """Every file that is drawn with, beside the art and the fonts of the package."""
        named = (file for _, file in self.images)
        own = (self.picture, self.emoji, *named, *(self.brand.files if self.brand else ()))
        return (*(file for file in own if file), *(self.scene.files if self.scene else ()))

    def moved(self, places: Mapping[str, Path]) -> Drawing:
        """The same with its files elsewhere; `places` are paths by sha256."""
        return replace(
            self,
            picture=self.picture and self.picture.moved(places),
            images=tuple((name, file.moved(places)) for name, file in self.images),
            emoji=self.emoji and self.emoji.moved(places),
            brand=self.brand and self.brand.moved(places),
            scene=self.scene and self.scene.moved(places),
        )


def final_parts(art_sha256: str, layout: AnyLayout, drawing: Drawing, output: models.Output) -> dict[str, Any]:
    """JSON of everything that decides the finished pixels. Texts are in their drawn form: a space at a title's end
    changes nothing. Raises UsageError for a font that no layout may use."""
    if not isinstance(layout, models.Layout):
        return _parts_of_layers(art_sha256, layout, drawing, output)
    layout = brand.branded(layout, drawing.brand)
    texts = _texts(layout, drawing)
    names: set[str] = set()
    for slot, text in texts.items():
        style = getattr(layout, slot)
        names.update(fonts.usable(style.font, _as_drawn(text, style.case, drawing.language), drawing.language))
    if drawing.emoji and not all(text.isascii() for text in texts.values()):
        names.add(fonts.add(drawing.emoji))
    return {
        "art": art_sha256,
        "layout": layout.content,
        "title": texts["title"],
        "part": texts.get("part"),
        "output": output.content,
        "fonts": fonts.digests(tuple(sorted(names))),
        "finaliser": FINALISER_VERSION,
        **_extras(layout, drawing, texts),
    }


def _parts_of_layers(art_sha256: str, layout: Layers, drawing: Drawing, output: models.Output) -> dict[str, Any]:
    """The same in version 2."""
    layout = brand.branded_layers(layout, drawing.brand)
    texts = _layer_texts(layout, drawing)
    names: set[str] = set()
    for name, text in texts.items():
        style = layout.texts[name]
        drawn = _as_drawn(text, style.case, drawing.language)
        names.update(fonts.usable(layout.face(style.font), drawn, drawing.language))
    if drawing.emoji and not all(text.isascii() for text in texts.values()):
        names.add(fonts.add(drawing.emoji))
    extras = {
        "images": {name: file.sha256 for name, file in drawing.images} or None,
        "sizes": dict(drawing.sizes) or None,
        "picture": drawing.picture.sha256 if drawing.picture else None,
        "capitals": "turkic" if clean.turkic(drawing.language) else None,
        "libraries": libraries.others(),
        "subject": drawing.scene.placing() if drawing.scene and drawing.scene.hero else None,
    }
    return {
        "art": art_sha256,
        "layout": layout.content,
        "texts": texts,
        "output": output.content,
        "fonts": fonts.digests(tuple(sorted(names))),
        "finaliser": FINALISER_VERSION,
        **{name: value for name, value in extras.items() if value is not None},
    }


def drawn_with() -> dict[str, str]:
    """What is installed and decides about pixels, by name: a final drawn with anything else may have other bytes."""
    return {"finaliser": str(FINALISER_VERSION), "fonts": fonts.all_digest(), **libraries.versions()}


def finalise(art: Path, layout: AnyLayout, drawing: Drawing, output: models.Output, target: Path) -> Report:
    """Draw `drawing` over the picture in `art`, write it to `target` (a new path) and judge the written file.

    The same input gives the same bytes in every process and thread. Raises PictureError when `art` is no picture,
    UsageError for an unknown font. A picture that breaks a rule is written all the same: the report says so, as it does
    where the logo or the item's picture cannot be used and is left out.
    """
    from thumbforge.imaging import compose, encode, rules
    from thumbforge.pixels import picture

    if not isinstance(layout, models.Layout):
        return _finalise_layers(art, layout, drawing, output, target)
    layout = _sized(brand.branded(layout, drawing.brand), drawing)
    for style in (layout.title, layout.part, layout.kicker, layout.series):
        if style:
            fonts.require(style.font)
    texts = _texts(layout, drawing)
    logo, no_logo = _own("logo", drawing.brand.logo if drawing.brand and layout.logo else None)
    own, no_picture = _own("picture", drawing.picture if layout.picture else None)
    placed, no_place = _placed(drawing.scene, output)
    content = compose.Content(**texts, speech=_speech(drawing), logo=logo, picture=own)
    drawn, checks = compose.compose(picture.open_rgb(art), layout, content, output, placed)
    encode.write(drawn, target, output)
    return rules.judge(target, output, (*checks, *no_place, *no_logo, *no_picture))


def _finalise_layers(art: Path, layout: Layers, drawing: Drawing, output: models.Output, target: Path) -> Report:
    """The same in version 2."""
    from thumbforge.imaging import encode, rules
    from thumbforge.imaging.canvas import compose
    from thumbforge.pixels import picture

    layout = _sized_layers(brand.branded_layers(layout, drawing.brand), drawing)
    for text in layout.texts.values():
        fonts.require(layout.face(text.font))
    images: dict[str, Image.Image] = {}
    unusable: list[Check] = []
    for name, file in (*drawing.images, *_own_pictures(layout, drawing)):
        found, wrong = _own(name, file)
        images |= {name: found} if found else {}
        unusable += wrong
    placed, no_place = _placed(drawing.scene, output)
    content = compose.Content(_layer_texts(layout, drawing), images, _speech(drawing))
    drawn, checks = compose.compose(picture.open_rgb(art), layout, content, output, placed)
    encode.write(drawn, target, output)
    return rules.judge(target, output, (*checks, *no_place, *unusable))


def _own_pictures(layout: Layers, drawing: Drawing) -> Iterator[tuple[str, PictureFile]]:
    """The item's own picture for each image that shows it."""
    if drawing.picture:
        shown = [name for name in layout.drawn if name in layout.images and layout.images[name].source == "picture"]
        yield from ((name, drawing.picture) for name in shown)


def _layer_texts(layout: Layers, drawing: Drawing) -> dict[str, str]:
    """The texts as far as they will be seen, by name."""
    given = dict(drawing.texts)
    found = {name: clean.plain(given.get(name, "")) for name in layout.seen_texts}
    return {name: text for name, text in found.items() if text}


def rooms_of_series(layout: AnyLayout, own: Identity | None) -> dict[str, Room]:
    """What bounds each text that has one size for the whole series, by the text's name."""
    if isinstance(layout, models.Layout):
        if not layout.title.of_series:
            return {}
        title = brand.branded(layout, own).title
        return {"title": _room(title, title.font, title.stroke)}
    if not any(text.of_series for text in layout.seen_texts.values()):
        return {}
    layout = brand.branded_layers(layout, own)
    return {
        name: _room(text, layout.face(text.font), text.stroke.width / text.size if text.stroke else 0.0)
        for name, text in layout.seen_texts.items()
        if text.of_series
    }


def _room(style: models.TitleStyle | Text, face: str, outline: float) -> Room:
    from thumbforge.imaging.type.common import Room

    return Room(
        width=style.box.w,
        height=style.box.h,
        size=style.size,
        min_size=style.min_size,
        max_lines=style.max_lines,
        line_height=style.line_height,
        font=face,
        case=style.case,
        outline=outline,
        spacing=0.0 if isinstance(style, models.TitleStyle) else style.letterspacing,
    )


def _sized(layout: models.Layout, drawing: Drawing) -> models.Layout:
    """With the series' size where the title has it."""
    sizes = dict(drawing.sizes)
    if "title" not in sizes:
        return layout
    size = sizes["title"]
    title = layout.title.model_copy(update={"size": size, "min_size": min(size, layout.title.min_size)})
    return layout.model_copy(update={"title": title})


def _sized_layers(layout: Layers, drawing: Drawing) -> Layers:
    sized = {name: layout.texts[name].at_most(size) for name, size in drawing.sizes}
    return layout.model_copy(update={"texts": {**layout.texts, **sized}}) if sized else layout


def _placed(scene: Scene | None, output: models.Output) -> tuple[Placed | None, tuple[Check, ...]]:
    """Where `local` put the subject, or why that cannot be reckoned again."""
    from thumbforge.imaging.rules import Check
    from thumbforge.pixels.placed import staged

    try:
        return staged(scene, output.width, output.height) if scene else None, ()
    except PictureError as error:
        return None, (Check("subject.file", "error", False, error.message),)


def _own(name: str, file: PictureFile | None) -> tuple[Image.Image | None, tuple[Check, ...]]:
    """A picture that the user brings along (RGBA), or why it cannot be used: one bad file fails its items alone."""
    from thumbforge.imaging.rules import Check
    from thumbforge.pixels import picture

    try:
        return picture.open_rgba(file.path) if file else None, ()
    except PictureError as error:
        return None, (Check(f"{name}.file", "error", False, f"{file.path.name if file else name}: {error.message}"),)


def _texts(layout: models.Layout, drawing: Drawing) -> dict[str, str]:
    """The texts as far as they will be seen, by the name of their slot; always a title."""
    found = {"title": clean.plain(drawing.title)}
    for slot in ("part", "kicker", "series"):
        text = getattr(drawing, slot)
        if text and getattr(layout, slot) and (seen := clean.plain(text.replace("\n", " "))):
            found[slot] = seen
    return found


def _extras(layout: models.Layout, drawing: Drawing, texts: dict[str, str]) -> dict[str, Any]:
    """Parts that most drawings do not have; what is absent is left out, so it moves no key."""
    language = "turkic" if clean.turkic(drawing.language) else None
    logo = drawing.brand.logo.sha256 if drawing.brand and drawing.brand.logo and layout.logo else None
    own = drawing.picture.sha256 if drawing.picture and layout.picture else None
    extras = {
        "kicker": texts.get("kicker"),
        "series": texts.get("series"),
        "sizes": dict(drawing.sizes) or None,
        "capitals": language,
        "logo": logo,
        "picture": own,
        "libraries": libraries.others(),
        "subject": drawing.scene.placing() if drawing.scene and drawing.scene.hero else None,
    }
    return {name: value for name, value in extras.items() if value is not None}


def _speech(drawing: Drawing) -> Speech:
    from thumbforge.imaging.type.shape import Speech

    return Speech(drawing.language, fonts.add(drawing.emoji) if drawing.emoji else None)


def _as_drawn(text: str, case: str, language: str | None) -> str:
    if case != "upper" or (text.isascii() and not clean.turkic(language)):
        return text
    return text + clean.upper(text, language)
