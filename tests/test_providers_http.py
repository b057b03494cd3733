"""HTTP: whole answers or an error of ours, however the other side behaves; and an end within a second of Ctrl-C."""

from __future__ import annotations

import gzip
import socket
import threading
import zlib

import pytest

from tests.recorded_server import (
    Play,
    RecordedServer,
    answer,
    closed,
    cut,
    huge,
    in_turn,
    message,
    raw,
    redirect,
    reset,
    slow,
    stalled,
)
from tests.stubs.http_kit import OK, SOON_S, ask, failing, until
from thumbforge.cancel import Cancel
from thumbforge.errors import (
    Interrupted,
    OutputUnusable,
    ProviderError,
    ProviderTimeout,
    ProviderTransient,
)
from thumbforge.web import http as http_module
from thumbforge.web.http import Http, Reply


def test_an_answer_is_whole_whatever_its_status() -> None:
    """Status, headers by lower-case name, and the bytes; a failure's body is an answer too."""
    assert ask(raw(OK)) == Reply(200, {"content-type": "application/json", "content-length": "14"}, b'{"fine": true}')
    assert ask(answer({"error": "no"}, 503, Retry_After="3")).headers["retry-after"] == "3"


def test_a_slow_answer_is_waited_for() -> None:
    """Bytes that come in drops are put together."""
    assert ask(slow(OK, parts=8, pause_s=0.02)).body == b'{"fine": true}'


def test_drops_do_not_stretch_the_time() -> None:
    """The time is that of the whole exchange: a server that sends a byte now and then is late all the same."""
    error = failing(slow(message(200, b"x" * 400), parts=400, pause_s=0.05), timeout_s=0.6)
    assert type(error) is ProviderTimeout
    assert error.unclear


@pytest.mark.parametrize(
    ("play", "kind"),
    [
        (cut(message(200, b"x" * 1000)), ProviderTransient),
        (cut(message(200, b"x" * 10), 0.3), ProviderTransient),
        (reset, ProviderTransient),
        (closed, ProviderTransient),
        (raw(b"SSH-2.0-OpenSSH\r\n\r\n"), ProviderTransient),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"), ProviderTransient),
        (raw(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 300_000), ProviderTransient),
    ],
)
def test_a_broken_answer_is_unclear(play: Play, kind: type[ProviderError]) -> None:
    """Once the request is out, a lost connection may have been a picture that is billed."""
    error = failing(play)
    assert type(error) is kind
    assert error.unclear
    assert error.retryable


def test_a_connection_that_is_refused_is_clear() -> None:
    """Nobody was asked, so nothing can have been billed; the hint says where to look."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ProviderTransient) as caught:
        Http("test", "start the server").exchange("GET", f"http://127.0.0.1:{port}/", cancel=Cancel(), timeout_s=5)
    assert not caught.value.unclear
    assert caught.value.hint == "start the server"
    assert f"127.0.0.1:{port}" in caught.value.message


def test_a_name_without_an_address_is_clear() -> None:
    """A host that does not exist is told as such."""
    with pytest.raises(ProviderTransient, match=r"nowhere\.invalid") as caught:
        Http("test", "").exchange("GET", "https://nowhere.invalid/x?key=1", cancel=Cancel(), timeout_s=20)
    assert not caught.value.unclear
    assert "key" not in caught.value.message


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "http://127.0.0.1:99999/", "http:///x"])
def test_an_address_that_cannot_be_is_a_matter_of_setup(url: str) -> None:
    """It would fail for every item alike."""
    with pytest.raises(ProviderError) as caught:
        Http("test", "").exchange("GET", url, cancel=Cancel(), timeout_s=5)
    assert not caught.value.unclear


def test_a_redirect_is_handed_back_not_followed() -> None:
    """Whoever is asked with a key is asked alone."""
    with RecordedServer(in_turn(redirect("/elsewhere"))) as server:
        reply = Http("test", "").exchange(
            "GET", server.url, cancel=Cancel(), timeout_s=5, headers={"Authorization": "Bearer k"}
        )
        assert (reply.status, reply.headers["location"], len(server.requests)) == (302, "/elsewhere", 1)


def test_nothing_is_kept_open() -> None:
    """After an exchange its connection is closed on our side too."""
    with RecordedServer(in_turn(raw(OK))) as server:
        http = Http("test", "")
        for _ in range(3):
            http.exchange("GET", server.url, cancel=Cancel(), timeout_s=5)
        assert {seen.headers.get("accept-encoding") for seen in server.requests} == {"identity"}
    assert server.open == 0


def test_an_answer_without_end_stops_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than the limit is refused while it comes, not after."""
    monkeypatch.setattr(http_module, "MAX_BYTES", 3_000_000)
    with pytest.raises(OutputUnusable, match="more than 2 MB"):
        ask(huge(200_000_000))


