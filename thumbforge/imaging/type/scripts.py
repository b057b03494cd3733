"""Unicode properties that drawing asks for, as compiled patterns. The only module that imports `regex`.

`regex` brings its own Unicode tables, so a title is read the same on every Python.
"""

from __future__ import annotations

import regex

CLUSTER = regex.compile(r"\X")
"""What a reader takes for one letter: emoji families, flags and conjuncts are whole."""

DISPLAY_LETTER = regex.compile(r"(?=\p{L})[\p{Latin}\p{Greek}\p{Cyrillic}]")
HYPHENATED = regex.compile(r"(?=\p{L})[\p{Latin}\p{Greek}\p{Cyrillic}\p{Armenian}]")
SPACELESS = regex.compile(r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
HAN = regex.compile(r"\p{Han}")
HANGUL = regex.compile(r"\p{Hangul}")
IDEOGRAPHIC = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}ー\u3000-\u303f\uff00-\uff60]")

UNSPACED = regex.compile(f"{SPACELESS.pattern}|{IDEOGRAPHIC.pattern}|{HANGUL.pattern}")

EMOJI = regex.compile(
    r"\p{Emoji_Presentation}|\p{Regional_Indicator}|\p{Emoji}\ufe0f|[0-9#*]\ufe0f?\u20e3"
    r"|\p{Extended_Pictographic}.*\u200d"
)
"""Not ©, ™, ★ or bare digits: these are text."""

IGNORABLE = regex.compile(r"[\u200b-\u200d\ufe00-\ufe0f\U000e0020-\U000e007f\U000e0100-\U000e01ef]")
DENSE = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Arabic}"
    r"\p{Devanagari}\p{Bengali}\p{Tamil}\p{Telugu}\p{Kannada}\p{Malayalam}\p{Gujarati}\p{Gurmukhi}\p{Sinhala}]"
)
"""Letters of many strokes: they need more pixels than Latin capitals to be told apart."""
SPREAD = regex.compile(
    r"(?!\p{L})|[\p{Latin}\p{Greek}\p{Cyrillic}\p{Armenian}\p{Georgian}\p{Hebrew}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
)
"""What may stand apart: letters that join, or share a stroke, would break."""
UNDRAWABLE = regex.compile(r"[\ufffd\p{Co}]")
"""U+FFFD marks a title that was damaged before; private letters mean nothing outside their own font."""

SEPARATOR_WORD = regex.compile(r"[\p{P}\p{S}--[#$€£¥@&+<«„“‘(\[{¿¡*~/\\-]]+|[-–—|~&+/]", regex.V1)
"""A word of marks alone that belongs to the word before it."""
OPENING_WORD = regex.compile(r"[«„(\[{¿¡]+")
