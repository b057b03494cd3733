"""What is laid under letters that do not stand out: a short soft shade in the deep hue of the ground, or a plate under
the words that no shade can help.

Help stays on the surface on which its text stands, keeps off what it is told to, and is as strong at each place as that
place needs. It is planned on the picture before any help, so no text's help counts as the ground of another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from PIL import Image, ImageChops, ImageFilter, ImageStat

from thumbforge.imaging import contrast, patches, slots, tones
from thumbforge.imaging.contrast import Letters, Stand, Word
from thumbforge.imaging.surfaces import Surfaces
from thumbforge.pixels import colour
from thumbforge.pixels.colour import Rgb

How = Literal["none", "shade", "plate"]

_AIM = 1.05
"""Of the contrast wanted: rounding to 8 bits gave 4.48 when 4.5 was aimed at."""
_SURELY = 1.03
"""Of the contrast wanted, that a planned shade must give on patches."""
_PLATE_FROM = 0.68
"""Opacity from which a shade is a dirty cloud and a plate looks better. White letters on white need 0.6."""
_OUT_OF_REACH = 2.0
_FULL, _SOFT = 0.05, 0.055
"""Em by which the shade's full strength goes beyond the ground that needs it, and over which it fades: with outline and
ring it ends 0.4 em from the letters."""
_DARKEST = 200
"""The strongest that a boost may make it, of 255."""
_EVEN = 0.2
"""Em over which a place's need is shared: a shade that follows every grain of its ground is a stain."""
_BOOSTS = (1.0, 1.2, 1.5, 2.0, 3.0, 4.5)
"""Softening takes strength from the shade's edges; these give it back."""
_PAD, _RADIUS = 0.16, 0.12
"""Of a plate beyond its word's ink, in em."""
_PLATE, _PLAIN_PLATE = 0.88, 1.5
"""Opacity of a plate, and how much more contrast than wanted its colour must have for letting the ground through."""
_BICUBIC = 3
"""Patches around a veil into which its enlargement reaches."""


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What a text gets: a `veil` (patches) of `shade`, `plates` (boxes) of `fill`. `dark` says that the letters are the
    lighter ones; `plain` that their accent colour cannot be read and is not used. `on` are the surfaces it stays on."""

    on: tuple[int, ...]
    dark: bool = True
    veil: Image.Image | None = None
    shade: Rgb = (0, 0, 0)
    plates: Mapping[Word, patches.Box] = field(default_factory=dict)
    fill: Rgb = (0, 0, 0)
    solid: bool = False
    plain: bool = False
    words: int = 0
    em: int = 0

    def __str__(self) -> str:
        opacity = self.veil.getextrema()[1] / 255 if self.veil else 0.0  # type: ignore[operator]
        if not self.plates:
            return f"shade {opacity:.2f}"
        under = (
            "on a plate" if len(self.plates) == self.words else f"plate under {len(self.plates)} of {self.words} words"
        )
        return f"{under}, shade {opacity:.2f}" if opacity else under


def plan(
    text: Stand, picture: Image.Image, on: tuple[int, ...], how: How, plain: Rgb, keep_off: Image.Image | None = None
) -> Ground:
    """What `text` needs on `picture` (RGB, in patches). `plain` is the colour that its accent gives way to; no shade is
    laid into a panel of the layout, nor into `keep_off` (patches)."""
    letters = text.letters
    hue = tones.hue_of(_mean(picture, text.ground))
    tone, ground = contrast.tones(picture), text.ground
    dark = _Need(text, tone, ground, colour.luminance(tones.shade(hue)), dark=True)
    need = dark
    if any(worst > 0 for worst in dark.worst.values()):
        light = _Need(text, tone, ground, colour.luminance(tones.glow(hue)), dark=False)
        need = min(dark, light, key=lambda found: found.cost)
    found = Ground(on, dark=need.dark, words=len(letters.words), em=letters.em)
    failing = [word for word in letters.words if need.worst[word] > 0]
    if not failing or how == "none":
        return found
    shaded = [word for word in failing if need.worst[word] <= _PLATE_FROM]
    if how == "shade" and not Surfaces.on_panel(on) and shaded:
        rgb = tones.shade(hue) if need.dark else tones.glow(hue)
        veil, still = _veil(text, picture, need.of(shaded), rgb, keep_off)
        found = replace(found, veil=veil, shade=rgb)
        failing = [word for word in failing if word in still or word not in shaded]
    return _plated(found, letters, failing, hue, plain, text.picture) if failing else found


def lay(picture: Image.Image, found: Ground, surfaces: Surfaces) -> None:
    """Lay what a text gets into `picture`, in place."""
    if found.veil:
        _lay_veil(picture, found, surfaces)
    if found.plates:
        _lay_plates(picture, found, surfaces)


def shade_of(text: Stand, picture: Image.Image) -> Rgb:
    """The deep hue of a text's ground; `picture` in patches."""
    return tones.shade(tones.hue_of(_mean(picture, text.ground)))


