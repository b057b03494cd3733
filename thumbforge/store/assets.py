"""Stored files. An asset's name is the sha256 of its bytes, so the same bytes are one file and no file is rewritten.

assets/<sha[:2]>/<sha><suffix>      what is kept
staging/<attempt id>                what a provider answered, until it is an asset with a row
keys/<final key>.json               manifests: what a finished picture was made of
keys/art/<art key>.json             records: which art a request was answered with

Every path is made here, from text that has the shape of one of our names; any other raises AssetDamaged.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thumbforge import faults, ids
from thumbforge.durable import fsync_directory, make_folder, read_regular, replace_durably, write_durably
from thumbforge.errors import AssetDamaged, StoreError
from thumbforge.store import names
from thumbforge.store.looks import TOLD, Look, hash_of, is_as_seen, look, mark_of


@contextmanager
def store_errors(what: str, step: str) -> Iterator[None]:
    """A durable step on files: its fault points, and its OSErrors as StoreError."""
    try:
        with faults.step(step):
            yield
    except OSError as error:
        raise StoreError(
            f"{what} could not be written: {error.strerror or error}",
            hint="check free space and permissions, then run the command again: finished pictures are kept",
        ) from error


class AssetStore:
    """The files under one `.thumbforge/`. Safe from several threads and processes at once."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._assets, self._staging, self._keys = home / "assets", home / "staging", home / "keys"
        self._prefix, self._manifests = f"{self._assets}{os.sep}", f"{self._keys}{os.sep}"

    def path(self, sha256: str, suffix: str) -> Path:
        names.required(names.is_asset(sha256, suffix), f"{sha256}{suffix}")
        return self._assets / sha256[:2] / f"{sha256}{suffix}"

    def is_as_seen(self, sha256: str, suffix: str, seen: str | None) -> bool:
        """Whether an asset's file still is what it was when it was read. Asked twice for every item of a plan, so no
        Path is made: that takes longer than the look itself."""
        return is_as_seen(f"{self._prefix}{sha256[:2]}{os.sep}{sha256}{suffix}", seen, through_links=True)

    def look(self, sha256: str, suffix: str, size: int, seen: str | None) -> Look:
        """What lies under an asset's name. It may be a link to where the asset was moved."""
        path = f"{self._prefix}{sha256[:2]}{os.sep}{sha256}{suffix}"
        found = look(path, sha256, size, seen, through_links=True)
        return found if found.mark == seen or names.is_asset(sha256, suffix) else Look("missing")

    def seen(self, sha256: str, suffix: str) -> str | None:
        """What an asset's file is right after it was put there, for looks to come."""
        return mark_of(self.path(sha256, suffix))

    def holds(self, sha256: str) -> bool:
        """Whether there is an asset of this name, whatever its suffix."""
        try:
            with os.scandir(self._assets / sha256[:2]) as entries:
                return any(entry.name.startswith(sha256) and entry.is_file() for entry in entries)
        except OSError:
            return False

    def verify(self, sha256: str, suffix: str) -> Path:
        """The asset's path, its bytes re-hashed. Raises AssetDamaged when it is missing or not what its name says."""
        path = self.path(sha256, suffix)
        try:
            found = hash_of(path)
        except OSError as error:
            raise AssetDamaged(f"asset {sha256[:12]} cannot be read: {error.strerror}") from error
        if found != sha256:
            raise AssetDamaged(f"asset {sha256[:12]} holds other bytes than its name says")
        return path

    def put(self, data: bytes, suffix: str, step: str) -> str:
        """Keep these bytes, durably; returns their sha256. The same bytes again change nothing."""
        sha256 = ids.sha256_hex(data)
        with store_errors("a picture", step):
            temporary = self.scratch_file(suffix)
            try:
                write_durably(temporary, data)
                self._publish(temporary, sha256, suffix)
            finally:
                temporary.unlink(missing_ok=True)
        return sha256

    def put_file(self, temporary: Path, suffix: str, step: str) -> str:
        """Keep the file `temporary` (made by `scratch_file`), durably; it is gone afterwards. Returns its sha256."""
        with store_errors("a picture", step):
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
                sha256 = ids.sha256_hex(file.read())
            try:
                self._publish(temporary, sha256, suffix)
            finally:
                temporary.unlink(missing_ok=True)
        return sha256

    def _publish(self, temporary: Path, sha256: str, suffix: str) -> None:
        final = self.path(sha256, suffix)
        make_folder(final.parent)
        try:
            os.link(temporary, final)
        except FileExistsError:
            # The name was made durable before the bytes once, or the disk failed: the new copy is the right one.
            found = self.look(sha256, suffix, temporary.stat().st_size, None)
            if found.is_right:
                os.utime(final)  # young again: a repair in another process leaves it alone
            elif found.state == "folder":
                raise AssetDamaged(f"{final.name} {TOLD['folder']}", hint=f"move {final} away") from None
            else:
                temporary.replace(final)
        except OSError:  # a file system without hard links
            temporary.replace(final)
        fsync_directory(final.parent)

    def scratch_file(self, suffix: str) -> Path:
        """A new name in a directory of the same file system as the assets."""
        make_folder(self._staging, 0o700)
        return self._staging / f"tmp-{secrets.token_hex(8)}{suffix}"

    @contextmanager
    def scratch_directory(self, attempt_id: str) -> Iterator[Path]:
        """A private directory for one provider call. When it is over, what a program said (`*.txt` and `*.log`) is
        kept under logs/attempts/, the rest goes."""
        path = self._staging / f"call-{self._attempt(attempt_id)}"
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            yield path
        finally:
            with contextlib.suppress(OSError):
                self._keep_said(path, self.home / "logs" / "attempts" / attempt_id)
            shutil.rmtree(path, ignore_errors=True)

    @staticmethod
    def _keep_said(scratch: Path, to: Path) -> None:
        for said in (path for path in scratch.iterdir() if path.suffix in {".txt", ".log"} and path.stat().st_size):
            to.mkdir(parents=True, exist_ok=True, mode=0o700)
            said.replace(to / said.name)

    def stage(self, attempt_id: str, data: bytes, header: Mapping[str, Any]) -> None:
        """Keep what a provider answered before anything else is done with it: a JSON line, then the bytes."""
        line = ids.canonical_json({**header, "sha256": ids.sha256_hex(data)}).encode() + b"\n"
        with store_errors("a provider's answer", "staged"):
            replace_durably(self.answer_path(attempt_id), line + data, self.scratch_file(".answer"))

    def answer_path(self, attempt_id: str) -> Path:
        return self._staging / self._attempt(attempt_id)

    @staticmethod
    def _attempt(attempt_id: str) -> str:
        names.required(names.is_id(attempt_id), attempt_id)
        return attempt_id

    def staged(self, attempt_id: str) -> tuple[bytes, dict[str, Any]] | None:
        """A whole staged answer with its header, or None where there is none or it is cut."""
        try:
            line, _, data = read_regular(self.answer_path(attempt_id)).partition(b"\n")
            header = json.loads(line)
        except (OSError, ValueError):
            return None
        return (data, header) if ids.sha256_hex(data) == header.get("sha256") else None

    def drop_staged(self, attempt_id: str) -> None:
        with contextlib.suppress(OSError):
            self.answer_path(attempt_id).unlink(missing_ok=True)

    @property
    def manifests(self) -> Path:
        """The folder of all manifests."""
        return self._keys

    def manifest_seen(self, final_key: str) -> str | None:
        """What a manifest's file is now; None where there is none."""
        return mark_of(f"{self._manifests}{final_key}.json")

    def manifest_path(self, final_key: str) -> Path:
        names.required(names.is_key(final_key), final_key)
        return self._keys / f"{final_key}.json"

    def record_path(self, art_key: str) -> Path:
        names.required(names.is_key(art_key), art_key)
        return self._keys / "art" / f"{art_key}.json"

    def manifest(self, final_key: str) -> dict[str, Any] | None:
        """What it holds; None where there is none, or none that can be read."""
        return _read_json(self.manifest_path(final_key)) if names.is_key(final_key) else None

    def record(self, art_key: str) -> dict[str, Any] | None:
        """The record of an art; None where there is none, or none that can be read."""
        return _read_json(self.record_path(art_key)) if names.is_key(art_key) else None

    def write_record(self, art_key: str, content: Mapping[str, Any]) -> None:
        """Create-only: one that names the same art stays. Another art for the same request has just been paid for,
        because the one before it is gone or was not wanted any more: its record takes the place."""
        path, before = self.record_path(art_key), self.record(art_key)
        if before and before.get("sha256") == content["sha256"]:
            return
        with store_errors("the record of an art", "record.file"):
            make_folder(path.parent)
            temporary = self.scratch_file(".json")
            try:
                write_durably(temporary, json_bytes(content))
                _give_name(temporary, path, replace=before is not None or path.exists())
            finally:
                temporary.unlink(missing_ok=True)
            fsync_directory(path.parent)

    def write_manifest(self, final_key: str, content: Mapping[str, Any]) -> Path:
        """Written once per final key: the same key always has the same content. One that holds other is made anew."""
        path = self.manifest_path(final_key)
        data = json_bytes(content)
        with contextlib.suppress(OSError):
            if read_regular(path) == data:
                return path
        if path.is_dir():
            raise AssetDamaged(f"{path.name} {TOLD['folder']}", hint=f"move {path} away")
        with store_errors("a manifest", "manifest"):
            make_folder(self._keys)
            replace_durably(path, data, self.scratch_file(".json"))
        return path


def json_bytes(content: Mapping[str, Any]) -> bytes:
    """As manifests and records are written, on every machine alike."""
    return json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True).encode() + b"\n"


def _give_name(temporary: Path, path: Path, *, replace: bool) -> None:
    """Give a whole file its name. Without `replace` one that is there by now stays: another process was as fast."""
    if replace:
        temporary.replace(path)
        return
    try:
        os.link(temporary, path)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        temporary.replace(path)


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
