"""HTTP: foreign errors at one edge, TLS, proxies, logs, and any bytes as an answer."""

from __future__ import annotations

import contextlib
import inspect
import logging
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.recorded_server import (
    RecordedServer,
    answer,
    closed,
    in_turn,
    message,
    raw,
    stalled,
)
from tests.stubs.http_kit import OK, SOON_S, until
from thumbforge.cancel import Cancel
from thumbforge.errors import (
    Interrupted,
    ProviderError,
    ProviderSetup,
    ProviderTransient,
)
from thumbforge.web import wire
from thumbforge.web.http import VERDICTS, Http, host_of, is_local

# The one edge


def _exceptions(module: object) -> list[type[Exception]]:
    found = [each for _, each in inspect.getmembers(module, inspect.isclass) if issubclass(each, Exception)]
    assert len(found) > 10
    return found


@pytest.mark.parametrize("foreign", _exceptions(httpx), ids=lambda cls: cls.__name__)
def test_every_error_of_httpx_has_its_verdict(foreign: type[Exception]) -> None:
    """A new class of httpx is a decision: each is in the table by its own name, and becomes a provider's error."""
    assert foreign.__name__ in VERDICTS
    error = Exception.__new__(foreign)
    found = Http("test", "").translated(error, "http://127.0.0.1/secret?key=1")
    assert isinstance(found, ProviderError)
    assert type(found) is VERDICTS[foreign.__name__].error
    assert "secret" not in found.message


def test_the_most_specific_verdict_counts() -> None:
    """A subclass that is not known is judged as its nearest known base."""

    class Newer(httpx.ConnectTimeout):
        pass

    assert not Http("test", "").translated(Newer("x"), "").unclear
    assert Http("test", "").translated(httpx.ReadTimeout("x"), "").unclear


def name_has(monkeypatch: pytest.MonkeyPatch, *hosts: str) -> None:
    """A name that is looked up has these addresses."""
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, 0)) for host in hosts]
    usual = socket.getaddrinfo
    look_up = lambda name, *rest, **more: found if name == b"two-ways.invalid" else usual(name, *rest, **more)  # noqa: E731
    monkeypatch.setattr(socket, "getaddrinfo", look_up)


def test_every_address_of_a_host_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the first refuses, the next is asked."""
    with RecordedServer(in_turn(raw(OK))) as server:
        url = f"http://two-ways.invalid:{server.url.rpartition(':')[2]}/"
        name_has(monkeypatch, "127.0.0.2", "127.0.0.1")
        assert Http("test", "").exchange("GET", url, cancel=Cancel(), timeout_s=20).status == 200
        name_has(monkeypatch, "127.0.0.2", "127.0.0.3")
        with pytest.raises(ProviderTransient, match="refused") as caught:
            Http("test", "").exchange("GET", url, cancel=Cancel(), timeout_s=20)
        assert not caught.value.unclear


def test_an_address_that_leads_nowhere_gives_way_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """A listener whose queue is full answers nobody; the next address is asked after a while, or the call is late."""
    with RecordedServer(in_turn(raw(OK))) as server, socket.socket() as deaf, contextlib.ExitStack() as waiting:
        port = int(server.url.rpartition(":")[2])
        deaf.bind(("127.0.0.2", port))
        deaf.listen(0)
        for _ in range(4):
            knock = waiting.enter_context(socket.socket())
            knock.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                knock.connect(deaf.getsockname())
        url = f"http://two-ways.invalid:{port}/"
        name_has(monkeypatch, "127.0.0.2", "127.0.0.1")
        assert Http("test", "").exchange("GET", url, cancel=Cancel(), timeout_s=20).status == 200
        name_has(monkeypatch, "127.0.0.2")
        with pytest.raises(ProviderTransient, match="no connection in time") as caught:
            Http("test", "").exchange("GET", url, cancel=Cancel(), timeout_s=0.5)
        assert not caught.value.unclear


HANGING = """
import socket, sys, threading
from thumbforge.cancel import Cancel
from thumbforge.errors import Interrupted, ProviderTransient
from thumbforge.web.http import Http

