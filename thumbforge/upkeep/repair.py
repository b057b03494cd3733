"""Repair and prune: what is ours and nothing needs any more goes, after a look at each; rows first, then pictures.

Both say what they would do unless told to do it. Redoing either is harmless: what is to go is found anew each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from thumbforge.errors import AssetDamaged
from thumbforge.planning.lock import named_in_locks
from thumbforge.planning.project import Project
from thumbforge.store import names, pictures
from thumbforge.store.database import Database
from thumbforge.store.deletion import drop_superseded, superseded, unlink_freed, unlink_ours
from thumbforge.store.witness import named_by_all
from thumbforge.upkeep.files import Foreign, StoreFile, store_files


@dataclass(frozen=True, slots=True)
class Removal:
    """One thing that goes, or would go."""

    kind: str
    subject: str
    bytes: int


def repair(
    project: Project, database: Database, now: float, grace_s: float, *, damaged: bool, apply: bool
) -> Iterator[Removal | Foreign]:
    """Files of ours that nothing needs, older than the grace; with `damaged` also stored pictures that are not what
    their name says, so that the next batch makes them anew. What is not ours is told and left."""
    for file in store_files(project.home, database, named_in_locks(project.root)):
        if isinstance(file, Foreign):
            yield file
        elif file.owner is None and now - file.modified >= grace_s:
            removal = Removal(file.kind, file.path.name, _size(file.path))
            if not apply or _unlink_unneeded(project, database, file):
                yield removal
    if not damaged:
        return
    for sha256, suffix in pictures.all_names(database):
        if names.is_asset(sha256, suffix) and _is_damaged(project, sha256, suffix):
            path = project.store.path(sha256, suffix)
            removal = Removal("damaged", path.name, _size(path))
            if not apply or unlink_ours(project.home, path):
                yield removal


def _is_damaged(project: Project, sha256: str, suffix: str) -> bool:
    """There, but not what its name says. A link or a folder in its place is not ours to remove."""
    if not project.store.path(sha256, suffix).is_file():
        return False
    try:
        project.store.verify(sha256, suffix)
    except AssetDamaged:
        return not project.store.path(sha256, suffix).is_symlink()
    return False


def _unlink_unneeded(project: Project, database: Database, file: StoreFile) -> bool:
    """Look again under the write lock: another process may have given the file a row meanwhile, or be about to."""
    with database.write("repair.row"):
        if pictures.is_recorded(database, file.path.stem):
            return False
        if file.path.exists() and file.path.stat().st_mtime > file.modified:
            return False
        return unlink_ours(project.home, file.path)


def prune(project: Project, database: Database, keep: int, *, apply: bool) -> Iterator[Removal]:
    """Superseded finals and takes beyond the `keep` newest of each iteration, with the files that then nothing needs.

    Never what an iteration, an export or a run's reference uses. A picture that a lock file names stays, whatever
    becomes of its rows.
    """
    old = superseded(database, keep)
    yield from (Removal("final", key, 0) for key in old.finals)
    yield from (Removal("take", attempt, 0) for attempt in old.takes)
    if not apply:
        return
    unused = drop_superseded(database, project.store, keep)
    told = named_by_all(project.home) | named_in_locks(project.root) if unused else set()
    for picture in unused:
        if picture.sha256 not in told and (
            name := unlink_freed(database, project.store, picture.sha256, picture.suffix)
        ):
            yield Removal("asset", name, picture.bytes)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
