"""The subject of a picture as its words must know it: where it stands, what of it they cover, what the canvas cuts.

`local` placed it, and the place is reckoned again; in other art it is looked for by the same rule, and is a guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from thumbforge import models
from thumbforge.imaging import patches, rules
from thumbforge.imaging.draw import Ink, dilate
from thumbforge.pixels import masks
from thumbforge.pixels.placed import Placed
from thumbforge.pixels.saliency import salient_box

Known = Literal["sure", "guess", "none", "unknown"]
"""Sure: somebody said where it is. Guess: it was found. None: the hero has none. Unknown: it was looked for in vain."""

OUTLINE = 9
"""Pixels of 1280: the outline of a cut-out subject."""
INTO = 0.03
"""Share of the width that letters may reach behind a subject."""
_SMALL = 400
"""Pixels of width that are enough to look for a subject."""
_QUARTER = 4
_FADES = 0.12
"""Share of a box's width over which what is only a box fades out at its sides."""
_UPPER = 0.62
"""Share of a standing figure's height that words across the picture leave free."""
_CORE = 0.8
"""Of a box without a mask, the ellipse that is surely the subject."""

_ABOVE = 0.06
"""Share of the height above words that lie across, which is their ground, too."""

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """`box` and `face` in pixels of the picture of `size`; `placed` where `local` put it there."""

    known: Known
    size: tuple[int, int]
    box: Box | None = None
    face: Box | None = None
    placed: Placed | None = None

    @property
    def exact(self) -> bool:
        return bool(self.placed and self.placed.exact and self.box)

    def keep_off(self) -> Image.Image | None:
        """Where no shade may lie, in patches: the subject to the pixel, or what of its box and face it surely fills;
        where words lie across, what of it is above them."""
        if self.box is None:
            return None
        small = patches.size(self.size)
        if self.exact and self.placed:
            mask = self.placed.mask(*small)
        else:
            mask = _core(self.box, self.face, self.size).resize(small, Image.Resampling.BOX)
        if self.placed and self.placed.free.across:
            mask = mask.copy()
            top = max(self.placed.words_top() - _ABOVE * self.size[1], self.face[3] if self.face else 0.0)
            mask.paste(0, (0, max(ceil(top / self.size[1] * small[1]), 0), *small))
        return mask

    def mask(self) -> Image.Image:
        """The subject at a quarter of the size, as it is judged."""
        size = (self.size[0] // _QUARTER, self.size[1] // _QUARTER)
        if self.placed:
            mask = self.placed.mask(*size)
        else:
            mask = Image.new("L", size)
            if self.box:
                ImageDraw.Draw(mask).rectangle([side / _QUARTER for side in self.box], fill=255)
        if foot := self._behind_words:
            mask = mask.copy()
            mask.paste(0, (0, max(round(foot / _QUARTER), 0), *size))
        return mask

    @property
    def _behind_words(self) -> float | None:
        """Where words lie across, the height under which a person stands behind them."""
        if not (self.placed and self.placed.free.across and self.box):
            return None
        if self.face:
            return self.face[3]
        return self.box[1] + _UPPER * (self.box[3] - self.box[1]) if self.placed.subject.at_foot else None


def known(art: Image.Image, placed: Placed | None) -> Subject:
    """The subject of `art` (RGB, of the output's size)."""
    if placed:
        if placed.box is None:
            return Subject("none", art.size, placed=placed)
        sure = placed.subject.kind in ("masked", "given")
        return Subject("sure" if sure else "guess", art.size, placed.box, placed.face, placed)
    found = salient_box(art.reduce(max(art.width // _SMALL, 1)))  # what it is looked for in is smaller yet
    if found is None:
        return Subject("unknown", art.size)
    x, y, w, h = found
    wide, high = art.size
    return Subject("guess", art.size, (x * wide, y * high, (x + w) * wide, (y + h) * high))


def ink_of(inks: Sequence[tuple[Ink, float]], solids: Sequence[Image.Image], size: tuple[int, int]) -> Image.Image:
    """All that lies over the art, at a quarter of the size: texts with their outlines (in em), and `solids`, masks of
    that size."""
    found = Image.new("L", (size[0] // _QUARTER, size[1] // _QUARTER))
    for ink, outline in inks:
        small = dilate(ink.whole.reduce(_QUARTER), outline * ink.size / _QUARTER)
        at = (round(ink.at[0] / _QUARTER), round(ink.at[1] / _QUARTER))
        box = (*at, at[0] + small.width, at[1] + small.height)
        found.paste(ImageChops.lighter(found.crop(box), small), at)
    for solid in solids:
        found = ImageChops.lighter(found, solid)
    return found


def quarter(mask: Image.Image, at: tuple[int, int], size: tuple[int, int], opacity: float = 1.0) -> Image.Image:
    """A mask whose corner lies at `at`, over the whole picture, at a quarter of the size."""
    found = Image.new("L", (size[0] // _QUARTER, size[1] // _QUARTER))
    small = mask.reduce(_QUARTER)
    if opacity < 1:
        small = small.point([round(level * opacity) for level in range(256)])
    found.paste(small, (at[0] // _QUARTER, at[1] // _QUARTER))
    return found


def checks(found: Subject, ink: Image.Image, limits: models.SubjectRules) -> Iterator[rules.Check]:
    """`subject.covered` and `subject.cut`; where nothing is known of a subject, that alone."""
    if found.known == "unknown":
        yield rules.unknown_subject()
        return
    if found.known == "none" or found.box is None:
        yield rules.no_subject()
        return
    covered = _share(found.mask(), ink)
    face = _face_share(found.face, ink) if found.face else None
    yield rules.subject("covered", covered, face, limits.covered, limits.face_covered, sure=found.known == "sure")
    if placed := found.placed:
        shown = _weight(placed.mask(placed.width // _QUARTER, placed.height // _QUARTER)) * _QUARTER**2
        whole = _wanted(placed)
        cut = max(1 - shown / whole, 0.0) if whole else 0.0
        off = _outside(found.face, found.size) if found.face else None
        yield rules.subject("cut", cut, off, limits.cut, limits.face_cut, sure=found.known == "sure")


def _wanted(placed: Placed) -> float:
    """Pixels of the subject that are to be seen. Of one that was found, and that the photo cuts at its foot, not what
    lies below the canvas: an upright portrait shows its upper part, and that is meant."""
    box = placed.box
    if box is None or placed.subject.kind != "found" or not placed.subject.at_foot:
        return placed.whole
    below = max(box[3] - placed.height, 0.0) / (box[3] - box[1])
    return placed.whole * (1 - below)


def hidden(ink: Ink, mask: Image.Image) -> tuple[float, float]:
    """The share of a text's ink that lies under a mask of the whole picture, and that of the letter that loses most."""
    box = (*ink.at, ink.at[0] + ink.plain.width, ink.at[1] + ink.plain.height)
    under = ImageChops.multiply(ink.whole, mask.crop(box))
    letters = [tuple(side - ink.at[n % 2] for n, side in enumerate(letter)) for letter in ink.glyphs]
    most = max((_ratio(under.crop(x), ink.whole.crop(x)) for x in letters), default=0.0)  # type: ignore[arg-type]
    return _ratio(under, ink.whole), most


def behind(found: Subject, reach: float) -> Image.Image | None:
    """The subject with its outline, `reach` pixels wide, as a mask of the whole picture; None where its shape is not
    known."""
    if not (found.exact and found.placed):
        return None
    mask = found.placed.mask(*found.size)
    return masks.grown(mask, reach) if reach else mask


def _core(box: Box, face: Box | None, size: tuple[int, int]) -> Image.Image:
    quarter_size = (size[0] // _QUARTER, size[1] // _QUARTER)
    mask = Image.new("L", quarter_size)
    for part in (box, face):
        if part:
            x, y = (part[0] + part[2]) / 2, (part[1] + part[3]) / 2
            wide, high = _CORE * (part[2] - part[0]) / 2, _CORE * (part[3] - part[1]) / 2
            corners = [side / _QUARTER for side in (x - wide, y - high, x + wide, y + high)]
            ImageDraw.Draw(mask).ellipse(corners, fill=255)
    return mask.filter(ImageFilter.GaussianBlur(_FADES * (box[2] - box[0]) / _QUARTER / 3))


def _share(mask: Image.Image, ink: Image.Image) -> float:
    return _ratio(ImageChops.multiply(mask, ink), mask)


def _ratio(part: Image.Image, whole: Image.Image) -> float:
    total = _weight(whole)
    return _weight(part) / total if total else 0.0


def _weight(mask: Image.Image) -> float:
    """Pixels, clear ones in part."""
    return sum(level * count for level, count in enumerate(mask.histogram())) / 255


def _face_share(face: Box, ink: Image.Image) -> float:
    left, top, right, bottom = (round(side / _QUARTER) for side in face)
    inside = (max(left, 0), max(top, 0), min(right, ink.width), min(bottom, ink.height))
    if inside[0] >= inside[2] or inside[1] >= inside[3]:
        return 0.0
    area = (inside[2] - inside[0]) * (inside[3] - inside[1])
    return _weight(ink.crop(inside)) / area


def _outside(box: Box, size: tuple[int, int]) -> float:
    """The share of a box that lies beyond the picture."""
    whole = max((box[2] - box[0]) * (box[3] - box[1]), 1.0)
    wide = max(min(box[2], size[0]) - max(box[0], 0.0), 0.0)
    high = max(min(box[3], size[1]) - max(box[1], 0.0), 0.0)
    return 1 - wide * high / whole
