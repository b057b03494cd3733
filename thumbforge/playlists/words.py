"""The few words of a title that are drawn, proposed by rule: what only this video says, short enough to be read small.

Part marks, the channel's and the list's name, what stands in brackets, and what many titles begin or end with are left
out; the words before the first preposition are kept; the longest word that no other title has is marked. Where that
leaves too much, or too little, nothing is proposed: a person writes it, or the whole title is drawn.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from thumbforge.errors import NotFound
from thumbforge.models import Playlist
from thumbforge.playlists.merge import Key, keyed
from thumbforge.playlists.playlist_file import Written, change
from thumbforge.sources.part_marks import without_part


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


FEWEST, MOST, LONGEST = 2, 5, 34
"""Words, and letters with the spaces between them. 34 letters stand on two lines at 168x94."""
_UNSPACED = 12
"""Letters of a script without spaces, which are as wide as two."""
_COMMON = 0.3
"""Share of a list's titles, and at least three, that begin or end alike: what is common tells nothing apart."""
_MARKED = 4
"""Letters of the shortest word that is worth a mark."""
_LEADS = (
    "how do i", "how do you", "how can i", "how to", "when should i", "when do i", "should i",
    "what do i need to know about", "an introduction to", "introduction to", "getting started with", "let's",
    "wie man", "wie", "so", "einführung in", "comment", "introduction à", "cómo", "introducción a", "como",
    "introdução a", "come", "как", "введение в",
)  # fmt: skip
"""What questions and lessons begin with, and a picture does without."""
_SMALL = _set("""
    a an the my your our its this that these those some do does did is are was i you we it der die das den dem des
    ein eine einen einem einer man le la les un une el los las una unos il lo gli uno os as um uma это
""")
"""Left out, or no word to stop at or to mark."""
_TURNS = _set("""
    of in on at with without from to into for by as about using via through than between if because when while und
    oder mit ohne von vom zu zum zur in im ins auf aus bei für über nach de du des avec sans pour dans sur par en
    con sin para por sobre com sem em no na nos di da del della con per su в на с из для без по о об к от и
""")
"""Words that a phrase may end before."""
_BRACKETS = re.compile(r"\s*[(\[{（【「][^)\]}）】」]*[)\]}）】」]\s*")
_SEGMENTS = re.compile(r"\s+[-–—|•·:]\s+|\s*[|｜]\s*|(?<=\w):\s+")
_NUMBER = re.compile(r"[#№]?\d+")
_WORD = re.compile(r"[^\W_]", re.UNICODE)
_QUESTIONS = _set("""
    what why when where which who whose how was warum wann wo wer welche welcher welches quoi pourquoi quand où qui
    quel quelle qué por cuándo dónde quién cuál que porque quando onde quem qual che cosa perché dove chi что почему
    зачем когда где кто
""")
_TRIM = " \t\"'“”„«».,;:!-–—…"
_AROUND = _TRIM + "?¿¡"


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an item may be drawn with; `text` is None where there is nothing good. `kept` is what a person wrote."""

    video: str
    title: str
    part: int | None
    kept: str | None
    text: str | None

    @property
    def is_new(self) -> bool:
        return self.kept is None and self.text is not None


def propose_text(root: Path, playlist: str) -> Written:
    """Write what is proposed into the list's YAML, where no text is yet. Errors as `playlist_file.change`."""

    def decide(before: Playlist | None) -> Playlist:
        if before is None:
            raise NotFound(f"playlist {playlist} is not in specs/playlists any more")
        found = proposals(before)
        items = tuple(
            item.model_copy(update={"text": found[key].text}) if key in found and found[key].is_new else item
            for key, item in keyed(before.items).items()
        )
        return Playlist(playlist=before.playlist, items=items)

    return change(root, playlist, decide)


def proposals(playlist: Playlist) -> dict[Key, Proposal]:
    """For every item that is not removed, in the list's order."""
    items = {key: item for key, item in keyed(playlist.items).items() if not item.removed}
    head = {_plain(name) for name in (playlist.playlist.title, playlist.playlist.channel) if name}
    parted = {key: _segments(item.title) for key, item in items.items()}
    counted = Counter(name for segments in parted.values() for name in set(map(_name, segments)))
    common = _often(len(items))
    own = {
        key: max(
            (s for s in segments if counted[_name(s)] < common and not _says_no_more(s, head)),
            key=lambda segment: _rarity(segment, counted),
            default="",
        )
        for key, segments in parted.items()
    }
    lines = _without_the_common({key: line.split() for key, line in own.items()}, common)
    heard = Counter(word for words in lines.values() for word in {_plain(word) for word in words})
    named = {word for name in head for word in name.split() if _tells(word)}
    return {
        key: Proposal(item.video, item.title, item.part, item.text, _text(lines[key], heard, named, common))
        for key, item in items.items()
    }


def _often(titles: int) -> int:
    """So many titles that say the same make it common."""
    return max(3, round(_COMMON * titles))


