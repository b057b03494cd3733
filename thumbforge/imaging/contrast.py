"""How well letters stand out from the ground around them.

The worst place counts, a mean would hide a bright patch: the ground around the letters is looked at in patches of 1/240
of the picture's width, beyond outline and letters. Each text is judged on its own ground: what it stands on, without
other texts and their plates. Luminance is WCAG's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from PIL import Image, ImageChops

from thumbforge.imaging import patches
from thumbforge.imaging.patches import Box
from thumbforge.pixels import colour

ENOUGH = 4.5
BEYOND_OUTLINE = 2 / 3
"""Share of the contrast asked for that is enough beyond an outline which itself has all of it."""
RING = 0.14
"""Em around the letters that are their ground."""
_OUTLINE = 0.04
"""Em from which an outline is seen at all when a thumbnail is shown small."""
_CORNER = 0.035
"""Em that the round corners of a plate take from it."""
_SOLID = 96
_LINEAR = [round(255 * colour.to_linear(byte)) for byte in range(256)] * 3
_WEIGHTS = (0.2126, 0.7152, 0.0722, 0.0)
TINY = (168, 94)
"""The size at which most people see a thumbnail, in the column beside a video."""


@dataclass(frozen=True, slots=True)
class Word:
    """The ink of a word and the colours of its letters."""

    box: Box
    colours: tuple[colour.Rgb, ...]

    @property
    def tones(self) -> list[float]:
        return sorted(colour.luminance(rgb) for rgb in self.colours)


@dataclass(frozen=True, slots=True, eq=False)
class Letters:
    """A block of text: its mask, where the mask's corner lies, pixels an em, outline in em and its colour, its words.
    `wanted` is the contrast asked for."""

    mask: Image.Image
    at: tuple[int, int]
    em: int
    outline: float
    outline_colour: colour.Rgb
    words: tuple[Word, ...]
    wanted: float = ENOUGH

    @property
    def enough(self) -> float:
        """The contrast that the ground beyond letters and outline must have."""
        edge = colour.luminance(self.outline_colour)
        tones = [tone for word in self.words for tone in word.tones]
        if self.outline < _OUTLINE or not tones or min(colour.ratio(edge, tone) for tone in tones) < self.wanted:
            return self.wanted
        return max(self.wanted * BEYOND_OUTLINE, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Stand:
    """Letters on a picture, in patches: `body` is what letters and outline touch, `own` all that may be their ground,
    `near` what is near them on the same surface, the patches under them included."""

    letters: Letters
    body: Image.Image
    own: Image.Image
    near: Image.Image
    picture: tuple[int, int]

    @property
    def ground(self) -> Image.Image:
        return ImageChops.multiply(self.near, self.own)

    def of(self, word: Word) -> Box:
        """The patches that are a word's surroundings."""
        return patches.around(word.box, (RING + self.letters.outline) * self.letters.em, self.picture)


def body(letters: Letters, picture: tuple[int, int]) -> Image.Image:
    """The patches that letters and their outline touch."""
    touched = patches.touched(patches.covered(letters.mask, letters.at, picture))
    reach = letters.outline * letters.em / patches.step(picture[0])
    return patches.grown(touched, reach) if reach >= 0.5 else touched


def stand(
    letters: Letters,
    picture: tuple[int, int],
    own: Image.Image,
    others: Image.Image | None,
    inner: Image.Image | None = None,
) -> Stand:
    """`own` are the patches of what the letters stand on, `others` those of other texts and plates; `inner` is their
    `body`, where it is known."""
    inner = inner or body(letters, picture)
    ring = patches.grown(inner, RING * letters.em / patches.step(picture[0]))
    free = ImageChops.subtract(own, others) if others else own
    return Stand(letters, inner, free, ImageChops.multiply(ring, own), picture)


def measured(tone: Image.Image, text: Stand, plates: Mapping[Word, Box] = MappingProxyType({})) -> float:
    """The contrast (1 to 21) of drawn letters with the finished ground around them, at its worst place; `tone` is the
    luminance of the finished picture's patches. The ground of a word that has a plate is the plate."""
    ring = ImageChops.subtract(text.ground, text.body)
    return min((_of_word(tone, ring, text, word, plates.get(word)) for word in text.letters.words), default=21.0)


