"""The places that may be a shared store: one contract for a folder, obstore's own stores and what speaks S3."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.recorded_server import RecordedServer, stalled
from tests.stubs.s3_kit import BUCKET, KEYS, S3, said
from thumbforge.errors import AssetDamaged, RemoteDenied, RemoteError, UsageError
from thumbforge.settings import load
from thumbforge.store.shared.bucket import Bucket
from thumbforge.store.shared.folder import Folder
from thumbforge.store.shared.place import open_remote
from thumbforge.store.shared.remote import Remote

KINDS = ("folder", "local", "memory", "s3")
NAME = f"keys/art/{'a' * 64}.json"


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    """A bucket that the environment's endpoint leads to."""
    pytest.importorskip("obstore")
    bucket = S3()
    with RecordedServer(bucket) as server:
        for name, value in {**KEYS, "AWS_ENDPOINT_URL": server.url}.items():
            monkeypatch.setenv(name, value)
        yield bucket


@pytest.fixture(params=KINDS)
def remote(request: pytest.FixtureRequest, tmp_path: Path) -> Remote:
    if request.param == "folder":
        return Folder(tmp_path, "the folder")
    store = pytest.importorskip("obstore.store")
    if request.param == "s3":
        request.getfixturevalue("s3")
        return Bucket.open(f"s3://{BUCKET}/team/one", 5)
    made = store.LocalStore(tmp_path) if request.param == "local" else store.MemoryStore()
    return Bucket(made, "the store")


def test_what_is_put_is_got(remote: Remote) -> None:
    """By its name, as it was; nothing under another name; more bytes than may come are refused."""
    assert remote.get(NAME, 100) is None
    assert remote.put_once(NAME, b"first")
    assert (remote.get(NAME, 5), remote.get(f"{NAME}x", 5)) == (b"first", None)
    with pytest.raises(AssetDamaged, match="keys/art"):
        remote.get(NAME, 4)


def test_a_name_is_taken_once(remote: Remote) -> None:
    """The second one hears that it was taken, and what is there stays."""
    assert (remote.put_once(NAME, b"first"), remote.put_once(NAME, b"second")) == (True, False)
    assert remote.get(NAME, 100) == b"first"


def test_of_many_at_once_one_is_first(remote: Remote) -> None:
    won: list[int] = []
    threads = [
        threading.Thread(target=lambda n=n: won.append(n) if remote.put_once(NAME, b"%d" % n) else None)  # type: ignore[misc]
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [b"%d" % n for n in won] == [remote.get(NAME, 100)]


def test_all_below_a_folder_is_told(remote: Remote) -> None:
    """Names, sizes and times; what was deleted is not, and to delete it again is no error."""
    for name in (NAME, "keys/b.json", "assets/aa/c.png"):
        remote.put_once(name, b"data")
    assert {(e.name, e.bytes) for e in remote.entries("keys")} == {(NAME, 4), ("keys/b.json", 4)}
    assert all(entry.modified > 1_700_000_000 for entry in remote.entries("assets"))
    remote.delete("keys/b.json")
    remote.delete("keys/b.json")
    assert [entry.name for entry in remote.entries("keys")] == [NAME]


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """It may be the place of a disk that is not mounted."""
    folder = Folder(tmp_path / "share", "the share")
    for ask in (lambda: folder.get(NAME, 9), lambda: folder.put_once(NAME, b""), lambda: list(folder.entries("keys"))):
        with pytest.raises(RemoteError, match="there is no folder the share"):
            ask()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("status", "code", "error", "told"),
    [
        (500, "InternalError", RemoteError, "answers 500 InternalError"),
        (503, "SlowDown", RemoteError, "answers 503 SlowDown"),
        (404, "NoSuchBucket", RemoteError, "there is no bucket"),
        (400, "ExpiredToken", RemoteDenied, "refuses us (400 ExpiredToken)"),
        (403, "SignatureDoesNotMatch", RemoteDenied, "refuses us (403"),
        (301, "PermanentRedirect", RemoteError, "AWS_REGION"),
    ],
)
def test_what_a_service_says_is_told_without_its_keys(
    s3: S3, status: int, code: str, error: type[RemoteError], told: str
) -> None:
    """In one line with the status and the name of the error, whatever was asked; no key and no address of a request."""
    s3.wrong = lambda seen: said(status, code)
    bucket = Bucket.open(f"s3://{BUCKET}/team", 5)
    for ask in (lambda: bucket.get(NAME, 9), lambda: bucket.put_once(NAME, b""), lambda: list(bucket.entries("keys"))):
        with pytest.raises(error) as caught:
            ask()
        text = f"{caught.value} {caught.value.hint}"
        assert told in text
        assert "\n" not in text
        assert not any(secret in text for secret in (KEYS["AWS_ACCESS_KEY_ID"], "SECRET", "127.0.0.1"))