asked = threading.Event()

def hang(*_):
    asked.set()
    threading.Event().wait()

socket.getaddrinfo = hang
cancel = Cancel()
threading.Thread(target=lambda: (asked.wait(), cancel.set()), daemon=True).start()
for given, expected, seconds in ((cancel, Interrupted, 60), (Cancel(), ProviderTransient, 0.2)):
    try:
        Http("test", "").exchange("GET", "https://hangs.invalid/", cancel=given, timeout_s=seconds)
    except expected as error:
        print(type(error).__name__, getattr(error, "unclear", False))
"""


def test_a_name_that_hangs_holds_up_neither_ctrl_c_nor_the_exit() -> None:
    """A look-up that never ends: the call is interrupted or late, and clear; the interpreter goes."""
    done = subprocess.run([sys.executable, "-c", HANGING], capture_output=True, text=True, timeout=30, check=True)
    assert (done.stdout, done.stderr) == ("Interrupted False\nProviderTransient False\n", "")


def test_sixteen_calls_in_flight_end_at_once() -> None:
    """As many as there are, all are over as soon as one."""
    cancel, ended = Cancel(), []

    def run(url: str) -> None:
        with pytest.raises(Interrupted):
            Http("test", "").exchange("POST", url, cancel=cancel, timeout_s=60, json={})
        ended.append(time.monotonic())

    with RecordedServer(lambda _: stalled(OK[:40])) as server:
        workers = [threading.Thread(target=run, args=(server.url,), daemon=True) for _ in range(16)]
        for worker in workers:
            worker.start()
        until(lambda: len(server.requests) == 16)
        before = time.monotonic()
        cancel.set()
        for worker in workers:
            worker.join(10)
    assert len(ended) == 16
    assert max(ended) - before < SOON_S


# TLS and proxies


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1, with its key, made for this run."""
    if not shutil.which("openssl"):
        pytest.skip("makes its certificate with openssl")
    path = tmp_path_factory.mktemp("tls") / "own.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(path), "-out", str(path) + ".crt"],
        check=True, capture_output=True,
    )  # fmt: skip
    path.write_bytes(path.read_bytes() + Path(f"{path}.crt").read_bytes())
    return path


@pytest.fixture
def secure(certificate: Path) -> Iterator[tuple[str, threading.Event]]:
    """A TLS server that answers one request and then, for the path /wait, holds the next one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    over, waiting = threading.Event(), threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.05)

    def serve() -> None:
        while not over.is_set():
            try:
                plain, _ = listener.accept()
                plain.settimeout(5)
                with context.wrap_socket(plain, server_side=True) as sock:
                    if b"/wait" in sock.recv(65536):
                        waiting.set()
                        over.wait(10)
                    else:
                        sock.sendall(message(200, b"y" * 200_000))
            except OSError:
                continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{listener.getsockname()[1]}", waiting
    over.set()
    thread.join(10)
    listener.close()


def test_tls_is_checked_and_can_be_stopped(
    secure: tuple[str, threading.Event], certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A certificate of nobody's is refused before anything is sent; a known one works; Ctrl-C ends a waiting call."""
    url, waiting = secure
    with pytest.raises(ProviderTransient, match="certificate") as caught:
        Http("test", "").exchange("GET", url, cancel=Cancel(), timeout_s=20)
    assert not caught.value.unclear
    known = ssl.create_default_context(cafile=f"{certificate}.crt")
    monkeypatch.setattr(wire, "trusted", lambda: known)
    http = Http("test", "")
    assert http.exchange("GET", url, cancel=Cancel(), timeout_s=20).body == b"y" * 200_000
    cancel = Cancel()
    raised: list[BaseException] = []

    def run() -> None:
        try:
            http.exchange("GET", f"{url}/wait", cancel=cancel, timeout_s=60)
        except BaseException as error:
            raised.append(error)

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    assert waiting.wait(20)
    cancel.set()
    worker.join(SOON_S)
    assert [type(error) for error in raised] == [Interrupted]


