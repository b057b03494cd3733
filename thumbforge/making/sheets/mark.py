"""What the sheet of a series showed when it was written last, and how things stood then: told by a look that costs the
same for ten thousand items as for ten."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from thumbforge.durable import read_regular, write_whole
from thumbforge.imaging.sheet import PAGES, PICTURE
from thumbforge.making.sheets.previews import FOLDER
from thumbforge.planning.project import Project
from thumbforge.store import exports

_STATE = "state"


def path_of(project: Project, series: str) -> Path:
    return project.home / "sheets" / f"{series}.shown"


def shown(project: Project, series: str) -> dict[str, str]:
    """The digests of the sheet's files, by their names; nothing where that cannot be read."""
    return {name: digest for name, digest in _read(project, series).items() if name == PICTURE or PAGES.fullmatch(name)}


def note(project: Project, series: str, digests: Mapping[str, str]) -> None:
    """What the sheet shows now; where that cannot be noted it is written again the next time."""
    mark = path_of(project, series)
    with contextlib.suppress(OSError):
        mark.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(mark, json.dumps({**digests, _STATE: _state(project, series)}).encode())


def is_as_noted(project: Project, series: str) -> bool:
    """Whether the sheet's files are there, nothing was put into out/ or locked since, and no file has come or gone."""
    names, folder = shown(project, series), project.out / series
    is_there = (folder / FOLDER).is_dir() and all((folder / name).is_file() for name in names)
    return bool(names) and is_there and _read(project, series).get(_STATE) == _state(project, series)


def _state(project: Project, series: str) -> str:
    with contextlib.suppress(OSError), os.scandir(project.out / series) as entries, project.reading() as database:
        count = sum(not entry.name.startswith(".") for entry in entries)
        return f"{exports.last_change(database, series) if database else 0} {count}"
    return ""


def _read(project: Project, series: str) -> dict[str, Any]:
    try:
        found = json.loads(read_regular(path_of(project, series)))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
