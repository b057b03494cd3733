"""Titles become text that can be drawn: normal form, no control characters, accents and capitals resolved.

Titles are data from strangers. Control, bidi-control and other invisible characters are dropped (also directional
marks: the order of letters follows from the letters alone), stacked marks are limited, white space is single.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal
from unicodedata import normalize

_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Invisible or not characters at all. Kept: zero-width space (a place to break), joiners and selectors (they shape).
_DROPPED = (
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u2800\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U0001d173-\U0001d17a\U000e0001"
    + "".join(f"{chr(p << 16 | 0xFFFE)}{chr(p << 16 | 0xFFFF)}" for p in range(1, 17))
    + "]"
)
_STRAY_TAGS = re.compile("(?<![\U000e0020-\U000e007f\U0001f3f4])[\U000e0020-\U000e007f]+")
# Letters borrowed from mathematics for their looks: no font has them, and they have no capitals.
_MATH = re.compile("[\U0001d400-\U0001d7ff]+")
_MARK = "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20df\u20e1\u20e5-\u20ff\ufe20-\ufe2f]"
_STACKED = re.compile(f"({_MARK}{{2}}){_MARK}+")
_BASELESS = re.compile(f"(^|\\s){_MARK}+", re.MULTILINE)
_SPACES = re.compile("[ \t\u1680\u2000-\u200a\u205f\u3000]|[\xa0\u202f]")
_SPACE_RUN = re.compile("[ \xa0]{2,}")
_VISIBLE = re.compile("[^\\s\u200b-\u200d\ufe00-\ufe0f\U000e0020-\U000e007f\U000e0100-\U000e01ef]")

# *word* or **word**: opens at a word's start, closes at a word's end, inside one line; 2*3*4 and *args are no pairs.
# Scripts without spaces (Thai to Khmer, Han, kana; in Korean a particle follows at once) have a word's edge anywhere.
UNSPACED = (
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af]"
)
_EMPHASIS = (
    rf"(?:(?<![\w*])|(?<={UNSPACED})|(?<!\*)(?=\*{{1,2}}{UNSPACED}))(\*{{1,2}})(?![\s*])"
    rf"([^*\n]*[^\s*])\1(?!\*)(?:(?!\w)|(?={UNSPACED})|(?<={UNSPACED}\*)|(?<={UNSPACED}\*\*))"
)

_TURKIC = re.compile("(tr|az)(-|_|$)", re.IGNORECASE)

_GREEK_HIATUS = re.compile("([αεουηΑΕΟΥΗ])[\u0301\u0342]([ιυΙΥ])(?!\u0308)")
_GREEK_ACCENT = re.compile(
    "(?<=[Α-Ωα-ω])[\u0301\u0342\u0313\u0314\u0300\u0345]|(?<=[Α-Ωα-ω]\u0308)[\u0301\u0342\u0300]"
)
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff]")
_GEORGIAN = re.compile("[\u10d0-\u10ff]")
# iPhone, eBay, read_csv and addresses lose their meaning in capitals.
_KEPT_WORD = re.compile(r"[a-z]{1,2}[A-Z]\w*|\w*_\w+.*|\S+://\S*|www\.\S+")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """The long classes: a start of a series in plain ASCII asks for none of them, and would wait for both."""
    return re.compile(pattern)


@dataclass(frozen=True, slots=True)
class Text:
    """Text to draw and, for each character, whether it has the accent colour. Empty where nothing would be seen."""

    chars: str
    accent: tuple[bool, ...]


def plain(text: str) -> str:
    """`text` in one normal form, markup included: NFC, lines stripped and not empty, "" where nothing is visible."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split(" ")) if "  " not in text and text == text.strip() else " ".join(text.split())
    text = _compiled(_DROPPED).sub("", _LINE_ENDS.sub("\n", text))
    text = _STACKED.sub(r"\1", normalize("NFC", _MATH.sub(_compatible, _STRAY_TAGS.sub("", text))))
    text = _SPACES.sub(lambda found: "\xa0" if found[0] in "\xa0\u202f" else " ", _BASELESS.sub(r"\1", text))
    text = _SPACE_RUN.sub(" ", text)
    lines = (line.strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if _VISIBLE.search(line))


def _compatible(found: re.Match[str]) -> str:
    return normalize("NFKC", found[0])


def turkic(language: str | None) -> bool:
    """Whether capitals of this language (BCP 47) keep the dot of an i: Turkish and Azerbaijani."""
    return bool(language and _TURKIC.match(language))


def marked(text: str, case: Literal["none", "upper"], language: str | None = None) -> Text:
    """`plain` text with the emphasis marks taken out and capitals made where the style asks for them."""
    text = plain(text)
    pieces: list[tuple[str, bool]] = []
    last = 0
    for found in _compiled(_EMPHASIS).finditer(text):
        pieces += [(text[last : found.start()], False), (found[2], True)]
        last = found.end()
    pieces.append((text[last:], False))
    if case == "upper":
        pieces = [(upper(piece, language), accent) for piece, accent in pieces]
    return Text("".join(piece for piece, _ in pieces), tuple(accent for piece, accent in pieces for _ in piece))


def upper(text: str, language: str | None = None) -> str:
    """Capitals as a poster has them: Greek without tonos, Georgian as it is, iPhone and addresses as they are, a dotted
    İ in Turkish."""
    dotted = turkic(language)
    words = re.split(r"(\s+)", text)
    return "".join(word if _KEPT_WORD.fullmatch(word) else _upper_word(word, dotted) for word in words)


def _upper_word(word: str, dotted: bool) -> str:
    if dotted:
        word = word.replace("i", "İ")
    if _GREEK.search(word) and word.strip(".,:;!?()«»") != "ή":
        word = _GREEK_HIATUS.sub("\\1\\2\u0308", normalize("NFD", word))
        word = normalize("NFC", _GREEK_ACCENT.sub("", word))
    if _GEORGIAN.search(word):
        return word
    return normalize("NFC", word.upper())
