"""One size for all texts of a series, reckoned from the widths of letters alone: nothing is shaped and no picture is
looked at, so it is the same whichever of the items are drawn, and thousands of titles take a moment."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from thumbforge.imaging.type import clean, fonts, scripts

STEPS = 8
"""The size goes down from the largest by eighths of it: one more video seldom moves it, and then by one step."""
MOST_SMALLER = 0.1
"""Share of the texts that may be too long for the common size, and are smaller."""
_WIDE, _OTHER = 1.0, 0.6
"""Em of a letter that the face lacks: East Asian, and any other."""
_BELOW = 0.25
"""Em of a last line's ink below its baseline."""


@dataclass(frozen=True, slots=True)
class Room:
    """What bounds a text: its box in pixels, sizes in pixels an em, `outline` and `spacing` in em."""

    width: float
    height: float
    size: int
    min_size: int
    max_lines: int
    line_height: float
    font: str
    case: str
    outline: float = 0.0
    spacing: float = 0.0


def common_size(texts: Iterable[str], room: Room, language: str | None = None) -> int:
    """The largest step at which nine of ten of these texts fit their box in whole words, at least the smallest size; of
    fewer than ten texts, at which all fit. The largest where there is no text."""
    words, sizes = _Words(room, language), _sizes(room)
    fitting = sorted(_fitting(text, words, sizes, room) for text in texts)
    return fitting[int(len(fitting) * MOST_SMALLER)] if fitting else room.size


def _sizes(room: Room) -> list[tuple[int, float, int]]:
    """From the largest to the smallest: a size, the em that a line of it may be wide, and the lines that fit."""
    steps = [room.size * step // STEPS for step in range(STEPS, 0, -1)]
    first = fonts.cap(room.font) + _BELOW + 2 * room.outline
    return [
        (
            size,
            room.width / size - 2 * room.outline,
            min(room.max_lines, 1 + int(max(room.height / size - first, 0) / room.line_height)),
        )
        for size in (*(size for size in steps if size > room.min_size), room.min_size)
    ]


class _Widths(dict[str, float]):
    """The advance of each letter in em, as the face has it; of one that it lacks, what such letters usually have."""

    def __init__(self, font: str, spacing: float) -> None:
        self._face, self._spacing = fonts.face(font), spacing

    def __missing__(self, char: str) -> float:
        gid = self._face.hb.get_nominal_glyph(ord(char))
        usual = _WIDE if unicodedata.east_asian_width(char) in "WF" else _OTHER
        own = self._face.hb.get_glyph_h_advance(gid) / self._face.upem if gid else usual
        self[char] = 0.0 if unicodedata.combining(char) else own + self._spacing
        return self[char]


class _Words(dict[str, list[tuple[float, float]]]):
    """The pieces of each word, measured once for all texts: the width of one that a line may end after, and that of the
    space before it."""

    def __init__(self, room: Room, language: str | None) -> None:
        self._widths, self._language = _Widths(room.font, room.spacing), language
        self._case: Literal["none", "upper"] = "upper" if room.case == "upper" else "none"

    def of(self, text: str) -> list[list[tuple[float, float]]]:
        """By paragraph. Marks may stand around several words."""
        seen = clean.marked(text, self._case, self._language).chars if "*" in text or not text.isascii() else text
        return [[piece for word in line.split() for piece in self[word]] for line in seen.split("\n")]

    def __missing__(self, word: str) -> list[tuple[float, float]]:
        self[word] = list(self._pieces(clean.marked(word, self._case, self._language).chars))
        return self[word]

    def _pieces(self, word: str) -> Iterator[tuple[float, float]]:
        before, piece = self._widths[" "], 0.0
        for char in word:
            if piece and scripts.UNSPACED.match(char):
                yield piece, before
                before, piece = 0.0, 0.0
            piece += self._widths[char]
        yield piece, before


def _fitting(text: str, words: _Words, sizes: Sequence[tuple[int, float, int]], room: Room) -> int:
    paragraphs = words.of(text)
    widest = max((width for pieces in paragraphs for width, _ in pieces), default=0.0)
    for size, most, lines in sizes:
        if widest <= most and _lines(paragraphs, most) <= lines:
            return size
    return room.min_size


def _lines(paragraphs: Sequence[Sequence[tuple[float, float]]], most: float) -> int:
    lines = 0
    for pieces in paragraphs:
        seen, lines = 0.0, lines + 1
        for width, space in pieces:
            longer = seen + space + width if seen else width
            seen, lines = (longer, lines) if longer <= most else (width, lines + 1)
    return lines