def test_a_packed_answer_is_unpacked() -> None:
    """Some proxies pack what nobody asked them to."""
    body = b'{"fine": true}' * 50
    packs = {"gzip": gzip.compress(body), "deflate": zlib.compress(body), "identity": body}
    for encoding, packed in packs.items():
        assert ask(raw(message(200, packed, Content_Encoding=encoding))).body == body


@pytest.mark.parametrize(("encoding", "body"), [("br", b"abc"), ("gzip", b"no gzip"), ("gzip, gzip", b"abc")])
def test_what_cannot_be_unpacked_is_no_picture(encoding: str, body: bytes) -> None:
    """An unknown or damaged packing is an answer we cannot use."""
    with pytest.raises(OutputUnusable, match="packed"):
        ask(raw(message(200, body, Content_Encoding=encoding)))


def test_a_packed_bomb_stops_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small answer that unpacks to a huge one is refused at the same limit."""
    monkeypatch.setattr(http_module, "MAX_BYTES", 1_000_000)
    with pytest.raises(OutputUnusable, match="more than"):
        ask(raw(message(200, gzip.compress(b"\0" * 50_000_000), Content_Encoding="gzip")))


@pytest.mark.parametrize("play", [stalled(), stalled(OK[:40]), stalled(OK[:-3]), huge(10**12)])
def test_a_call_in_flight_ends_within_a_second_of_ctrl_c(play: Play) -> None:
    """Whatever the server does, or does not, the call is over, its socket closed and no thread left."""
    before = {thread.name for thread in threading.enumerate()}
    cancel, raised = Cancel(), []
    with RecordedServer(in_turn(play)) as server:

        def run() -> None:
            try:
                Http("test", "").exchange("POST", server.url, cancel=cancel, timeout_s=60, json={})
            except BaseException as error:
                raised.append(error)

        worker = threading.Thread(target=run, daemon=True)
        worker.start()
        until(lambda: len(server.requests) == 1)
        cancel.set()
        worker.join(SOON_S)
        assert not worker.is_alive()
        until(lambda: server.open == 0)
    assert [type(error) for error in raised] == [Interrupted]
    assert {thread.name for thread in threading.enumerate()} <= before


def test_an_upload_that_nobody_reads_ends_with_ctrl_c() -> None:
    """Also the sending of a large request can be stopped."""
    cancel, raised = Cancel(), []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"

        def run() -> None:
            try:
                part = ("image", ("a.png", b"x" * 50_000_000, "image/png"))
                Http("test", "").exchange("POST", url, cancel=cancel, timeout_s=60, files=[part])
            except BaseException as error:
                raised.append(error)

        worker = threading.Thread(target=run, daemon=True)
        worker.start()
        connection, _ = listener.accept()
        with connection:
            connection.recv(1000)
            cancel.set()
            worker.join(SOON_S)
            assert not worker.is_alive()
    assert [type(error) for error in raised] == [Interrupted]


def test_an_upload_that_nobody_reads_is_late_and_clear() -> None:
    """A request that did not go out whole was not worked on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        part = ("image", ("a.png", b"x" * 50_000_000, "image/png"))
        with pytest.raises(ProviderTransient) as caught:
            Http("test", "").exchange("POST", url, cancel=Cancel(), timeout_s=0.5, files=[part])
    assert type(caught.value) is ProviderTransient
    assert not caught.value.unclear


def test_an_answer_before_the_upload_ends_is_heard() -> None:
    """A 413 that comes while we still send is the answer, not a broken connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def refuse() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(message(413, b"<html>too large</html>", Connection="close"))
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1_000_000):
                    pass

        thread = threading.Thread(target=refuse, daemon=True)
        thread.start()
        part = ("image", ("a.png", b"x" * 5_000_000, "image/png"))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert Http("test", "").exchange("POST", url, cancel=Cancel(), timeout_s=20, files=[part]).status == 413
        thread.join(10)


def test_a_cancelled_call_asks_nobody() -> None:
    """After Ctrl-C no connection is opened."""
    cancel = Cancel()
    cancel.set()
    with RecordedServer(in_turn(raw(OK))) as server:
        with pytest.raises(Interrupted):
            Http("test", "").exchange("GET", server.url, cancel=cancel, timeout_s=5)
        assert server.requests == []


def test_one_client_serves_many_threads() -> None:
    """Exchanges at the same time get their own answers, and share one client."""
    with RecordedServer(lambda seen: answer({"path": seen.path})) as server:
        http, found = Http("test", ""), {}

        def run(n: int) -> None:
            found[n] = http.exchange("GET", f"{server.url}/{n}", cancel=Cancel(), timeout_s=20).body

        workers = [threading.Thread(target=run, args=(n,)) for n in range(12)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(20)
        assert found == {n: f'{{"path": "/{n}"}}'.encode() for n in range(12)}
