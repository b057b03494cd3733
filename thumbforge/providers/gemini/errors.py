"""What the Gemini API says when there is no picture: by status, by detail, and inside a 200."""

from __future__ import annotations

import time
from typing import Any

from thumbforge.errors import (
    OutputMissing,
    OutputUnusable,
    ProviderAuth,
    ProviderBadRequest,
    ProviderError,
    ProviderQuota,
    ProviderRefused,
    ProviderSetup,
)
from thumbforge.pixels.kinds import described
from thumbforge.providers.gemini.models import ACCOUNT, CUT_OFF, ONCE_MORE, REFUSED, TOOLS
from thumbforge.web.answers import at, list_at, parsed, quoted, text_at
from thumbforge.web.complaints import complaint, meant
from thumbforge.web.http import Reply, host_of
from thumbforge.web.statuses import by_status, limited, redirected
from thumbforge.web.waits import duration, header_wait, next_pacific_midnight, said_wait

KEYS = "https://aistudio.google.com/apikey"
ENABLE = f"turn on billing for the key's project at {KEYS}"
_REWORD = "change the item's prompt; safety settings do not change this"


def failure(provider: str, reply: Reply, key: str, model: str) -> ProviderError:
    """The error of an answer that is not 200."""
    if 300 <= reply.status < 400:
        return redirected(provider, host_of(reply.headers.get("location", "")))
    document = parsed(reply.body)
    if found := said(provider, document, reply, key, model):
        return found
    told = complaint(reply.body)
    if found := meant(provider, told, reply.status, key, console=KEYS):
        return found
    says = told.inner(key) or (described(reply.body) if reply.body else "")
    return by_status(provider, reply.status, says, wait_s=_wait(None, says, reply))


def said(provider: str, document: Any, reply: Reply, key: str, model: str) -> ProviderError | None:
    """The error that the document holds, whatever the status; some routes put it into a list of one."""
    error = at(document, "error") or at(document, 0, "error")
    if not error:
        return None
    words = quoted(text_at(error, "message") or text_at(error, "status") or "an error without words", key)
    status = reply.status
    if status == 200:
        inside = at(error, "code")
        status = inside if isinstance(inside, int) and not isinstance(inside, bool) and 400 <= inside < 600 else 500
    reasons = {text_at(detail, "reason") for detail in list_at(error, "details")}
    if "API_KEY_INVALID" in reasons:
        return ProviderAuth(f"{provider}: the key is refused: {words}", hint=f"check the key at {KEYS}")
    told = complaint(reply.body)
    if told.meaning() != "no limit" and (found := meant(provider, told, status, key, console=KEYS)):
        return found
    if status == 429:
        return _exhausted(provider, error, words, reply)
    return _by_status(provider, status, text_at(error, "status"), words, reply, model)


def _by_status(provider: str, status: int, name: str, words: str, reply: Reply, model: str) -> ProviderError:
    if status == 400 and name == "FAILED_PRECONDITION":
        return ProviderSetup(f"{provider}: the account cannot do this: {words}", hint=ENABLE)
    if status == 400:
        return ProviderBadRequest(f"{provider}: {words}", hint="check the profile's params and the item's prompt")
    if status == 404:
        return ProviderSetup(
            f"{provider}: there is no model {model}: {words}",
            hint="set `model` in the profile; `thumbforge provider models` lists what there is",
        )
    if status in (401, 403):
        return ProviderAuth(f"{provider}: the key may not do this: {words}", hint=f"check the key at {KEYS}")
    return by_status(provider, status, words, wait_s=_wait(None, words, reply))


def _exhausted(provider: str, error: Any, words: str, reply: Reply) -> ProviderError:
    """A 429: never again with this key, not today, or soon. Several quotas may be named at once; the longest counts."""
    violations = [each for detail in list_at(error, "details") for each in list_at(detail, "violations")]
    ids = [(text_at(each, "quotaId"), text_at(each, "quotaValue")) for each in violations]
    free = any("FreeTier" in name and value in ("", "0") for name, value in ids)
    if free or complaint(reply.body).meaning() == "no limit":
        return ProviderQuota(f"{provider}: this key has no quota for pictures: {words}", hint=ENABLE)
    if any("PerDay" in name for name, _ in ids):
        return ProviderQuota(
            f"{provider}: the day's quota is used up: {words}",
            hint="it comes back at midnight Pacific time; then `thumbforge runs resume`",
            resets_at=next_pacific_midnight(time.time()),
        )
    return limited(f"{provider}: too many requests: {words}", _wait(error, words, reply))


def _wait(error: Any, words: str, reply: Reply) -> float | None:
    """In the order of trust: RetryInfo, the header, the message."""
    delays = (duration(text_at(detail, "retryDelay")) for detail in list_at(error, "details"))
    told = next((delay for delay in delays if delay is not None), None)
    if told is None:
        told = header_wait(reply.headers)
    return said_wait(words) if told is None else told


def no_picture(provider: str, document: Any, body: bytes) -> ProviderError:
    """The error of a 200 without a picture."""
    if not isinstance(document, dict):
        return OutputUnusable(f"{provider}: the service answered with {described(body)} instead of JSON")
    if blocked := text_at(document, "promptFeedback", "blockReason"):
        return ProviderRefused(f"{provider}: the prompt is refused: {quoted(blocked)}", hint=_REWORD)
    candidate = at(document, "candidates", 0)
    reason = text_at(candidate, "finishReason") or text_at(candidate, "finish_reason")
    words = quoted(text_at(candidate, "finishMessage") or _spoken(candidate), limit=200)
    told = f"{quoted(reason) or 'no reason'}{f', and it says: {words}' if words else ''}"
    if reason in REFUSED:
        return ProviderRefused(f"{provider}: the picture is refused: {told}", hint=_REWORD)
    if reason in ACCOUNT:
        return ProviderAuth(f"{provider}: the account is limited for what it asked before: {told}", hint=f"see {KEYS}")
    if reason in TOOLS:
        return ProviderSetup(
            f"{provider}: the model calls tools instead of drawing: {told}", hint="set another `model` in the profile"
        )
    if reason in CUT_OFF:
        return OutputMissing(f"{provider}: cut off before the picture: {told}", hint="use a shorter prompt")
    found = OutputMissing(f"{provider}: the model made no picture: {told}", hint="ask for a picture in the prompt")
    found.retryable = found.once_more = found.unclear = reason in ONCE_MORE
    return found


def _spoken(candidate: Any) -> str:
    return " ".join(filter(None, (text_at(part, "text") for part in list_at(candidate, "content", "parts"))))
