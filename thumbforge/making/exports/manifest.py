"""`out/<series>/manifest.json`: which file is which video, for whoever uploads the pictures by a program.

A line for each picture that lies there, in the list's order. Nothing in it differs from machine to machine, and it is
written only where it says something else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from thumbforge import log
from thumbforge.durable import read_regular, write_whole
from thumbforge.planning.decide import PlannedSeries
from thumbforge.planning.plan import Row
from thumbforge.planning.project import Project
from thumbforge.store.assets import AssetStore
from thumbforge.store.looks import mark_of
from thumbforge.store.witness import manifest_of

NAME = "manifest.json"
_MOST = 50_000_000


def keep_manifest(project: Project, planned: PlannedSeries, rows: Sequence[Row], *, whole: bool = True) -> None:
    """Write what lies in out/ of a series. The rows are all items of the list, or with `whole` False some: what is said
    of other positions stays. One that cannot be written is told, and fails nothing."""
    if planned.kind != "batch" or not planned.series.name:
        return
    series, path = planned.series.name, project.out / planned.series.name / NAME
    others = {} if whole else _items_in(read_manifest(project, series))
    items = _items(project.store, rows, others)
    data = _data(planned, items)
    try:
        if (items or path.exists()) and _there(path) != data and _is_ours(project, path.parent):
            write_whole(path, data)
        _note(project, series, mark_of(path))
    except OSError as error:
        log.warning("the manifest could not be written", file=f"out/{series}/{NAME}", error=error.strerror)


def is_as_written(project: Project, series: str) -> bool:
    """Whether it is there and nobody has touched it since: a look that costs the same for any number of items."""
    seen = mark_of(project.out / series / NAME)
    with suppress(OSError):
        return seen is not None and read_regular(_note_of(project, series), 200).decode() == seen
    return False


def is_current(project: Project, planned: PlannedSeries) -> bool:
    """Whether it says what lies there, where anything does."""
    there, items = _there(project.out / planned.series.name / NAME), _items(project.store, planned.rows, {})
    return there == _data(planned, items) if there is not None or items else True


def _items(store: AssetStore, rows: Iterable[Row], others: Mapping[int, Any]) -> dict[int, Any]:
    """What is said of these rows, by position, and what was said of other positions."""
    items = dict(others)
    for row in rows:
        items.pop(row.wanted.position, None)
        if entry := _entry(store, row):
            items[row.wanted.position] = entry
    return items


def _data(planned: PlannedSeries, items: Mapping[int, Any]) -> bytes:
    series = planned.series
    head = {
        "series": series.name,
        "declared": series.is_declared,
        "playlist": series.playlist.playlist.id,
        "template": {"name": series.template.name, "version": series.template.version},
    }
    return _text(head, [items[position] for position in sorted(items)]).encode()


def _note(project: Project, series: str, seen: str | None) -> None:
    """Of one that cannot be noted it is asked anew the next time."""
    path = _note_of(project, series)
    with suppress(OSError):
        if seen is None:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not is_as_written(project, series):
            write_whole(path, seen.encode())


def _note_of(project: Project, series: str) -> Path:
    return project.home / "sheets" / f"{series}.manifest"


def read_manifest(project: Project, series: str) -> dict[str, Any]:
    """What was written of a series; nothing where that is missing or somebody else's."""
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(read_regular(project.out / series / NAME, _MOST))
        if isinstance(found, dict) and found.get("series") == series:
            return found
    return {}


def remove_manifest(project: Project, series: str) -> None:
    """That of a series that is gone."""
    if read_manifest(project, series):
        with suppress(OSError):
            (project.out / series / NAME).unlink()
            _note(project, series, None)


def _entry(store: AssetStore, row: Row) -> dict[str, Any] | None:
    """What is said of a picture; None where none lies in out/."""
    wanted, final = row.wanted, row.final
    if final is None or not row.is_in_place or not row.file:
        return None
    key, take = wanted.key, row.take
    if row.is_locked and (row.art is None or wanted.final_key(row.art.picture.sha256) != final.final_key):
        told = manifest_of(store.manifest(final.final_key), final.final_key)  # it is of other specs than today's
        key, take = (told.key, int(told.art["take"])) if told else (key, take)
    return {
        "file": row.file,
        "video": wanted.item.video,
        "part": wanted.item.part,
        "position": wanted.position,
        "title": wanted.item.title,
        "key": key,
        "final": final.picture.sha256,
        "take": take,
        "edited": bool(row.remark),
    }


def _items_in(found: Mapping[str, Any]) -> dict[int, Any]:
    items = found.get("items")
    told = [e for e in items if isinstance(e, dict)] if isinstance(items, list) else []
    return {e["position"]: e for e in told if isinstance(e.get("position"), int)}


def _text(head: Mapping[str, Any], items: Iterable[Mapping[str, Any]]) -> str:
    lines = ",\n".join(f"  {json.dumps(item, ensure_ascii=False)}" for item in items)
    said = json.dumps(head, ensure_ascii=False)[:-1]
    return f'{said}, "items": [\n{lines}\n]}}\n' if lines else f'{said}, "items": []}}\n'


def _there(path: Path) -> bytes | None:
    with suppress(OSError):
        return read_regular(path, _MOST)
    return None


def _is_ours(project: Project, folder: Path) -> bool:
    """Whether the folder is one of the project's own: a link leads out of it."""
    return folder.is_dir() and folder.resolve().is_relative_to(project.root.resolve())
