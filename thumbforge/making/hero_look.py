"""What is understood of a hero file, and how every look and every template shows it. Nothing is recorded."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from thumbforge.errors import AssetDamaged, PictureError, StoreError
from thumbforge.imaging.sheet import Sheet, SheetItem
from thumbforge.models import LookName
from thumbforge.planning.preview import LOCAL, draw, on_sample, wanted_on
from thumbforge.planning.reference import Hero, check_hero, find_hero
from thumbforge.planning.scenes import scene_of
from thumbforge.planning.series import Series
from thumbforge.planning.staging import beside
from thumbforge.planning.wanted import places

if TYPE_CHECKING:
    from thumbforge.pixels.heroes import HeroPicture
    from thumbforge.pixels.placed import Placed
    from thumbforge.planning.project import Project

LOOKS = tuple(name for name in get_args(LookName) if name != "auto")
SIZE = (1280, 720)
_SMALL_FACE = 0.25
_HEADING = "series-parts"
_ENLARGED = 3.0


@dataclass(frozen=True, slots=True)
class Shown:
    """One template with one look: what was drawn, and what its report warns of."""

    template: str
    look: str
    drawn_as: str
    side: str
    face: float | None
    """Height of the face as a share of the picture."""
    notes: tuple[str, ...]
    picture: Path


@dataclass(frozen=True, slots=True)
class Understood:
    """`kind` and `box` are the subject's; `look` is what `auto` takes beside words; `remarks` are worth telling."""

    width: int
    height: int
    kind: str
    box: tuple[float, ...] | None
    face: tuple[float, ...] | None
    look: str
    mask: Path | None
    remarks: tuple[str, ...]
    shown: tuple[Shown, ...]


def look_at(project: Project, word: str, sheet: Path) -> Understood:
    """Draw the hero with every template and every look, write one PNG of all to `sheet`, and say what is understood.

    Raises NotFound where there is no such file, AssetDamaged for one that is no picture, StoreError where the sheet
    cannot be written.
    """
    from thumbforge.imaging.contact import write_contact
    from thumbforge.pixels.heroes import open_hero
    from thumbforge.pixels.placed import place

    hero = find_hero(word, project.cwd, project.lookup(None), "final")
    info = check_hero(hero)
    series = _series(project, hero, _HEADING)
    scene = scene_of(series)
    assert scene is not None
    try:
        opened = open_hero(scene, *SIZE)
    except PictureError as error:
        raise AssetDamaged(error.message, hint=error.hint) from error
    assert opened is not None
    auto = place(opened, "auto", scene.free, *SIZE)
    with tempfile.TemporaryDirectory(prefix="thumbforge-") as folder:
        shown = tuple(_all(project, hero, opened, Path(folder)))
        page = Sheet(f"{hero.path.name}: {auto.subject.kind}", tuple(_cell(one) for one in shown))
        try:
            sheet.parent.mkdir(parents=True, exist_ok=True)
            write_contact(page, sheet)
        except OSError as error:
            raise StoreError(f"{sheet} could not be written: {error.strerror}", hint="name a file with --to") from error
    return Understood(
        width=info.width,
        height=info.height,
        kind=auto.subject.kind,
        box=auto.subject.box,
        face=auto.subject.face,
        look=auto.look,
        mask=scene.mask.path if scene.mask else None,
        remarks=tuple(_remarks(opened, auto)),
        shown=shown,
    )


def _series(project: Project, hero: Hero, template: str) -> Series:
    series = on_sample(project, project.catalog.template(template), {})
    return replace(series, hero=hero, profile=LOCAL, staging=beside(hero))


def _all(project: Project, hero: Hero, opened: HeroPicture, folder: Path) -> Iterator[Shown]:
    """Every look with the template that most series have, then every template with the look that `auto` takes."""
    for look in LOOKS:
        yield _drawn(project, hero, opened, _HEADING, look, folder)
    for template in project.catalog.template_names():
        yield _drawn(project, hero, opened, template, "auto", folder)


def _drawn(project: Project, hero: Hero, opened: HeroPicture, template: str, look: str, folder: Path) -> Shown:
    from thumbforge.pixels.placed import place

    series = _series(project, hero, template)
    series = replace(series, staging=replace(series.staging, look=look))
    scene = scene_of(series)
    assert scene is not None
    placed = place(opened, look, scene.free, *SIZE)
    target = folder / f"{template}-{look}.png"
    report = draw(wanted_on(series, next(iter(places(series)))), target)
    high = (placed.face[3] - placed.face[1]) / SIZE[1] if placed.face else None
    return Shown(template, look, placed.look, str(scene.free), high, (*report.violations, *report.warnings), target)


def _cell(one: Shown) -> SheetItem:
    drawn = one.drawn_as if one.look in ("auto", one.drawn_as) else f"{one.look}, drawn as {one.drawn_as}"
    return SheetItem(
        title=f"{one.template} · {drawn}",
        picture=one.picture,
        size=SIZE,
        status=f"free side: {one.side}",
        reason="; ".join(one.notes),
        good=not one.notes,
    )


def _remarks(hero: HeroPicture, placed: Placed) -> Iterator[str]:
    subject = placed.subject
    if hero.poor:
        yield f"the mask is not cut with: {hero.poor}"
    if subject.kind == "none":
        yield "no subject stands out: the picture is a ground, shown as a card; subject: [x, y, w, h] names one"
    if subject.kind == "found":
        yield "the subject's box was found, not told: look at the sheet; subject: [x, y, w, h] puts it right"
    if not hero.has_ground:
        yield "no photo is behind the cut-out: every look but duotone shows it on the coloured ground"
    if placed.lie.scale > _ENLARGED:
        yield f"the hero is small: it is enlarged {placed.lie.scale:.1f} times, and soft"
    if subject.face and placed.face and (placed.face[3] - placed.face[1]) < _SMALL_FACE * SIZE[1]:
        yield "the face is small: less than a quarter of the height"
