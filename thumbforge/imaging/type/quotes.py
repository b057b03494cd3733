"""Straight quotes become those of the language, as CLDR has them: only pairs, and apostrophes in words."""

from __future__ import annotations

import re

from thumbforge.imaging.type.clean import UNSPACED

_ENGLISH = "“”‘’"
_MARKS = {
    "ar": "”“’‘", "be": "«»„“", "bg": "„“‘’", "bs": "„”‘’", "cs": "„“‚‘", "de": "„“‚‘", "el": "«»“”", "es": "«»“”",
    "et": "„“‚‘", "fa": "«»‹›", "fi": "””’’", "fr": "«»“”", "he": "””’’", "hr": "„”‚’", "hu": "„”»«", "is": "„“‚‘",
    "it": "«»“”", "ja": "「」『』", "lt": "„“„“", "mk": "„“‚‘", "nb": "«»‘’", "nn": "«»‘’", "no": "«»‘’", "pl": "„”«»",
    "ro": "„”«»", "ru": "«»„“", "sk": "„“‚‘", "sl": "„“‚‘", "sr": "„“‘‘", "sv": "””’’", "uk": "«»„“", "yue": "「」『』",
}  # fmt: skip
"""Opening and closing, outer then inner, by language."""
_THIN = "\u202f"
"""French sets its marks off by a narrow space that no line ends at."""

_OUTER = re.compile(rf'(?:(?<![\w"])|(?<={UNSPACED}))"(?=[^\s"])([^"\n]*[^\s"])"(?:(?![\w"])|(?={UNSPACED}))')
_INNER = re.compile(rf"(?:(?<![\w'])|(?<={UNSPACED}))'(?=[^\s'])([^'\n]*[^\s'])'(?:(?![\w'])|(?={UNSPACED}))")
_APOSTROPHE = re.compile(r"(?<=[^\W\d])'(?=[^\W\d])|(?<!\w)'(?=\d\ds?\b)|(?<=s)'(?=\s)")


def quoted(text: str, language: str | None) -> str:
    """`language` is BCP 47; English marks for one that is not known here. A mark without its pair, such as that of a
    screen of 5", stays as it is."""
    if '"' not in text and "'" not in text:
        return text
    tag = (language or "en").lower().replace("_", "-")
    base = "yue" if tag.startswith(("zh-hant", "zh-tw", "zh-hk", "zh-mo")) else tag.partition("-")[0]
    first, last, inner_first, inner_last = tuple(_MARKS.get(base, _ENGLISH))
    thin = _THIN if base == "fr" else ""
    text = _OUTER.sub(rf"{first}{thin}\1{thin}{last}", text)
    return _APOSTROPHE.sub("’", _INNER.sub(rf"{inner_first}\1{inner_last}", text))
