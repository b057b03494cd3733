"""What the sheet of a series shows now: the files that are there, and beside each what is known of it.

A handful of queries and one look at the folder, however many items there are.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from thumbforge.errors import LedgerError, ThumbforgeError
from thumbforge.imaging.sheet import PAGES, PICTURE, Picture, Sheet, SheetItem, Stray, Take
from thumbforge.making.consistency import unlike
from thumbforge.making.sheets.previews import FOLDER
from thumbforge.planning.decide import PlannedSeries
from thumbforge.planning.plan import Row
from thumbforge.planning.project import Project, relative
from thumbforge.planning.selection import number_of
from thumbforge.planning.series import Series, look_of
from thumbforge.store import attempts, exports, finals
from thumbforge.store.finals import KnownFinal, failed_checks
from thumbforge.store.spending import amount_of

PACK = "sheet-pack.html"
_OURS = {PICTURE, PACK, FOLDER, "manifest.json"}
_SHOWN = (".jpg", ".jpeg", ".png", ".webp")


@dataclass(frozen=True, slots=True)
class _Known:
    """What the ledger has of the items: costs and takes by iteration, the rest by item key. `files` are what those in
    out/ are called, where one may be called otherwise than it will be."""

    costs: Mapping[str, str] = field(default_factory=dict)
    takes: Mapping[str, list[attempts.Take]] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    before: Mapping[str, list[tuple[str, Picture]]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    odd: Mapping[str, str] = field(default_factory=dict)


def series_sheet(project: Project, planned: PlannedSeries, rows: Iterable[Row]) -> Sheet:
    series, rows = planned.series, tuple(rows)
    there, known = _files(project.out / series.name), _known(project, series, rows)
    files = [_name(row, there, known) for row in rows]
    left = {export.path.rpartition("/")[2] for export in planned.left.values()}
    others = sorted(name for name in there.keys() - set(files) if _is_stray(name))
    return Sheet(
        title=series.playlist.playlist.title or series.name,
        channel=series.playlist.playlist.channel,
        facts=(
            ("series", series.name),
            ("template", f"{series.template.name} v{series.template.version}"),
            ("provider", series.profile.name),
        ),
        items=tuple(_item(project, row, name, there.get(name), known) for row, name in zip(rows, files, strict=True)),
        series=words_of(project, series),
        playlist=series.playlist_name if series.playlist_name in project.catalog.playlist_names() else "",
        strays=tuple(_stray(name, there[name], is_left=name in left) for name in others),
    )


def words_of(project: Project, series: Series) -> str:
    """What names the series on a command line, from the project's directory."""
    given = [f"var.{name}={shlex.quote(str(value))}" for name, value in series.overrides.items()]
    if series.name not in project.catalog.series_names():
        hero = relative(series.hero.path, project.root) if series.hero.from_file else series.hero.iteration_id[:8]
        made_of = {"playlist": series.playlist_name, "hero": hero, **_look(series)}
        return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in made_of.items()), *given])
    with contextlib.suppress(ThumbforgeError):
        spec = project.catalog.series(series.name)
        said = {"template": look_of(spec, "template", project.settings)}
        said["provider"] = look_of(spec, "provider", project.settings)
        other = [f"{name}={value}" for name, value in _look(series).items() if said[name].partition("@")[0] != value]
        given = [*other, *given]
    return " ".join([f"series={series.name}", *given])


def _look(series: Series) -> dict[str, str]:
    return {"template": series.template.name, "provider": series.profile.name}


def _files(folder: Path) -> dict[str, Picture]:
    """The regular files of a series' folder, and its folders, by name."""
    try:
        with os.scandir(folder) as entries:
            return {entry.name: _seen(entry) for entry in entries if not entry.is_symlink()}
    except OSError:
        return {}


def _seen(entry: os.DirEntry[str]) -> Picture:
    found = entry.stat(follow_symlinks=False)
    return Picture(Path(entry.path), f"{entry.name} {found.st_size} {found.st_mtime_ns}" if entry.is_file() else "")


def _is_stray(name: str) -> bool:
    return not (name in _OURS or name.startswith(".") or PAGES.fullmatch(name))


def _stray(name: str, found: Picture, *, is_left: bool) -> Stray:
    return Stray(name, found if found.identity and name.lower().endswith(_SHOWN) else None, is_left)


def _name(row: Row, there: Mapping[str, Picture], known: _Known) -> str:
    """What the item's file is called: as it will be, or as it is until then."""
    name = row.file or row.wanted.export_name
    return name if name in there else known.files.get(row.wanted.item_key, name)


