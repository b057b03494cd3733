"""What is wrong with a layout beyond what its model refuses: fonts there are not, texts under YouTube's marks.

`template validate`, `check` and every way to a run ask here, so that none takes what another refuses.
"""

from __future__ import annotations

from collections.abc import Iterator

from thumbforge.errors import Problem, UsageError
from thumbforge.imaging import zones
from thumbforge.imaging.type import fonts
from thumbforge.models import Template
from thumbforge.planning.series import Series
from thumbforge.planning.spec_lines import chain_of, placed_at, template_file
from thumbforge.specs.catalog import Catalog
from thumbforge.specs.yaml_file import Document

_Found = tuple[tuple[str, ...], str]


def layout_problems(template: Template, chain: list[Document]) -> Iterator[Problem]:
    """Each at its line; `chain` is the template's file and those that it extends."""
    for where, message in _wrong(template):
        yield placed_at(chain, where, message)


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


def _wrong(template: Template) -> Iterator[_Found]:
    for name, slot in template.layout.slots:
        font = getattr(slot, "font", None)
        try:
            if font is not None:
                fonts.require(font)
        except UsageError as error:
            yield ("layout", name, "font"), f"{error.message}; {error.hint}"
    for message in zones.overlay_problems(template.layout):
        yield ("layout", *message.split()[0].split(".")), message
