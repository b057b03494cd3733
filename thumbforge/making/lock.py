"""The lock file written: by whatever has made or chosen a final, on every way home, and only where it changed."""

from __future__ import annotations

import errno
from collections.abc import Collection, Sequence
from pathlib import Path

from thumbforge import log
from thumbforge.durable import make_folder, replace_durably
from thumbforge.errors import ThumbforgeError
from thumbforge.named import inside
from thumbforge.planning.decide import PlannedSeries
from thumbforge.planning.lock import find_lock, lock_name, place_of, renewed, unmet
from thumbforge.planning.plan import Row
from thumbforge.planning.project import Project
from thumbforge.specs.locks import Entry, Head, lock_text
from thumbforge.store import exports
from thumbforge.store.assets import store_errors
from thumbforge.text import counted


def keep_lock(
    project: Project,
    planned: PlannedSeries,
    rows: Sequence[Row],
    *,
    chosen: Collection[str] = (),
    whole: bool = True,
) -> bool:
    """Write the lock of a series where these rows make it another, and whether they do; they are all items of the
    list, or with `whole` False some. A lock that cannot be read or written fails nothing that was made: it is told, and
    the next run tries again."""
    if planned.kind != "batch":
        return False
    series, before, is_other = planned.series, planned.lock, True
    try:
        found = renewed(series, rows, before, project.store, chosen=chosen, whole=whole)
        is_other = found is not None
        if found:  # another run may have written it since
            before = find_lock(project.root, series.name)
            found = renewed(series, rows, before, project.store, chosen=chosen, whole=whole)
        if found:
            write_lock(project, series.name, *found)
        if absent := unmet(rows, before, chosen):
            log.warning(
                f"{counted(absent, 'picture')} of other art than the lock file names, which is not here",
                series=series.name,
                hint="it is used once it is in the store; takes use ITEM N puts what is here into the lock",
            )
    except ThumbforgeError as error:
        log.warning("the lock file was not written", series=series.name, error=f"{error.code}: {error}")
    return is_other


def keep_approval(project: Project, planned: PlannedSeries, row: Row, approved: bool) -> None:
    """Approve the picture of an item, or take that back, here and in the lock file. What the lock says goes before the
    ledger, so it is written first."""
    series, place = planned.series, place_of(row.wanted)
    before = find_lock(project.root, series.name)
    known = (before.head, before.all) if before else None
    if now := renewed(series, planned.rows, before, project.store) or known:
        head, entries = now
        told = tuple(e._replace(approved=approved) if (e.video, e.place) == place else e for e in entries)
        if (head, told) != known:
            write_lock(project, series.name, head, told)
    with project.ledger() as ledger:
        exports.lock(ledger.database, series.name, row.wanted.item_key, approved, ledger.now())


def write_lock(project: Project, series: str, head: Head, entries: Collection[Entry]) -> None:
    """Whole, by rename: whoever reads it finds the old one or the new one. Raises StoreError."""
    target = inside(project.root, lock_name(series))
    data = lock_text(head, entries).encode()
    with store_errors(lock_name(series), "lock.file"):
        make_folder(target.parent)
        _rename_over(target, data, project)


def _rename_over(target: Path, data: bytes, project: Project) -> None:
    try:
        replace_durably(target, data, project.store.scratch_file(".yaml"))
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        replace_durably(target, data)  # the store lies on another disk (THUMBFORGE_HOME)