def _plain(text: str) -> str:
    """What is compared: no case, no mark, nothing around the words."""
    return " ".join(
        word for part in unicodedata.normalize("NFKC", text).casefold().split() if (word := part.strip(_AROUND))
    )


def _name(segment: str) -> str:
    """What a segment is without its numbers: `Tutorial #10` says what `Tutorial #9` says."""
    return _NUMBER.sub("", _plain(segment)).strip()


def _segments(title: str) -> list[str]:
    """The parts of a title that stand between dashes and bars, without part marks and brackets."""
    text = _BRACKETS.sub(" ", title).strip() or title
    found = [without_part(segment).strip(_TRIM) for segment in _SEGMENTS.split(text)]
    return [segment for segment in found if _WORD.search(segment)]


def _says_no_more(segment: str, head: Iterable[str]) -> bool:
    return any(_plain(segment) == name for name in head)


def _rarity(segment: str, counted: Mapping[str, int]) -> tuple[int, bool]:
    """The segment that fewest titles share, and of these the first that is not too short to say something."""
    return -counted[_name(segment)], len(segment.split()) >= FEWEST


def _without_the_common(lines: Mapping[Key, list[str]], common: int) -> dict[Key, list[str]]:
    """Each line without what many of them begin and end with, where that leaves something to say."""
    left = {key: words[_shared([*lines.values()], words, common) :] for key, words in lines.items()}
    turned = [words[::-1] for words in left.values()]
    ended = {key: words[: len(words) - _shared(turned, words[::-1], common)] for key, words in left.items()}
    return {key: words if any(map(_tells, words)) else lines[key] for key, words in ended.items()}


def _shared(lines: Sequence[Sequence[str]], words: Sequence[str], common: int) -> int:
    """How many of its first words are those of many lines; never all of them."""
    for count in range(min(len(words) - 1, 6), 0, -1):
        begin = [_plain(word) for word in words[:count]]
        if sum([_plain(word) for word in line[:count]] == begin for line in lines) >= common:
            return count
    return 0


def _tells(word: str) -> bool:
    plain = _plain(word)
    return plain not in _SMALL | _TURNS | _QUESTIONS and bool(_WORD.search(plain))


def _text(words: list[str], heard: Mapping[str, int], named: Set[str], common: int) -> str | None:
    """The words that are drawn, one of them marked; None where they would be too few, too many or too long."""
    if not words or "*" in "".join(words):
        return None
    if len(words) == 1 and unicodedata.east_asian_width(words[0][0]) == "W":
        return words[0] if FEWEST <= len(words[0]) <= _UNSPACED else None
    words = _without_lead(words)
    if _plain(words[0]) in _QUESTIONS:
        kept = _question(words)
    else:
        kept = _phrase([w for w in words if not (_plain(w) in named and heard[_plain(w)] >= common)])
        kept = kept if len(kept) >= FEWEST else _phrase(words)
    telling = [word for word in kept if _tells(word)]
    if not FEWEST <= len(kept) <= MOST or len(" ".join(kept)) > LONGEST or not telling:
        return None
    alone = [w for w in telling if heard[_plain(w)] == 1 and len(_plain(w)) >= _MARKED]
    mark = max(alone, key=len, default="")
    text = " ".join(_marked(word) if word == mark else word for word in kept)
    return next((text[:n] + text[n:].capitalize()[:1] + text[n + 1 :] for n in (0, 1) if text[n].isalpha()), text)


def _phrase(words: list[str]) -> list[str]:
    """Up to the first turn, or as a whole where that is too short to say something. Small words are left out, but for
    those inside a phrase that is short with them."""
    begin = next((n for n, word in enumerate(words) if _plain(word) not in _SMALL), len(words))
    kept = words[begin:]
    if len(kept) >= MOST:
        kept = [word for word in kept if _plain(word) not in _SMALL]
    turn = next((n for n, word in enumerate(kept) if n and _plain(word) in _TURNS), len(kept))
    found = kept[:turn] if turn >= FEWEST else kept
    return [core for word in found if (core := word.strip(_AROUND))]


def _question(words: list[str]) -> list[str]:
    """A question that is short enough to be asked as it is; a longer one loses its sense with any of its words."""
    end = next((n for n, word in enumerate(words, 1) if word.endswith((",", "?"))), len(words))
    asked = words[:end]
    return [*asked[:-1], f"{asked[-1].strip(_AROUND)}?"] if len(asked) <= MOST else []


def _without_lead(words: list[str]) -> list[str]:
    for lead in sorted(_LEADS, key=len, reverse=True):
        size = len(lead.split())
        if len(words) > size and " ".join(map(_plain, words[:size])) == _plain(lead):
            return words[size:]
    return words


def _marked(word: str) -> str:
    core = word.strip(_AROUND)
    begin = word.index(core)
    return f"{word[:begin]}*{core}*{word[begin + len(core) :]}"
