"""Where a line may end. A small stand-in for Unicode line breaking behind one function, `opportunities`.

Words break at spaces, after a hyphen between letters and after the slashes of an address. Scripts without spaces break
between clusters: Thai, Lao, Khmer and Burmese need a dictionary to do better, Chinese and Japanese follow the usual
rules on what must not begin or end a line. A mark or an emoji that stands alone stays with the word before it.
"""

from __future__ import annotations

from enum import IntEnum

from thumbforge.imaging import scripts


class Break(IntEnum):
    """NEVER before a space; CUT only when a word is wider than a line; SOFT wherever it helps."""

    NEVER = 0
    CUT = 1
    SOFT = 2


_NO_START = frozenset(
    "ーぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶ々〻、。，．・：；？！」』】〕〉》）］｝〜～…‥%％°ๆฯะาๅำ)]}!?,.:;"
)
_NO_END = frozenset("「『【〔〈《（［｛([{#$€£¥＃เแโใไ")


def opportunities(clusters: list[str]) -> list[Break]:
    """For each cluster of one paragraph: may a line end before it? The first is NEVER."""
    words = _words(clusters)
    address = [("://" in word or word.startswith("www.")) for word in words]
    return [Break.NEVER] + [_between(clusters, words, address, i) for i in range(1, len(clusters))]


def is_space(cluster: str) -> bool:
    """Also the zero-width space, which is a place to break and nothing else."""
    return cluster in (" ", "\u200b")


def _words(clusters: list[str]) -> list[str]:
    """For each cluster, the whole word that it stands in."""
    words: list[str] = []
    for part in "".join(c if is_space(c) else "x" for c in clusters).replace("\u200b", " ").split(" "):
        word = "".join(clusters[len(words) : len(words) + len(part)])
        words += [word] * len(part) + [""]
    return words[: len(clusters)]


def _between(clusters: list[str], words: list[str], address: list[bool], i: int) -> Break:
    before, after = clusters[i - 1], clusters[i]
    if is_space(after):
        return Break.NEVER
    if is_space(before):
        return Break.CUT if _stays(words[i], words[i - 2] if i >= 2 else "") else Break.SOFT
    if before[0] in _NO_END or after[0] in _NO_START:
        return Break.CUT
    if scripts.IDEOGRAPHIC.match(before) or scripts.IDEOGRAPHIC.match(after):
        return Break.SOFT
    if scripts.SPACELESS.match(before) and scripts.SPACELESS.match(after):
        return Break.SOFT
    if scripts.EMOJI.match(before) and scripts.EMOJI.match(after):
        return Break.SOFT
    return _inside_word(clusters, address[i], i)


def _stays(word: str, before: str) -> bool:
    """A lone mark or emoji stays with the word before it (not with another mark), a word with the bracket before it,
    a number with its "Ep."."""
    if scripts.OPENING_WORD.fullmatch(before) or (word.isdecimal() and before.endswith(".") and len(before) <= 5):
        return True
    return _is_mark(word) and not _is_mark(before)


def _is_mark(word: str) -> bool:
    return bool(scripts.SEPARATOR_WORD.fullmatch(word) or scripts.EMOJI.match(word))


def _inside_word(clusters: list[str], address: bool, i: int) -> Break:
    before, after = clusters[i - 1], clusters[i]
    if address and before in "/?&=#" and after not in "/?&=#":
        return Break.SOFT
    if i < 2 or not after[0].isalpha() or not clusters[i - 2][0].isalpha():
        return Break.CUT
    return Break.SOFT if before in ("-", "‐", "–", "—", "/") else Break.CUT
