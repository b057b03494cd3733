"""The HTTP transport: httpx' async client, one call on one event loop in the thread that asks.

httpx is imported here and nowhere else. A call is a task, so that it can be ended at any point: by Ctrl-C, and by its
own time. Nothing is shared between calls but the certificates, so there is no thread to keep and none to wait for.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import socket
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from functools import lru_cache, partial
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpx

from thumbforge.cancel import Cancel

SLICE_S = 0.1
"""Longest wait without a look at the clock and at Ctrl-C."""
CONNECT_S = 15.0
MAX_PORT = 65535
_CLOSING_S = 1.0

# At DEBUG these two write headers with keys and addresses with signatures into any log that the process has.
for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class TooLong(Exception):
    """The answer has more bytes than may come."""


def exchange(
    method: str, url: str, *, cancel: Cancel, ends: float, most: int, line: Line | None = None, **sent: Any
) -> tuple[int, Mapping[str, str], bytes]:
    """Status, headers by lower-case name and the bytes as they came, at most `most`; `ends` is by the monotonic clock.

    `sent` is as httpx takes it: headers, json, data, files, params. Raises Interrupted, TooLong, or an error of httpx,
    whose class says whether the request was out when the time was over or the connection broke.
    """
    cancel.check()
    if line:
        return line.runner.run(_whole(cancel, ends, partial(_asked, line.client(url), method, url, most, sent)))
    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(_whole(cancel, ends, partial(_alone, method, url, most, sent)))


class Line:
    """A connection that is kept from one exchange to the next, for one thread and one address. For questions that
    cost nothing and may be asked again: where the server closes it meanwhile, nobody knows whether it took the next."""

    def __init__(self) -> None:
        self.runner = asyncio.Runner(loop_factory=Loop)
        self._client: httpx.AsyncClient | None = None

    def client(self, url: str) -> httpx.AsyncClient:
        self._client = self._client or _client(url)
        return self._client

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        if self._client:
            self.runner.run(self._client.aclose())
        self.runner.close()


async def _whole(
    cancel: Cancel, ends: float, ask: Callable[[_Stage], Coroutine[Any, Any, tuple[int, Mapping[str, str], bytes]]]
) -> tuple[int, Mapping[str, str], bytes]:
    stage = _Stage()
    call = asyncio.create_task(ask(stage))
    try:
        while not call.done():
            cancel.check()
            if (left := ends - time.monotonic()) <= 0:
                raise stage.late("the time is over")
            await asyncio.wait({call}, timeout=min(left, SLICE_S))
        return call.result()
    except OSError as error:  # of TLS, mostly: httpx passes some of them on as they are
        raise stage.lost(str(error)) from error
    except (httpx.ReadError, httpx.RemoteProtocolError) as error:
        if stage.asked:
            raise
        raise httpx.ProxyError(str(error)) from error
    finally:
        if call.cancel():
            await asyncio.wait({call}, timeout=_CLOSING_S)


async def _alone(
    method: str, url: str, most: int, sent: Mapping[str, Any], stage: _Stage
) -> tuple[int, Mapping[str, str], bytes]:
    async with _client(url) as client:
        return await _asked(client, method, url, most, sent, stage)


async def _asked(
    client: httpx.AsyncClient, method: str, url: str, most: int, sent: Mapping[str, Any], stage: _Stage
) -> tuple[int, Mapping[str, str], bytes]:
    request = client.build_request(method, url, extensions={"trace": stage.trace}, **sent)
    response = await client.send(request, stream=True)
    async with contextlib.aclosing(response):
        headers = {name.lower(): value for name, value in response.headers.items()}
        return response.status_code, headers, await _bytes(response.aiter_raw(), most)


async def _bytes(pieces: AsyncIterator[bytes], most: int) -> bytes:
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) > most:
            raise TooLong
    return bytes(body)


class _Stage:
    """How far a call is, as httpcore traces it: what an end at this point means."""

    def __init__(self) -> None:
        self.late: type[httpx.TimeoutException] = httpx.ConnectTimeout
        self.lost: type[httpx.NetworkError] = httpx.ConnectError
        self.asked = False

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        request = info.get("request")
        if request is None or request.method == b"CONNECT":  # that asks a proxy for the way, the service for nothing
            return
        self.asked = True
        if "send_request" in event:
            self.late, self.lost = httpx.WriteTimeout, httpx.WriteError
        elif "receive_response" in event:
            self.late, self.lost = httpx.ReadTimeout, httpx.ReadError


def _client(url: str) -> httpx.AsyncClient:
    """HTTP/1.1, no redirects followed, no retries. For one call, but for a Line: calls of providers are seconds apart,
    and a kept connection that the server closes meanwhile would make the outcome of the next one unclear."""
    address = httpx.URL(url)
    if (address.port or 0) > MAX_PORT:
        raise httpx.InvalidURL(f"there is no port {address.port}")
    return httpx.AsyncClient(
        verify=trusted(),
        proxy=_proxy(proxy_for(address)),
        follow_redirects=False,
        timeout=httpx.Timeout(None, connect=CONNECT_S),
        trust_env=False,
    )


@lru_cache(maxsize=1)
def trusted() -> ssl.SSLContext:
    """The certificates that are trusted, read once: it takes longer than the rest of a client."""
    return httpx.create_ssl_context()


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


def _proxy(named: str) -> httpx.Proxy | None:
    if not named:
        return None
    url = httpx.URL(named if "://" in named else f"http://{named}")
    if url.scheme != "http":
        raise httpx.UnsupportedProtocol(f"a proxy with {url.scheme}:// cannot be used")
    return httpx.Proxy(url)


class Loop(asyncio.SelectorEventLoop):
    """An event loop whose look-ups of names hold up nobody: the usual one's run in threads that are waited for when
    the interpreter ends, and nothing can stop `getaddrinfo`."""

    async def getaddrinfo(
        self,
        host: bytes | str | None,
        port: bytes | str | int | None,
        *,
        family: int = 0,
        type: int = 0,
        proto: int = 0,
        flags: int = 0,
    ) -> list[Any]:
        found: asyncio.Future[list[Any]] = self.create_future()

        def tell(addresses: list[Any] | Exception) -> None:
            if found.done():
                return
            if isinstance(addresses, Exception):
                found.set_exception(addresses)
            else:
                found.set_result(addresses)

        def look_up() -> None:
            addresses: list[Any] | Exception
            try:
                addresses = socket.getaddrinfo(host, port, family, type, proto, flags)
            except (OSError, UnicodeError) as error:
                addresses = error if isinstance(error, OSError) else OSError(str(error))
            with contextlib.suppress(RuntimeError):  # the call is over, and its loop with it
                self.call_soon_threadsafe(tell, addresses)

        threading.Thread(target=look_up, name="thumbforge-dns", daemon=True).start()
        return await found
