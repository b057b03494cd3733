"""`output.name`: the pattern that the files of a series are called by, and the slug that is made of a title for it.

A slug has only a-z, 0-9 and dashes, so that no title is ever a path. Letters of other scripts are written by the sounds
that they stand for, as far as their Unicode names tell; Chinese characters have none there and are left out.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

LONGEST = 60
_SOUNDS: dict[str, str] = dict(
    re.findall(
        r"(\w)=(\w*)",
        """
        а=a б=b в=v г=g д=d е=e ё=e ж=zh з=z и=i й=i к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u ф=f х=kh ц=ts ч=ch ш=sh
        щ=shch ъ= ы=y ь= э=e ю=yu я=ya і=i ї=i є=e ґ=g ў=u ј=j љ=lj њ=nj ћ=c ђ=dj џ=dz ѕ=dz ќ=k ѓ=g
        ß=ss æ=ae œ=oe ø=o đ=d ð=d þ=th ł=l ı=i ŋ=ng ħ=h
        """,
    )
)
"""Of letters whose names do not tell how they sound."""
_SYLLABLE = re.compile(r"(?:HANGUL SYLLABLE|(?:HIRAGANA|KATAKANA) LETTER(?P<small> SMALL)?) (?P<sound>[A-Z]+)")
_LETTER = re.compile(r"[A-Z-]+(?: SMALL| FINAL)? (?:LETTER|CHARACTER|VOWEL SIGN)(?: FINAL| SARA)? (?P<name>[A-Z]+)")
_SOUND = re.compile(r"[bcdgjkpstz]h|ps|[bcdfghjklmnpqrstvwxyz]|[aeiou]+")
_SILENT = frozenset("'’ʼ׳`´*")
_FIELD = re.compile(r"\{(part|position|slug|video)(?::0?([1-9]))?\}")


def file_name(pattern: str, *, part: int | None, position: int, video: str, text: str) -> str:
    """The name, without its ending, of a picture with this text. Where there is no part the position stands for it; a
    text of which no letter can be written has the video's id for a slug."""

    def value(found: re.Match[str]) -> str:
        match found[1]:
            case "part":
                return f"{position if part is None else part:0{found[2] or 1}d}"
            case "position":
                return f"{position:0{found[2] or 1}d}"
            case "slug":
                return slug(text) or slug(video.replace("_", "-")) or "untitled"
        return video

    return _FIELD.sub(value, pattern)


def slug(text: str) -> str:
    """At most 60 of a-z, 0-9 and dashes, cut between words where there is one; "" where none can be made of it."""
    written = "".join(map(_written, unicodedata.normalize("NFC", text)))
    line = "-".join(filter(None, re.split("[^a-z0-9]+", written)))
    if len(line) <= LONGEST:
        return line
    cut = line[: LONGEST + 1].rpartition("-")[0]
    return cut or line[:LONGEST]


@lru_cache(maxsize=4096)
def _written(char: str) -> str:
    """What a character is in a slug; a blank for what only parts words."""
    if char.isascii():
        return char.lower() if char.isalnum() else "" if char in _SILENT else " "
    if char in _SILENT:
        return ""
    low = char.lower()
    if low in _SOUNDS:
        return _SOUNDS[low]
    name = unicodedata.name(low[0], "")
    if syllable := _SYLLABLE.match(name):
        sound = syllable["sound"].lower()
        return "" if syllable["small"] and sound == "tu" else sound
    bare = "".join(c for c in unicodedata.normalize("NFKD", low) if not unicodedata.combining(c))
    if bare != low and bare:
        return "".join(map(_written, bare))
    if letter := _LETTER.match(name):
        sound_of = _SOUND.match(letter["name"].lower())
        return sound_of[0] if sound_of else ""
    return "" if unicodedata.category(char).startswith("M") else " "
