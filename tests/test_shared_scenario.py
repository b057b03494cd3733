"""One machine makes twelve and shares them, another has them; then the bucket is gone, and back. Against a bucket that
says what S3 says, and, with `-m moto`, against moto's server."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.project import item, make_project, wait_until
from tests.recorded_server import RecordedServer
from tests.stubs.s3_kit import BUCKET, KEYS, S3, said
from tests.test_shared_batch import WRITE, clone, pictures
from thumbforge.errors import RemoteError
from thumbforge.store.shared.bucket import Bucket

ITEMS = 12


@dataclass(frozen=True)
class Place:
    environ: dict[str, str]
    goes: Callable[[], object]
    comes_back: Callable[[], object]


OF_THE_LIBRARY = [pytest.param(name, marks=pytest.mark.soak) for name in ("memory", "local")]


@pytest.fixture(params=["stub", pytest.param("moto", marks=pytest.mark.moto), *OF_THE_LIBRARY])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Place]:
    pytest.importorskip("obstore")
    own = {**KEYS, "THUMBFORGE_STORE__REMOTE": f"s3://{BUCKET}/team", "THUMBFORGE_STORE__TIMEOUT_S": "10", **WRITE}
    if request.param == "moto":
        yield from _moto(own)
        return
    if request.param != "stub":
        yield _of_the_library(request.param, own, monkeypatch, tmp_path)
        return
    bucket = S3()
    with RecordedServer(bucket) as server:

        def answers(wrong: object) -> None:
            bucket.wrong = lambda seen: wrong  # type: ignore[assignment,return-value]

        gone = said(404, "NoSuchBucket")
        yield Place({**own, "AWS_ENDPOINT_URL": server.url}, lambda: answers(gone), lambda: answers(None))


def _of_the_library(kind: str, own: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Place:
    """A store of obstore's own in the place of a service."""
    from obstore.store import LocalStore, MemoryStore

    store = MemoryStore() if kind == "memory" else LocalStore(tmp_path / "store", mkdir=True)
    there = [True]

    def opened(address: str, timeout_s: float) -> Bucket:
        if not there:
            raise RemoteError(f"there is no bucket at {address}")
        return Bucket(store, address)

    monkeypatch.setattr(Bucket, "open", opened)
    return Place(own, there.clear, lambda: there.append(True))


def _moto(own: dict[str, str]) -> Iterator[Place]:
    """A server of its own, and a bucket in it."""
    if not importlib.util.find_spec("moto"):
        pytest.skip("moto is not installed")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: _listens(port))
        import boto3

        client = boto3.client(
            "s3", endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1",
            aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"], aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
        )  # fmt: skip
        kept: dict[str, bytes] = {}

        def goes() -> None:
            for found in client.list_objects_v2(Bucket=BUCKET).get("Contents", ()):
                kept[found["Key"]] = client.get_object(Bucket=BUCKET, Key=found["Key"])["Body"].read()
                client.delete_object(Bucket=BUCKET, Key=found["Key"])
            client.delete_bucket(Bucket=BUCKET)

        def comes_back() -> None:
            client.create_bucket(Bucket=BUCKET)
            for name, data in kept.items():
                client.put_object(Bucket=BUCKET, Key=name, Body=data)

        comes_back()
        yield Place({**own, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}, goes, comes_back)
    finally:
        process.kill()
        process.wait()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def test_twelve_are_shared(place: Place, tmp_path: Path) -> None:
    """A makes and pushes; B, without `.thumbforge`, has every file byte for byte, by the lock and by the specs, with no
    call. The bucket is gone: a line says so, the work goes on. It is back: what was missing there is sent."""
    a = make_project(tmp_path / "a", ITEMS, **place.environ)
    assert a.with_environment(THUMBFORGE_STORE__MODE="off").batch().code == 0
    told = a.shown("push")
    assert (told["arts"], told["finals"], told["failed"], a.calls) == (ITEMS, ITEMS, [], ITEMS)
    for n, words in enumerate((["--locked"], [])):
        b = clone(a, tmp_path / f"b{n}", THUMBFORGE_STORE__MODE="read")
        said = b.batch(*words)
        assert (said.code, b.calls) == (0, 0), said.err
        assert pictures(b) == pictures(a)
    place.goes()
    a.playlist([*a.items(), item(ITEMS + 1)])
    said = a.batch()
    assert (said.code, a.calls, a.count("outbox")) == (0, ITEMS + 1, 2), said.err
    assert said.err.count("the work goes on without the shared store") == 1
    assert "there is no bucket" in said.err
    told = a.run("push")
    assert (told.code, told.err.startswith("remote_failed: there is no bucket")) == (1, True)
    place.comes_back()
    told = a.shown("push")
    assert (told["arts"], told["finals"], a.count("outbox")) == (1, 1, 0)
    c = clone(a, tmp_path / "c")
    assert (c.batch("--locked").code, c.calls) == (0, 0)
    assert (a.run("audit", "--remote").code, a.run("prune", "--remote", "--days", "0").code) == (0, 0)