class _Need:
    """The opacity of a shade of some luminance that each place under each word needs (0 to 255), and the largest of a
    word (above 1: out of reach)."""

    def __init__(self, text: Stand, tone: Image.Image, ground: Image.Image, shade: float, *, dark: bool) -> None:
        self.dark = dark
        self.worst: dict[Word, float] = {}
        self._maps: dict[Word, tuple[Image.Image, patches.Box]] = {}
        self._size = text.near.size
        letters = text.letters
        for word in letters.words:
            box = text.of(word)
            ring, own = ground.crop(box), tone.crop(box)
            table = _opacities(word.tones[0 if dark else -1], letters.enough, letters.enough * _AIM, shade, dark)
            present = [value for value, count in enumerate(own.histogram(ring)) if count]
            self.worst[word] = max((table[value] for value in present), default=0.0)
            bytes_ = [round(255 * min(alpha, 1.0)) for alpha in table]
            self._maps[word] = ImageChops.multiply(own.point(bytes_), text.near.crop(box)), box

    @property
    def cost(self) -> tuple[int, float]:
        beyond = [worst for worst in self.worst.values() if worst > _PLATE_FROM]
        return len(beyond), sum(min(worst, 1.0) for worst in self.worst.values())

    def of(self, words: list[Word]) -> Image.Image:
        need = Image.new("L", self._size)
        for word in words:
            own, box = self._maps[word]
            need.paste(ImageChops.lighter(need.crop(box), own), box[:2])
        return need


@lru_cache(maxsize=128)
def _opacities(letter: float, enough: float, aim: float, shade: float, dark: bool) -> tuple[float, ...]:
    """The opacity of a shade that each of the 256 luminances needs beside a letter."""
    return tuple(_opacity(value / 255, letter, enough, aim, shade, dark) for value in range(256))


def _opacity(ground: float, letter: float, enough: float, aim: float, shade: float, dark: bool) -> float:
    if dark:
        kept, target = (letter + 0.05) / enough - 0.05, (letter + 0.05) / aim - 0.05
        fine, beyond = ground <= kept, target <= shade
    else:
        kept, target = enough * (letter + 0.05) - 0.05, aim * (letter + 0.05) - 0.05
        fine, beyond = ground >= kept, target >= shade
    if fine:
        return 0.0
    if beyond:
        return _OUT_OF_REACH
    start = colour.to_byte(ground)
    return max((start - colour.to_byte(target)) / (start - colour.to_byte(shade)), 0.0)


def _veil(
    text: Stand, picture: Image.Image, need: Image.Image, rgb: Rgb, keep_off: Image.Image | None
) -> tuple[Image.Image, list[Word]]:
    """The shade, and the words that are not helped enough by it."""
    letters, ground = text.letters, text.ground
    em = letters.em / patches.step(text.picture[0])
    reach = patches.grown(text.near, _FULL * em)
    cloud = ImageChops.multiply(patches.grown(need, _EVEN * em), reach)
    cloud = cloud.filter(ImageFilter.GaussianBlur(max(_SOFT * em, 0.8)))
    if keep_off:
        cloud = ImageChops.subtract(cloud, keep_off)
    veil, still = cloud, list(letters.words)
    for boost in _BOOSTS:
        veil = cloud.point([min(round(value * boost), _DARKEST) for value in range(256)])
        shaded = picture.copy()
        shaded.paste(rgb, (0, 0), veil)
        tone = contrast.tones(shaded)
        reached = {w: contrast.worst(tone, ground, text.of(w), w.tones) for w in letters.words}
        still = [word for word, ratio in reached.items() if ratio < letters.enough]
        if all(ratio >= letters.enough * _SURELY for ratio in reached.values()):
            break
    return veil, still


