"""A hero as painter and finaliser use it: decoded once, upright, sRGB, with its mask and its subject."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from PIL import Image

from thumbforge.durable import read_regular
from thumbforge.errors import PictureError
from thumbforge.pixels import bars, masks, picture
from thumbforge.pixels.limits import MAX_BYTES
from thumbforge.pixels.scene import File, Scene, Shares
from thumbforge.pixels.subject import Subject, find_subject, in_box, in_mask

_ROOM = 1.5
"""A hero is kept at most so many canvases large: a crop of it is still sharp."""
_SEEN, _COLOURS = 8, 64
"""More colours than these under what is clear are a photo behind the cut-out."""
_SAMPLE = (96, 54)
_FLAT_SHARE, _ROUGH = 0.6, 0b11111100
FACTS = "thumbforge"
"""The PNG text chunk of a mask that says what it was made from."""


@dataclass(frozen=True, slots=True, eq=False)
class HeroPicture:
    """`rgb` is whole also where the subject is cut out. `has_ground`: there is a photo around the subject; without one
    only the subject is shown. `flat`: few colours, a slide or a screenshot. `poor`: why its mask is not cut with."""

    rgb: Image.Image
    subject: Subject
    has_ground: bool = True
    flat: bool = False
    poor: str = ""


_opening = threading.Lock()


def open_hero(scene: Scene, width: int, height: int) -> HeroPicture | None:
    """The scene's hero for a canvas of this size; None where it has none. Many threads that ask at once decode once.

    Raises PictureError where hero or mask is no picture, has changed, or the mask has another shape than the hero.
    """
    if scene.hero is None:
        return None
    with _opening:
        return _opened(scene.hero, scene.mask, scene.subject, scene.face, width, height)


@lru_cache(maxsize=4)
def _opened(
    file: File, mask_file: File | None, subject: Shares | None, face: Shares | None, width: int, height: int
) -> HeroPicture:
    rgb, clear = picture.open_layers(_bytes(file, "hero"), (round(width * _ROOM), round(height * _ROOM)))
    mask, facts = (None, {}) if mask_file is None else _mask(_bytes(mask_file, "mask"), rgb.size)
    if mask is None and clear is not None and clear.getextrema() != (255, 255):
        mask = clear
    has_ground = clear is None or mask is not clear or _photo_behind(rgb, clear)
    if not has_ground and clear is not None:
        rgb = _bled(rgb, clear)
    whole = rgb.size
    box = bars.content(rgb)
    if box != (0, 0, *whole):
        box = _within_blur(box, whole)
        rgb, mask = rgb.crop(box), mask and mask.crop(box)
        subject, face = (shares and _within(shares, whole, box) for shares in (subject, face))
    rgb, mask = _fitted(rgb, width, height), mask and _fitted(mask, width, height)
    face = face or cast("Shares | None", facts.get("face"))
    poor = masks.usable(mask) if mask and has_ground else ""
    found, flat = _subject(rgb, None if poor else mask, subject, face), _is_flat(rgb)
    if flat and found.kind == "found" and face is None:
        found = Subject("none")  # a part of a window is no subject: all of it is shown
    return HeroPicture(rgb, found, has_ground, flat, poor)


def _subject(rgb: Image.Image, mask: Image.Image | None, box: Shares | None, face: Shares | None) -> Subject:
    if mask is not None and (found := in_mask(mask, face)).kind != "none":
        return found
    return in_box(rgb.size, box, face) if box else find_subject(rgb, face)


def _bytes(file: File, what: str) -> bytes:
    hint = "pick the hero again, or put its file back"
    try:
        data = read_regular(file.path, MAX_BYTES)
    except OSError as error:
        raise PictureError(f"{what} {file.path.name} cannot be read: {error.strerror or error}", hint=hint) from error
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise PictureError(f"{what} {file.path.name} has changed since it was recorded", hint=hint)
    return data


def _mask(data: bytes, size: tuple[int, int]) -> tuple[Image.Image, dict[str, Any]]:
    """A mask in the hero's size, and the facts that were written into it."""
    grey, facts = picture.open_mask(data, FACTS)
    if abs(grey.width * size[1] / (grey.height * size[0]) - 1) > 0.02:
        raise PictureError(
            f"the mask is {grey.width}x{grey.height}, the hero {size[0]}x{size[1]}: another shape",
            hint="thumbforge hero cutout FILE makes it anew",
        )
    return grey.resize(size, Image.Resampling.BICUBIC), _facts(facts)


