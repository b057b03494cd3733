"""Texts in the cells of a spreadsheet: written so that it shows a text, read back as they were.

What a spreadsheet would take for a formula, a number, a date or a truth value gets an apostrophe in front, and so does
a text that begins with one; what is read without its apostrophe (Google Sheets keeps it to itself) is the same text.
"""

from __future__ import annotations

import re

_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "'")
"""What a formula begins with; the wide ones in the spreadsheets of some languages."""
_MONTHS = (
    "jan|feb|fev|fév|mar|mär|mrz|apr|abr|avr|mai|may|mag|maj|jun|jui|giu|jul|lug|aug|ago|aou|aoû|sep|set|oct|okt|ott|out"
    "|nov|dec|dez|déc|dic"
)
_SIGNS = r"[\s\d.,:;/%€$£¥()+-]*"
_NUMBER = re.compile(rf"{_SIGNS}(e|am|pm|(?:{_MONTHS})\w*\.?)?{_SIGNS}(am|pm)?", re.IGNORECASE)
"""Digits, signs around them, and no other word than a month: 1984, 2.50, 1/2, 10:30 pm, May 5, 1E5."""
_TRUTH = re.compile(r"true|false|wahr|falsch|vrai|faux|verdadero|verdadeiro|falso|vero", re.IGNORECASE)
_LONGEST = 40
"""Letters of what may be a number or a date."""
_END = re.compile(r"\r\n?")


def written(text: str) -> str:
    return f"'{text}" if _is_taken(text) else text


def read(cell: str) -> str:
    """The text that `written` made this of; any other text is itself."""
    return cell[1:] if cell.startswith("'") and _is_taken(cell[1:]) else cell


def plain(text: str) -> str:
    """What two cells are compared by: programs change line ends, and nobody sees blanks at an end."""
    return _END.sub("\n", text).replace("\0", "\ufffd").strip()


def _is_taken(text: str) -> bool:
    """Whether a spreadsheet takes it for something else than a text."""
    bare = text.strip()
    if text.startswith(_FORMULA) or bare.startswith(_FORMULA):
        return True
    if len(bare) > _LONGEST:
        return False
    return (any(map(str.isdigit, bare)) and bool(_NUMBER.fullmatch(bare))) or bool(_TRUTH.fullmatch(bare))
