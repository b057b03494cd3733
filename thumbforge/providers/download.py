"""Fetching a picture that is drawn and paid for: what breaks here is fetched again, never drawn again."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urljoin, urlsplit

from thumbforge.errors import OutputMissing, ProviderError, ProviderTransient
from thumbforge.providers.base import Call
from thumbforge.web.http import Http, Reply, host_of
from thumbforge.web.statuses import by_status

TRIES = 3
PAUSE_S = 1.0
REDIRECTS = 3


def fetch(
    http: Http,
    url: str,
    call: Call,
    *,
    timeout_s: float,
    headers: Mapping[str, str] | None = None,
    query: Mapping[str, str] | None = None,
    trusted: str = "",
) -> bytes:
    """The bytes at this address. Without `headers`, redirects are followed, for then there is nothing to give away.

    Only https, and addresses that begin with `trusted`, are asked. Messages tell the host alone, because such an
    address often carries a signature. The last failure is raised; it is `unclear`, because the picture exists.
    Whatever a store of pictures answers, it says nothing of the key, the account or the model: a picture that is not
    there is this item's OutputMissing, never an error that meets every item.
    """
    for n in range(1, TRIES + 1):
        try:
            reply = _followed(http, url, call, timeout_s, headers, query, trusted)
            if reply.status == 200:
                return reply.body
            raise by_status(http.provider, reply.status, f"the picture at {host_of(url)} cannot be fetched")
        except ProviderError as error:
            if n == TRIES or not (error.retryable or error.meets_every_item):
                error.unclear = True
                if not error.meets_every_item:
                    raise
                raise _missing(error) from error
        call.cancel.wait(PAUSE_S * n)
    raise AssertionError("the loop returns or raises")


def _missing(error: ProviderError) -> OutputMissing:
    """As the item's failure: a try that is counted, so that no run after run pays for it anew."""
    hint = "it was drawn, perhaps billed, and is not handed out; each try that max_retries allows draws it once"
    found = OutputMissing(error.message, hint=hint)
    found.unclear = True
    return found


def _followed(
    http: Http,
    url: str,
    call: Call,
    timeout_s: float,
    headers: Mapping[str, str] | None,
    query: Mapping[str, str] | None,
    trusted: str,
) -> Reply:
    for _ in range(REDIRECTS + 1):
        _require_safe(http.provider, url, trusted)
        reply = http.exchange("GET", url, cancel=call.cancel, timeout_s=timeout_s, headers=headers, query=query)
        target = reply.headers.get("location", "")
        if not 300 <= reply.status < 400 or headers or not target:
            return reply
        url, query = urljoin(url, target), None
    raise ProviderTransient(f"{http.provider}: the picture's address redirects without an end")


def _require_safe(provider: str, url: str, trusted: str) -> None:
    try:
        scheme = urlsplit(url).scheme
    except ValueError:
        scheme = ""
    if scheme != "https" and not (trusted and url.startswith(trusted)):
        raise OutputMissing(f"{provider}: the picture's address is not https")