def _of_word(tone: Image.Image, ring: Image.Image, text: Stand, word: Word, plate: Box | None) -> float:
    if plate:
        inset = round(_CORNER * text.letters.em)
        left, top, right, bottom = plate
        inner = (left + inset, top + inset, right - inset, bottom - inset)
        ring = ImageChops.multiply(ring, patches.inside(inner, text.picture))
    return worst(tone, ring, text.of(word), word.tones)


def meet(body: Image.Image, mask: Image.Image) -> bool:
    """Whether letters lie on what a mask of patches covers."""
    return ImageChops.multiply(body, mask).histogram()[_SOLID:].count(0) < 256 - _SOLID


def on_plain(text: Letters, rgb: colour.Rgb) -> float:
    """The contrast of letters with a plate of one colour."""
    ground = colour.luminance(rgb)
    return min((colour.ratio(tone, ground) for word in text.words for tone in word.tones), default=21.0)


def worst(tone: Image.Image, ring: Image.Image, box: Box, letters: list[float]) -> float:
    """The least contrast of letters of some luminances with the patches of `ring` inside `box`."""
    present = [value / 255 for value, count in enumerate(tone.crop(box).histogram(ring.crop(box))) if count]
    return min((colour.ratio(letter, ground) for ground in present for letter in letters), default=21.0)


def middle(tone: Image.Image, ground: Image.Image) -> float:
    """The median luminance of a ground."""
    return _percentile(tone.histogram(ground), 0.5)


def in_patches(picture: Image.Image) -> Image.Image:
    return picture.reduce(patches.step(picture.width))


def tones(picture: Image.Image) -> Image.Image:
    """WCAG luminance, 0 to 255."""
    return picture.point(_LINEAR).convert("L", _WEIGHTS)


def seen_small(tiny: Image.Image, text: Stand) -> float:
    """The contrast of letters in `tiny`, the finished picture at 168x94: the middle of their own pixels against the
    ground beside them."""
    small, box = _tiny_mask(text.letters, text.picture)
    strongest = small.getextrema()[1]
    core = small.point([255 if value >= min(128, 0.75 * strongest) else 0 for value in range(256)])  # type: ignore[operator]
    near = small.point([255 if value > 12 else 0 for value in range(256)])
    ring = ImageChops.subtract(patches.grown(near, 2), near)
    own = patches.filled(text.own.resize(TINY, Image.Resampling.BOX)).crop(box)
    inside = ImageChops.multiply(ring, own)
    tone = tones(tiny.crop(box))
    letters = _percentile(tone.histogram(core), 0.5)
    ground = tone.histogram(inside if inside.getbbox() else ring)
    return min(colour.ratio(letters, _percentile(ground, share)) for share in (0.2, 0.5, 0.8))


def _tiny_mask(text: Letters, size: tuple[int, int]) -> tuple[Image.Image, Box]:
    """The letters at 168x94 with a little room around them, and which part of the small picture that is."""
    x, y = size[0] / TINY[0], size[1] / TINY[1]
    left, top = max(int(text.at[0] / x) - 2, 0), max(int(text.at[1] / y) - 2, 0)
    right = min(int((text.at[0] + text.mask.width) / x) + 3, TINY[0])
    bottom = min(int((text.at[1] + text.mask.height) / y) + 3, TINY[1])
    whole = Image.new("L", (round((right - left) * x), round((bottom - top) * y)))
    whole.paste(text.mask, (text.at[0] - round(left * x), text.at[1] - round(top * y)))
    small = whole.resize((right - left, bottom - top), Image.Resampling.BOX, reducing_gap=2.0)
    return small, (left, top, right, bottom)


def _percentile(counts: list[int], share: float) -> float:
    wanted, seen = sum(counts) * share, 0
    for value, count in enumerate(counts):
        seen += count
        if count and seen >= wanted:
            return value / 255
    return 0.0
