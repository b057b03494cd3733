"""What the OpenAI image API, and servers that look like it, say when there is no picture."""

from __future__ import annotations

from typing import Any

from thumbforge.errors import (
    ProviderAuth,
    ProviderBadRequest,
    ProviderError,
    ProviderQuota,
    ProviderRefused,
    ProviderSetup,
)
from thumbforge.pixels.kinds import described
from thumbforge.providers.openai.models import SIZES
from thumbforge.web.answers import at, list_at, parsed, quoted, text_at
from thumbforge.web.complaints import Meaning, complaint, meant
from thumbforge.web.http import Reply, host_of
from thumbforge.web.statuses import by_status, redirected
from thumbforge.web.waits import header_wait, said_wait

REFUSED = frozenset({"moderation_blocked", "content_policy_violation", "content_filter", "safety_violation"})
NO_MONEY = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
SETTINGS = frozenset(
    {
        "unknown_parameter",
        "invalid_input_fidelity_model",
        "invalid_image_file",
        "unsupported_file_mimetype",
        "unsupported_value",
        "invalid_size",
    }
)
BILLING = "https://platform.openai.com/settings/organization/billing"
VERIFY = "https://platform.openai.com/settings/organization/general"


def failure(provider: str, reply: Reply, key: str, model: str) -> ProviderError:
    """The error of an answer that is not 200."""
    if 300 <= reply.status < 400:
        return redirected(provider, host_of(reply.headers.get("location", "")))
    document = parsed(reply.body)
    found = said(provider, document, reply, key, model)
    if found is None:
        found = _without_document(provider, reply, key)
    if found.retryable and reply.headers.get("x-should-retry") == "false":
        found.retryable = False
    return found


def _without_document(provider: str, reply: Reply, key: str) -> ProviderError:
    """Of an answer without an error of the usual form: plain words, a gateway's own form, a page."""
    told = complaint(reply.body)
    if found := meant(provider, told, reply.status, key, console=BILLING):
        return found
    says = told.inner(key) or (described(reply.body) if reply.body else "")
    waits = (header_wait(reply.headers), said_wait(says))
    return by_status(provider, reply.status, says, wait_s=next((wait for wait in waits if wait is not None), None))


def said(provider: str, document: Any, reply: Reply, key: str, model: str) -> ProviderError | None:
    """The error that the document holds, whatever the status; None where it holds none."""
    error = at(document, "error")
    if not error:
        return None
    if isinstance(error, str):
        error = {"message": text_at(document, "message") or error, "type": error}
    code, kind = text_at(error, "code"), text_at(error, "type")
    words = quoted(text_at(error, "message") or code or kind or "an error without words", key)
    request_id = quoted(reply.headers.get("x-request-id", ""), key, limit=80)
    says = f"{words} ({request_id})" if request_id else words
    if code in REFUSED or kind in REFUSED:
        return ProviderRefused(f"{provider}: the service refuses this: {says}{_stage(error)}", hint="change its prompt")
    if code in NO_MONEY or kind in NO_MONEY or words.startswith("You exceeded your current quota"):
        return ProviderQuota(f"{provider}: the account has no money or no images left: {says}", hint=f"see {BILLING}")
    told = complaint(reply.body)
    if told.meaning() not in (None, "prompt", "settings") and (
        found := meant(provider, told, reply.status, key, console=BILLING)
    ):
        return found
    return _by_request(provider, error, code, words, says, _status(reply.status, code, kind), reply, model)


def _by_request(
    provider: str, error: Any, code: str, words: str, says: str, status: int, reply: Reply, model: str
) -> ProviderError:
    if status == 401:  # its message repeats a part of the key
        return ProviderAuth(f"{provider}: the key is refused", hint="check the key, or make a new one")
    if status == 403 and "verif" in words.lower():
        return ProviderSetup(f"{provider}: {says}", hint=f"verify the organization at {VERIFY}; it takes 15 minutes")
    if code == "model_not_found" or (status == 404 and text_at(error, "param") == "model"):
        return ProviderSetup(
            f"{provider}: there is no model {model} for this key: {says}",
            hint="set `model` in the profile; `thumbforge provider models` lists what the key may use",
        )
    if status in (400, 422):
        return _bad_request(provider, error, code, says, complaint(reply.body).meaning())
    wait_s = header_wait(reply.headers)
    return by_status(provider, status, says, wait_s=said_wait(words) if wait_s is None else wait_s)


def _bad_request(provider: str, error: Any, code: str, says: str, meaning: Meaning | None) -> ProviderError:
    """A setting of the profile is wrong for every item alike; a prompt is wrong for one. Which it is say the code, the
    parameter, or the words."""
    param = text_at(error, "param")
    is_setting = code in SETTINGS or param not in ("", "prompt") or (not param and meaning == "settings")
    if not is_setting:
        return ProviderBadRequest(f"{provider}: {says}", hint="change the item's prompt")
    hint = SIZES if param == "size" else f"check {param or 'the parameters'} in the profile, or name it in `omit`"
    if param.startswith("image") or code in ("invalid_image_file", "unsupported_file_mimetype"):
        hint = "the service does not take the reference; use another hero, or set `reference: ignore`"
    return ProviderSetup(f"{provider}: the service does not take the profile's settings: {says}", hint=hint)


def _status(status: int, code: str, kind: str) -> int:
    """The status that an error inside a 200 should have had."""
    if status != 200:
        return status
    if "rate_limit" in code or "rate_limit" in kind:
        return 429
    if code == "invalid_api_key":
        return 401
    return 400 if kind == "invalid_request_error" else 500


def _stage(error: Any) -> str:
    stage = text_at(error, "moderation_details", "moderation_stage")
    categories = [each for each in list_at(error, "moderation_details", "categories") if isinstance(each, str)]
    told = ", ".join(filter(None, [stage and f"at the {stage}", *categories]))
    return f" [{quoted(told)}]" if told else ""
