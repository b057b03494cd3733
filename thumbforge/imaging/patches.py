"""A picture in patches, the scale at which grounds are judged: 1/240 of its width is 0.7 pixels of a thumbnail that is
shown 168 wide. Masks of patches are as large as the whole picture in patches, so that any two can be multiplied."""

from __future__ import annotations

from math import ceil

from PIL import Image, ImageChops

Box = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels of the picture."""

_PATCHES = 240
_ANY = [0] + [255] * 255
_WHOLE = [0] * 250 + [255] * 6


def step(width: int) -> int:
    """Pixels that a patch of a picture is wide and high."""
    return max(1, round(width / _PATCHES))


def size(picture: tuple[int, int]) -> tuple[int, int]:
    by = step(picture[0])
    return ceil(picture[0] / by), ceil(picture[1] / by)


def covered(mask: Image.Image, at: tuple[int, int], picture: tuple[int, int]) -> Image.Image:
    """How much of each patch a mask covers whose corner lies at `at`."""
    by = step(picture[0])
    left, top = at[0] // by, at[1] // by
    right, bottom = ceil((at[0] + mask.width) / by), ceil((at[1] + mask.height) / by)
    own = Image.new("L", ((right - left) * by, (bottom - top) * by))
    own.paste(mask, (at[0] - left * by, at[1] - top * by))
    small = Image.new("L", size(picture))
    small.paste(own.reduce(by), (left, top))
    return small


def touched(coverage: Image.Image) -> Image.Image:
    """The patches of which anything is covered."""
    return coverage.point(_ANY)


def filled(coverage: Image.Image) -> Image.Image:
    """The patches that are covered whole."""
    return coverage.point(_WHOLE)


def around(box: Box, grown: float, picture: tuple[int, int]) -> Box:
    """The patches of a box that is grown by so many pixels, as a box of patches inside the picture."""
    by = step(picture[0])
    wide, high = size(picture)
    left, top = max(int((box[0] - grown) // by), 0), max(int((box[1] - grown) // by), 0)
    right, bottom = min(ceil((box[2] + grown) / by), wide), min(ceil((box[3] + grown) / by), high)
    return left, top, max(right, left), max(bottom, top)


def outside(box: Box, picture: tuple[int, int]) -> Image.Image:
    """The patches that a box touches."""
    mask = Image.new("L", size(picture))
    mask.paste(255, around(box, 0, picture))
    return mask


def inside(box: Box, picture: tuple[int, int]) -> Image.Image:
    """The patches that lie whole inside a box."""
    by = step(picture[0])
    mask = Image.new("L", size(picture))
    left, top, right, bottom = ceil(box[0] / by), ceil(box[1] / by), box[2] // by, box[3] // by
    if right > left and bottom > top:
        mask.paste(255, (left, top, right, bottom))
    return mask


def grown(mask: Image.Image, radius: float) -> Image.Image:
    """Grown by whole pixels, at least one, to a square. Each shift triples what is covered: Pillow's own filter looks
    at every pixel of the square."""
    left, reached = max(1, round(radius)), 0
    while left > 0:
        by = min(left, 2 * reached + 1)
        for x, y in ((by, 0), (0, by)):
            one = mask.crop((x, y, mask.width + x, mask.height + y))
            other = mask.crop((-x, -y, mask.width - x, mask.height - y))
            mask = ImageChops.lighter(mask, ImageChops.lighter(one, other))
        left, reached = left - by, reached + by
    return mask
