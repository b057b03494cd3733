"""How well letters stand out from the ground around them, and the soft scrim that makes them.

Measured on a copy at 1/8 size: an outline vanishes when a thumbnail is shown small, so the ground itself must be dark
(or light) enough. Luminance is WCAG's; the 95th (or 5th) percentile counts, a mean would hide a bright patch.
"""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image, ImageFilter

from thumbforge.imaging import colour

ENOUGH = 4.5
BARELY = 3.0
_AIM = 4.65
"""Above 4.5: rounding to 8 bits gave 4.48 when 4.5 was aimed at."""
_SHRINK = 8
_PERCENTILE = 0.05
_STRONGEST = 0.95
_REACH = 1.5
"""Em around the letters after which the scrim has faded out."""
_OUT_OF_REACH = 2.0
_LINEAR = [round(255 * colour.to_linear(byte)) for byte in range(256)] * 3
_WEIGHTS = (0.2126, 0.7152, 0.0722, 0.0)


@dataclass(frozen=True, slots=True)
class Ground:
    """What letters stand on after the scrim: contrast (1 to 21) with the text, and the scrim's opacity (0: none)."""

    contrast: float
    scrim: float


def calm(picture: Image.Image, letters: Image.Image, at: tuple[int, int], colours: list[colour.Rgb], em: int) -> Ground:
    """Lay a scrim into `picture` under `letters` (mask, placed at `at`) where the contrast with any of `colours` is
    too small, and say what was reached. Changes `picture` in place. `em` is the text's size in pixels."""
    box = _grown((*at, at[0] + letters.width, at[1] + letters.height), round(em * _REACH), picture.size)
    small = _small_mask(letters, at, box)
    ring = _grow(small, 0.14 * em / _SHRINK)
    tones = sorted(colour.luminance(rgb) for rgb in colours)
    ground = picture.crop(box)
    dark, light = _spread(ground, ring)
    darken = _darkening(light, tones[0])
    lighten = _lightening(dark, tones[-1])
    toward, alpha = ((0, 0, 0), darken) if darken <= lighten else ((255, 255, 255), lighten)
    if alpha <= 0:
        return Ground(_reached(dark, light, tones, darken <= lighten), 0.0)
    cloud = _cloud(small, em).resize(ground.size, Image.Resampling.BICUBIC)
    for _ in range(4):
        alpha = min(alpha, _STRONGEST)
        shaded = ground.copy()
        shaded.paste(toward, (0, 0), cloud.point([round(value * alpha) for value in range(256)]))
        contrast = _reached(*_spread(shaded, ring), tones, toward == (0, 0, 0))
        if contrast >= ENOUGH or alpha >= _STRONGEST:
            break
        alpha += 0.06
    picture.paste(shaded, box[:2])
    return Ground(contrast, alpha)


def _grown(box: tuple[int, int, int, int], by: int, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Grown on all sides and to whole steps of the small copy, inside the picture."""
    left, top = max(box[0] - by, 0) // _SHRINK * _SHRINK, max(box[1] - by, 0) // _SHRINK * _SHRINK
    return left, top, min(box[2] + by, size[0]), min(box[3] + by, size[1])


def _small_mask(letters: Image.Image, at: tuple[int, int], box: tuple[int, int, int, int]) -> Image.Image:
    whole = Image.new("L", (box[2] - box[0], box[3] - box[1]))
    whole.paste(letters, (at[0] - box[0], at[1] - box[1]))
    return whole.reduce(_SHRINK).point([0 if value < 24 else 255 for value in range(256)])


def _grow(mask: Image.Image, radius: float) -> Image.Image:
    """Grown by whole pixels, at least one. In small steps: the filter's cost is the square of its size."""
    left = max(1, round(radius))
    while left > 0:
        step = min(left, 4)
        mask = mask.filter(ImageFilter.MaxFilter(2 * step + 1))
        left -= step
    return mask


def _cloud(small: Image.Image, em: int) -> Image.Image:
    """Full strength under the letters and their surroundings, then so soft that no edge follows the letters."""
    reach = em / _SHRINK
    return _grow(small, 0.62 * reach).filter(ImageFilter.GaussianBlur(0.34 * reach))


def _spread(ground: Image.Image, ring: Image.Image) -> tuple[float, float]:
    """The 5th and the 95th percentile of the ground's luminance under the ring."""
    linear = ground.reduce(_SHRINK).point(_LINEAR).convert("L", _WEIGHTS)
    counts = linear.histogram(ring)
    total = sum(counts)
    if not total:
        return 0.0, 0.0
    return _percentile(counts, total * _PERCENTILE), _percentile(counts, total * (1 - _PERCENTILE))


def _percentile(counts: list[int], wanted: float) -> float:
    seen = 0
    for value, count in enumerate(counts):
        seen += count
        if seen >= wanted:
            return value / 255
    return 1.0


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


def _reached(dark: float, light: float, tones: list[float], text_is_light: bool) -> float:
    return colour.ratio(tones[0], light) if text_is_light else colour.ratio(tones[-1], dark)


def shade(picture: Image.Image, side: str, reach: float, opacity: float, rgb: colour.Rgb) -> None:
    """A soft shade from one side (or `all`) over `reach` of the picture. Changes `picture` in place."""
    if opacity <= 0:
        return
    picture.paste(rgb, (0, 0), _ramp(side, reach, opacity).resize(picture.size, Image.Resampling.BICUBIC))


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
