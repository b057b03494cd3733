"""How well letters stand out from the ground around them, and what makes them: a soft scrim, or a solid plate.

The worst place counts, a mean would hide a bright patch: the ground around the letters is looked at in patches of 1/240
of the picture's width (0.7 pixels of a thumbnail shown 168 wide), beyond outline and letters, because an outline
vanishes when a thumbnail is shown small. Luminance is WCAG's. A scrim is as strong at each place as that place needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil, floor

from PIL import Image, ImageChops, ImageFilter

from thumbforge.pixels import colour

ENOUGH = 4.5
SMALL_ENOUGH = 3.0
"""At 168x94 the edges of letters mix with the ground; what is left of 4.5 there."""
_AIM = 4.65
"""Above 4.5: rounding to 8 bits gave 4.48 when 4.5 was aimed at."""
_PATCHES = 240
_PLATE_FROM = 0.65
"""Opacity from which a scrim is a dirty cloud and a plate looks better. White letters on white need 0.54."""
_RING = 0.3
"""Em around the letters that are their ground."""
_SOFT = 2.0
"""Em around the letters after which the scrim has faded out."""
_SURELY = ENOUGH + 0.05
_BOOSTS = (1.0, 1.1, 1.22, 1.35)
"""Softening takes strength from the scrim's edges; these give it back."""
_OUT_OF_REACH = 2.0
_BICUBIC = 3
"""Patches around a veil into which its enlargement reaches."""
_LINEAR = [round(255 * colour.to_linear(byte)) for byte in range(256)] * 3
_WEIGHTS = (0.2126, 0.7152, 0.0722, 0.0)
_ANY = [0] + [255] * 255
TINY = (168, 94)
"""The size at which most people see a thumbnail, in the column beside a video."""

Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Letters:
    """A block of text: its mask, where the mask's corner lies, pixels an em, outline in em, and its colours. `apart`
    are boxes of other things, which are no ground of this text; `within` is the plate or panel that it stands on."""

    mask: Image.Image
    at: tuple[int, int]
    em: int
    outline: float
    colours: tuple[colour.Rgb, ...]
    apart: tuple[Box, ...] = field(default=())
    within: Box | None = None

    @property
    def tones(self) -> list[float]:
        return sorted(colour.luminance(rgb) for rgb in self.colours)


@dataclass(frozen=True, slots=True)
class Help:
    """What letters need: a scrim's opacity at its strongest (0: none), black or white, or a plate instead."""

    scrim: float
    dark: bool
    plate: bool


def _on_own_ground(ring: Image.Image, text: Letters, box: Box, step: int) -> None:
    """Take out of `ring` (patches of `box`) what is no ground of this text."""

    def patches(area: Box, inwards: int) -> Box:
        left, top, right, bottom = ((side - box[i % 2]) / step for i, side in enumerate(area))
        if inwards:
            return max(ceil(left), 0), max(ceil(top), 0), floor(right), floor(bottom)
        return max(floor(left), 0), max(floor(top), 0), ceil(right), ceil(bottom)

    for other in text.apart:
        ring.paste(0, patches(other, 0))
    if text.within:
        inside = Image.new("L", ring.size)
        inside.paste(255, patches(text.within, 1))
        ring.paste(ImageChops.multiply(ring, inside), (0, 0))


def calm(picture: Image.Image, text: Letters) -> Help:
    """Lay a scrim into `picture` under `text` where the contrast with any of its colours is too small. Where a scrim
    would have to be too strong nothing is laid, and the answer asks for a plate. Changes `picture` in place."""
    step = _step(picture)
    box = _around(text, picture.size, step)
    ring = _grow(_grow(_small_mask(text, box, step), text.outline * text.em / step), _RING * text.em / step + 1)
    _on_own_ground(ring, text, box, step)
    patches = picture.reduce(step, box)
    tone, tones = _tone(patches), text.tones
    darken = _needed(tone, ring, _opacities(_darkening, tones[0]))
    lighten = _needed(tone, ring, _opacities(_lightening, tones[-1]))
    dark = darken.worst <= lighten.worst
    need = darken if dark else lighten
    if need.worst <= 0:
        return Help(0.0, dark, plate=False)
    if need.worst > _PLATE_FROM:
        return Help(0.0, colour.ratio(tones[0], 0.005) >= colour.ratio(tones[-1], 1.0), plate=True)
    cloud = _cloud(need.map, text.em / step)
    if text.within:
        _on_own_ground(cloud, replace(text, apart=()), box, step)
    shade = (0, 0, 0) if dark else (255, 255, 255)
    for boost in _BOOSTS:
        veil = cloud.point([min(round(value * boost), 255) for value in range(256)])
        shaded = patches.copy()
        shaded.paste(shade, (0, 0), veil)
        if _worst(_tone(shaded), ring, tones) >= _SURELY:
            break
    _lay(picture, shade, veil, box, step)
    return Help(veil.getextrema()[1] / 255, dark, plate=False)  # type: ignore[operator]


