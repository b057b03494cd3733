"""What an answer of the YouTube Data API that is no list means, as an error of ours. One table, by `reason`."""

from __future__ import annotations

import html
import json
import re
from datetime import UTC, datetime

from thumbforge.errors import NotFound, SourceAuth, SourceError, SourceNetwork, SourcePrivate, SourceQuota
from thumbforge.redact import redact
from thumbforge.text import one_line
from thumbforge.web.answers import at
from thumbforge.web.complaints import complaint
from thumbforge.web.waits import next_pacific_midnight

KEY = "THUMBFORGE_YOUTUBE_API_KEY"
RETRY_HINT = "run the command again later; what was fetched before is untouched"

_KEY_HINT = f"make a key at console.cloud.google.com and set {KEY}"
_ENABLE_HINT = 'enable "YouTube Data API v3" in the project of the key at console.cloud.google.com'
_RESTRICTED_HINT = (
    "at console.cloud.google.com, under Credentials, take the restriction by website, address or app off the key and"
    " allow it the YouTube Data API v3; or use --source ytdlp, which needs no key"
)
_SUSPENDED_HINT = f"set {KEY} to a key of another project, or use --source ytdlp, which needs no key"
_PRIVATE_HINT = "make the playlist public or unlisted, or fetch a file that its owner saved (yt-dlp -J)"
_NOT_FOUND_HINT = "check the address in a browser that is not signed in; a private playlist looks the same"

_QUOTA = {"quotaExceeded", "dailyLimitExceeded"}
_SLOW_DOWN = {"rateLimitExceeded", "userRateLimitExceeded", "backendError"}
_KEY = {"keyInvalid", "keyExpired", "API_KEY_INVALID", "authError"}
_DISABLED = {"accessNotConfigured", "SERVICE_DISABLED"}
_PRIVATE = {"playlistItemsNotAccessible", "watchLaterNotAccessible", "watchHistoryNotAccessible", "forbidden"}
_ABSENT = {"playlistNotFound", "videoNotFound", "channelNotFound"}


_MARKUP = re.compile(r"</?(?:a|b|i|p|br|em|strong|code|span|div)\b[^<>]*>", re.IGNORECASE)
"""What YouTube's messages are marked up with; `<empty>` is a word of one."""


class Again(SourceNetwork):
    """May go better now: it is tried again, and never seen outside of `sources`."""


class StalePage(SourceError):
    """The list has changed while it was read: its first page has to be asked for again."""


def inside(document: object, body: bytes, what: str) -> SourceError | NotFound | None:
    """The error that an answer 200 holds instead of a list; None where it holds none."""
    error = at(document, "error")
    if not error:
        return None
    code = at(error, "code")
    return error_of(code if isinstance(code, int) and 400 <= code < 600 else 500, body, what)


def error_of(status: int, body: bytes, what: str, now: datetime | None = None) -> SourceError | NotFound:
    """The error for an answer with another status than 200. `what` is what was asked for, as the user would say it."""
    told, reasons = _read(body)
    meaning = complaint(body).meaning()
    if meaning == "restricted":
        told = f"the API key is restricted, and not for this use or this place: {told}"
        return SourceAuth(told, hint=_RESTRICTED_HINT)
    if meaning == "suspended":
        return SourceAuth(f"the project of the API key is suspended: {told}", hint=_SUSPENDED_HINT)
    if reasons & _QUOTA:
        return _quota(now or datetime.now(UTC))
    if reasons & _DISABLED:
        return SourceAuth("the YouTube Data API is not enabled for this key", hint=_ENABLE_HINT)
    if reasons & _KEY or status == 401:
        return SourceAuth(f"YouTube refuses the API key: {told or status}", hint=_KEY_HINT)
    if reasons & _ABSENT or status == 404:
        return NotFound(f"YouTube knows no {what}", hint=_NOT_FOUND_HINT)
    if reasons & _SLOW_DOWN or status in (408, 429) or status >= 500:
        return Again(f"YouTube answers {status}{f': {told}' if told else ''}", hint=RETRY_HINT)
    if reasons & _PRIVATE:
        return SourcePrivate(f"{what} can be read by its owner only", hint=_PRIVATE_HINT)
    if "invalidPageToken" in reasons:
        return StalePage(f"{what} has changed while it was read", hint=RETRY_HINT)
    if 300 <= status < 400:
        return SourceError(f"YouTube's API redirects ({status}), which it never does", hint="is there a proxy between?")
    return SourceError(f"YouTube refuses to list {what}: {told or f'status {status}'}", hint="check the address")


def _quota(now: datetime) -> SourceQuota:
    back = datetime.fromtimestamp(next_pacific_midnight(now.timestamp()), UTC)
    minutes = int((back - now).total_seconds() // 60) + 1
    return SourceQuota(
        "the day's quota of the YouTube Data API is used up",
        hint=f"it comes back at {back:%Y-%m-%d %H:%M} UTC (in {minutes // 60} h {minutes % 60} min); "
        "what was fetched before can be built, and --source ytdlp needs no quota",
        resets_at=back.timestamp(),
    )


def _read(body: bytes) -> tuple[str, set[str]]:
    """The message as one line without markup, and every `reason` in the answer."""
    try:
        error = json.loads(body)["error"]
        inner = [*error.get("errors", ()), *error.get("details", ())]
        reasons = {str(entry["reason"]) for entry in inner if isinstance(entry, dict) and "reason" in entry}
        text = str(error.get("message", ""))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return "", set()
    plain = html.unescape(_MARKUP.sub("", text))
    return str(redact(one_line(plain, 300))), reasons
