"""The hero as the looks use it: decoded once, upright, sRGB, with an even grey copy and the place of its subject."""

from __future__ import annotations

import hashlib
import io
import math
import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from PIL import Image, ImageCms, ImageFilter, ImageOps

from thumbforge.errors import ProviderBadRequest
from thumbforge.pixels import bars
from thumbforge.pixels.limits import MAX_PIXELS
from thumbforge.providers.base import Reference
from thumbforge.providers.looks.layers import Size
from thumbforge.providers.looks.variation import Variation

"""Larger than any camera's picture; refused before it is decoded."""

MIDDLE = 0.44
"""Mean tone of every grey copy, so that a dark hero and a bright one give series of the same weight."""

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Hero:
    """`rgb` in colour, `tone` in grey with full range, `subject` the subject's place as shares of width and height."""

    rgb: Image.Image
    tone: Image.Image
    subject: tuple[float, float]

    @property
    def ratio(self) -> float:
        return self.rgb.width / self.rgb.height

    def crop(self, ratio: float, place: float, v: Variation) -> Box:
        """The part with this ratio that has the subject at `place` (a share of its width), zoomed and shifted a little.

        It is cut to what the hero has, so a subject at the very edge stays nearer to it.
        """
        width = min(self.rgb.width, self.rgb.height * ratio) / v.zoom
        height = width / ratio
        left = self.subject[0] * self.rgb.width - (place + 0.02 * v.shift_x) * width
        top = self.subject[1] * self.rgb.height - (0.5 + 0.04 * v.shift_y) * height
        left = min(max(left, 0.0), self.rgb.width - width)
        top = min(max(top, 0.0), self.rgb.height - height)
        return (left, top, min(left + width, self.rgb.width), min(top + height, self.rgb.height))


_decoding = threading.Lock()


def hero_of(reference: Reference, size: Size, side: str) -> Hero:
    """The decoded hero; many threads that ask at once decode it once. ProviderBadRequest where it is no picture."""
    with _decoding:
        return _hero(reference.sha256, reference.path, size, side)


@lru_cache(maxsize=4)
def _hero(sha256: str, path: Path, size: Size, side: str) -> Hero:
    return prepared(_decoded(sha256, path, size), side)


def prepared(rgb: Image.Image, side: str) -> Hero:
    tone = ImageOps.autocontrast(rgb.convert("L"), cutoff=(0.5, 0.5))
    return Hero(rgb, _evened(tone), _subject(tone, side))


def _decoded(sha256: str, path: Path, size: Size) -> Image.Image:
    hint = "pick the hero again, or put its file back"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ProviderBadRequest(f"hero {path.name} cannot be read: {error.strerror or error}", hint=hint) from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ProviderBadRequest(f"hero {path.name} has changed since it was recorded", hint=hint)
    try:
        with Image.open(io.BytesIO(data)) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                raise ProviderBadRequest(f"hero {path.name} has more than {MAX_PIXELS // 1_000_000} megapixels")
            picture.draft("RGB", (size[0] * 3 // 2, size[1] * 3 // 2))
            return _fitted(_without_bars(_srgb(ImageOps.exif_transpose(picture))), size)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError, ImageCms.PyCMSError) as error:
        raise ProviderBadRequest(f"hero {path.name} is no picture: {error}", hint=hint) from error


def _srgb(picture: Image.Image) -> Image.Image:
    """RGB in sRGB; what is transparent shows mid grey. Pillow would clip 16-bit grey to white, so that is scaled."""
    if picture.mode.startswith("I;16"):
        return picture.convert("I").point(lambda level: level / 257).convert("L").convert("RGB")
    profile = picture.info.get("icc_profile")
    if profile and picture.mode in ("RGB", "CMYK", "L"):
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        converted = ImageCms.profileToProfile(picture, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
        return converted or picture.convert("RGB")
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    clear = picture.convert("RGBA")
    ground = Image.new("RGBA", clear.size, "#808080")
    return Image.alpha_composite(ground, clear).convert("RGB")


def _without_bars(rgb: Image.Image) -> Image.Image:
    box = bars.content(rgb)
    return rgb if box == (0, 0, *rgb.size) else rgb.crop(box)


def _fitted(rgb: Image.Image, size: Size) -> Image.Image:
    """No larger than one and a half times the canvas: a crop of it is still sharp, and takes 14 MB at 1080p."""
    share = max(size[0] * 1.5 / rgb.width, size[1] * 1.5 / rgb.height)
    if share >= 1:
        return rgb
    return rgb.resize((max(round(rgb.width * share), 1), max(round(rgb.height * share), 1)), Image.Resampling.LANCZOS)


def _evened(tone: Image.Image) -> Image.Image:
    """Gamma that moves the mean to MIDDLE, within bounds that keep the picture's own character."""
    counts = tone.histogram()
    mean = sum(value * count for value, count in enumerate(counts)) / (255 * sum(counts))
    gamma = min(max(math.log(MIDDLE) / math.log(min(max(mean, 0.02), 0.98)), 0.65), 1.6)
    return tone.point([round(255 * (value / 255) ** gamma) for value in range(256)])


def _subject(tone: Image.Image, side: str) -> tuple[float, float]:
    """Centre of mass of the edges within the part of the picture where the subject is said to be."""
    low, high = {"right": (0.45, 1.0), "left": (0.0, 0.55), "center": (0.2, 0.8)}[side]
    small = tone.resize((96, 54), Image.Resampling.BOX).filter(ImageFilter.FIND_EDGES)
    part = small.crop((max(round(low * 96), 2), 2, min(round(high * 96), 94), 52))
    across = list(part.resize((part.width, 1), Image.Resampling.BOX).tobytes())
    down = list(part.resize((1, part.height), Image.Resampling.BOX).tobytes())
    if not sum(across) or not sum(down):
        return (low + high) / 2, 0.5
    x = sum((index + 0.5) * weight for index, weight in enumerate(across)) / sum(across)
    y = sum((index + 0.5) * weight for index, weight in enumerate(down)) / sum(down)
    return (max(round(low * 96), 2) + x) / 96, (2 + y) / 54
