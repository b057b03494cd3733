"""How long a service asks to wait, in every form that services use, and when Google's day begins."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_AMOUNT = re.compile(
    r"(\d{1,9}(?:\.\d{1,9})?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])"
)
_SAID = re.compile(r"(?:again|retry|resets?)\s+(?:in|after)\s+(?:approximately|about)?\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,]*(?:and\s)?\s*")
_MUST_BE_SHORT = 4000


def duration(text: str) -> float | None:
    """Seconds in "12s", "51.815 seconds", "15ms", "76h3m46s" or "2 hours and 20 minutes"; None where there is none."""
    return _summed(text[:_MUST_BE_SHORT].lower(), 0)


def said_wait(text: str) -> float | None:
    """Seconds in "try again in 12s", "retry after 51.8 seconds", "Resets in 76h3m46s"."""
    found = _SAID.search(text[:_MUST_BE_SHORT])
    return _summed(text[:_MUST_BE_SHORT].lower(), found.end()) if found else None


def _summed(text: str, at: int) -> float | None:
    """The amounts that follow each other from this place on; None where the first is none."""
    seconds = None
    while found := _AMOUNT.match(text, at):
        seconds = (seconds or 0.0) + float(found[1]) * _unit(found[2])
        at = _BETWEEN.match(text, found.end()).end()  # type: ignore[union-attr]  # it matches nothing at the least
    return seconds


def _unit(word: str) -> float:
    return _UNITS["ms"] if word.startswith(("ms", "milli")) else _UNITS[word[0]]


def header_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds by `retry-after-ms` or `retry-after` (seconds, or a date, which counts from the answer's own `date`).

    `headers` has lower-case names.
    """
    if (wait := _number(headers.get("retry-after-ms"))) is not None:
        return wait / 1000
    told = headers.get("retry-after")
    if (wait := _number(told)) is not None:
        return wait
    until, now = _date(told), _date(headers.get("date"))
    if until is None:
        return None
    seconds = (until - (now or datetime.now(until.tzinfo))).total_seconds()
    return max(seconds, 0.0)


def next_pacific_midnight(now: float) -> float:
    """Unix seconds of the next midnight in Los Angeles, when Google's quotas of a day come back; at UTC-8 where the
    machine knows no time zones."""
    try:
        zone: ZoneInfo | timezone = ZoneInfo("America/Los_Angeles")
    except ZoneInfoNotFoundError:
        zone = timezone(timedelta(hours=-8))
    tomorrow = datetime.fromtimestamp(now, zone).date() + timedelta(days=1)
    return datetime(tomorrow.year, tomorrow.month, tomorrow.day, tzinfo=zone).timestamp()


def _number(text: str | None) -> float | None:
    told = (text or "").strip()
    return float(told) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", told) else None


def _date(text: str | None) -> datetime | None:
    """None also for a date without a zone, which could mean any hour."""
    try:
        found = parsedate_to_datetime(text) if text else None
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return found if found and found.tzinfo else None
