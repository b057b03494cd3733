"""The files in out/: put there under stable names, replaced only while they are still what we put there."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import time
from pathlib import Path

from thumbforge import log
from thumbforge.durable import make_folder, read_regular, replace_durably
from thumbforge.errors import ExportBlocked, StoreError
from thumbforge.planning.plan import in_the_way
from thumbforge.planning.wanted import Wanted
from thumbforge.store import exports
from thumbforge.store.assets import AssetStore, store_errors
from thumbforge.store.database import Database
from thumbforge.store.exports import Export
from thumbforge.store.looks import TOLD, Look, look, mark_of
from thumbforge.store.names import export_path, is_export
from thumbforge.store.pictures import StoredPicture
from thumbforge.store.witness import Ours

_OF_ONE_NAME = frozenset({errno.EACCES, errno.EPERM, errno.EISDIR, errno.EBUSY, errno.ENAMETOOLONG})


class Exporter:
    """Exports of one project. Needs no run: a file is only ever a copy of a final."""

    def __init__(self, out: Path, database: Database, store: AssetStore) -> None:
        self._out, self._database, self._store = out, database, store
        self._ours = Ours(database, store)

    def export(self, wanted: Wanted, final_key: str, picture: StoredPicture) -> None:
        """Copy the final to `out/<series>/<name>` by rename. An old name of the item goes where it still is ours.

        Raises ExportBlocked where something of the user's has the name, and leaves it alone; AssetDamaged where the
        final is not what it was; StoreError where out/ takes no file.
        """
        series = wanted.series.name
        path, target = self.lay(wanted, picture)
        known = exports.find(self._database, series, wanted.item_key)
        if known and known.path != path and is_export(known.path):
            self._take_away(known, path)
        placed = Export(path=path, final_key=final_key, sha256=picture.sha256, seen=mark_of(target))
        exports.record(self._database, series, wanted.item_key, placed, time.time())

    def lay(self, wanted: Wanted, picture: StoredPicture) -> tuple[str, Path]:
        """The file alone, of which no row tells: where it is, from out/ and in full. Raises as `export`."""
        path = f"{wanted.series.name}/{wanted.export_name}"
        target = export_path(self._out, path)
        found = look(str(target), picture.sha256, picture.bytes, None)
        if not found.is_right:
            self._check_free(path, found)
            self._place(target, picture)
        return path, target

    def _check_free(self, path: str, found: Look) -> None:
        """Whether what lies there may be replaced: nothing, a dead link, an empty file or folder, a picture of ours."""
        if found.state == "unreadable" or (found.sha256 and not self._ours.has(found.sha256)):
            raise ExportBlocked(in_the_way(f"out/{path}", "edited" if found.sha256 else "unreadable"))
        if found.state == "folder":
            try:
                (self._out / path).rmdir()
            except OSError as error:
                raise ExportBlocked(f"out/{path} {TOLD['folder']}; move it away to get the picture") from error

    def _take_away(self, known: Export, path: str) -> None:
        """An old name of the item, if what lies there still is the picture that we put there."""
        old = export_path(self._out, known.path)
        found = look(str(old), known.sha256, -1, None)
        if old.parent.is_symlink():
            return
        if found.is_right:
            with contextlib.suppress(OSError):
                old.unlink()
        elif found.sha256 and not self._ours.has(found.sha256):
            log.warning(f"out/{known.path} was edited and is left alone; the item's picture is out/{path} now")

    def _place(self, target: Path, picture: StoredPicture) -> None:
        """Only ever by rename, whole and synced before: neither a crash nor a power cut leaves half a file there."""
        source = self._store.verify(picture.sha256, picture.suffix)
        name = f"out/{target.parent.name}/{target.name}"
        try:
            self._copy(source, target, name, picture.suffix)
        except StoreError as error:
            number = error.__cause__.errno if isinstance(error.__cause__, OSError) else None
            if number in _OF_ONE_NAME and self._takes_files(target.parent):
                raise ExportBlocked(error.message) from error
            raise

    def _copy(self, source: Path, target: Path, name: str, suffix: str) -> None:
        with store_errors(name, "export.file"):
            self._make_folder(target.parent)
            try:
                replace_durably(target, read_regular(source), self._store.scratch_file(suffix))
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                # the store lies on another disk (THUMBFORGE_HOME): the copy has to be made beside the target
                replace_durably(target, read_regular(source))

    def _make_folder(self, folder: Path) -> None:
        if not folder.resolve().is_relative_to(self._out.parent.resolve()):
            raise NotADirectoryError(errno.ENOTDIR, f"{folder.relative_to(self._out.parent)} leads out of the project")
        for path in (self._out, folder):
            if os.path.lexists(path) and not path.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, f"{path.relative_to(self._out.parent)} is no folder")
        make_folder(folder)

    @staticmethod
    def _takes_files(folder: Path) -> bool:
        """Whether it is one name that cannot be written, and not the folder."""
        probe = folder / f".{secrets.token_hex(8)}"
        try:
            probe.touch(exist_ok=False)
            probe.unlink()
        except OSError:
            return False
        return True
