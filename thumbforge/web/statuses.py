"""What an HTTP status means where the service says nothing more exact."""

from __future__ import annotations

import time
from collections.abc import Mapping

from thumbforge.errors import (
    ProviderAuth,
    ProviderBadRequest,
    ProviderError,
    ProviderQuota,
    ProviderRateLimited,
    ProviderSetup,
    ProviderTimeout,
    ProviderTransient,
)

_BY_STATUS: Mapping[int, type[ProviderError]] = {
    401: ProviderAuth,
    402: ProviderQuota,
    403: ProviderAuth,
    404: ProviderSetup,
    405: ProviderSetup,
    407: ProviderAuth,
    408: ProviderTransient,
    409: ProviderTransient,
    410: ProviderSetup,
    413: ProviderSetup,
    425: ProviderTransient,
    501: ProviderSetup,
    504: ProviderTimeout,
    524: ProviderTimeout,  # a front server gave up on one that may still be drawing
}
_HINTS: Mapping[type[ProviderError], str] = {
    ProviderAuth: "check the key and what it is allowed to do",
    ProviderQuota: "check the plan and the billing of the account, then `thumbforge runs resume`",
    ProviderSetup: "check the profile's base_url and model",
}


LONG_WAIT_S = 120.0
"""Seconds. No call keeps a longer wait: the run stops and says when to go on. OpenAI's own clients give up there."""
_RESUME = "wait until then, then `thumbforge runs resume`"


def limited(told: str, wait_s: float | None, *, hint: str = "") -> ProviderError:
    """Too many requests: rate limited where the wait is short or unknown, else a quota that is back at a known time."""
    if wait_s is None or wait_s <= LONG_WAIT_S:
        return ProviderRateLimited(told, hint=hint, retry_after_s=wait_s)
    return ProviderQuota(told, hint=_RESUME, resets_at=time.time() + wait_s)


def by_status(provider: str, status: int, says: str, *, wait_s: float | None = None, hint: str = "") -> ProviderError:
    """The error of an answer with this status; `says` is the service's own words, `wait_s` the wait it asks for.

    A busy service (429, 5xx) that names its wait is a ProviderRateLimited; a 429 with a long one a ProviderQuota.
    """
    told = f"{provider}: HTTP {status}{f': {says}' if says else ''}"
    if status == 429:
        return limited(told, wait_s, hint=hint)
    if status >= 500 and wait_s is not None and status not in _BY_STATUS:
        return ProviderRateLimited(told, hint=hint, retry_after_s=wait_s)
    kind = _BY_STATUS.get(status) or _by_class(status)
    return kind(told, hint=hint or _HINTS.get(kind, ""))


def _by_class(status: int) -> type[ProviderError]:
    if 300 <= status < 400:
        return ProviderSetup
    if 400 <= status < 500:
        return ProviderBadRequest
    return ProviderTransient if status >= 500 else ProviderError


def redirected(provider: str, host: str) -> ProviderSetup:
    """A redirect is never followed: the key is for the address in the profile alone."""
    return ProviderSetup(
        f"{provider}: the service sends us on to {host}, which is not followed",
        hint="check the profile's base_url, and that no network login stands between",
    )