def _facts(text: str) -> dict[str, Any]:
    """What can be believed of a mask's text: a face, as four shares."""
    try:
        face = json.loads(text).get("face") if text else None
    except (ValueError, AttributeError):
        return {}
    if not (isinstance(face, list) and len(face) == 4 and all(isinstance(side, (int, float)) for side in face)):
        return {}
    inside = all(0 <= side <= 1 for side in face) and face[2] > 0 and face[3] > 0
    return {"face": tuple(float(side) for side in face)} if inside else {}


def _photo_behind(rgb: Image.Image, clear: Image.Image) -> bool:
    """Whether what is clear hides a photo, and not one colour that was left there."""
    small, alpha = (layer.resize(_SAMPLE, Image.Resampling.NEAREST) for layer in (rgb, clear))
    under = alpha.point([255 if level < _SEEN else 0 for level in range(256)])
    hidden = Image.new("RGB", small.size)
    hidden.paste(small, (0, 0), under)
    return hidden.getcolors(_COLOURS) is None


def _bled(rgb: Image.Image, clear: Image.Image) -> Image.Image:
    """The colours of what is seen, grown into what is clear: no dark seam appears where it is resized."""
    layer = rgb.copy()
    layer.putalpha(clear)
    small = layer.convert("RGBa").resize((max(rgb.width // 4, 2), max(rgb.height // 4, 2)), Image.Resampling.BOX)
    ground = filled(small).resize(rgb.size, Image.Resampling.BICUBIC)
    ground.paste(rgb, (0, 0), clear.point([255 if level > 250 else 0 for level in range(256)]))
    return ground


def filled(premultiplied: Image.Image) -> Image.Image:
    """RGB of a picture (mode RGBa) with holes: what is not known takes the mean of what is known around it.

    Halved until two pixels are left, and pasted back from coarse to fine.
    """
    levels = [premultiplied]
    while min(levels[-1].size) > 2:
        w, h = levels[-1].size
        levels.append(levels[-1].resize(((w + 1) // 2, (h + 1) // 2), Image.Resampling.BOX))
    result = levels[-1].convert("RGBA").convert("RGB")
    for level in reversed(levels[:-1]):
        own = level.convert("RGBA")
        known = own.getchannel("A").point([min(255, value * 3) for value in range(256)])
        result = result.resize(level.size, Image.Resampling.BILINEAR)
        result.paste(own.convert("RGB"), (0, 0), known)
    return result


def _within_blur(box: tuple[int, int, int, int], whole: tuple[int, int]) -> tuple[int, int, int, int]:
    """A little less at the sides that were cut: a JPEG blurs a bar's edge into the picture."""
    left, top, right, foot = box
    by = max(2, round(0.008 * max(whole)))
    return (
        left + by * (left > 0),
        top + by * (top > 0),
        right - by * (right < whole[0]),
        foot - by * (foot < whole[1]),
    )


def _within(shares: Shares, whole: tuple[int, int], box: tuple[int, int, int, int]) -> Shares:
    """Shares of a picture as shares of the part that is left of it without its bars."""
    wide, high = box[2] - box[0], box[3] - box[1]
    x, y = (shares[0] * whole[0] - box[0]) / wide, (shares[1] * whole[1] - box[1]) / high
    return x, y, shares[2] * whole[0] / wide, shares[3] * whole[1] / high


def _fitted(layer: Image.Image, width: int, height: int) -> Image.Image:
    share = max(width * _ROOM / layer.width, height * _ROOM / layer.height)
    if share >= 1:
        return layer
    size = max(round(layer.width * share), 1), max(round(layer.height * share), 1)
    return layer.resize(size, Image.Resampling.LANCZOS)


def _is_flat(rgb: Image.Image) -> bool:
    """Whether eight colours hold most of the picture, as on a slide, in a window, on a logo; a photo has noise."""
    small = rgb.resize(_SAMPLE, Image.Resampling.NEAREST).point([level & _ROUGH for level in range(256)] * 3)
    counts = sorted((count for count, _ in small.getcolors(_SAMPLE[0] * _SAMPLE[1]) or []), reverse=True)
    return sum(counts[:8]) >= _FLAT_SHARE * _SAMPLE[0] * _SAMPLE[1]
