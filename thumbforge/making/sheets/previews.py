"""The small pictures of sheets: made once for each content, kept under `.thumbforge/`, and copied beside the page, so
that the page can be taken elsewhere with what it shows.

Whatever is here can be deleted at any time, and is made again.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from thumbforge import ids
from thumbforge.durable import read_regular, write_whole
from thumbforge.errors import PictureError, StoreError
from thumbforge.imaging.sheet import Picture
from thumbforge.planning.project import Project
from thumbforge.store.assets import AssetStore

FOLDER = "sheet.files"
"""Beside the page of a series."""
_KEPT = "sheets/previews"
_NAME = re.compile(r"([0-9a-f]{16})\.webp")
_MAX_BYTES = 2_000_000


def name_of(picture: Picture) -> str:
    """The preview's file name: the start of the content's sha256, where that is known."""
    known = re.fullmatch(r"[0-9a-f]{64}", picture.identity)
    return f"{picture.identity[:16] if known else ids.sha256_hex(picture.identity.encode())[:16]}.webp"


def kept_in(project: Project) -> Path:
    return project.home / _KEPT


def make(project: Project, pictures: Iterable[Picture]) -> dict[str, bytes]:
    """The previews of these, by name; what cannot be shown has none. Those that are kept are not made again."""
    folder, wanted = kept_in(project), {name_of(picture): picture.path for picture in pictures}
    found = {name: data for name in wanted if (data := _read(folder / name))}
    absent = {name: path for name, path in wanted.items() if name not in found}
    if not absent:
        return found
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # decoding and encoding let other threads work
        made = {name: data for name, data in zip(absent, pool.map(_made, absent.values()), strict=True) if data}
    with contextlib.suppress(OSError):  # kept next time, or made again
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name, data in made.items():
            write_whole(folder / name, data)
        _forget(folder, project.store, wanted.keys())
    return {**found, **made}


def lay_beside(project: Project, page_folder: Path, pictures: Iterable[Picture]) -> set[str]:
    """Each preview in the page's folder of files, and no other; the names of those that are there. OSError where that
    cannot be done, StoreError where the folder leads elsewhere."""
    folder = page_folder / FOLDER
    if folder.is_symlink():
        raise StoreError(f"{folder.name} is a link that leads elsewhere", hint="move it away")
    wanted, there = {name_of(picture): picture for picture in pictures}, _names(folder)
    made = make(project, (picture for name, picture in wanted.items() if name not in there))
    folder.mkdir(exist_ok=True)  # also where there is no picture yet: that it is there says that the sheet is whole
    for name, data in made.items():
        write_whole(folder / name, data)
    for name in there - wanted.keys():
        (folder / name).unlink(missing_ok=True)
    return (there & wanted.keys()) | made.keys()


def remove_beside(page_folder: Path) -> None:
    """The previews beside a page, and their folder where nothing else lies in it."""
    folder = page_folder / FOLDER
    if folder.is_symlink():
        return
    for name in _names(folder):
        (folder / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        folder.rmdir()


def _made(path: Path) -> bytes | None:
    from thumbforge.pixels.small import preview

    try:
        return preview(path)
    except (PictureError, OSError, ValueError):
        return None


def _read(path: Path) -> bytes | None:
    try:
        return read_regular(path, _MAX_BYTES)
    except OSError:
        return None


def _names(folder: Path) -> set[str]:
    """Ours, by their shape."""
    try:
        with os.scandir(folder) as entries:
            return {entry.name for entry in entries if _NAME.fullmatch(entry.name) and entry.is_file()}
    except OSError:
        return set()


def _forget(folder: Path, store: AssetStore, wanted: Iterable[str]) -> None:
    """Those whose picture the store no longer has."""
    for name in _names(folder) - set(wanted):
        if not store.holds(name.removesuffix(".webp")):
            (folder / name).unlink(missing_ok=True)
