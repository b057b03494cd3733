"""The HTTP transport: httpx on sockets whose every wait ends with the run, and with the call's own time.

httpx and httpcore are imported here and nowhere else. A stock client cannot be stopped from another thread: a blocked
`recv` does not notice that its socket was closed. So the sockets here never block; they wait in slices.
"""

from __future__ import annotations

import ipaddress
import logging
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from thumbforge.cancel import Cancel

T = TypeVar("T")

SLICE_S = 0.1
"""Longest wait without a look at the clock and at Ctrl-C."""
CONNECT_S = 15.0
NEXT_S = 4.0
"""After this a host's next address is tried: one of its ways (IPv6, mostly) may lead nowhere."""
_POLLS = {"read": "POLLIN", "write": "POLLOUT"}

# At DEBUG these two write headers with keys and addresses with signatures into any log that the process has.
for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)


@dataclass(slots=True)
class Watch:
    """What ends the exchange of this thread. `ends` is by the monotonic clock."""

    cancel: Cancel
    ends: float

    def check(self, late: type[Exception], ends: float = float("inf")) -> None:
        """Interrupted once the run is cancelled, `late` once the time is over."""
        self.cancel.check()
        if time.monotonic() >= min(self.ends, ends):
            raise late("the time is over")


watch: ContextVar[Watch] = ContextVar("thumbforge_http_watch")


def make_client() -> httpx.Client:
    """HTTP/1.1, no redirects followed, no retries, no connection kept: calls are seconds apart, and a kept connection
    that the server closes meanwhile would make the outcome of the next call unclear. The time is kept by `Watch`."""
    return httpx.Client(transport=Transport(), follow_redirects=False, timeout=None, trust_env=False)  # noqa: S113


@lru_cache(maxsize=1)
def _trusted() -> ssl.SSLContext:
    """The certificates that are trusted, read once: it takes longer than the rest of a client."""
    return httpx.create_ssl_context()


class Transport(httpx.BaseTransport):
    """One pool for direct connections and one for each proxy that the environment names."""

    def __init__(self) -> None:
        self._ssl = _trusted()
        self._pools: dict[str, httpcore.ConnectionPool] = {}
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        assert isinstance(request.stream, httpx.SyncByteStream)
        url = request.url
        asked = httpcore.Request(
            request.method,
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
        )
        try:
            response = self._pool(proxy_for(url)).handle_request(asked)
        except _FOREIGN as error:
            raise as_httpx(error) from error
        assert isinstance(response.stream, Iterable)
        return httpx.Response(response.status, headers=response.headers, stream=_Body(response.stream))

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()

    def _pool(self, proxy: str) -> httpcore.ConnectionPool:
        with self._lock:
            if proxy not in self._pools:
                own: dict[str, Any] = {
                    "ssl_context": self._ssl,
                    "max_connections": None,
                    "max_keepalive_connections": 0,
                    "network_backend": Network(),
                }
                self._pools[proxy] = _proxied(proxy, own) if proxy else httpcore.ConnectionPool(**own)
            return self._pools[proxy]


def proxy_for(url: httpx.URL) -> str:
    """The proxy that the environment names for this address, "" where it names none or this machine is meant."""
    if is_loopback(url.host) or proxy_bypass(url.host):
        return ""
    named = getproxies()
    return str(named.get(url.scheme) or named.get("all") or "")


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _proxied(proxy: str, own: dict[str, Any]) -> httpcore.HTTPProxy:
    url = httpx.URL(proxy if "://" in proxy else f"http://{proxy}")
    if url.scheme != "http":
        raise httpx.UnsupportedProtocol(f"a proxy with {url.scheme}:// cannot be used")
    auth = (url.username, url.password) if url.username else None
    return httpcore.HTTPProxy(f"http://{url.netloc.decode().rpartition('@')[2]}", proxy_auth=auth, **own)


_FOREIGN = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)


def as_httpx(error: Exception) -> httpx.HTTPError:
    """The class of the same name in httpx, as httpx' own transport does it."""
    twin: type[httpx.TransportError] = getattr(httpx, type(error).__name__)
    return twin(str(error))


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: Iterable[bytes]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._stream
        except _FOREIGN as error:
            raise as_httpx(error) from error

    def close(self) -> None:
        if hasattr(self._stream, "close"):
            self._stream.close()


