"""Texts in messages: what comes from outside on one clean line, the word that was meant, a count with its noun."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def printable(text: str) -> str:
    """A space for every character that is no sign: line breaks, control and direction characters, lone surrogates."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)


def one_line(text: str, most: int | None = None) -> str:
    """One line without doubled spaces, of at most `most` characters; what is cut off is an ellipsis."""
    line = " ".join(printable(text).split())
    return line if most is None or len(line) <= most else f"{line[: most - 1]}…"


def nearest(word: str, known: Iterable[str], *, most: int = 1, alike: float = 0.6) -> list[str]:
    """The known words that `word` may be a slip of, the likeliest first; `alike` is from 0 (anything) to 1 (equal)."""
    return difflib.get_close_matches(word, list(known), most, alike)


def counted(count: int, noun: str) -> str:
    """`1 item`, `2 items`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
