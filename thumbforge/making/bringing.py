"""What others have shared, brought here before a plan is acted upon, so that limits, prices and `--locked` count what
is really to be paid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from thumbforge.making.sharing import Sharing
from thumbforge.making.threads import inspect
from thumbforge.planning.decide import PlannedSeries, decided
from thumbforge.planning.lock import place_of
from thumbforge.planning.locked import as_locked
from thumbforge.planning.plan import Row
from thumbforge.planning.prices import calls_to_a_service
from thumbforge.planning.project import Project
from thumbforge.specs.locks import Entry, Lock
from thumbforge.store.shared import parcels
from thumbforge.store.shared.remote import Remote

Rows = tuple[Row, ...]


def with_shared(
    project: Project, planned: PlannedSeries, rows: Sequence[Row], sharing: Sharing
) -> tuple[PlannedSeries, Rows]:
    """The same once the art that rows would call for is here, where somebody has shared it. Raises Interrupted."""
    lacking = _calling(planned, rows)
    if not lacking or not _brought(sharing, lacking, lambda row, remote: _bring_art(project, planned, row, remote)):
        return planned, tuple(rows)
    return _anew(project, planned, rows, {row.wanted.item_key for row in lacking})


def foreseen(planned: PlannedSeries, rows: Sequence[Row], sharing: Sharing) -> Rows:
    """The rows as `with_shared` would leave them, for a plan that is only shown: nothing is brought or written."""

    def is_there(row: Row, remote: Remote) -> bool:
        found = parcels.record_there(remote, row.art_key)
        entry = _chosen(planned, row)
        return found is not None and (entry is None or entry.art == found["sha256"])

    there = {row.art_key for row in _asked(sharing, _calling(planned, rows), is_there)}
    shown = "its art is in the shared store"
    return tuple(
        replace(row, action="refinish", reason=shown) if row.calls and row.art_key in there else row for row in rows
    )


def locked_with_shared(
    project: Project, planned: PlannedSeries, rows: Sequence[Row], lock: Lock, sharing: Sharing
) -> tuple[PlannedSeries, Rows]:
    """The rows as the lock has them, once the pictures that it names are here, where they are shared: the finished one,
    or its art to draw it from."""
    found = as_locked(planned, rows, lock, project.store)
    lacking = [row for row in found if row.pinned and ((row.status == "failed" and row.cure) or row.calls)]

    def bring(row: Row, remote: Remote) -> bool:
        entry = row.pinned
        assert entry is not None
        suffix = entry.name[entry.name.rfind(".") :]
        if parcels.bring_picture(project.store, remote, entry.final, suffix):
            return True
        if row.calls:  # painted here for nothing, should it be nowhere
            return False
        return parcels.bring_chosen(project.store, remote, entry.art_key, entry.art, _check(row)) is not None

    if not (lacking and _brought(sharing, lacking, bring)):
        return planned, found
    planned, rows = _anew(project, planned, rows, {row.wanted.item_key for row in lacking})
    return planned, as_locked(planned, rows, lock, project.store)


def _calling(planned: PlannedSeries, rows: Sequence[Row]) -> list[Row]:
    """Those that would call a service; two places of a video are one request."""
    if not calls_to_a_service(planned.series.profile, 1):
        return []
    return list({row.art_key: row for row in rows if row.calls}.values())


def _chosen(planned: PlannedSeries, row: Row) -> Entry | None:
    """What the lock file says of the request that the row makes."""
    entry = planned.lock.of(*place_of(row.wanted), row.wanted.art_key) if planned.lock else None
    return entry if entry and entry.art_key == row.art_key else None


def _check(row: Row) -> Callable[[bytes], None]:
    wanted = row.wanted.request_for(row.take)

    def check(data: bytes) -> None:
        inspect(data, wanted.width, wanted.height)

    return check


def _bring_art(project: Project, planned: PlannedSeries, row: Row, remote: Remote) -> bool:
    if entry := _chosen(planned, row):
        found = parcels.bring_chosen(project.store, remote, row.art_key, entry.art, _check(row))
    else:
        found = parcels.bring_art(project.store, remote, row.art_key, _check(row))
    return found is not None


def _brought(sharing: Sharing, rows: Sequence[Row], bring: Callable[[Row, Remote], bool]) -> list[Row]:
    found = _asked(sharing, rows, bring)
    sharing.brought |= {row.art_key for row in found}
    return found


def _asked(sharing: Sharing, rows: Sequence[Row], ask: Callable[[Row, Remote], bool]) -> list[Row]:
    """Those of which `ask` says yes."""
    return [row for row, said in sharing.ask_of(rows, ask) if said]


def _anew(project: Project, planned: PlannedSeries, rows: Sequence[Row], keys: set[str]) -> tuple[PlannedSeries, Rows]:
    """Decided again; rows of other items stay as they were chosen."""
    now = decided(project, planned)
    found = {row.wanted.item_key: row for row in now.rows}
    arts = {row.art_key for row in rows if row.wanted.item_key in keys}
    return now, tuple(found[row.wanted.item_key] if row.art_key in arts else row for row in rows)
