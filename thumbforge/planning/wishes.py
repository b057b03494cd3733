"""Wishes of the specs that can have no effect: told, because their picture looks as if they had been forgotten."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from thumbforge.models import Brand, Layout
from thumbforge.planning.pictures import shows_pictures
from thumbforge.planning.prices import FREE
from thumbforge.planning.series import Series
from thumbforge.planning.staging import mask_beside
from thumbforge.specs.prompts import worded
from thumbforge.text import counted

if TYPE_CHECKING:
    from thumbforge.layers import AnyLayout, Layers

_READ = re.compile(r"\bvars\s*(?:\.\s*([A-Za-z_]\w*)|\[\s*['\"]([^'\"]+)['\"]\s*\])?")


def without_effect(series: Series) -> tuple[str, ...]:
    """One line for each, with what would help. Pure."""
    return (*_of_items(series), *_of_brand(series), *_of_staging(series), *_of_vars(series))


def _of_items(series: Series) -> Iterator[str]:
    layout, items = series.template.layout, [item for item in series.playlist.items if not item.removed]
    pictures = sum(item.picture is not None for item in items)
    if pictures and not shows_pictures(layout):
        yield _unseen(
            series, f"the `picture` of {counted(pictures, 'item')}", "corner-card, guest, news-bar and split-panel do"
        )
    labels = sum(item.label is not None for item in items)
    if labels and not _shows_labels(layout):
        yield _unseen(series, f"the `label` of {counted(labels, 'item')}", "give it a `part` slot")


def _of_brand(series: Series) -> Iterator[str]:
    if series.brand is None:
        return
    by_hero = series.profile.provider == FREE  # whose ground takes the brand's colours, too
    brand, layout = series.brand, series.template.layout
    shown = _by_slots(brand, layout, by_hero) if isinstance(layout, Layout) else _by_names(brand, layout, by_hero)
    for field, (wish, place) in shown.items():
        if wish and not place:
            yield _unseen(series, f"`brand.{field}`", "another template does")


def _by_names(brand: Brand, layout: Layers, by_hero: bool) -> dict[str, tuple[object, object]]:
    """In version 2 a brand takes the place of what the layout names alike."""
    grounds = ("panel", "accent", "badge") if by_hero else ()
    colors = {f"colors.{name}": (value, name in layout.colors or name in grounds) for name, value in brand.colors}
    fonts = {f"fonts.{name}": (value, name in layout.fonts) for name, value in brand.fonts}
    return {"logo": (brand.logo, layout.shows("logo")), **colors, **fonts}


def _by_slots(brand: Brand, layout: Layout, by_hero: bool) -> dict[str, tuple[object, object]]:
    """What a brand wishes, and where the layout shows it."""
    colors, fonts = brand.colors, brand.fonts
    worded = layout.part or layout.kicker or layout.series
    return {
        "logo": (brand.logo, layout.logo),
        "fonts.label": (fonts.label, worded),
        "colors.label": (colors.label, worded),
        "colors.outline": (colors.outline, layout.title.stroke),
        "colors.badge": (colors.badge, by_hero or (layout.part and layout.part.fill)),
        "colors.badge_text": (colors.badge_text, layout.part and layout.part.fill),
        "colors.panel": (colors.panel, by_hero or layout.panels),
        "colors.scrim": (colors.scrim, layout.scrims),
    }


def _shows_labels(layout: AnyLayout) -> bool:
    if isinstance(layout, Layout):
        return layout.part is not None
    return any("part_label" in text.text for text in layout.seen_texts.values())


def _unseen(series: Series, what: str, help_: str) -> str:
    return f"{what} has no effect: template {series.template.name} does not show it; {help_}"


def _of_staging(series: Series) -> Iterator[str]:
    if series.profile.provider == FREE:
        return
    own = series.staging
    said = [name for name in ("subject", "face", "look", "palette", "hues") if getattr(own, name) is not None]
    if own.mask and own.mask.path != mask_beside(series.hero.path):
        said.append("mask")
    if said:
        names = " and ".join(f"`{name}`" for name in said)
        yield f"{names} {'have' if said[1:] else 'has'} no effect: only `provider: local` paints by it"


def _of_vars(series: Series) -> Iterator[str]:
    """Of the series and the command line: what an item says may be meant for another series of its list."""
    read, is_open = _read(series)
    unread = [name for name in series.vars if name not in read]
    if unread and not is_open:
        names = " and ".join(f"`{name}`" for name in unread)
        yield f"{names} of vars {'have' if unread[1:] else 'has'} no effect: no text of {series.template.name} reads it"


def _read(series: Series) -> tuple[set[str], bool]:
    """The variables that the template's texts name, and whether one reads them in another way."""
    template = series.template
    own = (template.prompt, template.negative_prompt or "", *(text for _, text in worded(template.layout)))
    found = [_READ.findall(text) for text in own]
    names = {one or other for hits in found for one, other in hits}
    return names, "" in names
