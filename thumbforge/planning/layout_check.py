"""What keeps a layout from being drawn beyond what its model refuses: fonts, and texts under YouTube's marks.

`template validate`, `check` and every way to a run ask here, so that none takes what another refuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from thumbforge.errors import Problem, UsageError
from thumbforge.imaging import zones
from thumbforge.imaging.type import fonts
from thumbforge.imaging.userfiles import FontFile
from thumbforge.models import Layout
from thumbforge.planning.series import Series
from thumbforge.planning.spec_lines import chain_of, in_series, placed_at, template_file
from thumbforge.specs.catalog import Catalog
from thumbforge.specs.yaml_file import Document

if TYPE_CHECKING:
    from thumbforge.layers import AnyLayout, AnyTemplate

_Found = tuple[tuple[str, ...], str]


def layout_problems(template: AnyTemplate, chain: list[Document]) -> Iterator[Problem]:
    """Each at its line; `chain` is the template's file and those that it extends."""
    for where, message in _wrong(template):
        yield placed_at(chain, where, message)


def unknown_faces(document: Document) -> Iterator[Problem]:
    """Of a template's own file, whatever else is wrong with it: so all that is wrong is told at once."""
    layout = document.data.get("layout")
    named = layout.get("fonts") if isinstance(layout, dict) else None
    own = set(named) if isinstance(named, dict) else set()
    for where, font in _written(layout, ("layout",)):
        if isinstance(font, str) and (where[-2] == "fonts" or font not in own):
            try:
                fonts.require(font)
            except UsageError as error:
                yield placed_at([document], where, f"{error.message}; {error.hint}")


def _written(value: object, where: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every `font` below a mapping, and all of `fonts`."""
    if isinstance(value, dict):
        for name, child in value.items():
            if name == "font" or where[-1] == "fonts":
                yield (*where, str(name)), child
            elif len(where) < 4:
                yield from _written(child, (*where, str(name)))


def layout_problems_of(series: Series) -> Iterator[Problem]:
    """The same for a series, whose template's file is looked for only where there is something to tell."""
    found, template = list(_wrong(series.template)), series.template
    if not found:
        return
    catalog = Catalog(series.root)
    if template.name in catalog.template_names():
        chain = chain_of(catalog, template_file(catalog, template.name))
        yield from (placed_at(chain, where, message) for where, message in found)
        return
    for where, message in found:  # a run that is resumed may have a template that is gone
        yield Problem(f"template {template.name}", 0, ".".join(where), message)


def _wrong(template: AnyTemplate) -> Iterator[_Found]:
    for where, font in _fonts(template.layout):
        try:
            fonts.require(font)
        except UsageError as error:
            yield ("layout", *where), f"{error.message}; {error.hint}"
    for message in zones.overlay_problems(template.layout):
        yield ("layout", *message.split()[0].split(".")), message


def _fonts(layout: AnyLayout) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every face that a layout names, and where."""
    if isinstance(layout, Layout):
        named = ((name, getattr(slot, "font", None)) for name, slot in layout.slots)
        yield from (((name, "font"), font) for name, font in named if font is not None)
        return
    yield from ((("fonts", name), font) for name, font in layout.fonts.items())
    for name, text in layout.texts.items():
        if text.font not in layout.fonts:
            yield ("texts", name, "font"), text.font


def font_file_problems(series: Series) -> Iterator[Problem]:
    """Every font file of the brand and of the settings that cannot be drawn with."""
    own = series.identity
    named = {"title": own.title_font, "label": own.label_font} if own else {}
    for field, font in named.items():
        if isinstance(font, FontFile) and (message := _undrawable(font)):
            yield in_series(series.root, series.name, ("brand", "fonts", field), message)
    if series.emoji and (message := _undrawable(series.emoji)):
        yield Problem("thumbforge.toml", 0, "output.emoji_font", message)


def _undrawable(font: FontFile) -> str:
    """What keeps this file from being drawn with, "" where nothing does."""
    try:
        fonts.face(fonts.add(font))
    except UsageError as error:
        return f"{error.message}; {error.hint}"
    return ""