def _plated(
    ground: Ground, letters: Letters, words: list[Word], hue: float | None, plain: Rgb, picture: tuple[int, int]
) -> Ground:
    """Plates under some words. Where neither a dark nor a light one serves all their colours, the accent goes."""
    fills = (tones.shade(hue), tones.glow(hue), tones.WHITE)
    colours = {rgb for word in words for rgb in word.colours}
    fill = next((rgb for rgb in fills if _least(colours, rgb) >= letters.wanted), fills[0])
    reached, gives_way = _least(colours, fill), False
    if reached < letters.wanted:
        alone = max(fills, key=lambda rgb: _least({plain}, rgb))
        gives_way = _least({plain}, alone) >= letters.wanted
        fill, reached = (alone, _least({plain}, alone)) if gives_way else (fill, reached)
    pad = round(letters.em * (_PAD + letters.outline))
    plates = {
        word: (
            max(word.box[0] - pad, 0),
            max(word.box[1] - pad, 0),
            min(word.box[2] + pad, picture[0]),
            min(word.box[3] + pad, picture[1]),
        )
        for word in words
    }
    return replace(
        ground,
        dark=fill == fills[0],
        plates=plates,
        fill=fill,
        solid=reached < _PLAIN_PLATE * letters.wanted,
        plain=gives_way,
    )


def _least(colours: set[Rgb], fill: Rgb) -> float:
    ground = colour.luminance(fill)
    return min(colour.ratio(colour.luminance(rgb), ground) for rgb in colours)


def _mean(picture: Image.Image, ground: Image.Image) -> Rgb:
    if not ground.getbbox():
        return (0, 0, 0)
    red, green, blue = (round(value) for value in ImageStat.Stat(picture, ground).mean)
    return red, green, blue


def _lay_veil(picture: Image.Image, found: Ground, surfaces: Surfaces) -> None:
    """The veil enlarged, where it is not clear. The last patches of a row may be cut."""
    assert found.veil
    step = patches.step(picture.width)
    left, top, right, bottom = found.veil.getbbox() or (0, 0, 0, 0)
    left, top = max(left - _BICUBIC, 0), max(top - _BICUBIC, 0)
    right, bottom = min(right + _BICUBIC, found.veil.width), min(bottom + _BICUBIC, found.veil.height)
    seen = found.veil.crop((left, top, right, bottom))
    large = seen.resize((seen.width * step, seen.height * step), Image.Resampling.BICUBIC)
    box = (left * step, top * step, min(right * step, picture.width), min(bottom * step, picture.height))
    large = large.crop((0, 0, box[2] - box[0], box[3] - box[1]))
    clip = surfaces.clip(found.on, box)
    picture.paste(found.shade, box[:2], ImageChops.multiply(large, clip) if clip else large)


def _lay_plates(picture: Image.Image, found: Ground, surfaces: Surfaces) -> None:
    """Plates of neighbours are one shape."""
    lefts, tops, rights, bottoms = zip(*found.plates.values(), strict=True)
    box = (min(lefts), min(tops), max(rights), max(bottoms))
    shape = Image.new("L", (box[2] - box[0], box[3] - box[1]))
    for plate in found.plates.values():
        one = slots.rounded((plate[2] - plate[0], plate[3] - plate[1]), round(found.em * _RADIUS))
        at = (plate[0] - box[0], plate[1] - box[1])
        shape.paste(ImageChops.lighter(shape.crop((*at, at[0] + one.width, at[1] + one.height)), one), at)
    if not found.solid:
        shape = shape.point([round(value * _PLATE) for value in range(256)])
    clip = surfaces.clip(found.on, box)
    picture.paste(found.fill, box[:2], ImageChops.multiply(shape, clip) if clip else shape)