def _known(project: Project, series: Series, rows: Sequence[Row]) -> _Known:
    iterations = [row.iteration_id for row in rows if row.iteration_id]
    odd = unlike(project, series.name) if series.consistency == "warn" else {}
    with project.reading() as database:
        if database is None:
            return _Known(odd=odd)
        changed = exports.of_last_run(database, series.name)
        drawn = finals.of_items(database, series.name, sorted(changed)) if changed else {}
        placed = {} if all(row.is_in_place for row in rows) else exports.of_series(database, series.name)
        return _Known(
            costs=_costs(attempts.costs_of(database, iterations)),
            takes=attempts.takes_of_all(database, iterations, least=2),
            changed=frozenset(changed),
            before={key: [(k, _stored(project, p.sha256, p.suffix)) for k, p in all_] for key, all_ in drawn.items()},
            files={key: export.path.rpartition("/")[2] for key, export in placed.items()},
            odd=odd,
        )


def _costs(told: Iterable[tuple[str, str, str | None]]) -> dict[str, str]:
    """What each iteration has cost over all its attempts, where the ledger knows."""
    spent: dict[tuple[str, str | None], Decimal] = {}
    for iteration, cost, currency in told:
        with contextlib.suppress(LedgerError):  # an amount that is none is told by `runs cost`; here it is not known
            spent[iteration, currency] = spent.get((iteration, currency), Decimal(0)) + amount_of(cost)
    costs: dict[str, str] = {}
    for (iteration, currency), amount in spent.items():
        costs[iteration] = ", ".join(filter(None, (costs.get(iteration), f"{amount} {currency}")))
    return costs


def _stored(project: Project, sha256: str, suffix: str) -> Picture:
    return Picture(project.store.path(sha256, suffix), sha256)


def _item(project: Project, row: Row, name: str, there: Picture | None, known: _Known) -> SheetItem:
    wanted, final, iteration = row.wanted, row.final, row.iteration_id or ""
    notes = _notes(final) if final else ()
    if final and final.picture.sha256 in known.odd:
        notes = (*notes, known.odd[final.picture.sha256])
    shown = _shown(project, row, there)
    is_in_place, drawn = row.is_in_place, known.before.get(wanted.item_key)
    return SheetItem(
        title=wanted.item.title,
        part=wanted.drawing.part or "",
        picture=shown.path if shown else None,
        identity=shown.identity if shown else "",
        size=(wanted.series.output.width, wanted.series.output.height),
        video=wanted.item.video,
        key=wanted.key[:8],
        cost=known.costs.get(iteration, ""),
        status="pending" if "export" in row.restore and row.status == "completed" else row.status,
        reason="" if row.is_done and not row.remark else row.reason,
        duration=wanted.item.duration,
        notes=notes,
        good=is_in_place and not notes,
        is_old=not is_in_place and there is not None,
        file=name,
        text=wanted.drawing.title,
        take=row.take,
        takes=_takes(project, row, known.takes[iteration]) if iteration in known.takes else (),
        is_locked=row.is_locked,
        is_changed=is_in_place and wanted.item_key in known.changed,
        before=_before(row, drawn) if drawn else None,
        names=wanted.task_name,
        place=wanted.item.video if wanted.occurrence == 1 else f"#{wanted.position}",
        number=str(number_of(row)),
    )


def _notes(final: KnownFinal) -> tuple[str, ...]:
    if final.is_faultless:
        return ()
    report = final.report
    return (*failed_checks(report, "error"), *failed_checks(report, "warning"))


def _shown(project: Project, row: Row, found: Picture | None) -> Picture | None:
    """The file beside the sheet, whoever made it: it is what will be uploaded. Only where there is none, the picture
    in the store."""
    if found and found.identity:
        is_ours = row.final and row.is_in_place and not row.remark
        return Picture(found.path, row.final.picture.sha256) if is_ours and row.final else found
    return _stored(project, row.final.picture.sha256, row.final.picture.suffix) if row.final else None


def _takes(project: Project, row: Row, takes: Iterable[attempts.Take]) -> tuple[Take, ...]:
    return tuple(Take(one.take, _stored(project, one.sha256, one.suffix), _is_in_use(one, row)) for one in takes)


def _is_in_use(take: attempts.Take, row: Row) -> bool:
    return take.sha256 == row.art.picture.sha256 if row.art else take.in_use


def _before(row: Row, drawn: Iterable[tuple[str, Picture]]) -> Picture | None:
    """The newest of all that was drawn of the item but for what it is now. Its file may be gone."""
    others = [picture for key, picture in drawn if row.final and key != row.final.final_key]
    return others[-1] if others else None