def test_two_that_write_at_once_ask_again(s3: S3) -> None:
    """409 says that another one is under way: whoever was first is known right after."""
    answers = [said(409, "ConditionalRequestConflict"), None]
    s3.wrong = lambda seen: answers.pop(0) if seen.method == "PUT" else None
    assert Bucket.open(f"s3://{BUCKET}/team", 5).put_once(NAME, b"x")
    assert answers == []


def test_a_silent_service_is_not_waited_for_long(s3: S3) -> None:
    s3.wrong = lambda seen: stalled()
    with pytest.raises(RemoteError, match="does not answer in time"):
        Bucket.open(f"s3://{BUCKET}/team", 0.1).get(NAME, 9)


def test_without_a_key_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the address either that only a machine in a cloud has."""
    pytest.importorskip("obstore")
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(RemoteDenied, match="no key for s3"):
        Bucket.open("s3://pics/team", 5)


@pytest.mark.parametrize(
    ("place", "environ", "path"),
    [
        ("az://box/team", {"AZURE_STORAGE_ACCOUNT_NAME": "us", "AZURE_STORAGE_ACCOUNT_KEY": "a2V5"}, "/box/team/"),
        ("gs://box/team", {"GOOGLE_SKIP_SIGNATURE": "true"}, "/box/team"),
    ],
)
def test_the_other_services_are_asked_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, place: str, environ: dict[str, str], path: str
) -> None:
    """By container or bucket and prefix; what is not there is not there."""
    pytest.importorskip("obstore")
    with RecordedServer(lambda seen: said(404, "NoSuchKey")) as server:
        for name, value in {**environ, "AZURE_ENDPOINT": server.url, "GOOGLE_BASE_URL": server.url}.items():
            monkeypatch.setenv(name, value)
        assert Bucket.open(place, 5).get(NAME, 9) is None
        assert [seen.path.startswith(path) for seen in server.requests] == [True]


@pytest.mark.parametrize("place", ["az://box/team", "s3://box/a//b"])
def test_what_names_no_store_is_told_with_what_would(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    pytest.importorskip("obstore")
    for name in ("AZURE_STORAGE_ACCOUNT_KEY", "AWS_ACCESS_KEY_ID"):
        monkeypatch.setenv(name, "a2V5")
    with pytest.raises(UsageError, match="names no store") as caught:
        Bucket.open(place, 5)
    assert place[:5] in caught.value.hint


def test_without_the_extra_its_install_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "obstore.store", None)
    with pytest.raises(UsageError, match="needs the extra remote") as caught:
        Bucket.open("s3://pics/team", 5)
    assert "pip install" in caught.value.hint


@pytest.mark.parametrize(
    "place", ["http://host/x", "s3://key:secret@bucket/x", "s3://", "gs://b?sig=1", "file://host/x"]
)
def test_an_address_is_no_more_than_that(tmp_path: Path, place: str) -> None:
    """Other services, keys in an address, and what names nothing are refused when settings are read."""
    with pytest.raises(UsageError, match=r"store\.remote"):
        load(tmp_path, {"THUMBFORGE_STORE__REMOTE": place})


@pytest.mark.parametrize("place", ["{there}", "file://{there}", "../there"])
def test_a_folder_is_named_in_three_ways(tmp_path: Path, place: str) -> None:
    root, there = tmp_path / "project", tmp_path / "there"
    root.mkdir()
    there.mkdir()
    settings = load(root, {"THUMBFORGE_STORE__REMOTE": place.format(there=there)})
    assert open_remote(settings, root).put_once("keys/x.json", b"{}")
    assert (there / "keys/x.json").read_bytes() == b"{}"


def test_a_projects_file_does_not_decide_what_leaves_a_machine(tmp_path: Path) -> None:
    """It may name the place and switch it off; that something is written there says the environment alone."""
    (tmp_path / "thumbforge.toml").write_text('[store]\nremote = "s3://pics/team"\nmode = "write"\n')
    with pytest.raises(UsageError, match=r"store\.mode is write") as caught:
        load(tmp_path, {})
    assert "THUMBFORGE_STORE__MODE=write" in caught.value.hint
    assert load(tmp_path, {"THUMBFORGE_STORE__MODE": "write"}).text("store.mode") == "write"
