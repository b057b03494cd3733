"""The table of fonts: which file of which pinned package, its bytes, and which blocks of Unicode it is asked for.

`sha256` is the file's identity, part of every final key and checked when the file is opened, because other font bytes
are other pixels. Fonts are variable: `axes` is always set, a file's own default may be its thinnest cut.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Font:
    """`cap` is the height of a capital in em (0.714 where a script has none), `index` the face in a collection."""

    name: str
    package: str
    file: str
    sha256: str
    cap: float = 0.714
    axes: tuple[tuple[str, float], ...] = (("wght", 700),)
    index: int = 0


def _noto(script: str, digest: str) -> Font:
    name = f"noto-sans-{script.lower()}" if script else "noto-sans"
    return Font(name, "manimgx_fonts", f"NotoSans{script}[wght].ttf", digest)


_CJK_FILE = ("manimgx_fonts_cjk", "NotoSansCJK-VF.otf.ttc")
_CJK_SHA256 = "d3d8256cdec8dbcb3552284bc6b20c734dd60c2ee9df83b5758e34807c4bac32"


def _noto_cjk(region: str, index: int) -> Font:
    """`cap` makes an ideograph, 0.91 em high, a little taller than the capitals beside it."""
    return Font(f"noto-sans-cjk-{region}", *_CJK_FILE, _CJK_SHA256, 0.8, (("wght", 800),), index)


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
        Font(
            "source-serif",
            "fontpkg_source_serif_4",
            "files/SourceSerif4[opsz,wght].ttf",
            "97b2d4da6e3cb494b5a1e66ae176914d852ccabef49e0c02c0df25f3e39aca0b",
            0.655,
            (("opsz", 60), ("wght", 750)),
        ),
        Font(
            "roboto-flex",
            "fontpkg_roboto_flex",
            "files/RobotoFlex[GRAD,XOPQ,XTRA,YOPQ,YTAS,YTDE,YTFI,YTLC,YTUC,opsz,slnt,wdth,wght].ttf",
            "9b523f7d82593df0107173849ebb8c817471a1df4b4fb2c3cbf40cfd810c8281",
            0.711,
            (("wght", 850), ("wdth", 25), ("opsz", 48)),
        ),
        Font(
            "nunito",
            "fontpkg_nunito",
            "files/Nunito[wght].ttf",
            "bb55a5ca5c2042335b3991af27c4d0705d0ef41cac6164ac737fd8f2a1e85207",
            0.714,
            (("wght", 900),),
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
        *(_noto_cjk(region, index) for index, region in enumerate(("jp", "kr", "sc", "tc", "hk"))),
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
"""The order in which a title looks for a face that has all its letters."""

FACES = (*DISPLAY, "source-serif", "roboto-flex", "nunito")
"""Names that a layout may use. One that came after the others stands in for none of them, so it moves no key."""

EMOJI = "noto-emoji"
SYMBOLS = "noto-sans-symbols"
CJK = "noto-sans-cjk"
"""Stands in `BLOCKS` for the face of the title's region: Han letters differ from one to the next."""

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
    (0x1100, 0x11FF, (CJK,)),
    (0x1200, 0x139F, ("noto-sans-ethiopic",)),
    (0x1780, 0x17FF, ("noto-sans-khmer",)),
    (0x19E0, 0x19FF, ("noto-sans-khmer",)),
    (0x1C90, 0x1CBF, ("noto-sans-georgian",)),
    (0x1CD0, 0x1CFF, ("noto-sans-devanagari",)),
    (0x2000, 0x2BFF, (SYMBOLS, EMOJI)),
    (0x2D00, 0x2D2F, ("noto-sans-georgian",)),
    (0x2D80, 0x2DDF, ("noto-sans-ethiopic",)),
    (0x2E80, 0x302F, (CJK,)),
    (0x3030, 0x303D, (CJK, EMOJI)),
    (0x303E, 0x3296, (CJK,)),
    (0x3297, 0x3299, (CJK, EMOJI)),
    (0x329A, 0x9FFF, (CJK,)),
    (0xA8E0, 0xA8FF, ("noto-sans-devanagari",)),
    (0xA960, 0xA97F, (CJK,)),
    (0xA9E0, 0xA9FF, ("noto-sans-myanmar",)),
    (0xAA60, 0xAA7F, ("noto-sans-myanmar",)),
    (0xAB00, 0xAB2F, ("noto-sans-ethiopic",)),
    (0xAC00, 0xD7FF, (CJK,)),
    (0xF900, 0xFAFF, (CJK,)),
    (0xFB1D, 0xFB4F, ("noto-sans-hebrew",)),
    (0xFB50, 0xFDFF, ("noto-sans-arabic",)),
    (0xFE30, 0xFE4F, (CJK,)),
    (0xFE70, 0xFEFE, ("noto-sans-arabic",)),
    (0xFF01, 0xFFEF, (CJK,)),
    (0x1F000, 0x1FAFF, (EMOJI, SYMBOLS)),
    (0x20000, 0x323AF, (CJK,)),
)
