"""What a layout holds beside text: panels, the brand's logo, an item's own picture. All change the picture in place."""

from __future__ import annotations

from PIL import Image, ImageDraw, ImageFilter

from thumbforge import models
from thumbforge.pixels.colour import Rgb
from thumbforge.pixels.sides import Sides

_SMOOTH = 3
"""Shapes are drawn larger and shrunk: Pillow's have no soft edge."""
_SHADOW = 0.45
_SHARE = {"left": 0.0, "center": 0.5, "right": 1.0, "top": 0.0, "middle": 0.5, "bottom": 1.0}

Box = tuple[int, int, int, int]


def scaled(box: Sides, scale: float) -> Box:
    """Left, top, right, bottom in pixels of the picture."""
    left, top = round(box.x * scale), round(box.y * scale)
    return left, top, max(round((box.x + box.w) * scale), left + 1), max(round((box.y + box.h) * scale), top + 1)


def shape(panel: models.Panel, scale: float) -> tuple[Image.Image, tuple[int, int]]:
    """A panel's mask and where its corner lies. The mask is of the shape alone, whatever the panel's opacity."""
    box = scaled(panel.box, scale)
    size = (box[2] - box[0], box[3] - box[1])
    if panel.slant:
        large = Image.new("L", (size[0] * _SMOOTH, size[1] * _SMOOTH))
        lean = min(round(panel.slant * scale), size[0]) * _SMOOTH
        corners = [(0, 0), (large.width, 0), (large.width - lean, large.height), (0, large.height)]
        ImageDraw.Draw(large).polygon(corners, fill=255)
        return large.reduce(_SMOOTH), box[:2]
    return (rounded(size, round(panel.radius * scale)) if panel.radius else Image.new("L", size, 255)), box[:2]


def panel(picture: Image.Image, mask: Image.Image, at: tuple[int, int], rgb: Rgb, opacity: float) -> None:
    if opacity < 1:
        mask = mask.point([round(value * opacity) for value in range(256)])
    picture.paste(rgb, at, mask)


def rounded(size: tuple[int, int], radius: int) -> Image.Image:
    large = Image.new("L", (size[0] * _SMOOTH, size[1] * _SMOOTH))
    corner = (large.width - 1, large.height - 1)
    ImageDraw.Draw(large).rounded_rectangle(((0, 0), corner), radius * _SMOOTH, fill=255)
    return large.reduce(_SMOOTH)


def whole(picture: Image.Image, image: Image.Image, box: Box, align: str, anchor: str) -> Box:
    """Lay `image` (RGBA), all of it and as large as it fits, into `box`; returns where it lies. Clear margins of the
    image do not count."""
    found = fitted(image, box, align, anchor)
    if found is None:
        return box[0], box[1], box[0], box[1]
    shown, (left, top) = found
    picture.paste(shown, (left, top), shown)
    return left, top, left + shown.width, top + shown.height


def fitted(image: Image.Image, box: Box, align: str, anchor: str) -> tuple[Image.Image, tuple[int, int]] | None:
    """`image` (RGBA) without its clear margins, as large as it fits into `box`, and where it lies; None for a clear
    one."""
    seen = image.getchannel("A").getbbox()
    if seen is None:
        return None
    image = image.crop(seen)
    wide, high = box[2] - box[0], box[3] - box[1]
    share = min(wide / image.width, high / image.height)
    size = (max(round(image.width * share), 1), max(round(image.height * share), 1))
    shown = image.convert("RGBa").resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0).convert("RGBA")
    left = box[0] + round((wide - size[0]) * _SHARE[align])
    top = box[1] + round((high - size[1]) * _SHARE[anchor])
    return shown, (left, top)


def inset(picture: Image.Image, photo: Image.Image, slot: models.PictureSlot, scale: float, border: Rgb) -> None:
    """`photo` (RGB, of the box's size) with rounded corners, a border and a soft shadow."""
    box = scaled(slot.box, scale)
    radius, edge = round(slot.radius * scale), round(slot.border * scale)
    _shadow(picture, box, radius)
    picture.paste(border if edge else (0, 0, 0), box[:2], rounded(photo.size, radius))
    inner = (photo.width - 2 * edge, photo.height - 2 * edge)
    if min(inner) < 1:
        return
    middle = photo.crop((edge, edge, edge + inner[0], edge + inner[1]))
    picture.paste(middle, (box[0] + edge, box[1] + edge), rounded(inner, max(radius - edge, 0)))


def _shadow(picture: Image.Image, box: Box, radius: int) -> None:
    """Blurred at an eighth of the size."""
    reach = max((box[3] - box[1]) // 10, 8)
    size = (box[2] - box[0] + 2 * reach, box[3] - box[1] + 2 * reach)
    soft = Image.new("L", size)
    soft.paste(255, (reach, reach), rounded((box[2] - box[0], box[3] - box[1]), radius))
    small = soft.reduce(8).filter(ImageFilter.GaussianBlur(reach / 8 / 2.5))
    veil = small.point([round(value * _SHADOW) for value in range(256)]).resize(size, Image.Resampling.BICUBIC)
    picture.paste((0, 0, 0), (box[0] - reach, box[1] - reach + reach // 4), veil)


def scrim(picture: Image.Image, side: str, reach: float, opacity: float, rgb: Rgb) -> None:
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
