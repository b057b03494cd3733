"""The fonts that titles are drawn with: opened once, checked against the table, chosen by script and region.

Nothing here reads a file before `face` is called, and only what a title needs is read: the CJK file has 32 MB.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import file_digest
from importlib import resources
from pathlib import Path
from typing import Any
from unicodedata import normalize

from thumbforge import ids
from thumbforge.durable import open_regular
from thumbforge.errors import UsageError
from thumbforge.imaging.type.fonttable import BLOCKS, CJK, DISPLAY, EMOJI, FACES, FONTS, SYMBOLS, Font
from thumbforge.imaging.userfiles import FontFile

__all__ = ["BLOCKS", "DISPLAY", "EMOJI", "FACES", "FONTS", "SYMBOLS", "Face", "Font"]

_FIRSTS = [first for first, _, _ in BLOCKS]
_OWN: dict[str, Font] = {}
"""Fonts of users, by the name that their bytes give them."""
_OWN_WEIGHT = 800.0
_OUTLINES = frozenset({"glyf", "CFF ", "CFF2"})
_EMOJI_CAP = 0.92
"""Share of an emoji's height that stands beside a capital letter."""

_KANA = re.compile("[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
_REGIONS = (
    (re.compile("ja"), "jp"),
    (re.compile("ko"), "kr"),
    (re.compile("zh(-.*)?-(hk|mo)|yue"), "hk"),
    (re.compile("zh.*-(hant|tw)"), "tc"),
)


def region(text: str, language: str | None) -> str:
    """Whose Han letters a text has: jp where it has kana, kr where it has hangul, else by its language (BCP 47), else
    sc (simplified Chinese)."""
    if _KANA.search(text):
        return "jp"
    if _HANGUL.search(text):
        return "kr"
    tag = (language or "").lower().replace("_", "-")
    return next((name for pattern, name in _REGIONS if pattern.match(tag)), "sc")


def fallbacks(char: str, cjk: str = "sc") -> tuple[str, ...]:
    """Fonts that may draw `char` where no display face does, best first. `cjk` is the text's region."""
    code = ord(char)
    first, last, names = BLOCKS[bisect_right(_FIRSTS, code) - 1]
    if not first <= code <= last:
        return ()
    return tuple(f"{CJK}-{cjk}" if name == CJK else name for name in names)


def add(file: FontFile) -> str:
    """Make a user's font known under its name, which is returned. Reads nothing."""
    _OWN.setdefault(file.name, Font(file.name, "", str(file.path), file.sha256, 0.0, (("wght", _OWN_WEIGHT),)))
    return file.name


def known(name: str) -> Font:
    """Raises UsageError for a name that is neither in the table nor was added."""
    found = FONTS.get(name) or _OWN.get(name)
    if found is None:
        raise UsageError(f"unknown font {name!r}", hint=f"fonts that a layout may use: {', '.join(FACES)}")
    return found


def require(name: str) -> None:
    """Raise UsageError unless a layout may use this font."""
    if name not in FACES and name not in _OWN:
        raise UsageError(f"unknown font {name!r}", hint=f"fonts that a layout may use: {', '.join(FACES)}")


@lru_cache(maxsize=4096)
def usable(asked: str, text: str, language: str | None = None) -> tuple[str, ...]:
    """Names of all fonts that could take part in drawing `text` in the font `asked`, by its code points alone.

    Every display face has all of printable ASCII, so an ASCII text depends on the asked font only; a user's font may
    lack any letter.
    """
    require(asked)
    if text.isascii() and asked in FACES:
        return (asked,)
    names = {asked, *DISPLAY}
    cjk = region(text, language)
    for char in set(text) | set(normalize("NFKC", text)):
        names.update(fallbacks(char, cjk))
    return tuple(sorted(names))


@lru_cache(maxsize=4096)
def digests(names: tuple[str, ...]) -> ids.Shared:
    return ids.Shared({name: known(name).sha256 for name in names})


@cache
def all_digest() -> str:
    """What tells one set of the package's fonts from another: twelve digits over the hashes of all that any text may
    fall back on. A face that only a layout can ask for stands in the keys of what it draws."""
    asked_for = set(FACES) - set(DISPLAY)
    return ids.digest("fonts", {name: font.sha256 for name, font in FONTS.items() if name not in asked_for})[:12]


@dataclass(frozen=True, slots=True)
class Face:
    """A font file opened at its pinned axes: HarfBuzz's font at one unit an em unit, the code points it has, the height
    of its capitals in em, and whether its glyphs bring their own colours."""

    font: Font
    hb: Any
    upem: int
    coverage: frozenset[int]
    cap: float
    coloured: bool


@cache
def face(name: str) -> Face:
    """The opened font, once per process; never changed after, so threads may share it.

    Raises UsageError when the file is not the pinned one.
    """
    import uharfbuzz

    font = known(name)
    opened = uharfbuzz.Face(_blob(font.package, font.file, font.sha256), font.index)
    scaled = uharfbuzz.Font(opened)
    scaled.set_variations(dict(font.axes))
    codes = frozenset(opened.unicodes)
    if not codes:
        raise UsageError(f"font {Path(font.file).name} has no letters", hint="name a .ttf, .otf or .ttc file")
    if not _OUTLINES & {str(tag) for tag in opened.table_tags}:
        hint = "use one with outlines; an emoji font needs the COLR format"
        raise UsageError(f"font {Path(font.file).name} holds bitmaps only", hint=hint)
    cap = font.cap or _cap(scaled, opened.upem)
    return Face(font, scaled, opened.upem, codes, cap, bool(opened.has_color_paint or opened.has_color_layers))


def cap(name: str) -> float:
    """The height of a font's capitals in em."""
    return known(name).cap or face(name).cap


def _cap(scaled: Any, upem: int) -> float:
    extents: Callable[[int], Any] = scaled.get_glyph_extents
    if gid := scaled.get_nominal_glyph(ord("H")):
        return float(min(max(extents(gid).y_bearing / upem, 0.3), 1.2))
    face_emoji = scaled.get_nominal_glyph(0x1F600)
    found = extents(face_emoji) if face_emoji else None
    return float(min(max(-found.height / upem * _EMOJI_CAP, 0.3), 1.4)) if found and found.height else 0.714


@cache
def _blob(package: str, file: str, digest: str) -> Any:
    """The file, mapped into memory (faces of a collection share it), once its bytes are known to be the right ones."""
    import uharfbuzz

    own = not package
    hint = "run it again" if own else "reinstall thumbforge with its pinned dependencies"
    try:
        path = Path(file) if own else Path(str(resources.files(package).joinpath(file)))
        with open_regular(path) as opened:
            found = file_digest(opened, "sha256").hexdigest()
        blob = uharfbuzz.Blob.from_file_path(str(path))
    except (ModuleNotFoundError, OSError, uharfbuzz.HarfBuzzError) as error:
        where = Path(file).name
        raise UsageError(f"font {where} is not installed ({package or 'named in the specs'})", hint=hint) from error
    if found != digest:
        raise UsageError(f"font {Path(file).name} is not the file that was expected: its bytes differ", hint=hint)
    return blob
