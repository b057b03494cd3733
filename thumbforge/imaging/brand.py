"""A channel's brand over any template: colours, fonts and a logo, read once for a series."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thumbforge import models
from thumbforge.errors import Problem, SpecError, UsageError
from thumbforge.imaging.type import fonts
from thumbforge.imaging.userfiles import FontFile, PictureFile, font_file, picture_file
from thumbforge.named import inside
from thumbforge.pixels.colour import from_hex, luminance

if TYPE_CHECKING:
    from thumbforge.layers import Layers

_MIDDLE = 0.18
"""Luminance on which black and white have the same contrast."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A brand block with its files found. Fonts are names that `fonts` knows, or files."""

    colors: models.BrandColors
    title_font: str | FontFile | None = None
    label_font: str | FontFile | None = None
    logo: PictureFile | None = None

    @property
    def files(self) -> tuple[FontFile | PictureFile, ...]:
        own = (self.title_font, self.label_font, self.logo)
        return tuple(file for file in own if file and not isinstance(file, str))

    def moved(self, places: Mapping[str, Path]) -> Identity:
        """The same with its files elsewhere; `places` are paths by sha256."""

        def font(found: str | FontFile | None) -> str | FontFile | None:
            return found.moved(places) if isinstance(found, FontFile) else found

        return replace(
            self,
            title_font=font(self.title_font),
            label_font=font(self.label_font),
            logo=self.logo and self.logo.moved(places),
        )


def identity(brand: models.Brand, root: Path) -> Identity:
    """Find the brand's files; paths count from `root` and stay inside it. Raises SpecError with each file that cannot
    be read, and each font that is neither a file nor a name that a layout may use; in the problems there is no place
    but the field."""
    finders: dict[str, Callable[[], Any]] = {
        "fonts.title": lambda: _font(brand.fonts.title, root),
        "fonts.label": lambda: _font(brand.fonts.label, root),
        "logo": lambda: picture_file(inside(root, brand.logo)) if brand.logo else None,
    }
    found: dict[str, Any] = {}
    problems = []
    for field, find in finders.items():
        try:
            found[field] = find()
        except UsageError as error:
            problems.append(Problem("the series", 0, f"brand.{field}", f"{error.message}; {error.hint}"))
    if problems:
        raise SpecError(problems, hint="paths count from the project's directory")
    return Identity(brand.colors, found["fonts.title"], found["fonts.label"], found["logo"])


def branded(layout: models.Layout, found: Identity | None) -> models.Layout:
    """The layout in the brand's colours and fonts."""
    return _laid_over(layout, found) if found else layout


def branded_layers(layout: Layers, found: Identity | None) -> Layers:
    """The same in version 2: the brand's colours and fonts take the place of those that the layout names alike."""
    return _named_over(layout, found) if found else layout


@lru_cache(maxsize=64)
def _named_over(layout: Layers, found: Identity) -> Layers:
    colors = {name: value for name, value in found.colors.model_dump().items() if value and name in layout.colors}
    own = {"title": _known(found.title_font), "label": _known(found.label_font)}
    named: dict[str, str] = {name: font for name, font in own.items() if font and name in layout.fonts}
    return layout.model_copy(update={"colors": {**layout.colors, **colors}, "fonts": {**layout.fonts, **named}})


@lru_cache(maxsize=64)
def _laid_over(layout: models.Layout, found: Identity) -> models.Layout:
    colors = found.colors
    title = _known(found.title_font)
    label = _known(found.label_font)
    plain = {"color": colors.label, "font": label}
    changes: dict[str, Any] = {
        "title": _over(layout.title, color=colors.title, accent=colors.accent, stroke_color=colors.outline, font=title),
        "part": layout.part and _over(layout.part, font=label, **_badge(layout.part, colors)),
        "kicker": layout.kicker and _over(layout.kicker, **plain),
        "series": layout.series and _over(layout.series, **plain),
        "panels": tuple(_over(panel, color=colors.panel) for panel in layout.panels),
        "scrims": tuple(_over(scrim, color=colors.scrim) for scrim in layout.scrims),
    }
    return layout.model_copy(update=changes)


def _badge(style: models.PartStyle, colors: models.BrandColors) -> dict[str, Any]:
    """A badge without a plate has no plate's colours: its text is a label."""
    if style.fill is None:
        return {"color": colors.label}
    return {"fill": colors.badge, "color": colors.badge_text or _readable_on(colors.badge)}


def _readable_on(badge: str | None) -> str | None:
    """Black or white, whichever stands out from the badge; an accent of the picture keeps the template's colour."""
    if badge is None or not badge.startswith("#"):
        return None
    return "#101014" if luminance(from_hex(badge)) > _MIDDLE else "#FFFFFF"


def _over(model: Any, **changes: Any) -> Any:
    return model.model_copy(update={name: value for name, value in changes.items() if value is not None})


def _font(name: str | None, root: Path) -> str | FontFile | None:
    if name is None or name in fonts.FACES:
        return name
    if "/" not in name and "." not in name:
        fonts.require(name)
    return font_file(inside(root, name))


def _known(font: str | FontFile | None) -> str | None:
    return fonts.add(font) if isinstance(font, FontFile) else font
