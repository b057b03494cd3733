"""Texts in messages: what comes from outside on one clean line, the word that was meant, a count with its noun."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_OBEYED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What JSON may hold raw: C1 controls, marks of direction, other line ends, halves of characters."""

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """A space for every character that is no sign: line breaks, control and direction characters, lone surrogates."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)


def clean(text: str) -> str:
    """The same lines without anything that a terminal would obey. What is written for people passes here."""
    return text if text.isprintable() else "\n".join(map(printable, text.split("\n")))


def without_controls(text: str) -> str:
    """For a file that is read by a browser or an editor: a space for each control character but line breaks and tabs,
    and for what turns the direction of all that follows. Marks within words (joiners, U+200E) stay."""
    return _CONTROLS.sub(" ", text)


def plain_json(text: str) -> str:
    """A JSON document with escapes for what a terminal would obey or show in another order; it says the same."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: str, most: int | None = None) -> str:
    """One line without doubled spaces, of at most `most` characters; what is cut off is an ellipsis."""
    line = " ".join(printable(text).split())
    return line if most is None or len(line) <= most else f"{line[: most - 1]}…"


def nearest(word: str, known: Iterable[str], *, most: int = 1, alike: float = 0.6) -> list[str]:
    """The known words that `word` may be a slip of, whatever the capitals, the likeliest first; `alike` is from 0
    (anything) to 1 (equal)."""
    folded: dict[str, str] = {}
    for name in known:
        folded.setdefault(name.casefold(), name)
    return [folded[near] for near in difflib.get_close_matches(word.casefold(), folded, most, alike)]


def counted(count: int, noun: str) -> str:
    """`1 item`, `2 items`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
