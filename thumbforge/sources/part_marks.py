"""The number that a title says it is, such as "Ep. 07", "#12", "Teil 4" or "第3話". Pure.

Marks are looked for in a fixed order, and the first that is there decides:

    1. Episode, Ep., Lesson, Folge, Chapter …, S02E05    "Ep. 07 - Winter Part 1" is 7
    2. 第3話, 3부 and other marks after the number
    3. Part, Pt., Teil and their like
    4. Day, Session, Unit and other words that may be of something else
    5. #12, No. 13
    6. (4 of 12), [16], and "17." at the very beginning

A number with a fraction or a range ("Part 2.5", "Parts 5-6") is no part, and neither is a bare number: it may be a year
or a count.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

MAX_PART = 100_000

_PARTS = (
    r"part|pt|teil|partie|parte|часть|част|частина|część|del|deel|osa|díl|diel|rész|phần|bölüm|bagian|"
    r"الجزء|جزء|חלק|भाग|ভাগ|பகுதி|ตอนที่|ภาค"
)
_EPISODES = (
    r"episode|ep|eps|folge|lesson|lektion|leçon|lección|lezione|lição|chapter|chap|ch|kapitel|chapitre|capítulo|"
    r"capitulo|cap|capitolo|puntata|episodio|episódio|épisode|aflevering|avsnitt|afsnit|jakso|odcinek|lekcja|"
    r"выпуск|серия|эпизод|урок|глава|серія|випуск|tập|bài|lecture|tutorial|"
    r"الحلقة|حلقة|الدرس|פרק|שיעור|एपिसोड|अध्याय|บทที่"
)
_OTHERS = r"day|tag|jour|día|session|unit|module|class|week|level"
_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12,
}  # fmt: skip
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50}
_KANJI = {"〇": 0, "零": 0, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}

_NUMBER = rf"(?P<number>\d{{1,6}}|{'|'.join(_WORDS)}|[ivxl]{{1,7}})"
# Behind it nothing that makes it another number: 2.5, 5-6, 7:30, 4K, 10th; "3/10" and "4 of 12" say a total.
_END = r"(?![\w%°])(?!\s?[-–—~+&]\s?\d)(?![.,:]\d)"
_PLAIN_END = r"(?!\d)(?!\s?[-–—~]\s?\d)(?![.,:]\d)"

_MARKS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<!\w)s\d{{1,3}}\s?[ex]\s?{_NUMBER}{_END}",
        rf"(?<!\w)(?:{_EPISODES})[.:]?\s*[#№]?\s*{_NUMBER}{_END}",
        rf"(?<!\w)e(?P<number>\d{{1,4}}){_END}",
        r"第\s?(?P<number>\d{1,6}|[〇零一二三四五六七八九十百]{1,7})\s?(?:話|回|集|章|部|课|課|讲|講|期|节|節|弾|巻)",
        r"(?<!\w)(?P<number>\d{1,6})\s?(?:부|화|회|편|강|話|回|集)(?![\w])",
        rf"(?<!\w)(?:{_PARTS})[.:]?\s*[#№]?\s*{_NUMBER}{_END}",
        rf"(?<!\w)(?:{_OTHERS})\s+[#№]?\s*(?P<number>\d{{1,6}}){_END}",
        rf"(?<!\w)#\s?(?P<number>\d{{1,6}}){_END}",
        rf"(?<!\w)(?:no|nr|n°|№)\.?\s?(?P<number>\d{{1,6}}){_END}",
        r"[(\[]\s*(?P<number>\d{1,6})\s*(?:of|/|von|de|из)\s*\d{1,6}\s*[)\]]",
        r"^\s*\[\s*(?P<number>\d{1,4})\s*\]",
        rf"^\s*(?P<number>\d{{1,3}})\s?[.)](?=\s|$){_PLAIN_END}",
    )
)


@cache
def part_in(title: str) -> int | None:
    """The part that the title names, from 0 to 100,000; None where it names none for sure."""
    text = unicodedata.normalize("NFKC", title).lower()
    for mark in _MARKS:
        if match := mark.search(text):
            return _value(match["number"])
    return None


def without_part(title: str) -> str:
    """The title without the mark that `part_in` reads; as it is where there is none."""
    text = unicodedata.normalize("NFKC", title)
    lower = text.lower()
    for mark in _MARKS if len(lower) == len(text) else ():
        if match := mark.search(lower):
            return f"{text[: match.start()]} {text[match.end() :]}".strip()
    return title


def _value(number: str) -> int | None:
    if number.isdecimal():
        value = int(number)  # of any script: ١٢ is 12
        return value if value <= MAX_PART else None
    if number in _WORDS:
        return _WORDS[number]
    return _kanji(number) if number[0] not in _ROMAN else _roman(number)


def _roman(number: str) -> int | None:
    values = [_ROMAN[letter] for letter in number]
    total = sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))
    return total if number == _as_roman(total) else None


def _as_roman(value: int) -> str:
    steps = ((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
    text = ""
    for size, letters in steps:
        count, value = divmod(value, size)
        text += letters * count
    return text


def _kanji(number: str) -> int:
    """十二 is 12, 二十 is 20, 百 is 100, 一二 is 12."""
    total, digits = 0, ""
    for sign in number:
        if sign in "十百":
            total += (int(digits) if digits else 1) * (10 if sign == "十" else 100)
            digits = ""
        else:
            digits += str(_KANJI[sign])
    return total + (int(digits) if digits else 0)
