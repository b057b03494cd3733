"""The sheet in out/<series>/, kept current: what shows something else is written, what it no longer has is removed."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import attrgetter
from pathlib import Path

from thumbforge import ids
from thumbforge.durable import write_whole
from thumbforge.errors import StoreError
from thumbforge.imaging.contact import write_contact
from thumbforge.imaging.sheet import MOST, PICTURE, Picture, Sheet, SheetItem
from thumbforge.imaging.sheet_page import Small, packed, write_page
from thumbforge.making.sheets import mark, previews
from thumbforge.making.sheets.series import PACK, series_sheet
from thumbforge.planning.decide import PlannedSeries
from thumbforge.planning.plan import Row
from thumbforge.planning.project import Project, relative
from thumbforge.store.assets import store_errors


def keep_sheet(project: Project, planned: PlannedSeries, rows: Iterable[Row]) -> Path:
    """The path of the sheet's first page, which is current now."""
    sheet, folder = series_sheet(project, planned, rows), project.out / planned.series.name
    shown, wanted = mark.shown(project, planned.series.name), digests(sheet)
    stale = [name for name in wanted if shown.get(name) != wanted[name] or not (folder / name).is_file()]
    if stale or shown.keys() != wanted.keys() or not (folder / previews.FOLDER).is_dir():
        with store_errors("the sheet", "sheet.file"):
            if not folder.resolve().is_relative_to(project.root.resolve()):
                raise StoreError(f"{relative(folder, project.root)} leads out of the project")
            folder.mkdir(parents=True, exist_ok=True)
            _write(project, sheet, folder, stale)
            for name in shown.keys() - wanted.keys():
                (folder / name).unlink(missing_ok=True)
    if stale or not mark.is_as_noted(project, planned.series.name):
        mark.note(project, planned.series.name, wanted)
    return folder / sheet.page_names[0]


def write_sheet(project: Project, sheet: Sheet, folder: Path, names: tuple[str, str]) -> Path:
    """Write page and picture into `folder`, which lies beside the kept previews; returns the page's path. Writing the
    same sheet again changes nothing."""
    with store_errors("the sheet", "sheet.file"):
        folder.mkdir(parents=True, exist_ok=True)
        write_contact(sheet, folder / names[1])
        there = previews.make(project, _pictures(sheet)).keys()
        write_page(sheet, folder / names[0], small=_in_folder(previews.kept_in(project).name, there))
    return folder / names[0]


def pack(project: Project, planned: PlannedSeries, target: Path | None = None) -> Path:
    """The whole sheet as one file with its small pictures in it, by default beside the sheet; its path."""
    sheet = series_sheet(project, planned, planned.rows)
    target = target or project.out / planned.series.name / PACK
    made = previews.make(project, _pictures(sheet))

    def small(picture: Picture) -> str:
        data = made.get(previews.name_of(picture))
        return f"data:image/webp;base64,{base64.b64encode(data).decode()}" if data else ""

    with store_errors("the sheet", "sheet.file"):
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, packed(sheet, small).encode())
    return target


def remove_sheet(project: Project, series: str) -> None:
    """All that was written for the sheet of a series that is gone."""
    folder = project.out / series
    with contextlib.suppress(OSError):
        for name in (*mark.shown(project, series), PACK):
            (folder / name).unlink(missing_ok=True)
        previews.remove_beside(folder)
        mark.path_of(project, series).unlink(missing_ok=True)


def is_current(project: Project, series: str, sheet: Sheet) -> bool:
    """Whether the files in out/ are there and show this."""
    wanted, folder = digests(sheet), project.out / series
    return (
        mark.shown(project, series) == wanted
        and all((folder / name).is_file() for name in wanted)
        and (folder / previews.FOLDER).is_dir()
    )


def _pictures(sheet: Sheet) -> list[Picture]:
    strays = [stray.picture for stray in sheet.strays if stray.picture]
    return [*(picture for item in sheet.items for picture in item.pictures), *strays]


def _write(project: Project, sheet: Sheet, folder: Path, names: Sequence[str]) -> None:
    if PICTURE in names:
        write_contact(sheet, folder / PICTURE)
    there = previews.lay_beside(project, folder, _pictures(sheet))
    for number, name in enumerate(sheet.page_names, 1):
        if name in names:
            write_page(sheet, folder / name, number, _in_folder(previews.FOLDER, there))


def _in_folder(folder: str, there: Iterable[str]) -> Small:
    names = set(there)

    def small(picture: Picture) -> str:
        name = previews.name_of(picture)
        return f"{folder}/{name}" if name in names else ""

    return small


_ON_PAGE = attrgetter(*(field.name for field in fields(SheetItem) if field.name != "picture"))
_ON_PICTURE = attrgetter("identity", "heading", "status", "cost", "reason", "good")
_VERSION = 2
"""Of the page: another one is written anew, whatever it shows."""


def digests(sheet: Sheet) -> dict[str, str]:
    """Identity of what each file of a sheet shows, by its name; where the project lies is no part of it."""
    head = (sheet.title, sheet.channel, sheet.facts, sheet.counts, len(sheet.items), sheet.series, sheet.playlist)
    pages = {
        name: _digest((head, sheet.strays_of(number)), map(_ON_PAGE, sheet.of_page(number)))
        for number, name in enumerate(sheet.page_names, 1)
    }
    picture = _digest((sheet.title, len(sheet.items)), map(_ON_PICTURE, sheet.items[:MOST]))
    return {PICTURE: picture, **pages}


def _digest(head: object, items: Iterable[object]) -> str:
    return ids.sha256_hex(repr((_VERSION, head, list(items))).encode())
