"""The sheet of a series or of a hero run: one page and one picture on which everything can be looked at."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from thumbforge import ids
from thumbforge.durable import read_regular, write_whole
from thumbforge.errors import LedgerError, StoreError
from thumbforge.imaging.contact import write_contact
from thumbforge.imaging.sheet import MOST, PICTURE, Sheet, SheetItem, write_page
from thumbforge.making.consistency import unlike
from thumbforge.planning.decide import PlannedSeries
from thumbforge.planning.plan import Row
from thumbforge.planning.project import Project, relative
from thumbforge.store.assets import store_errors
from thumbforge.store.attempts import costs_of
from thumbforge.store.finals import KnownFinal, failed_checks

if TYPE_CHECKING:
    from thumbforge.store.heroes import Candidate
from thumbforge.store.spending import amount_of

_PAGE = re.compile(r"sheet(-[0-9]{1,6})?\.html")


def series_sheet(project: Project, planned: PlannedSeries, rows: Iterable[Row]) -> Sheet:
    """What the sheet of a series shows now."""
    series, rows, folder = planned.series, tuple(rows), project.out / planned.series.name
    costs = _costs(project, [row.iteration_id for row in rows if row.iteration_id])
    odd = unlike(project, series.name) if series.consistency == "warn" else {}
    return Sheet(
        title=series.playlist.playlist.title or series.name,
        channel=series.playlist.playlist.channel,
        facts=(
            ("series", series.name),
            ("template", f"{series.template.name} v{series.template.version}"),
            ("provider", series.profile.name),
        ),
        items=tuple(_item(project, folder, row, costs.get(row.iteration_id or "", ""), odd) for row in rows),
    )


def _item(project: Project, folder: Path, row: Row, cost: str, odd: Mapping[str, str]) -> SheetItem:
    item, final = row.wanted.item, row.final
    notes = _notes(final) if final else ()
    if final and final.picture.sha256 in odd:
        notes = (*notes, odd[final.picture.sha256])
    output = row.wanted.series.output
    return SheetItem(
        title=item.title,
        part=row.wanted.drawing.part or "",
        picture=_picture(project, folder, row),
        size=(output.width, output.height),
        video=item.video,
        key=row.wanted.key[:8],
        cost=cost,
        status="pending" if "export" in row.restore and row.status == "completed" else row.status,
        reason="" if row.is_done and not row.remark else row.reason,
        duration=item.duration,
        notes=notes,
        good=row.is_in_place and not notes,
    )


def _notes(final: KnownFinal) -> tuple[str, ...]:
    if final.is_faultless:
        return ()
    report = final.report
    return (*failed_checks(report, "error"), *failed_checks(report, "warning"))


def _picture(project: Project, folder: Path, row: Row) -> Path | None:
    """The export beside the sheet, so that out/ can be taken elsewhere as it is; else the stored final. Whether the
    export is there, the plan has seen."""
    if row.is_in_place:
        return folder / row.wanted.export_name
    return project.store.path(row.final.picture.sha256, row.final.picture.suffix) if row.final else None


def _costs(project: Project, iterations: list[str]) -> dict[str, str]:
    """What each iteration has cost over all its attempts, where the ledger knows."""
    with project.reading() as database:
        if database is None:
            return {}
        costs = costs_of(database, iterations)
    spent: dict[tuple[str, str | None], Decimal] = {}
    for iteration, cost, currency in costs:
        with contextlib.suppress(LedgerError):  # an amount that is none is told by `runs cost`; here it is not known
            spent[iteration, currency] = spent.get((iteration, currency), Decimal(0)) + amount_of(cost)
    told: dict[str, str] = {}
    for (iteration, currency), amount in spent.items():
        told[iteration] = ", ".join(filter(None, (told.get(iteration), f"{amount} {currency}")))
    return told


def hero_sheet(project: Project, run: sqlite3.Row, found: Iterable[Candidate]) -> Sheet:
    """The candidates of a hero run, the pick marked."""
    return Sheet(
        title=f"Hero run {str(run['id'])[:8]}",
        facts=(("kind", str(run["kind"])), ("status", str(run["status"]))),
        items=tuple(
            SheetItem(
                title=f"Candidate {c.ordinal}{' (picked)' if c.picked else ''}",
                picture=project.store.path(*c.final) if c.final else None,
                key=c.iteration_id[:8],
                status=c.status,
                reason=c.error or "",
                good=c.status == "completed",
            )
            for c in found
        ),
    )


def write_sheet(sheet: Sheet, folder: Path, names: tuple[str, str]) -> Path:
    """Write page and picture into `folder`; returns the page's path. Writing the same sheet again changes nothing."""
    with store_errors("the sheet", "sheet.file"):
        folder.mkdir(parents=True, exist_ok=True)
        write_contact(sheet, folder / names[1])
        write_page(sheet, folder / names[0])
    return folder / names[0]


