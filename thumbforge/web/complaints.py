"""What a service complains of, by its own words before its status: a refusal may come with any status, a wrong setting
as plain text, and a gateway packs what it was told into an error of its own.

The words are those of the services' pages and of answers in the field, read on 2026-12-01.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from thumbforge.errors import (
    ProviderAuth,
    ProviderBadRequest,
    ProviderError,
    ProviderQuota,
    ProviderRefused,
    ProviderSetup,
)
from thumbforge.web.answers import parsed, quoted

Meaning = Literal["refused", "no money", "no limit", "restricted", "suspended", "prompt", "settings"]

_DEEPEST = 6
_CODES = ("code", "type", "status", "reason", "finish_reason", "blockReason")
_TEXTS = ("message", "detail", "msg", "description", "error_description", "error", "raw", "title")
_INNER = (
    "error", "errors", "detail", "details", "inner_error", "innererror", "cause", "metadata", "raw", "body", "response",
    "fieldViolations",
)  # fmt: skip
_PLAIN = 2000
"""Bytes of a body that is no JSON and may still be a sentence."""

_BY_CODE: dict[Meaning, frozenset[str]] = {
    "refused": frozenset(
        {
            "moderation_blocked", "content_policy_violation", "content_filter", "safety_violation", "contentfilter",
            "responsibleaipolicyviolation", "content_filtered", "image_safety", "prohibited_content",
            "moderation_error",
            "safety_violations", "content_moderation", "sensitive_content", "policy_violation",
        }
    ),
    "no money": frozenset(
        {
            "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_disabled",
            "insufficient_credits", "insufficient_balance", "payment_required", "insufficient_user_quota",
        }
    ),
    "restricted": frozenset(
        {
            "api_key_http_referrer_blocked", "api_key_ip_address_blocked", "api_key_service_blocked",
            "api_key_android_app_blocked", "api_key_ios_app_blocked", "iprefererblocked", "ip_not_authorized",
        }
    ),
    "suspended": frozenset({"consumer_suspended", "account_deactivated", "consumer_invalid", "organization_suspended"}),
}  # fmt: skip
_BY_WORDS: dict[Meaning, str] = {
    "refused": (
        r"safety (system|filter|polic|violation|guideline)|safety_violation|content[ _-]?(polic|filter|moderation)"
        r"|usage polic|prohibited (content|use)|responsible ?ai|violat\w* [^.]{0,60}polic"
        r"|moderation (blocked|system)|flagged (as|by|for)[^.]{0,40}(unsafe|sensitive|moderation|safety|sexual|violen)"
    ),
    "no money": (
        r"insufficient (credit|balance|fund|quota)|(out of|not enough|no) (credit|fund|balance)|payment required"
        r"|billing (hard )?limit|billing [^.]{0,30}(not active|disabled|required)|credit balance is too low"
        r"|spending (limit|cap)"
    ),
    "no limit": r"\blimit:?\s*0(?!\d|[.,]\d)",
    "restricted": (
        r"requests from (this )?(referr?er|\S*\s?client application)|referr?er[^.]{0,40}(blocked|restrict)"
        r"|ip address restriction|ip address[^.]{0,60}(not allowed|not authorized|blocked)"
        r"|requests to this api.{0,200}\bare blocked"
    ),
    "suspended": r"has been (suspended|deactivated)|(account|project|consumer)[^.]{0,40}suspended",
    "prompt": (
        r"\bprompt\b[^.]{0,60}(too long|length|characters|maximum|empty|required)|string_above_max_length"
        r"|(input )?token count[^.]{0,60}exceed|maximum context length|too many tokens"
    ),
    "settings": (
        r"unknown (name|parameter|field|argument)|unrecogni[sz]ed|unsupported|not supported|does(n't| not) support"
        r"|invalid (value|size|model|parameter|type|quality|enum|aspect)"
        r"|must be (one of|a multiple|divisible|between)|extra (inputs|fields)|not permitted|field required"
        r"|unexpected (field|keyword|parameter|argument)|cannot find field"
        r"|(missing|required) [^.]{0,30}(field|parameter)"
        r"|model\b[^.]{0,80}(not exist|not found|retired|deprecated|shut down|not available)"
        r"|unable to process input image|expected one of|api version"
    ),
}
"""In the order in which they are asked: the most precise first."""
_ASKED = re.compile(r"\blimit:?\s*([\d,]+)[^.]{0,60}\brequested:?\s*([\d,]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Complaint:
    """Every code and every text of an answer, outermost first; texts as they came."""

    codes: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    def inner(self, key: str = "") -> str:
        """The words of whoever complained first: the innermost, as one clean line."""
        return quoted(self.texts[-1], key) if self.texts else ""

    def meaning(self) -> Meaning | None:
        """The most precise meaning there is, None where the status has to say it."""
        codes = {code.lower() for code in self.codes}
        by_code: list[Meaning] = [meaning for meaning, known in _BY_CODE.items() if codes & known]
        if by_code:
            return by_code[0]
        said = "\n".join(self.texts)
        if any(_count(most) < _count(wanted) for most, wanted in _ASKED.findall(said)):
            return "no limit"
        return next((mean for mean, words in _BY_WORDS.items() if re.search(words, said, re.IGNORECASE)), None)


def complaint(body: bytes) -> Complaint:
    """What an answer that is no success holds; a sentence in plain text is one, a page of HTML is none."""
    document = parsed(body)
    if document is None:
        text = body[:_PLAIN].decode("utf-8", "replace").strip()
        return Complaint(texts=(text,)) if text and "<" not in text[:1] and "\0" not in text else Complaint()
    found = list(_walk(document, 0))
    codes = tuple(text for is_code, text in found if is_code)
    return Complaint(codes, tuple(text for is_code, text in found if text and not is_code))


_OF_THE_REQUEST = (200, 400, 405, 413, 415, 422)
"""Statuses with which words on a prompt or a setting are meant so; a busy service speaks of its models, too."""
_REWORD = "change the item's prompt"


def meant(provider: str, found: Complaint, status: int, key: str, *, console: str) -> ProviderError | None:
    """The error that the words mean, None where the status has to say it. `console` is where the account is seen to."""
    says = found.inner(key)
    match found.meaning():
        case "refused":
            return ProviderRefused(f"{provider}: the service refuses this: {says}", hint=_REWORD)
        case "no money":
            return ProviderQuota(f"{provider}: the account has no money left: {says}", hint=f"see {console}")
        case "no limit":
            told = f"{provider}: the account's limit is less than one call needs, and no wait lifts it: {says}"
            return ProviderQuota(told, hint=f"raise the limit or the plan: {console}")
        case "restricted":
            told = f"{provider}: the key is restricted, and not for this use or this place: {says}"
            return ProviderAuth(told, hint=f"take the restriction off the key, or use another: {console}")
        case "suspended":
            return ProviderAuth(f"{provider}: the account or its project is suspended: {says}", hint=f"see {console}")
        case "prompt" if status in _OF_THE_REQUEST:
            return ProviderBadRequest(f"{provider}: {says}", hint=_REWORD)
        case "settings" if status in _OF_THE_REQUEST:
            told = f"{provider}: the service does not take the profile's settings: {says}"
            return ProviderSetup(told, hint="check the parameters in the profile")
    return None


def _walk(value: Any, depth: int) -> Iterator[tuple[bool, str]]:
    """(is a code, text), outermost first."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for each in value[:20]:
            yield from _walk(each, depth + 1)
        return
    if isinstance(value, str):
        yield from _text(value, depth)
        return
    if not isinstance(value, dict):
        return
    for name in _CODES:
        if isinstance(found := value.get(name), str):
            yield True, found
    for name in _TEXTS:
        if isinstance(found := value.get(name), str):
            yield from _text(found, depth)
    for name in _INNER:
        if isinstance(found := value.get(name), (dict, list)):
            yield from _walk(found, depth + 1)


def _text(text: str, depth: int) -> Iterator[tuple[bool, str]]:
    """A text, and what is packed in it."""
    start = text.find("{")
    inside = _packed(text, start) if start >= 0 else None
    yield False, text if inside is None else text[:start].strip(" :-")
    if inside is not None:
        yield from _walk(inside, depth + 1)


def _packed(text: str, start: int) -> Any:
    try:
        return json.JSONDecoder().raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return None


def _count(text: str) -> int:
    return int(text.replace(",", "") or 0)
