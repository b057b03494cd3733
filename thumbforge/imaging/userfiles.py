"""Files that a series brings along: its own fonts, a logo, an item's picture. Named by their bytes, so that a changed
file is another final."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from thumbforge import named
from thumbforge.errors import UsageError
from thumbforge.pixels.limits import MAX_BYTES

MAX_FONT_BYTES = 64_000_000
_FONT_MAGIC = (b"\x00\x01\x00\x00", b"OTTO", b"true", b"ttcf")


@dataclass(frozen=True, slots=True)
class FontFile:
    """A TrueType or OpenType file; of a collection its first face."""

    path: Path
    sha256: str

    @property
    def name(self) -> str:
        """What a layout calls it; another file has another name."""
        return f"file-{self.sha256[:16]}"

    def moved(self, places: Mapping[str, Path]) -> FontFile:
        return FontFile(places[self.sha256], self.sha256)


@dataclass(frozen=True, slots=True)
class PictureFile:
    path: Path
    sha256: str

    def moved(self, places: Mapping[str, Path]) -> PictureFile:
        return PictureFile(places[self.sha256], self.sha256)


def font_file(path: Path) -> FontFile:
    """Raises UsageError for a file that cannot be read or is no font that can be drawn with."""
    data = named.read(path, "font", MAX_FONT_BYTES)
    if data[:4] not in _FONT_MAGIC:
        packed = data[:4] in (b"wOFF", b"wOF2")
        what = "a web font" if packed else "no TrueType or OpenType font"
        raise UsageError(f"font {path.name} is {what}", hint="name a .ttf, .otf or .ttc file")
    return FontFile(path, sha256(data).hexdigest())


def picture_file(path: Path) -> PictureFile:
    """Raises UsageError for a file that cannot be read. It is decoded when it is drawn."""
    return PictureFile(path, sha256(named.read(path, "picture", MAX_BYTES)).hexdigest())
