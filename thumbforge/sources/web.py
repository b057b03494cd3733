"""One GET over HTTP: a status, headers and at most so many bytes, or an error of ours. httpx comes with the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from thumbforge import __version__
from thumbforge.errors import SourceError
from thumbforge.sources.api_errors import RETRY_HINT, Again

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

TRIES = 3
MAX_BACKOFF_S = 60.0
_TIMEOUT_S = 30.0  # between two pieces of an answer; the whole of one is bounded by its size


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes


def client() -> httpx.Client:
    """A client that follows no redirect, so that no key goes anywhere else, and that uses the environment's proxy."""
    import httpx

    agent = {"User-Agent": f"thumbforge/{__version__}"}
    return httpx.Client(headers=agent, follow_redirects=False, timeout=httpx.Timeout(_TIMEOUT_S, connect=10.0))


def get(
    web: httpx.Client,
    url: str,
    *,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    max_bytes: int,
) -> Reply:
    """The answer, whatever its status. Raises Again where there is none that is whole, SourceError where it is longer
    than `max_bytes` or the address cannot be asked. Messages tell the host alone."""
    import httpx

    try:
        with web.stream("GET", url, params=params, headers=headers) as response:
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > max_bytes:
                    raise SourceError(f"{_host(url)} sends more than {max_bytes:,} bytes", hint=RETRY_HINT)
            return Reply(response.status_code, response.headers, bytes(body))
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError) as error:
        raise SourceError(
            f"{_host(url)} cannot be asked: {error}", hint="check the address in the environment"
        ) from error
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise Again(f"{_host(url)} cannot be reached: {error or 'no answer in time'}", hint=_OFFLINE_HINT) from error
    except httpx.HTTPError as error:
        says = "no whole answer in time" if isinstance(error, httpx.TimeoutException) else "the connection broke"
        raise Again(f"{_host(url)}: {says} ({type(error).__name__})", hint=RETRY_HINT) from error


def with_retries(call: Callable[[], T], base_s: float) -> T:
    """What `call` returns; where it raises Again, up to three calls with growing waits from `base_s` seconds on."""
    from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

    retrying = Retrying(
        stop=stop_after_attempt(TRIES),
        wait=wait_random_exponential(multiplier=base_s, max=MAX_BACKOFF_S),
        retry=retry_if_exception_type(Again),
        reraise=True,
    )
    return retrying(call)


_OFFLINE_HINT = "check the network; what was fetched before can be built without it"


def _host(url: str) -> str:
    from urllib.parse import urlsplit

    try:
        return urlsplit(url).netloc.rpartition("@")[2] or "the address"
    except ValueError:
        return "the address"
