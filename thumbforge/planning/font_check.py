"""Fonts that a plan would draw with: known and drawable, or told with their line while nothing is paid."""

from __future__ import annotations

from collections.abc import Iterator

from thumbforge.errors import Problem, SpecError, UsageError
from thumbforge.imaging.type import fonts
from thumbforge.imaging.userfiles import FontFile
from thumbforge.models import Template
from thumbforge.planning.series import Series
from thumbforge.planning.spec_lines import chain_of, in_series, placed_at, template_file
from thumbforge.specs.catalog import Catalog
from thumbforge.specs.yaml_file import Document

HINT = "name another font, or take it out"


def check_fonts(series: Series) -> None:
    """Raises SpecError with every font of the template, the brand and the settings that cannot be drawn with."""
    problems = [*_of_template(series), *_of_files(series)]
    if problems:
        raise SpecError(problems, hint=HINT)


def unknown_fonts(template: Template, chain: list[Document]) -> Iterator[Problem]:
    """Slots whose font there is not, at their line; `chain` is the template's file and those that it extends."""
    for name, message in _unknown(template):
        yield placed_at(chain, ("layout", name, "font"), message)


def _of_template(series: Series) -> Iterator[Problem]:
    if not any(_unknown(series.template)):
        return
    catalog = Catalog(series.root)
    if series.template.name in catalog.template_names():
        yield from unknown_fonts(series.template, chain_of(catalog, template_file(catalog, series.template.name)))
        return
    for name, message in _unknown(series.template):  # a run that is resumed may have a template that is gone
        yield Problem(f"template {series.template.name}", 0, f"layout.{name}.font", message)


def _unknown(template: Template) -> Iterator[tuple[str, str]]:
    for name, slot in template.layout.slots:
        font = getattr(slot, "font", None)
        try:
            if font is not None:
                fonts.require(font)
        except UsageError as error:
            yield name, f"{error.message}; {error.hint}"


def _of_files(series: Series) -> Iterator[Problem]:
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
