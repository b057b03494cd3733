"""The fonts that titles are drawn with: which file, which bytes, which code points.

Fonts are data of exactly pinned packages. `sha256` is the file's identity, part of every final key and checked when the
file is read, because other font bytes are other pixels. Fonts are variable: `axes` is always set, a file's own default
may be its thinnest cut. Nothing here reads a file before `face` is called.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from importlib import resources
from typing import Any
from unicodedata import normalize

from thumbforge.errors import UsageError


@dataclass(frozen=True, slots=True)
class Font:
    """`cap` is the height of a capital letter in em (0.714 where a script has none)."""

    name: str
    package: str
    file: str
    sha256: str
    cap: float = 0.714
    axes: tuple[tuple[str, float], ...] = (("wght", 700),)


def _noto(script: str, digest: str) -> Font:
    name = f"noto-sans-{script.lower()}" if script else "noto-sans"
    return Font(name, "manimgx_fonts", f"NotoSans{script}[wght].ttf", digest)


FONTS: dict[str, Font] = {
    font.name: font
    for font in (
        Font(
            "anton",
            "fontpkg_anton",
            "files/Anton-Regular.ttf",
            "a4ba3a92350ebb031da0cb47630ac49eb265082ca1bc0450442f4a83ab947cab",
            0.859,
            (),
        ),
        Font(
            "roboto-condensed",
            "fontpkg_roboto_condensed",
            "files/RobotoCondensed[wght].ttf",
            "dace262afcee68a5276f200d8026c57221735c0118ab5fda8c2c0d3dc409a8d0",
            0.711,
            (("wght", 850),),
        ),
        Font(
            "inter",
            "fontpkg_inter",
            "files/Inter[opsz,wght].ttf",
            "29160a80ff49ddcab2c97711247e08b1fab27a484a329ce8b813d820dc559031",
            0.728,
            (("opsz", 32), ("wght", 800)),
        ),
        _noto("", "fb53504de62e767a54695416123d68d67f71c9b69722175184ad56e7dd13547b"),
        _noto("Arabic", "3fae4d7239d1faa55b234bda8091019a5251ff79df40d5e29367d84bed2a8138"),
        _noto("Armenian", "e979dfaed56ddb4bfd05121958b25425eb7593253d64b6b3654c77c11c5cda94"),
        _noto("Bengali", "dc9defe97bb041876b6609e9029d9e1e228a686259acde2fe2a9f99d793ee17d"),
        _noto("Devanagari", "bf99bf762743ff3259e73196852520ab0ffe8d384238bff3e4806a84b981e972"),
        _noto("Ethiopic", "93f223089e300b983dbfd693c7be619e0e76565a70d639e71a4fe0bfd72cf66f"),
        _noto("Georgian", "42f4a8bf4fe0af8afd91ee3c19e81e14f1bc74ddbd9b6a59a4182f67a596adb4"),
        _noto("Gujarati", "83d1bde74d64fb389f97a5e27b2699d8ee8bad4c15a02be347228e6c10011248"),
        _noto("Gurmukhi", "8a3096ee2166f6383501e2df7b368fce88cfa4068c8d75bcb6af07da353a00ea"),
        _noto("Hebrew", "9d81d81ad592644487b03843da73a87b99cd28a2c4da4a096e1db8fbd14fda61"),
        _noto("Kannada", "b6b11505d76eddf916667d73adfec19095ec777742444dc662dae81471461f4e"),
        _noto("Khmer", "56f89948a84cc0b01962ed6af573ac4ac885bd7bb6e7e40f9afc72a435728b70"),
        _noto("Lao", "fc138d605aa998d8407789ee6a7f5554aae8b54f5cd98d66dd2c33e79d15b67e"),
        _noto("Malayalam", "94cddc94a03fa9a5e8d1784090ba97b267def6933d60762081eaa003751142c5"),
        _noto("Myanmar", "e0b280aa3080aab922800c88fa9a2015a4bec3103bb8b70491a92e4a04f3a3a3"),
        _noto("Oriya", "37f482d0179d0a50e3128d004f007ff1c1741ad5f6b0b2bcc7238b257ef1caa0"),
        _noto("Sinhala", "3fd7c6a61cb6dfb8a2ca7af5b4078bd24e9c8ad9b55839a0177277db6e4d1326"),
        _noto("Symbols", "63724daeff6755a45933b9a5e3a3b41df5df8fe925c0f4c991f2f68c08a4182d"),
        _noto("Tamil", "37e151cdec4a8cfb15c432f7bb164a83b98df69419d47e50b35aa7073963716b"),
        _noto("Telugu", "6c06de88b2d420d899543724a13765994191cd29860c6226efca098b51fec64b"),
        _noto("Thai", "13f52f79b04f01f2751a81052a5dee2df639fd4e13f4ac30821ab45c8dd5f7e7"),
        Font(
            "noto-emoji",
            "manimgx_fonts",
            "NotoEmoji[wght].ttf",
            "de6c18832938afc99caf132b39d6a30a19bac7f2e812e28db2535b4608d27551",
            0.9,
        ),
    )
}

DISPLAY = ("anton", "roboto-condensed", "inter", "noto-sans")
"""Names that a layout may use, and the order in which a title looks for a face that has all its letters."""

EMOJI = "noto-emoji"
SYMBOLS = "noto-sans-symbols"

# Blocks whose letters no display face has, and who draws them: (first, last, font names). Disjoint, ascending.
BLOCKS: tuple[tuple[int, int, tuple[str, ...]], ...] = (
    (0x0530, 0x058F, ("noto-sans-armenian",)),
    (0x0590, 0x05FF, ("noto-sans-hebrew",)),
    (0x0600, 0x077F, ("noto-sans-arabic",)),
    (0x0870, 0x08FF, ("noto-sans-arabic",)),
    (0x0900, 0x097F, ("noto-sans-devanagari",)),
    (0x0980, 0x09FF, ("noto-sans-bengali",)),
    (0x0A00, 0x0A7F, ("noto-sans-gurmukhi",)),
    (0x0A80, 0x0AFF, ("noto-sans-gujarati",)),
    (0x0B00, 0x0B7F, ("noto-sans-oriya",)),
    (0x0B80, 0x0BFF, ("noto-sans-tamil",)),
    (0x0C00, 0x0C7F, ("noto-sans-telugu",)),
    (0x0C80, 0x0CFF, ("noto-sans-kannada",)),
    (0x0D00, 0x0D7F, ("noto-sans-malayalam",)),
    (0x0D80, 0x0DFF, ("noto-sans-sinhala",)),
    (0x0E00, 0x0E7F, ("noto-sans-thai",)),
    (0x0E80, 0x0EFF, ("noto-sans-lao",)),
    (0x1000, 0x109F, ("noto-sans-myanmar",)),
    (0x10A0, 0x10FF, ("noto-sans-georgian",)),
    (0x1200, 0x139F, ("noto-sans-ethiopic",)),
    (0x1780, 0x17FF, ("noto-sans-khmer",)),
    (0x19E0, 0x19FF, ("noto-sans-khmer",)),
    (0x1C90, 0x1CBF, ("noto-sans-georgian",)),
    (0x1CD0, 0x1CFF, ("noto-sans-devanagari",)),
    (0x2000, 0x2BFF, (SYMBOLS, EMOJI)),
    (0x2D00, 0x2D2F, ("noto-sans-georgian",)),
    (0x2D80, 0x2DDF, ("noto-sans-ethiopic",)),
    (0x3030, 0x303D, (EMOJI,)),
    (0x3297, 0x3299, (EMOJI,)),
    (0xA8E0, 0xA8FF, ("noto-sans-devanagari",)),
    (0xA9E0, 0xA9FF, ("noto-sans-myanmar",)),
    (0xAA60, 0xAA7F, ("noto-sans-myanmar",)),
    (0xAB00, 0xAB2F, ("noto-sans-ethiopic",)),
    (0xFB1D, 0xFB4F, ("noto-sans-hebrew",)),
    (0xFB50, 0xFDFF, ("noto-sans-arabic",)),
    (0xFE70, 0xFEFE, ("noto-sans-arabic",)),
    (0x1F000, 0x1FAFF, (EMOJI, SYMBOLS)),
)
_FIRSTS = [first for first, _, _ in BLOCKS]


def fallbacks(char: str) -> tuple[str, ...]:
    """Fonts that may draw `char` where no display face does, best first."""
    code = ord(char)
    block = BLOCKS[bisect_right(_FIRSTS, code) - 1]
    return block[2] if block[0] <= code <= block[1] else ()


def require(name: str) -> None:
    """Raise UsageError unless a layout may use this font."""
    if name not in DISPLAY:
        raise UsageError(f"unknown font {name!r}", hint=f"fonts that a layout may use: {', '.join(DISPLAY)}")


@lru_cache(maxsize=4096)
def usable(asked: str, text: str) -> tuple[str, ...]:
    """Names of all fonts that could take part in drawing `text` in the font `asked`, by its code points alone.

    Every display face has all of printable ASCII, so an ASCII text depends on the asked font only.
    """
    require(asked)
    if text.isascii():
        return (asked,)
    names = {asked, *DISPLAY}
    for char in set(text) | set(normalize("NFKC", text)):
        names.update(fallbacks(char))
    return tuple(sorted(names))


def digests(names: tuple[str, ...]) -> dict[str, str]:
    return {name: FONTS[name].sha256 for name in names}


@dataclass(frozen=True, slots=True)
class Face:
    """A font file opened at its pinned axes: HarfBuzz's font at one unit an em unit, and the code points it has."""

    font: Font
    hb: Any
    upem: int
    coverage: frozenset[int]


@cache
def face(name: str) -> Face:
    """The opened font, once per process; never changed after, so threads may share it.

    Raises UsageError when the installed file is not the pinned one.
    """
    import uharfbuzz

    font = FONTS[name]
    data = _read(font)
    opened = uharfbuzz.Face(uharfbuzz.Blob(data))
    scaled = uharfbuzz.Font(opened)
    scaled.set_variations(dict(font.axes))
    return Face(font, scaled, opened.upem, frozenset(opened.unicodes))


def _read(font: Font) -> bytes:
    hint = "reinstall thumbforge with its pinned dependencies"
    try:
        data = resources.files(font.package).joinpath(font.file).read_bytes()
    except (ModuleNotFoundError, OSError) as error:
        raise UsageError(f"font {font.name} is not installed ({font.package})", hint=hint) from error
    if sha256(data).hexdigest() != font.sha256:
        raise UsageError(f"font {font.name} is not the file that thumbforge is pinned to", hint=hint)
    return data
