"""The one list of words that mark a secret, and the two things done with it: refuse in specs, blank in logs."""

from __future__ import annotations

import os
import re
from typing import Any

SECRET_WORDS = (
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "account_key",
    "sas_key",
    "token",
    "secret",
    "password",
    "passwd",
    "authorization",
    "credential",
    "cookie",
)
BLANK = "[redacted]"
SHORTEST = 8

_NAME = re.compile("|".join(re.escape(word) for word in SECRET_WORDS), re.IGNORECASE)
# Shapes of keys in the wild: OpenAI "sk-…", Google "AIza…", GitHub "ghp_…", bearer headers, key=… in addresses.
_VALUE = re.compile(
    r"\bsk-(?:[A-Za-z0-9]{20,}|(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{20,})|\bAIza[0-9A-Za-z_-]{20,}|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{8,}|(?<=[?&]key=)[^&\s]+"
)
# One of these stands in every text that _VALUE finds; looking for them in a megabyte takes a tenth of the time.
_MARKS = ("sk-", "AIza", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "earer ", "key=")


def is_secret_name(name: str) -> bool:
    """Whether a field called `name` would hold a secret ("max_tokens" is a count, not one)."""
    return not name.lower().endswith("tokens") and _NAME.search(name) is not None


def looks_secret(text: str) -> bool:
    return any(mark in text for mark in _MARKS) and _VALUE.search(text) is not None


def redact(value: Any, *secrets: str) -> Any:
    """`value` with secret-named fields, key-shaped texts, each of `secrets` and what secret-named variables of the
    environment hold blanked, at any depth."""
    return _blanked(value, [*filter(None, secrets), *_held()])


def _held() -> list[str]:
    """A gateway's token may have any shape. What is shorter than a key is a word, and would blank half a message."""
    return [held for name, held in os.environ.items() if len(held) >= SHORTEST and is_secret_name(name)]


def _blanked(value: Any, secrets: list[str]) -> Any:
    if isinstance(value, dict):
        return {k: BLANK if is_secret_name(str(k)) and v else _blanked(v, secrets) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_blanked(v, secrets) for v in value]
    if not isinstance(value, str):
        return value
    for secret in secrets:
        value = value.replace(secret, BLANK)
    return _VALUE.sub(BLANK, value)
