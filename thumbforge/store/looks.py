"""What lies under a name, told by a look; by its bytes only where the look is not the one they were right at last."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from thumbforge.durable import open_regular
from thumbforge.store.database import Database

State = Literal["right", "missing", "empty", "link", "folder", "special", "unreadable", "other"]


@dataclass(frozen=True, slots=True)
class Look:
    """What a name stands for. `mark` is that of a file that is right, `sha256` that of a file with other bytes."""

    state: State
    mark: str | None = None
    sha256: str | None = None

    @property
    def is_right(self) -> bool:
        return self.state == "right"

    @property
    def is_gone(self) -> bool:
        """Nothing lies there, and nothing stands in the way."""
        return self.state == "missing"


TOLD: dict[State, str] = {
    "missing": "is missing",
    "empty": "is empty",
    "link": "is a link that leads to no file",
    "folder": "is a folder",
    "special": "is no regular file",
    "unreadable": "cannot be read",
    "other": "holds other bytes",
}
"""How a state is said of a file that ought to be right."""


def mark(found: os.stat_result) -> str:
    """Size, time of change and inode: while they stay, so do the bytes."""
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ino}"


def mark_of(path: str | os.PathLike[str]) -> str | None:
    """That of the file that lies there now; None where none does."""
    try:
        return mark(os.lstat(path))
    except OSError:
        return None


def is_as_seen(path: str, seen: str | None, *, through_links: bool = False) -> bool:
    """Whether a file still is what it was when it was read: the look that thousands of finished items need."""
    try:
        return seen is not None and mark(os.stat(path, follow_symlinks=through_links)) == seen  # noqa: PTH116
    except (OSError, ValueError):
        return False


def look(path: str, sha256: str, size: int, seen: str | None, *, through_links: bool = False) -> Look:
    """Judge the file at `path`, which ought to have these bytes. Nothing but a regular file is ever opened.

    A file that still is what it was `seen` as is right without being read. With `through_links` a link stands for
    what it leads to; else it is never right, and its sha256 is that of the file behind it.
    """
    try:
        found = os.stat(path) if through_links else os.lstat(path)  # noqa: PTH116 - thousands of times in a plan
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the last: text that cannot be a name
        return Look("missing")
    except OSError:
        return Look("unreadable")
    now = mark(found)
    if now == seen:
        return Look("right", now)
    return _read(path, found, sha256, size, now)


def _read(path: str, found: os.stat_result, sha256: str, size: int, now: str) -> Look:
    is_link = stat.S_ISLNK(found.st_mode)
    if stat.S_ISDIR(found.st_mode):
        return Look("folder")
    if not is_link and not stat.S_ISREG(found.st_mode):
        return Look("special")
    if not is_link and not found.st_size and size:
        return Look("empty")
    try:
        actual = hash_of(path)
    except OSError:
        return Look("link" if is_link else "unreadable")
    if actual == sha256 and not is_link:
        return Look("right", now)
    return Look("other", sha256=actual)


def hash_of(path: str | os.PathLike[str]) -> str:
    """The sha256 of a regular file, read in pieces. OSError where it is none or cannot be read."""
    with open_regular(os.fspath(path)) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Fresh:
    """A file that was read and found right: its row by key, and what it is now."""

    table: Literal["asset", "export", "final"]
    key: tuple[str, ...]
    mark: str


_REMEMBER = {
    "asset": "UPDATE asset SET seen = ? WHERE sha256 = ?",
    "export": "UPDATE export SET seen = ? WHERE series = ? AND item_key = ?",
    "final": "UPDATE final SET manifest_seen = ? WHERE final_key = ?",
}


def remember(database: Database, fresh: Iterable[Fresh]) -> None:
    """Keep what was read, so that it is not read again while it stays what it is."""
    found = tuple(fresh)
    if not found:
        return
    with database.write("seen.row") as connection:
        for table, sql in _REMEMBER.items():
            connection.executemany(sql, [(f.mark, *f.key) for f in found if f.table == table])