def measured(picture: Image.Image, text: Letters) -> float:
    """The contrast (1 to 21) of drawn letters with the finished ground around them, at its worst place."""
    step = _step(picture)
    box = _around(text, picture.size, step)
    drawn = _grow(_small_mask(text, box, step), text.outline * text.em / step)
    ring = ImageChops.subtract(_grow(drawn, _RING * text.em / step), drawn)
    _on_own_ground(ring, text, box, step)
    return _worst(_tone(picture.reduce(step, box)), ring, text.tones)


def seen_small(tiny: Image.Image, text: Letters, size: tuple[int, int]) -> float:
    """The contrast of letters in `tiny`, the finished picture at 168x94: the middle of their own pixels against the
    ground beside them. `size` is that of the finished picture."""
    small, box = _tiny_mask(text, size)
    strongest = small.getextrema()[1]
    core = small.point([255 if value >= min(128, 0.75 * strongest) else 0 for value in range(256)])  # type: ignore[operator]
    near = small.point([255 if value > 12 else 0 for value in range(256)])
    ring = ImageChops.subtract(_grow(near, 2), near)
    if text.within:
        x, y = size[0] / TINY[0], size[1] / TINY[1]
        left, top, right, bottom = text.within
        inside = Image.new("L", ring.size)
        corners = (
            ceil(left / x) - box[0],
            ceil(top / y) - box[1],
            floor(right / x) - box[0],
            floor(bottom / y) - box[1],
        )
        inside.paste(255, corners)
        ring = ImageChops.multiply(ring, inside)
    tone = _tone(tiny.crop(box))
    letters = _percentile(tone.histogram(core), 0.5)
    ground = tone.histogram(ring)
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


def _step(picture: Image.Image) -> int:
    return max(1, round(picture.width / _PATCHES))


def _around(text: Letters, size: tuple[int, int], step: int) -> Box:
    """The text and what its scrim may change: grown on all sides and to whole patches, inside the picture."""
    by = round(text.em * _SOFT)
    left, top = max(text.at[0] - by, 0) // step * step, max(text.at[1] - by, 0) // step * step
    right, bottom = text.at[0] + text.mask.width + by, text.at[1] + text.mask.height + by
    return left, top, min(right, size[0]), min(bottom, size[1])


def _small_mask(text: Letters, box: Box, step: int) -> Image.Image:
    """The patches of `box` that a letter touches. Only the mask's own part of the box is looked at."""
    x, y = text.at[0] - box[0], text.at[1] - box[1]
    left, top = x // step, y // step
    right, bottom = ceil((x + text.mask.width) / step), ceil((y + text.mask.height) / step)
    own = Image.new("L", ((right - left) * step, (bottom - top) * step))
    own.paste(text.mask, (x - left * step, y - top * step))
    small = Image.new("L", (ceil((box[2] - box[0]) / step), ceil((box[3] - box[1]) / step)))
    small.paste(own.reduce(step).point(_ANY), (left, top))
    return small


def _grow(mask: Image.Image, radius: float) -> Image.Image:
    """Grown by whole pixels, at least one, to a square. Each shift triples what is covered: Pillow's own filter looks
    at every pixel of the square."""
    left, covered = max(1, round(radius)), 0
    while left > 0:
        step = min(left, 2 * covered + 1)
        for x, y in ((step, 0), (0, step)):
            one = mask.crop((x, y, mask.width + x, mask.height + y))
            other = mask.crop((-x, -y, mask.width - x, mask.height - y))
            mask = ImageChops.lighter(mask, ImageChops.lighter(one, other))
        left, covered = left - step, covered + step
    return mask


