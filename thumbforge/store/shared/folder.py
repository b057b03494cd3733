"""A folder that is shared: a mounted disk, or one that another program keeps in step. Plain files, no extra needed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from thumbforge.durable import fsync_directory, read_regular, write_durably
from thumbforge.errors import AssetDamaged, RemoteDenied, RemoteError
from thumbforge.store.shared.remote import Entry


class Folder:
    """A folder that has to be there: one that is made on the way would be the empty place of a disk not mounted."""

    def __init__(self, root: Path, shown: str) -> None:
        self._root, self.shown = root, shown

    def get(self, name: str, most: int) -> bytes | None:
        with self._errors():
            try:
                return read_regular(self._root / name, most)
            except (FileNotFoundError, NotADirectoryError):
                self._require()
                return None
            except OSError as error:
                if (self._root / name).exists() and not isinstance(error, PermissionError):
                    raise AssetDamaged(f"{name} in {self.shown}: {error.strerror}") from error
                raise

    def put_once(self, name: str, data: bytes) -> bool:
        with self._errors():
            self._require()
            path = self._root / name
            if path.exists():
                return False
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
            try:
                write_durably(part, data)
                is_new = _name_once(part, path, data)
            finally:
                with suppress(OSError):
                    part.unlink(missing_ok=True)
            with suppress(OSError):  # not every mounted disk can sync a folder
                fsync_directory(path.parent)
            return is_new

    def entries(self, under: str) -> Iterator[Entry]:
        with self._errors():
            self._require()
            for folder, _, files in os.walk(self._root / under):
                for file in files:
                    path = Path(folder, file)
                    with suppress(FileNotFoundError):
                        seen = path.stat()
                        yield Entry(path.relative_to(self._root).as_posix(), seen.st_size, seen.st_mtime)

    def delete(self, name: str) -> None:
        with self._errors():
            (self._root / name).unlink(missing_ok=True)

    def _require(self) -> None:
        if not self._root.is_dir():
            raise RemoteError(f"there is no folder {self.shown}", hint="mount it, or make it once with mkdir")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except PermissionError as error:
            raise RemoteDenied(f"{self.shown} refuses us: {error.strerror}") from error
        except OSError as error:
            raise RemoteError(f"{self.shown} cannot be used: {error.strerror or error}") from error


def _name_once(part: Path, path: Path, data: bytes) -> bool:
    """Give a whole file its name, unless another machine was faster."""
    try:
        os.link(part, path)
        return True
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links: one exclusive write is what it has
        try:
            write_durably(path, data)
        except FileExistsError:
            return False
        return True
