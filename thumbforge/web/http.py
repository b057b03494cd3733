"""The one HTTP edge: a request out, a whole answer in, or an error of ours. httpx comes with the first exchange."""

from __future__ import annotations

import ipaddress
import os
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from thumbforge import __version__
from thumbforge.cancel import Cancel
from thumbforge.errors import OutputUnusable, ProviderError, ProviderSetup, ProviderTimeout, ProviderTransient
from thumbforge.pixels.limits import MAX_BYTES

if TYPE_CHECKING:
    from thumbforge.web.wire import Line

Part = tuple[str, tuple[str, bytes, str]]
"""A file of a form: field, (file name, bytes, media type)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an httpx error means. `unclear`: the request had gone out, so it may have been worked on and billed."""

    error: type[ProviderError]
    says: str
    unclear: bool = False


_LOST = Verdict(ProviderTransient, "the connection broke before the answer was whole", unclear=True)
_BROKEN = Verdict(ProviderError, "the answer cannot be read")
_NO_WAY = Verdict(ProviderTransient, "cannot be reached")
_WRONG = Verdict(ProviderSetup, "cannot be asked at this address")

VERDICTS: Mapping[str, Verdict] = {
    "ConnectTimeout": Verdict(ProviderTransient, "no connection in time"),
    "ConnectError": _NO_WAY,
    "PoolTimeout": Verdict(ProviderTransient, "no connection was free in time"),
    "ProxyError": Verdict(ProviderTransient, "the proxy does not let the request through"),
    "WriteTimeout": Verdict(ProviderTransient, "the request could not be sent in time"),
    "WriteError": Verdict(ProviderTransient, "the connection broke while the request was sent"),
    "ReadTimeout": Verdict(ProviderTimeout, "no whole answer in time", unclear=True),
    "ReadError": _LOST,
    "RemoteProtocolError": _LOST,
    "CloseError": _LOST,
    "LocalProtocolError": _WRONG,
    "UnsupportedProtocol": _WRONG,
    "InvalidURL": _WRONG,
    "TooManyRedirects": Verdict(ProviderSetup, "redirects without an end"),
    "DecodingError": _BROKEN,
    "StreamConsumed": _BROKEN,
    "ResponseNotRead": _BROKEN,
    "RequestNotRead": _BROKEN,
    "StreamClosed": _LOST,
    "CookieConflict": _BROKEN,
    "HTTPStatusError": _BROKEN,
    "TimeoutException": Verdict(ProviderTimeout, "no answer in time", unclear=True),
    "NetworkError": _LOST,
    "ProtocolError": _LOST,
    "TransportError": _LOST,
    "RequestError": _LOST,
    "HTTPError": _LOST,
    "StreamError": _BROKEN,
}
"""Every exception class of httpx by name, most specific first; tests/test_providers_http.py walks them all."""


class Http:
    """HTTP for one provider or source, safe from several threads.

    `hint` says what to do where the service cannot be reached.
    """

    def __init__(self, provider: str, hint: str) -> None:
        self.provider, self.hint = provider, hint

    def exchange(
        self,
        method: str,
        url: str,
        *,
        cancel: Cancel,
        timeout_s: float,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        form: Mapping[str, str] | None = None,
        files: Sequence[Part] | None = None,
        query: Mapping[str, str] | None = None,
        most: int = 0,
        sent: Callable[[], None] | None = None,
        line: Line | None = None,
    ) -> Reply:
        """The answer, whatever its status. `timeout_s` bounds the whole exchange, to the last byte; `most` its bytes
        (64 MB where it is not given). `sent` is called when all is ready and the request goes out, over `line` where
        one is kept.

        Raises Interrupted within a tenth of a second of a cancel, ProviderTimeout, ProviderTransient (`unclear` where
        the request had gone out), ProviderSetup for an address that cannot be, OutputUnusable for an answer that is
        too long.
        """
        from thumbforge.web import wire

        most = most or MAX_BYTES
        ends = time.monotonic() + timeout_s
        carried = {"User-Agent": f"thumbforge/{__version__}", "Accept-Encoding": "identity", **(headers or {})}
        if sent:
            sent()
        try:
            status, told, body = wire.exchange(
                method, url, cancel=cancel, ends=ends, most=most, line=line,
                headers=carried, json=json, data=dict(form or {}) or None, files=files, params=query,
            )  # fmt: skip
        except wire.TooLong:
            raise self._too_long(most) from None
        except Exception as error:
            if type(error).__module__.partition(".")[0] != "httpx":
                raise
            raise self.translated(error, url) from error
        packed = told.get("content-encoding", "identity").strip().lower()
        return Reply(status, told, self._unpacked(body, packed, most))

    def translated(self, error: Exception, url: str) -> ProviderError:
        """The one edge where httpx errors become ours. Addresses are told without path and query."""
        verdict = next((VERDICTS[cls.__name__] for cls in type(error).__mro__ if cls.__name__ in VERDICTS), _LOST)
        name = type(error).__name__
        reason = _reason(error) if verdict is _NO_WAY else ""
        told = f"{self.provider}: {host_of(url)}: {verdict.says}{f' ({reason})' if reason else f' ({name})'}"
        found = verdict.error(told, hint=self.hint)
        found.unclear = verdict.unclear
        return found

    def _unpacked(self, body: bytes, encoding: str, most: int) -> bytes:
        """We ask for plain bytes; a proxy may pack them all the same. A packed bomb stops at the same limit."""
        if encoding in ("", "identity") or not body:
            return body
        if encoding not in ("gzip", "x-gzip", "deflate"):
            raise OutputUnusable(f"{self.provider}: the answer is packed in a way that was not asked for")
        unpack = zlib.decompressobj(zlib.MAX_WBITS | 32)
        try:
            plain = unpack.decompress(body, most + 1)
        except zlib.error as error:
            raise OutputUnusable(f"{self.provider}: the packed answer is damaged") from error
        if len(plain) > most:
            raise self._too_long(most)
        return plain

    def _too_long(self, most: int) -> OutputUnusable:
        return OutputUnusable(f"{self.provider}: the answer has more than {most // 2**20} MB")


def kept_line() -> Line:
    """A connection for several exchanges with one address, to be closed (`with`)."""
    from thumbforge.web import wire

    return wire.Line()


def _reason(error: BaseException) -> str:
    """What the system said: of several addresses that were tried, about the first."""
    while cause := error.__cause__ or (error.__context__ if type(error).__module__.startswith("httpcore") else None):
        error = cause
    if isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, OSError) and error.errno and type(error).__module__ == "builtins":
        return os.strerror(error.errno)  # asyncio's own words are "Connect call failed"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def host_of(url: str) -> str:
    """The host and port of an address; never its user, path or query."""
    try:
        parts = urlsplit(url)
        return parts.netloc.rpartition("@")[2] or "the address"
    except ValueError:
        return "the address"


def is_local(url: str) -> bool:
    """Whether the address is on this machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