class Network(httpcore.NetworkBackend):
    """TCP connections to every address of a host in turn."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        ends = time.monotonic() + CONNECT_S
        found = _addresses(host, port, ends)
        refused: Exception = httpcore.ConnectError(f"{host} has no address")
        for left, (family, kind, protocol, _, address) in zip(range(len(found), 0, -1), found, strict=True):
            sock = socket.socket(family, kind, protocol)
            try:
                return self._connected(sock, address, ends if left == 1 else min(ends, time.monotonic() + NEXT_S))
            except (OSError, httpcore.ConnectTimeout) as error:
                sock.close()
                refused = error if isinstance(error, httpcore.ConnectTimeout) else httpcore.ConnectError(str(error))
            except BaseException:
                sock.close()
                raise
        raise refused

    def _connected(self, sock: socket.socket, address: Any, ends: float) -> Stream:
        sock.setblocking(False)
        try:
            sock.connect(address)
        except BlockingIOError:
            _until_ready(sock, "write", httpcore.ConnectTimeout, ends)
        if problem := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(problem, f"connection refused or lost (error {problem})")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return Stream(sock)


class Stream(httpcore.NetworkStream):
    """A socket that never blocks; TLS goes on top of it."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            return self._done(lambda: self._sock.recv(max_bytes), "read", httpcore.ReadTimeout)
        except OSError as error:
            raise httpcore.ReadError(str(error)) from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        left = memoryview(buffer)
        try:
            while left:
                left = left[self._done(lambda: self._sock.send(left), "write", httpcore.WriteTimeout) :]  # noqa: B023
        except OSError as error:
            raise httpcore.WriteError(str(error)) from error

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        ends = time.monotonic() + CONNECT_S
        stream = self
        try:
            secure = ssl_context.wrap_socket(
                self._sock, server_hostname=server_hostname, do_handshake_on_connect=False, suppress_ragged_eofs=False
            )
            stream = Stream(secure)
            stream._done(secure.do_handshake, "read", httpcore.ConnectTimeout, ends)
        except BaseException as error:
            stream.close()
            if isinstance(error, (OSError, ValueError)):
                raise httpcore.ConnectError(str(error)) from error
            raise
        return stream

    def close(self) -> None:
        self._sock.close()

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object" and isinstance(self._sock, ssl.SSLSocket):
            return self._sock
        return self._sock if info == "socket" else None

    def _done(self, action: Callable[[], T], side: str, late: type[Exception], ends: float = float("inf")) -> T:
        """What `action` gives once the socket is ready for it."""
        while True:
            watch.get().check(late, ends)
            try:
                return action()
            except ssl.SSLWantReadError:
                _until_ready(self._sock, "read", late, ends)
            except ssl.SSLWantWriteError:
                _until_ready(self._sock, "write", late, ends)
            except BlockingIOError:
                _until_ready(self._sock, side, late, ends)


def _until_ready(sock: socket.socket, side: str, late: type[Exception], ends: float) -> None:
    """Wait for the socket. Interrupted or `late` where something else comes first."""
    poll = select.poll() if hasattr(select, "poll") else None
    if poll:
        poll.register(sock, getattr(select, _POLLS[side]))
    while True:
        watch.get().check(late, ends)
        if poll:
            ready = bool(poll.poll(SLICE_S * 1000))
        else:
            mine = [sock]
            ready = any(select.select(mine if side == "read" else [], mine if side == "write" else [], mine, SLICE_S))
        if ready:
            return


def _addresses(host: str, port: int, ends: float) -> list[Any]:
    """`getaddrinfo`, which nothing can stop, in a thread of its own: a call that is cancelled does not wait for it."""
    found: list[Any] = []
    failed: list[OSError] = []

    def look_up() -> None:
        try:
            found.extend(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            failed.append(error)
        except UnicodeError as error:
            failed.append(OSError(str(error)))

    if is_loopback(host):
        look_up()
    else:
        thread = threading.Thread(target=look_up, name="thumbforge-dns", daemon=True)
        thread.start()
        while thread.is_alive():
            watch.get().check(httpcore.ConnectTimeout, ends)
            thread.join(SLICE_S)
    if failed:
        raise httpcore.ConnectError(f"{host}: {failed[0].strerror or failed[0]}")
    return found