def test_a_proxy_of_the_environment_is_used_but_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever lives behind a proxy gets out through it; a server at 127.0.0.1 is asked directly."""
    with (
        RecordedServer(in_turn(answer({"via": "proxy"}))) as proxy,
        RecordedServer(in_turn(answer({"via": ""}))) as own,
    ):
        monkeypatch.setenv("http_proxy", f"http://someone:pass@{proxy.url.removeprefix('http://')}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        http = Http("test", "")
        assert b"proxy" in http.exchange("GET", "http://elsewhere.invalid/", cancel=Cancel(), timeout_s=20).body
        assert b"proxy" not in http.exchange("GET", own.url, cancel=Cancel(), timeout_s=20).body
        assert proxy.requests[0].headers["proxy-authorization"].startswith("Basic ")


def test_a_proxy_that_we_cannot_use_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Going out directly instead would show what a proxy was to hide."""
    monkeypatch.setenv("https_proxy", "socks5://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with pytest.raises(ProviderSetup):
        Http("test", "").exchange("GET", "https://elsewhere.invalid/", cancel=Cancel(), timeout_s=20)


def test_a_proxy_that_hangs_up_is_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    """The service has not been asked before the way through the proxy stands."""
    with RecordedServer(in_turn(closed)) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        with pytest.raises(ProviderTransient, match="proxy") as caught:
            Http("test", "").exchange("GET", "https://elsewhere.invalid/", cancel=Cancel(), timeout_s=20)
    assert not caught.value.unclear


def test_libraries_write_no_headers_into_logs(caplog: pytest.LogCaptureFixture) -> None:
    """Even where a program logs everything, the key is in no line."""
    with caplog.at_level(logging.DEBUG), RecordedServer(in_turn(raw(OK))) as server:
        Http("test", "").exchange(
            "GET", f"{server.url}/?sig=SECRETSIG", cancel=Cancel(), timeout_s=5, headers={"Authorization": "Bearer KEY"}
        )
    assert "KEY" not in caplog.text
    assert "SECRETSIG" not in caplog.text


@pytest.mark.parametrize(
    ("url", "host", "local"),
    [
        ("https://api.test/v1?key=1", "api.test", False),
        ("http://me:pass@127.0.0.1:8188/x", "127.0.0.1:8188", True),
        ("http://localhost/", "localhost", True),
        ("http://[::1]:80/", "[::1]:80", True),
        ("http://[broken", "the address", False),
        ("", "the address", False),
    ],
)
def test_an_address_is_told_by_its_host_alone(url: str, host: str, local: bool) -> None:
    """No user, no path, no query gets into a message."""
    assert (host_of(url), is_local(url)) == (host, local)


@pytest.fixture(scope="module")
def parrot() -> Iterator[tuple[RecordedServer, list[bytes]]]:
    """A server that says the last bytes in its list."""
    words: list[bytes] = [b""]
    with RecordedServer(lambda _: raw(words[-1])) as server:
        yield server, words


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=400))
def test_any_bytes_as_an_answer(parrot: tuple[RecordedServer, list[bytes]], data: bytes) -> None:
    """Whatever a server sends, it is a whole answer or one of our errors."""
    _any_bytes(parrot, data)


@pytest.mark.soak
@settings(max_examples=5000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=4000))
def test_any_bytes_as_an_answer_for_long(parrot: tuple[RecordedServer, list[bytes]], data: bytes) -> None:
    """The same, many times."""
    _any_bytes(parrot, data)


CLIENT = Http("test", "")


def _any_bytes(parrot: tuple[RecordedServer, list[bytes]], data: bytes) -> None:
    server, words = parrot
    for sent in (data, b"HTTP/1.1 200 OK\r\n" + data, b"HTTP/1.1 200 OK\r\n\r\n" + data):
        words.append(sent)
        try:
            told = str(CLIENT.exchange("GET", server.url, cancel=Cancel(), timeout_s=20).status)
        except ProviderError as error:
            told = error.message
        assert "\n" not in told
