"""What a series still gets where there is nothing to make: its lock file and sheet, its playlist stated, what was read
remembered, what waits for the shared store sent."""

from __future__ import annotations

from thumbforge import log
from thumbforge.errors import LedgerError, StoreError
from thumbforge.making.exports.manifest import is_as_written, keep_manifest
from thumbforge.making.lock import keep_lock
from thumbforge.making.record import remember_world
from thumbforge.making.sheets import mark
from thumbforge.planning.decide import PlannedSeries
from thumbforge.planning.project import Project, relative
from thumbforge.playlists.ingest import ingest, is_stated
from thumbforge.store.looks import remember
from thumbforge.store.shared.place import may_write


def record(project: Project, planned: PlannedSeries, *, keeps_lock: bool = True) -> bool:
    """State the playlist where it changed, and remember what had to be read; whether the playlist changed. The ledger
    is opened for writing only where it has something to learn, and one that cannot take it fails nothing. A lock file
    that is out of date is written, unless it is what the command was about, and so is the manifest in out/."""
    is_other = keep_lock(project, planned, planned.rows) if keeps_lock else False
    changed = _stated_anew(project, planned)
    if is_other or changed or planned.fresh or _is_edited(planned) or not is_as_written(project, planned.series.name):
        keep_manifest(project, planned, planned.rows)
    return changed


def _is_edited(planned: PlannedSeries) -> bool:
    return any(row.remark for row in planned.rows)


def _stated_anew(project: Project, planned: PlannedSeries) -> bool:
    with project.reading() as database:
        if database is None:
            return False
        stated = is_stated(database, planned.series.playlist)
    if may_write(project.settings):
        _send(project)
    if stated and not planned.fresh:
        return False
    try:
        with project.ledger() as ledger:
            remember(ledger.database, planned.fresh)
            if not stated:
                remember_world(ledger, planned.series)
                ingest(ledger, project.store, planned.series.playlist, "edit")
    except (LedgerError, StoreError) as error:
        if not stated:
            log.warning("the playlist's changes could not be recorded", error=f"{error.code}: {error}")
    return not stated


def _send(project: Project) -> None:
    """What an earlier command could not share; the ledger is opened for writing only where there is such a thing."""
    from thumbforge.cancel import Cancel
    from thumbforge.making.sharing import Sharing
    from thumbforge.store.shared import outbox

    with project.reading() as database:
        if database is None or not outbox.waiting(database):
            return
    try:
        with project.ledger() as ledger:
            Sharing(project, Cancel()).flush(ledger.database)
    except LedgerError as error:
        log.warning("what waits for the shared store could not be sent", error=f"{error.code}: {error}")


def conclude(project: Project, planned: PlannedSeries, *, keeps_lock: bool = True) -> str:
    """As `record`, and the sheet: written where it may show something else, or is not there. Its path, "" where it is
    as it was: to find that out item by item takes as long as all the rest of a batch with nothing to do."""
    changed = record(project, planned, keeps_lock=keeps_lock)
    if (
        not changed
        and all(row.is_done and not row.remark for row in planned.rows)
        and mark.is_as_noted(project, planned.series.name)
    ):
        return ""
    from thumbforge.making.sheets.kept import keep_sheet

    try:
        return relative(keep_sheet(project, planned, planned.rows), project.root)
    except StoreError as error:
        log.warning("the sheet could not be written", error=str(error))
        return ""
