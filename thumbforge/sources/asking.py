"""A GET that YouTube is asked, and asked again where that may help."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from thumbforge.cancel import Cancel
from thumbforge.errors import ProviderError, ProviderTimeout, ProviderTransient, SourceError
from thumbforge.sources.api_errors import RETRY_HINT, Again
from thumbforge.web.http import Http, Reply

if TYPE_CHECKING:
    from thumbforge.web.wire import Line

T = TypeVar("T")

TRIES = 3
MAX_BACKOFF_S = 60.0
TIMEOUT_S = 60.0
"""For a whole exchange. A page has 100 kB, a thumbnail up to 1 MB."""

YOUTUBE = Http("YouTube", "check the network; what was fetched before can be built without it")


def get(
    url: str,
    *,
    cancel: Cancel,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    most: int,
    line: Line | None = None,
) -> Reply:
    """The answer, whatever its status. Raises Again where there is none that is whole, SourceError where it has more
    than `most` bytes or the address cannot be asked, Interrupted. Messages tell the host alone."""
    try:
        return YOUTUBE.exchange(
            "GET", url, cancel=cancel, timeout_s=TIMEOUT_S, headers=headers, query=params, most=most, line=line
        )
    except (ProviderTransient, ProviderTimeout) as error:
        raise Again(error.message, hint=error.hint) from error
    except ProviderError as error:
        raise SourceError(error.message, hint=RETRY_HINT) from error


def with_retries(call: Callable[[], T], base_s: float, cancel: Cancel) -> T:
    """What `call` returns; where it raises Again, up to three calls with growing waits from `base_s` seconds on."""
    from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

    retrying = Retrying(
        sleep=cancel.wait,
        stop=stop_after_attempt(TRIES),
        wait=wait_random_exponential(multiplier=base_s, max=MAX_BACKOFF_S),
        retry=retry_if_exception_type(Again),
        reraise=True,
    )
    return retrying(call)
