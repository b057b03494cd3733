"""Stored files: the name is the hash of the bytes, and nothing that is there is ever rewritten."""

from __future__ import annotations

import hashlib
import json
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from thumbforge.errors import AssetDamaged, StoreError
from thumbforge.store.assets import AssetStore

DATA = b"a picture"
ATTEMPT = "0b7a4c3e-5a7d-5c1e-9d55-3d0f0f7f2a11"
SHA = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def store(tmp_path: Path) -> AssetStore:
    return AssetStore(tmp_path / "home")


def files(store: AssetStore) -> list[str]:
    return sorted(p.relative_to(store.home).as_posix() for p in store.home.rglob("*") if p.is_file())


@given(st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_name_is_the_hash_of_the_bytes(store: AssetStore, data: bytes) -> None:
    """What is put is found again under its sha256, whole."""
    sha256 = store.put(data, ".png", "art.file")
    assert sha256 == hashlib.sha256(data).hexdigest()
    assert store.verify(sha256, ".png").read_bytes() == data
    assert store.path(sha256, ".png").relative_to(store.home).parts == ("assets", sha256[:2], f"{sha256}.png")


def test_the_same_bytes_are_one_file(store: AssetStore) -> None:
    """Putting them again leaves the file that is there, and nothing besides."""
    store.put(DATA, ".jpg", "art.file")
    before = store.path(SHA, ".jpg").stat().st_ino
    assert store.put(DATA, ".jpg", "art.file") == SHA
    assert store.path(SHA, ".jpg").stat().st_ino == before
    assert files(store) == [f"assets/{SHA[:2]}/{SHA}.jpg"]


def test_a_file_that_was_drawn_in_place_is_kept_the_same_way(store: AssetStore) -> None:
    """`put_file` takes a scratch file into the store; it is gone from where it was."""
    scratch = store.scratch_file(".jpg")
    scratch.write_bytes(DATA)
    assert store.put_file(scratch, ".jpg", "final.file") == SHA
    assert files(store) == [f"assets/{SHA[:2]}/{SHA}.jpg"]


def test_many_threads_may_put_the_same_bytes(store: AssetStore) -> None:
    """Whoever is first makes the file; the others find it, and no scratch file stays."""
    threads = [threading.Thread(target=store.put, args=(DATA, ".jpg", "art.file")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert files(store) == [f"assets/{SHA[:2]}/{SHA}.jpg"]


@pytest.mark.parametrize("wrong", [b"", b"a pict", b"other bytes"])
def test_wrong_bytes_under_a_right_name_are_replaced(store: AssetStore, wrong: bytes) -> None:
    """A name that a power cut left without its bytes gets them when they are put again."""
    path = store.path(SHA, ".jpg")
    path.parent.mkdir(parents=True)
    path.write_bytes(wrong)
    store.put(DATA, ".jpg", "art.file")
    assert path.read_bytes() == DATA


@pytest.mark.parametrize(
    ("bytes_there", "message"), [(None, "cannot be read"), (b"", "holds other bytes"), (b"x", "holds other bytes")]
)
def test_verify_tells_a_damaged_asset(store: AssetStore, bytes_there: bytes | None, message: str) -> None:
    """A missing file, and one whose bytes are not what its name says, are AssetDamaged."""
    if bytes_there is not None:
        store.put(DATA, ".jpg", "art.file")
        store.path(SHA, ".jpg").write_bytes(bytes_there)
    with pytest.raises(AssetDamaged, match=message):
        store.verify(SHA, ".jpg")


def test_a_store_that_cannot_be_written_says_so_and_keeps_nothing(tmp_path: Path) -> None:
    """One line with what could not be written and what to do; a file in the way stays as it is."""
    (tmp_path / "home").write_text("in the way")
    with pytest.raises(StoreError, match="a picture could not be written") as caught:
        AssetStore(tmp_path / "home").put(DATA, ".jpg", "art.file")
    assert "run the command again" in caught.value.hint
    assert (tmp_path / "home").read_text() == "in the way"


# Staged answers


def test_a_staged_answer_is_there_for_whoever_comes_next(store: AssetStore) -> None:
    """The bytes and their header survive until they are dropped, whoever asks."""
    store.stage(ATTEMPT, b"line one\nline two", {"width": 1280, "title": "ü"})
    data, header = AssetStore(store.home).staged(ATTEMPT) or (b"", {})
    assert data == b"line one\nline two"
    assert (header["width"], header["title"]) == (1280, "ü")
    store.drop_staged(ATTEMPT)
    assert store.staged(ATTEMPT) is None
    store.drop_staged(ATTEMPT)
    assert files(store) == []


def test_a_cut_answer_is_none(store: AssetStore) -> None:
    """An answer is whole or it is not there, wherever it was cut."""
    store.stage(ATTEMPT, DATA, {"width": 1280})
    path = store.home / "staging" / ATTEMPT
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert store.staged(ATTEMPT) is None, length
    path.write_bytes(whole[:-1] + b"X")
    assert store.staged(ATTEMPT) is None


def test_a_later_answer_takes_the_place_of_an_earlier_one(store: AssetStore) -> None:
    """One attempt has one answer."""
    store.stage(ATTEMPT, b"first", {})
    store.stage(ATTEMPT, b"second", {})
    assert (store.staged(ATTEMPT) or (b"",))[0] == b"second"


def test_a_scratch_directory_is_private_and_goes(store: AssetStore) -> None:
    """It exists for the call, is the user's own, and is removed with all that is in it, also after an error."""
    seen: list[Path] = []

    def call_that_fails() -> None:
        with store.scratch_directory(ATTEMPT) as path:
            seen.append(path)
            assert path.stat().st_mode & 0o777 == 0o700
            (path / "half.png").write_bytes(b"x")
            raise KeyError

    with pytest.raises(KeyError):
        call_that_fails()
    assert [path.exists() for path in seen] == [False]


# Manifests


def test_a_manifest_is_written_once(store: AssetStore) -> None:
    """The same content again changes nothing; a file that was damaged holds it again."""
    content = {"final_key": "f" * 64, "title": "ü"}
    path = store.write_manifest("f" * 64, content)
    before = path.read_bytes(), path.stat().st_mtime_ns
    assert store.write_manifest("f" * 64, content) == path == store.manifest_path("f" * 64)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    path.write_bytes(before[0][:10])
    store.write_manifest("f" * 64, content)
    assert path.read_bytes() == before[0]
    assert json.loads(before[0]) == {"final_key": "f" * 64, "title": "ü"} == store.manifest("f" * 64)
    assert files(store) == [f"keys/{'f' * 64}.json"]


@pytest.mark.parametrize("content", [None, b"", b"{", b"\xff"])
def test_a_manifest_that_is_not_whole_is_none(store: AssetStore, content: bytes | None) -> None:
    """Missing, empty, cut and garbage are the same to a reader."""
    if content is not None:
        store.write_manifest("f" * 64, {}).write_bytes(content)
    assert store.manifest("f" * 64) is None