def _lay(picture: Image.Image, rgb: colour.Rgb, veil: Image.Image, box: Box, step: int) -> None:
    """Paste `rgb` through a veil of patches that begins at the corner of `box`, where the veil is not clear. The last
    patches of a row may be cut."""
    left, top, right, bottom = veil.getbbox() or (0, 0, 0, 0)
    left, top = max(left - _BICUBIC, 0), max(top - _BICUBIC, 0)
    seen = veil.crop((left, top, min(right + _BICUBIC, veil.width), min(bottom + _BICUBIC, veil.height)))
    large = seen.resize((seen.width * step, seen.height * step), Image.Resampling.BICUBIC)
    left, top = box[0] + left * step, box[1] + top * step
    large = large.crop((0, 0, min(large.width, box[2] - left), min(large.height, box[3] - top)))
    picture.paste(rgb, (left, top), large)


@dataclass(frozen=True, slots=True, eq=False)
class _Need:
    """The opacity that each patch under the letters needs, and the largest of them (above 1: out of reach)."""

    map: Image.Image
    worst: float


@lru_cache(maxsize=64)
def _opacities(needed: Callable[[float, float], float], text: float) -> tuple[float, ...]:
    """What each of the 256 luminances needs beside a text."""
    return tuple(needed(value / 255, text) for value in range(256))


def _needed(tone: Image.Image, ring: Image.Image, alphas: tuple[float, ...]) -> _Need:
    present = [value for value, count in enumerate(tone.histogram(ring)) if count]
    table = [round(255 * min(max(alpha, 0.0), 1.0)) for alpha in alphas]
    worst = max((alphas[value] for value in present), default=0.0)
    return _Need(ImageChops.multiply(tone.point(table), ring), worst)


def _cloud(need: Image.Image, reach: float) -> Image.Image:
    """Full strength at the places and their surroundings, then so soft that no edge follows the letters."""
    return _grow(need, 0.85 * reach).filter(ImageFilter.GaussianBlur(0.42 * reach))


def _tone(patches: Image.Image) -> Image.Image:
    """WCAG luminance, 0 to 255."""
    return patches.point(_LINEAR).convert("L", _WEIGHTS)


def _worst(tone: Image.Image, ring: Image.Image, tones: list[float]) -> float:
    present = [value / 255 for value, count in enumerate(tone.histogram(ring)) if count]
    return min((colour.ratio(text, ground) for ground in present for text in tones), default=21.0)


def _percentile(counts: list[int], share: float) -> float:
    wanted, seen = sum(counts) * share, 0
    for value, count in enumerate(counts):
        seen += count
        if count and seen >= wanted:
            return value / 255
    return 0.0


def _darkening(light: float, text: float) -> float:
    """Opacity of black after which ground of luminance `light` has the contrast aimed at with `text`."""
    target = (text + 0.05) / _AIM - 0.05
    if light <= target:
        return 0.0
    if target < 0:
        return _OUT_OF_REACH
    return 1 - colour.to_byte(target) / colour.to_byte(light)


def _lightening(dark: float, text: float) -> float:
    target = _AIM * (text + 0.05) - 0.05
    if dark >= target:
        return 0.0
    if target >= 1:
        return _OUT_OF_REACH
    start = colour.to_byte(dark)
    return (colour.to_byte(target) - start) / (255 - start)


def shade(picture: Image.Image, side: str, reach: float, opacity: float, rgb: colour.Rgb) -> None:
    """A soft shade from one side (or `all`) over `reach` of the picture. Changes `picture` in place."""
    if opacity <= 0:
        return
    line = _ramp(side, reach, opacity)
    wide, high = picture.size
    line = line.resize((wide if line.width > 1 else 1, high if line.height > 1 else 1), Image.Resampling.BICUBIC)
    left, top, right, bottom = line.getbbox() or (0, 0, 0, 0)
    box = (left, top, right if line.width > 1 else wide, bottom if line.height > 1 else high)
    veil = line.crop((left, top, right, bottom)).resize((box[2] - left, box[3] - top), Image.Resampling.NEAREST)
    picture.paste(rgb, box[:2], veil)


def _ramp(side: str, reach: float, opacity: float) -> Image.Image:
    if side == "all":
        return Image.new("L", (1, 1), round(255 * opacity))
    steps = 256
    values = [_falloff(step / (steps - 1) / reach) * opacity * 255 for step in range(steps)]
    if side in ("right", "bottom"):
        values.reverse()
    line = Image.frombytes("L", (steps, 1), bytes(round(value) for value in values))
    return line if side in ("left", "right") else line.transpose(Image.Transpose.ROTATE_270)


def _falloff(share: float) -> float:
    """1 at the side, 0 at the end of the reach, without an edge that the eye could find."""
    left = max(0.0, 1 - share)
    return left * left * (3 - 2 * left)
