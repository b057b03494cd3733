"""Files are replaced whole or not at all, by any number of writers at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from thumbforge.durable import in_place_of, replace_durably, write_durably, write_whole

Write = Callable[[Path, bytes], None]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("write", [write_whole, replace_durably])
def test_a_file_is_replaced_whole(write: Write, tmp_path: Path) -> None:
    """The new bytes stand under the name, and nothing else lies there."""
    target = tmp_path / "name.json"
    for data in (b"old", b"new"):
        write(target, data)
        assert target.read_bytes() == data
    assert names(tmp_path) == ["name.json"]


@pytest.mark.parametrize("write", [write_whole, replace_durably])
def test_a_full_disk_leaves_the_file_as_it_was(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the last step fails the old bytes stand, and no half file is left beside them."""
    target = tmp_path / "name.json"
    target.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write(target, b"new")
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["name.json"]


def test_a_block_that_fails_changes_nothing(tmp_path: Path) -> None:
    """Whatever was written by then is gone."""
    target = tmp_path / "a.png"

    def half() -> None:
        with in_place_of(target) as part:
            part.write_bytes(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert names(tmp_path) == []


def test_many_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    """Each writes to a path of its own: at the end the file is one of theirs, never a mixture."""
    target = tmp_path / "sheet.html"
    pages = [bytes([65 + n]) * 100_000 for n in range(8)]
    writers = [threading.Thread(target=write_whole, args=(target, page)) for page in pages]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert target.read_bytes() in pages
    assert names(tmp_path) == ["sheet.html"]


def test_a_new_file_never_takes_the_place_of_another(tmp_path: Path) -> None:
    """A name that is taken is an error."""
    write_durably(tmp_path / "a", b"one")
    with pytest.raises(FileExistsError):
        write_durably(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_bytes() == b"one"
