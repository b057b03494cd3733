"""What nothing wants in out/: told by the audit, taken away by `prune`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from thumbforge.making.exports.manifest import remove_manifest
from thumbforge.making.exports.orphans import Unwanted, all_unwanted, orphans
from thumbforge.making.sheets.kept import remove_sheet
from thumbforge.planning.project import Project
from thumbforge.store import exports, names
from thumbforge.store.database import Database
from thumbforge.upkeep.repair import Removal


def prune_out(project: Project, database: Database, *, apply: bool) -> Iterator[Removal]:
    """The orphans; with the last file of a series that is gone its sheet, its manifest and its empty folder. What was
    changed since it was put there stays, and so do rows whose file is nothing that we put there."""
    found = list(all_unwanted(project, database))
    for one in orphans(project, found):
        removal = Removal("orphan", one.path, _size(project, one))
        if not apply or _remove(project, database, one):
            yield removal
    if not apply:
        return
    for one in found:
        if names.is_export(one.export.path) and not names.export_path(project.out, one.export.path).exists():
            exports.forget(database, one.series, one.item_key, one.export.sha256)
    for series in {one.series for one in found if one.why == "series"}:
        if not exports.of_series(database, series):
            _clear(project, series)


def _remove(project: Project, database: Database, one: Unwanted) -> bool:
    """The file before its row: where this ends between the two, the next time drops the row."""
    if not orphans(project, [one]):
        return False
    try:
        names.export_path(project.out, one.export.path).unlink()
    except OSError:
        return False
    exports.forget(database, one.series, one.item_key, one.export.sha256)
    return True


def _clear(project: Project, series: str) -> None:
    if not names.is_plain(series):
        return
    folder = project.out / series
    if folder.is_symlink():
        return
    remove_sheet(project, series)
    remove_manifest(project, series)
    with suppress(OSError):  # what else lies there is a person's
        folder.rmdir()


def _size(project: Project, one: Unwanted) -> int:
    try:
        return names.export_path(project.out, one.export.path).stat().st_size
    except OSError:
        return 0
