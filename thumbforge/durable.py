"""Files and names that survive a power cut once the call has returned."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def fsync_directory(path: Path) -> None:
    """Makes names in `path` durable; a rename alone may be lost at a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(path: Path, mode: int = 0o777) -> None:
    """A directory, and those above it, whose names survive a power cut: a file in a lost directory is lost too."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(exist_ok=True, mode=mode)
    fsync_directory(path.parent)


@contextmanager
def in_place_of(target: Path, by: Path | None = None) -> Iterator[Path]:
    """A path to write to, of its own for each writer; when the block ends, what was written there takes the place of
    `target`, whole. Where the block raises, `target` is as it was. `by` is a path on the same file system, where none
    beside `target` will do."""
    part = by or target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        yield part
        part.replace(target)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def write_whole(target: Path, data: bytes) -> None:
    """These bytes in the place of `target`, whole; a power cut may lose them, so they are what can be had again."""
    with in_place_of(target) as part:
        part.write_bytes(data)


def replace_durably(target: Path, data: bytes, by: Path | None = None) -> None:
    """These bytes in the place of `target`, whole, and there after a power cut."""
    with in_place_of(target, by) as part:
        write_durably(part, data)
    fsync_directory(target.parent)


def write_durably(path: Path, data: bytes) -> None:
    """A new file with these bytes, synced; raises FileExistsError where it exists."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def open_regular(path: str | Path) -> BufferedReader:
    """A regular file for reading. OSError for anything else: opening a FIFO would wait for whoever writes to it."""
    file = os.fdopen(os.open(path, os.O_RDONLY | _NO_WAIT), "rb")
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise OSError(errno.EINVAL, "Not a regular file", str(path))


def read_regular(path: str | Path, most: int | None = None) -> bytes:
    """The bytes of a regular file; OSError as `open_regular`, and for one of more than `most` bytes."""
    with open_regular(path) as file:
        if most is None:
            return file.read()
        if os.fstat(file.fileno()).st_size <= most and len(data := file.read(most + 1)) <= most:
            return data
    raise OSError(errno.EFBIG, f"it has more than the {most:,} bytes that are read", str(path))


def append_line(path: str | Path, line: str) -> None:
    """Add a line to a regular file, made private to the user. OSError for anything else, a link too."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NO_WAIT | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(path, flags, 0o600), "ab") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", str(path))
        file.write(f"{line}\n".encode())
