"""Reading what a service says, which may be anything: every look into it is safe, every quote is one clean line."""

from __future__ import annotations

import json
from typing import Any

from thumbforge.redact import redact
from thumbforge.text import one_line

QUOTED = 240
"""Characters of a service's own words in a message of ours."""


def parsed(body: bytes) -> Any:
    """The JSON value, or None where it is none (also where it is nested too deep to be an honest answer)."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def at(value: Any, *path: str | int) -> Any:
    """The value at this path of names and positions, None as soon as something is missing or of another kind."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and -len(value) <= step < len(value) else None
    return value


def text_at(value: Any, *path: str | int) -> str:
    """The text at this path, "" where there is none. What cannot be encoded is replaced, so that it can be stored."""
    found = at(value, *path)
    return found.encode("utf-8", "replace").decode() if isinstance(found, str) else ""


def list_at(value: Any, *path: str | int) -> list[Any]:
    found = at(value, *path)
    return found if isinstance(found, list) else []


def count_at(value: Any, *path: str | int) -> int | None:
    """A count above 0; a service that says 0 where it does not count says nothing."""
    found = at(value, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 < found < 2**53 else None


def quoted(text: str, *secrets: str, limit: int = QUOTED) -> str:
    """One line of at most `limit` characters, printable, without secrets."""
    room = text[: limit * 20]
    line = str(redact(one_line(room.encode("utf-8", "replace").decode()), *secrets))
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
