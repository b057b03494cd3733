"""A power cut: what was not synced may be lost. SIGKILL cannot show a missing sync, so here the disk is rebuilt from
the syncs that were recorded: once without every name and byte that was not synced, once with the names alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from thumbforge import ids
from thumbforge.durable import fsync_directory, write_durably
from thumbforge.making.export import Exporter
from thumbforge.store.assets import AssetStore
from thumbforge.store.database import Database
from thumbforge.store.pictures import StoredPicture

DATA = b"a picture that was paid for"
SHA = ids.sha256_hex(DATA)
ATTEMPT = "00000000-0000-5000-8000-000000000001"


class Disk:
    """Remembers what of the files under `root` has reached the disk. All that is there at the start has."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._data: dict[int, bytes] = {}
        self._names: dict[int, dict[str, int]] = {}
        for path in [root, *root.rglob("*")]:
            self._reach(path, path.stat().st_ino)

    def synced(self, handle: int) -> None:
        path = Path(os.path.realpath(f"/proc/self/fd/{handle}"))
        self._reach(path, os.fstat(handle).st_ino)

    def _reach(self, path: Path, inode: int) -> None:
        if path.is_dir():
            self._names[inode] = {entry.name: entry.stat().st_ino for entry in path.iterdir()}
        else:
            self._data[inode] = path.read_bytes()

    def created(self, path: Path) -> None:
        self._data.pop(path.stat().st_ino, None)  # the number of a file that is gone

    def after_a_cut(self, *, names_are_kept: bool) -> dict[str, bytes]:
        """What is found when the power is back."""

        def walk(folder: Path, inode: int) -> Iterator[tuple[str, bytes]]:
            there = {entry.name: entry for entry in folder.iterdir()}
            kept = {n: e.stat().st_ino for n, e in there.items()} if names_are_kept else self._names.get(inode, {})
            for name, number in kept.items():
                if name in there and there[name].is_dir():
                    yield from walk(there[name], number)
                else:
                    yield str((folder / name).relative_to(self.root)), self._data.get(number, b"")

        return dict(walk(self.root, self.root.stat().st_ino))


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """A recording disk under a store that is still empty."""
    home = tmp_path / "home"
    home.mkdir()
    found = Disk(home)
    sync, open_file = os.fsync, os.open

    def fsync(handle: int) -> None:
        sync(handle)
        found.synced(handle)

    def opened(path: str, flags: int, *args: int, **more: int) -> int:
        handle = open_file(path, flags, *args, **more)
        if flags & os.O_CREAT and flags & os.O_EXCL:
            found.created(Path(path))
        return handle

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "open", opened)
    return found


@pytest.fixture
def store(disk: Disk) -> AssetStore:
    return AssetStore(disk.root)


def put(store: AssetStore) -> str:
    store.put(DATA, ".jpg", "art.file")
    return f"assets/{SHA[:2]}/{SHA}.jpg"


def put_over_damage(store: AssetStore) -> str:
    path = store.path(SHA, ".jpg")
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA[:5])
    for folder in (path.parent, path.parent.parent, store.home):
        fsync_directory(folder)
    return put(store)


def put_without_links(store: AssetStore) -> str:
    def link(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "link", link)
        return put(store)


def put_file(store: AssetStore) -> str:
    drawn = store.scratch_file(".jpg")
    drawn.write_bytes(DATA)
    store.put_file(drawn, ".jpg", "final.file")
    return f"assets/{SHA[:2]}/{SHA}.jpg"


def stage(store: AssetStore) -> str:
    store.stage(ATTEMPT, DATA, {"width": 1})
    return f"staging/{ATTEMPT}"


def manifest(store: AssetStore) -> str:
    store.write_manifest("f" * 64, {"format": 1})
    return f"keys/{'f' * 64}.json"


def record(store: AssetStore) -> str:
    store.write_record("e" * 64, {"format": 1, "sha256": SHA})
    return f"keys/art/{'e' * 64}.json"


def record_of_other_art(store: AssetStore) -> str:
    name = record(store)
    store.write_record("e" * 64, {"format": 1, "sha256": SHA[::-1]})
    return name


WRITES = [put, put_over_damage, put_without_links, put_file, stage, manifest, record, record_of_other_art]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("names_are_kept", [False, True], ids=["nothing unsynced", "names without bytes"])
def test_what_is_written_survives_a_power_cut(
    disk: Disk, store: AssetStore, write: Callable[[AssetStore], str], names_are_kept: bool
) -> None:
    """When a step has returned, its file is there with its name and every byte, also where its directories are new."""
    name = write(store)
    expected = (disk.root / name).read_bytes()
    assert disk.after_a_cut(names_are_kept=names_are_kept).get(name) == expected


def test_an_answer_is_whole_or_not_there(disk: Disk, store: AssetStore) -> None:
    """What lies under an attempt's name after a power cut is the answer with its header."""
    name = stage(store)
    (disk.root / name).write_bytes(disk.after_a_cut(names_are_kept=False)[name])
    assert store.staged(ATTEMPT) == (DATA, {"width": 1, "sha256": SHA})


def test_a_durable_write_is_to_a_new_file(tmp_path: Path) -> None:
    """Never into one that is there: somebody may be reading it, or it has the name already."""
    (tmp_path / "taken").write_bytes(b"another's")
    with pytest.raises(FileExistsError):
        write_durably(tmp_path / "taken", DATA)
    assert (tmp_path / "taken").read_bytes() == b"another's"


def test_no_half_file_carries_the_name_of_an_export(tmp_path: Path, disk: Disk, store: AssetStore) -> None:
    """A picture in out/ that a power cut emptied would pass for one that the user edited."""
    put(store)
    database = Database.open(tmp_path / "ledger.sqlite3")
    try:
        exporter = Exporter(disk.root / "out", database, store)
        exporter._place(disk.root / "out/exports/01.jpg", StoredPicture(SHA, ".jpg", "image/jpeg", len(DATA), 1, 1))
    finally:
        database.close()
    assert disk.after_a_cut(names_are_kept=True)["out/exports/01.jpg"] == DATA
