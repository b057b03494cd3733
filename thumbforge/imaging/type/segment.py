"""Line ends inside text without spaces: ICU's rules and dictionaries, BudouX's phrases. The only module that imports
either, and it does so for a text that needs it: ICU's data has 30 MB.
"""

from __future__ import annotations

from functools import cache
from typing import Any

_LOCALES = {"jp": "ja", "kr": "ko", "sc": "zh-Hans", "tc": "zh-Hant", "hk": "zh-Hant-HK"}


def line_ends(text: str, region: str) -> frozenset[int]:
    """Offsets at which a line of `text` may begin (UAX 14 with strict kinsoku: no small kana, no ー at a line's start;
    dictionaries for Thai, Lao, Khmer and Burmese)."""
    from icu4py.breakers import LineBreaker

    return _offsets(LineBreaker(text, f"{_LOCALES[region]}-u-lb-strict"))


def phrase_ends(text: str, region: str) -> frozenset[int]:
    """Offsets between the phrases of Japanese or Chinese; for other scripts every offset is one."""
    if region == "kr":
        return frozenset(range(len(text) + 1))
    found: frozenset[int] = _offsets(_parser(region).parse(text))
    return found | {place for place in range(1, len(text)) if "\u0e00" <= text[place] <= "\u17ff"}


def word_ends(text: str, region: str) -> frozenset[int]:
    """Offsets between the words of a dictionary."""
    from icu4py.breakers import WordBreaker

    return _offsets(WordBreaker(text, _LOCALES[region]))


@cache
def _parser(region: str) -> Any:
    import budoux

    if region == "jp":
        return budoux.load_default_japanese_parser()
    if region == "sc":
        return budoux.load_default_simplified_chinese_parser()
    return budoux.load_default_traditional_chinese_parser()


def _offsets(segments: Any) -> frozenset[int]:
    place, found = 0, set()
    for segment in segments:
        place += len(segment)
        found.add(place)
    return frozenset(found)
