"""The files under `.thumbforge/`: which are ours by name and place, and what needs each of them."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path

from thumbforge.store import names
from thumbforge.store.database import Database
from thumbforge.store.deletion import needed_names
from thumbforge.store.witness import named_in

FOLDERS = ("assets", "keys", "staging")


@dataclass(frozen=True, slots=True)
class StoreFile:
    """`owner` is what needs the file, None where nothing does: `ledger`, or the `manifest`, `record` or `lock` file
    that tells of it though the ledger does not. `modified` is in Unix seconds. A `scratch` is a folder with all that is
    in it."""

    path: Path
    kind: names.Kind
    owner: str | None
    modified: float


@dataclass(frozen=True, slots=True)
class Foreign:
    """Something in our folders that is not ours by its name; a link is never ours."""

    path: Path


def walk(home: Path) -> Iterator[StoreFile | Foreign]:
    """Everything in the three folders, without owners; the ledger and the logs are not in them. No link is followed,
    and a folder that is not ours is told as one thing."""
    for name in FOLDERS:
        yield from _walk(home, (name,))


def _walk(home: Path, parts: tuple[str, ...]) -> Iterator[StoreFile | Foreign]:
    path = home.joinpath(*parts)
    if path.is_symlink():
        yield Foreign(path)
    elif names.holds_ours(parts) and path.is_dir():
        for entry in sorted(path.iterdir()):
            yield from _walk(home, (*parts, entry.name))
    elif (kind := names.kind_of(parts)) and (path.is_dir() if kind == "scratch" else path.is_file()):
        yield StoreFile(path, kind, None, _modified(path))
    elif path.exists():
        yield Foreign(path)


def store_files(home: Path, database: Database, chosen: Set[str] = frozenset()) -> Iterator[StoreFile | Foreign]:
    """The same with owners. A picture that a lock file has `chosen`, or that a manifest or a record names, is needed,
    whatever the ledger knows of it, and so are these last two while a picture that they name is there: they are what an
    older ledger is rebuilt from."""
    found = list(walk(home))
    assets = {file.path.stem for file in found if isinstance(file, StoreFile) and file.kind == "asset"}
    told = {
        file.path: named_in(file.path)
        for file in found
        if isinstance(file, StoreFile) and file.kind in {"manifest", "record"}
    }
    named = set[str]().union(*told.values())
    known = needed_names(database)
    for file in found:
        if isinstance(file, Foreign):
            yield file
        else:
            yield _owned(file, known, named, chosen, told.get(file.path, set()) & assets)


def _owned(file: StoreFile, known: Set[str], named: Set[str], chosen: Set[str], pictures: Set[str]) -> StoreFile:
    if file.path.name in known:
        owner = "ledger"
    elif file.kind in {"manifest", "record"} and pictures:
        owner = file.kind
    elif file.kind == "asset" and file.path.stem in named:
        owner = "manifest"
    elif file.kind == "asset" and file.path.stem in chosen:
        owner = "lock"
    else:
        return file
    return StoreFile(file.path, file.kind, owner, file.modified)


def _modified(path: Path) -> float:
    """Of a folder, that of the newest thing in it."""
    try:
        within = path.rglob("*") if path.is_dir() else ()
        return max(float(found.lstat().st_mtime) for found in (path, *within))
    except OSError:  # gone meanwhile: as young as can be, so that nobody deletes what comes after it
        return float("inf")