def keep_sheet(project: Project, planned: PlannedSeries, rows: Iterable[Row]) -> Path:
    """The sheet of a series in out/<series>/: what is not current is written, what it no longer has is removed."""
    sheet, folder = series_sheet(project, planned, rows), project.out / planned.series.name
    shown, wanted = _shown(project, planned.series.name), digests(sheet)
    stale = [name for name in wanted if shown.get(name) != wanted[name] or not (folder / name).is_file()]
    if stale or shown.keys() != wanted.keys():
        with store_errors("the sheet", "sheet.file"):
            if not folder.resolve().is_relative_to(project.root.resolve()):
                raise StoreError(f"{relative(folder, project.root)} leads out of the project")
            folder.mkdir(parents=True, exist_ok=True)
            _write(sheet, folder, stale)
            for name in shown.keys() - wanted.keys():
                (folder / name).unlink(missing_ok=True)
        _note(_mark(project, planned.series.name), wanted)
    return folder / sheet.page_names[0]


def _note(mark: Path, wanted: Mapping[str, str]) -> None:
    """What the sheet shows now; where that cannot be noted it is written again the next time."""
    with contextlib.suppress(OSError):
        mark.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(mark, json.dumps(wanted).encode())


def _write(sheet: Sheet, folder: Path, names: Sequence[str]) -> None:
    if PICTURE in names:
        write_contact(sheet, folder / PICTURE)
    for number, name in enumerate(sheet.page_names, 1):
        if name in names:
            write_page(sheet, folder / name, number)


def is_current(project: Project, series: str, sheet: Sheet) -> bool:
    """Whether the files in out/ are there and show this."""
    wanted = digests(sheet)
    return _shown(project, series) == wanted and all((project.out / series / name).is_file() for name in wanted)


_TOLD = attrgetter(*(field.name for field in fields(SheetItem) if field.name != "picture"))


def digests(sheet: Sheet) -> dict[str, str]:
    """Identity of what each file of a sheet shows, by its name; where the project lies is no part of it."""
    head = (sheet.title, sheet.channel, sheet.facts, sheet.counts, len(sheet.items))
    pages = {name: sheet.of_page(number) for number, name in enumerate(sheet.page_names, 1)}
    picture = _digest((sheet.title, len(sheet.items)), sheet.items[:MOST])
    return {PICTURE: picture, **{name: _digest(head, items) for name, items in pages.items()}}


def _digest(head: object, items: Iterable[SheetItem]) -> str:
    told = [(_TOLD(item), item.picture and item.picture.name) for item in items]
    return ids.sha256_hex(repr((head, told)).encode())


def _shown(project: Project, series: str) -> dict[str, str]:
    """What was written the last time; nothing where that cannot be read."""
    try:
        found = json.loads(read_regular(_mark(project, series)))
    except (OSError, ValueError, RecursionError):
        return {}
    named = found if isinstance(found, dict) else {}
    return {name: digest for name, digest in named.items() if name == PICTURE or _PAGE.fullmatch(name)}


def _mark(project: Project, series: str) -> Path:
    return project.home / "sheets" / f"{series}.shown"
