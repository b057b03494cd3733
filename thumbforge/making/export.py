"""The files in out/: put there under stable names, replaced only while they are still what we put there."""

from __future__ import annotations

import contextlib
import errno
import secrets
import time
from pathlib import Path

from thumbforge import ids
from thumbforge.durable import fsync_directory, make_folder, write_durably
from thumbforge.planning.wanted import Wanted
from thumbforge.store import exports
from thumbforge.store.assets import AssetStore, store_errors
from thumbforge.store.database import Database
from thumbforge.store.exports import Export
from thumbforge.store.names import export_path, is_export
from thumbforge.store.pictures import StoredPicture, is_recorded


class Exporter:
    """Exports of one project. Needs no run: a file is only ever a copy of a final."""

    def __init__(self, out: Path, database: Database, store: AssetStore) -> None:
        self._out, self._database, self._store = out, database, store

    def export(self, wanted: Wanted, final_key: str, picture: StoredPicture) -> tuple[str, ...]:
        """Copy the final to `out/<series>/<name>` by rename; returns warnings.

        A file that the user changed is left alone. An old name of the item goes when the file there is still ours.
        """
        series, name = wanted.series.name, wanted.export_name
        path = f"{series}/{name}"
        target = export_path(self._out, path)
        known = exports.find(self._database, series, wanted.item_key)
        found = _hash(target)
        if found not in {None, picture.sha256} and not is_recorded(self._database, found):
            return (f"out/{path} was edited and is left alone; move it away to get the new picture",)
        if found != picture.sha256:
            self._place(target, picture)
        if known and known.path != path and is_export(known.path):
            self._take_away(export_path(self._out, known.path), known.sha256)
        placed = Export(path=path, final_key=final_key, sha256=picture.sha256)
        exports.record(self._database, series, wanted.item_key, placed, time.time())
        return ()

    @staticmethod
    def _take_away(old: Path, sha256: str) -> None:
        """An old name of the item, if what lies there still is the picture that we put there."""
        if not old.parent.is_symlink() and _hash(old) == sha256:
            with contextlib.suppress(OSError):
                old.unlink()

    def _place(self, target: Path, picture: StoredPicture) -> None:
        """Only ever by rename, whole and synced before: neither a crash nor a power cut leaves half a file there."""
        source = self._store.verify(picture.sha256, picture.suffix)
        with store_errors(f"out/{target.parent.name}/{target.name}", "export.file"):
            make_folder(target.parent)
            try:
                self._move(source, self._store.scratch_file(picture.suffix), target)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                # the store lies on another disk (THUMBFORGE_HOME): the copy has to be made beside the target
                self._move(source, target.with_name(f".{target.name}.{secrets.token_hex(4)}"), target)

    @staticmethod
    def _move(source: Path, temporary: Path, target: Path) -> None:
        try:
            write_durably(temporary, source.read_bytes())
            temporary.replace(target)
            fsync_directory(target.parent)
        finally:
            temporary.unlink(missing_ok=True)


def _hash(path: Path) -> str | None:
    try:
        return ids.sha256_hex(path.read_bytes())
    except OSError:
        return None
