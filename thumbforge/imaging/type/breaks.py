"""Where a line may end, for titles of every script, behind one function: `opportunities`.

Words break at spaces, after a hyphen between letters and after the slashes of an address. Scripts without spaces ask
`segment`: Thai, Lao, Khmer and Burmese break between the words of a dictionary, Japanese between phrases (and, where
that would cost much size, between any two letters that may part), Chinese where a phrase ends that the dictionary ends
a word at (and, at that cost, between any two of its words); Korean words stay whole the same way. A mark or an emoji
that stands alone stays with the word before it.
"""

from __future__ import annotations

from enum import IntEnum

from thumbforge.imaging.type import scripts


class Break(IntEnum):
    """NEVER before a space; CUT only when a word is wider than a line; LOOSE where the script allows it but a reader
    would rather not; SOFT wherever it helps."""

    NEVER = 0
    CUT = 1
    LOOSE = 2
    SOFT = 3


_NO_START = frozenset(
    "ーぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶ々〻、。，．・：；？！」』】〕〉》）］｝〜～…‥%％°ๆฯะาๅำ)]}!?,.:;"
)
_OPENING, _CLOSING = frozenset("「『【〔〈《（［｛"), frozenset("」』】〕〉》）］｝！？。：；")
# A number stays with what it counts: no line ends after 第, 十 or the 5 of 5集.
_COUNTING = frozenset("第0123456789０１２３４５６７８９〇一二三四五六七八九十百千万两")
_CHINESE = frozenset(("sc", "tc", "hk"))
_NO_END = frozenset("「『【〔〈《（［｛([{#$€£¥＃เแโใไ")


def opportunities(clusters: list[str], region: str = "sc") -> list[Break]:
    """For each cluster of one paragraph: may a line end before it? The first is NEVER. `region` is `fonts.region`'s."""
    words = _words(clusters)
    address = [("://" in word or word.startswith("www.")) for word in words]
    ends = _ends(clusters, region)
    return [Break.NEVER] + [_between(clusters, words, address, ends, i) for i in range(1, len(clusters))]


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


def _ends(clusters: list[str], region: str) -> list[Break]:
    """What the rules of scripts without spaces say of each cluster; nothing is loaded for a text without them."""
    text = "".join(clusters)
    if not scripts.UNSPACED.search(text):
        return []
    from thumbforge.imaging.type import segment

    allowed, phrases = segment.line_ends(text, region), segment.phrase_ends(text, region)
    if region in _CHINESE and scripts.HAN.search(text):  # its phrases alone end inside words: 三天|学会|做面|包
        words = segment.word_ends(text, region)
        allowed, phrases = allowed & words, phrases & words
    found, place, before = [], 0, ""
    for cluster in clusters:
        quote = before in _CLOSING or cluster in _OPENING
        soft = (place in phrases or quote) and not scripts.HANGUL.match(cluster)
        found.append(Break.CUT if place not in allowed else Break.SOFT if soft else Break.LOOSE)
        place, before = place + len(cluster), cluster
    return found


def _between(clusters: list[str], words: list[str], address: list[bool], ends: list[Break], i: int) -> Break:
    before, after = clusters[i - 1], clusters[i]
    if is_space(after):
        return Break.NEVER
    if is_space(before):
        return Break.CUT if _stays(words[i], words[i - 2] if i >= 2 else "") else Break.SOFT
    if before[0] in _NO_END or after[0] in _NO_START:
        return Break.CUT
    if scripts.UNSPACED.match(before) or scripts.UNSPACED.match(after):
        return Break.CUT if _clings(before, after) else ends[i]
    if scripts.EMOJI.match(before) and scripts.EMOJI.match(after):
        return Break.SOFT
    return _inside_word(clusters, address[i], i)


def _clings(before: str, after: str) -> bool:
    """A mark that stands alone stays with what is before it, a number with what it counts."""
    if before in _COUNTING:
        return after in _COUNTING or bool(scripts.HAN.match(after))
    return after not in _OPENING and bool(scripts.SEPARATOR_WORD.fullmatch(after))


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
