"""Files that a project's own texts name: inside the project, regular, and never larger than what they are may be.

What a user types may point anywhere; what a series, a playlist or thumbforge.toml says may have come with a clone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from thumbforge.durable import read_regular
from thumbforge.errors import UsageError
from thumbforge.text import nearest


def as_written(path: Path) -> Path:
    """The path as the disk has it: a name with accents may be typed composed and stored decomposed, or the other way
    round. The path itself where there is it, or nothing that differs in this alone."""
    if path.name.isascii() or path.exists():
        return path
    wanted = unicodedata.normalize("NFC", path.name)
    with suppress(OSError):
        for other in path.parent.iterdir():
            if unicodedata.normalize("NFC", other.name) == wanted:
                return other
    return path


def elsewhere(word: str, base: Path) -> str:
    """The hint for a path from `base` that there is not: the file beside it that was meant, where paths count from."""
    path = base / word
    with suppress(OSError, ValueError):  # no such folder, too long for a name, a NUL byte
        beside = [other.name for other in path.parent.iterdir() if other.is_file()]
        if near := nearest(path.name, beside):
            return f"did you mean {(Path(word).parent / near[0]).as_posix()}? (paths count from {base})"
    return f"paths count from {base}"


def inside(root: Path, named: str) -> Path:
    """The file that `named` is, which counts from the project's directory. UsageError where it, or a link on the way,
    leads out of the project."""
    path = as_written(root / named)
    try:
        leads_out = not path.resolve().is_relative_to(root.resolve())
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise UsageError(f"{named} cannot be found: {error}") from error
    if leads_out:
        raise UsageError(
            f"{named} leads out of the project", hint="copy it into the project; only a command line may point anywhere"
        )
    return path


def refuse_ways_out(root: Path, places: Iterable[str]) -> None:
    """Raises UsageError where one of these, which are written to, is a link that leads out of the project: it may have
    come with a clone."""
    for place in places:
        if _is_link(root / place):
            try:
                inside(root, place)
            except UsageError as error:
                other = "; THUMBFORGE_HOME names another place" if place.startswith(".thumbforge") else ""
                hint = f"nothing is written through such a link: make it a folder or a file of the project{other}"
                raise UsageError(error.message, hint=hint) from error


def _is_link(path: Path) -> bool:
    """Not an error but False in a folder that is another user's: whoever needs the file says what is wrong."""
    try:
        return path.is_symlink()
    except OSError:
        return False


def read(path: Path, kind: str, most: int) -> bytes:
    """The file's bytes, of which there may be `most`. UsageError for what is no regular file, too large or unreadable;
    `kind` is what messages call it."""
    try:
        return read_regular(path, most)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(
            f"{kind} {path.name} cannot be read: {reason}", hint="correct the path in the specs"
        ) from error
