"""A playlist's YAML in specs/playlists: found, changed, and written so that it is never half there.

A change is worked out on what the file says at that moment and written only if it still says it then, so that an
editor that saves in between loses nothing: the change is worked out again.
"""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from thumbforge.durable import fsync_directory, in_place_of, write_durably
from thumbforge.errors import NotFound, StoreError, UsageError
from thumbforge.models import Playlist
from thumbforge.named import inside
from thumbforge.planning.project import Project
from thumbforge.playlists.ingest import By, ingest
from thumbforge.specs.catalog import Catalog, LoadedPlaylist, load_playlist
from thumbforge.specs.rewrite import new_text, rewritten
from thumbforge.specs.yaml_file import shown
from thumbforge.store.ledger import Ledger
from thumbforge.store.world import remember_playlist

TRIES = 10
_STEM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Written:
    """A playlist's name and file, what it says now, and what it said before; None where there was no file."""

    name: str
    path: Path
    playlist: Playlist
    before: Playlist | None


def find(root: Path, playlist: str) -> LoadedPlaylist | None:
    """The project's playlist with this id, whatever its file is called. Raises SpecError for a file that is wrong, and
    UsageError where a file of this name holds another list."""
    catalog = Catalog(root)
    found = catalog.find_playlist(playlist)
    if found is None:
        return None
    loaded = catalog.load_playlist(found[1])
    if loaded.spec.playlist.id != playlist:
        hint = "rename that file, or correct its id"
        raise UsageError(f"{shown(found[1], root)} holds playlist {loaded.spec.playlist.id}", hint=hint)
    return loaded


def change(root: Path, playlist: str, decide: Callable[[Playlist | None], Playlist], name: str = "") -> Written:
    """Make the file of `playlist` say what `decide` makes of what it says (None where there is no file).

    A new file is called `name`, or as the id where that is "". Raises what `find` and `rewritten` raise, UsageError
    where another list has that file or it lies, by a link, outside the project, and StoreError where it cannot be
    written.
    """
    for _ in range(TRIES):
        before = find(root, playlist)
        path = before.path if before else root / "specs" / "playlists" / f"{name or _stem(playlist)}.yaml"
        inside(root, path.relative_to(root).as_posix())
        raw = _bytes(path)
        if raw is not None and before is None:
            if find(root, playlist):
                continue  # another process has just brought it
            raise UsageError(f"{shown(path, root)} is another list", hint=f"add --name {path.stem}-2, or another name")
        if before and load_playlist(path, root).spec != before.spec:
            continue
        wanted = decide(before.spec if before else None)
        if before and wanted == before.spec:
            return Written(path.stem, path, before.spec, before.spec)
        data = _data(raw, before, wanted, shown(path, root))
        if _replaced(path, raw, data):
            return Written(path.stem, path, wanted, before.spec if before else None)
    raise StoreError(f"{path.name} is written by another program all the time", hint="close it, then try again")


def record(project: Project, written: Written, by: By) -> str | None:
    """State in the ledger what the list says now; the ingest run's id, None where nothing is new to it.

    What a hand had changed before is stated first, so that each change is told with what made it.
    """
    with open_ledger(project) as ledger:
        head = written.playlist.playlist
        remember_playlist(ledger.database, head.id, head.title, ledger.now())
        if written.before is not None:
            ingest(ledger, project.store, written.before, "edit")
        return ingest(ledger, project.store, written.playlist, by)


@contextlib.contextmanager
def open_ledger(project: Project) -> Iterator[Ledger]:
    """The ledger for an ingest: what a dead process left running is marked paused, so that it can be gone on with."""
    with project.ledger() as ledger:
        ledger.sweep(project.settings.integer("batch.max_lost"))
        yield ledger


def _data(raw: bytes | None, before: LoadedPlaylist | None, wanted: Playlist, file: str) -> bytes:
    if before is None or raw is None:
        return new_text(wanted).encode()
    mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    return mark + rewritten(raw.removeprefix(mark).decode(), before.spec, wanted, file).encode()


class _Changed(Exception):
    """Somebody else has written the file meanwhile."""


def _replaced(path: Path, expected: bytes | None, data: bytes) -> bool:
    """Put `data` in the place of `expected` (None: no file), whole or not at all; False where that has changed."""
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if expected is not None else 0o644
        with in_place_of(target) as part:
            write_durably(part, data)
            part.chmod(mode)
            if _bytes(path) != expected:
                raise _Changed
        fsync_directory(target.parent)
    except _Changed:
        return False
    except OSError as error:
        message = f"{path.name} could not be written: {error.strerror or error}"
        raise StoreError(message, hint="check free space and permissions; the file is as it was") from error
    return True


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotFound(f"{path.name} cannot be read: {error.strerror or error}") from error


def _stem(playlist: str) -> str:
    """A file's name does not begin with a dash, as an id of a video may."""
    return playlist if _STEM.fullmatch(playlist) else f"video-{playlist}"
