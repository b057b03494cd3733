"""What a part is called in the list's language, for a badge: "Part 5", "Часть 5", "第5集", "الجزء ٥"."""

from __future__ import annotations

import re

_NAMES = {
    "ar": "الجزء {}", "bg": "Част {}", "bn": "পর্ব {}", "ca": "Part {}", "cs": "Díl {}", "da": "Del {}",
    "de": "Teil {}", "el": "Μέρος {}", "en": "Part {}", "es": "Parte {}", "et": "Osa {}", "fa": "قسمت {}",
    "fi": "Osa {}", "fil": "Bahagi {}", "fr": "Partie {}", "he": "חלק {}", "hi": "भाग {}", "hr": "Dio {}",
    "hu": "{}. rész", "id": "Bagian {}", "it": "Parte {}", "ja": "第{}回", "ko": "제{}부", "lt": "{} dalis",
    "lv": "{}. daļa", "mr": "भाग {}", "ms": "Bahagian {}", "nb": "Del {}", "ne": "भाग {}", "nl": "Deel {}",
    "nn": "Del {}", "no": "Del {}", "pl": "Część {}", "pt": "Parte {}", "ro": "Partea {}", "ru": "Часть {}",
    "sk": "Diel {}", "sl": "{}. del", "sr": "Део {}", "sv": "Del {}", "ta": "பகுதி {}", "te": "భాగం {}",
    "th": "ตอนที่ {}", "tr": "Bölüm {}", "uk": "Частина {}", "ur": "حصہ {}", "vi": "Phần {}", "yue": "第{}集",
    "zh": "第{}集",
}  # fmt: skip
_ZEROS = {"ar": "٠", "fa": "۰", "bn": "০", "mr": "०", "ne": "०"}
"""The digit 0 of languages that write numbers in their own (CLDR's default numbering systems)."""
_LATIN = re.compile(r"-u-(?:.*-)?nu-latn(?:-|$)")


def part_name(number: int, language: str | None) -> str:
    """`language` is BCP 47; `ar-u-nu-latn` asks for Latin digits. English for a language that is not known here."""
    tag = (language or "en").lower().replace("_", "-")
    base = tag.partition("-")[0]
    zero = "" if _LATIN.search(tag) else _ZEROS.get(base, "")
    digits = "".join(chr(ord(zero) + int(digit)) for digit in str(number)) if zero else str(number)
    return _NAMES.get(base, _NAMES["en"]).format(digits)
