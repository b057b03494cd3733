"""Pictures of ours in out/ that nothing wants any more: of an item that left its list, of a series that is gone.

They are told by whatever looks at out/, and only `prune` takes them away. What was changed since it was put there is a
person's, and is none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from thumbforge import ids
from thumbforge.errors import ThumbforgeError
from thumbforge.making.exports.manifest import read_manifest
from thumbforge.models import Playlist
from thumbforge.planning.decide import PlannedSeries
from thumbforge.planning.lock import lock_name
from thumbforge.planning.project import Project
from thumbforge.store import exports, names, runs
from thumbforge.store.database import Database
from thumbforge.store.exports import Export
from thumbforge.store.looks import look
from thumbforge.text import counted

CURE = "thumbforge prune --orphans --apply takes {them} away"
_OF = {"item": "items that the list no longer has", "series": "a series that is gone"}
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Unwanted:
    """A row of what we put into out/, which nothing asks for: its item has left the list, or its series the project."""

    series: str
    item_key: str
    export: Export
    why: Literal["item", "series"]

    @property
    def path(self) -> str:
        """From the project's directory."""
        return f"out/{self.export.path}"


def all_unwanted(project: Project, database: Database) -> Iterator[Unwanted]:
    """Over all series, from their lists; a series whose specs cannot be read is left out."""
    for series in exports.series_names(database):
        if _is_gone(project, database, series):
            yield from _unwanted(series, exports.of_series(database, series), "series")
            continue
        with suppress(ThumbforgeError):
            if (playlist := _list_of(project, series)) is not None:
                wanted = _item_keys(playlist)
                rows = exports.of_series(database, series)
                yield from _unwanted(series, {key: rows[key] for key in rows.keys() - wanted}, "item")


def orphans(project: Project, found: Iterable[Unwanted]) -> list[Unwanted]:
    """Those whose file lies there as it was put there, by name."""
    return sorted((one for one in found if _is_there(project, one)), key=lambda one: one.path)


def left_by(project: Project, planned: Iterable[PlannedSeries]) -> list[Unwanted]:
    """The orphans of these series, and of those that are gone: what a command about them has to tell."""
    found = [one for each in planned for one in _unwanted(each.series.name, each.left, "item")]
    with suppress(ThumbforgeError), project.reading() as database:  # what was made is told, whatever else cannot be
        for series in exports.series_names(database) if database else ():
            assert database is not None
            if _is_gone(project, database, series):
                found += _unwanted(series, exports.of_series(database, series), "series")
    return orphans(project, found)


def told(project: Project, found: Iterable[Unwanted]) -> list[str]:
    """A line for each series; one that is gone may have left its lock file."""
    by_series: dict[tuple[str, str], list[str]] = {}
    for one in found:
        by_series.setdefault((one.series, one.why), []).append(one.export.path.rpartition("/")[2])
    lines = []
    for (series, why), files in by_series.items():
        of = _OF[why] if why == "series" or len(files) > 1 else "an item that the list no longer has"
        more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
        cure = CURE.format(them="it" if len(files) == 1 else "them")
        names_ = f"{', '.join(files[:_SHOWN])}{more}"
        lines.append(f"{counted(len(files), 'file')} in out/{series}/ of {of}: {names_}; {cure}")
        lock = lock_name(series) if names.is_plain(series) else ""
        if why == "series" and lock and (project.root / lock).is_file():
            lines.append(f"{lock} is that series', too: renamed as its YAML was, it keeps takes and approvals")
    return lines


def _unwanted(series: str, rows: Mapping[str, Export], why: Literal["item", "series"]) -> Iterator[Unwanted]:
    return (Unwanted(series, key, export, why) for key, export in rows.items())


def _is_gone(project: Project, database: Database, series: str) -> bool:
    """Whether it stood in specs/series when it was made, and does no more. Where no manifest says so: whether its name
    is another than its list's, as that of a series on the command line never is."""
    if series in project.catalog.series_names():
        return False
    if names.is_plain(series) and (found := read_manifest(project, series)):
        return found.get("declared") is True
    params = runs.params_of_last(database, series)
    return params is not None and params.get("playlist") != series


def _list_of(project: Project, series: str) -> Playlist | None:
    """The list of a declared series, or the one that a series on the command line is named after."""
    catalog = project.catalog
    named = catalog.series(series).playlist if series in catalog.series_names() else series
    found = catalog.find_playlist(named)
    return catalog.load_playlist(found[1]).spec if found else None


def _item_keys(playlist: Playlist) -> set[str]:
    seen: dict[str, int] = {}
    keys = set()
    for item in playlist.items:
        seen[item.video] = seen.get(item.video, 0) + 1
        if not item.removed:
            keys.add(ids.item_key(item.video, seen[item.video]))
    return keys


def _is_there(project: Project, one: Unwanted) -> bool:
    if not names.is_export(one.export.path):
        return False
    path = names.export_path(project.out, one.export.path)
    return not path.parent.is_symlink() and look(str(path), one.export.sha256, -1, one.export.seen).is_right
