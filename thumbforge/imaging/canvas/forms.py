"""The forms of shapes as masks: smooth, turned, cut at the canvas's edge. They are kept: a series draws the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import atan2, ceil, cos, floor, hypot, radians, sin

from PIL import Image, ImageChops, ImageDraw

from thumbforge.layers import Area, Shape

_SMOOTH = 3
"""Forms are drawn larger and shrunk: Pillow's have no soft edge."""
_HEAD_LONG, _HEAD_WIDE = 3.0, 2.6
"""Of an arrow's head, in widths of its line."""

Point = tuple[float, float]
Size = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A mask (L) and where its corner lies in the picture; `plain` where all of it is white."""

    mask: Image.Image
    at: tuple[int, int]
    plain: bool = False

    @property
    def box(self) -> tuple[int, int, int, int]:
        return self.at[0], self.at[1], self.at[0] + self.mask.width, self.at[1] + self.mask.height

    def within(self, other: Form) -> Form:
        """What of it lies inside the other."""
        clip = Image.new("L", self.mask.size)
        clip.paste(other.mask, (other.at[0] - self.at[0], other.at[1] - self.at[1]))
        return Form(ImageChops.multiply(self.mask, clip), self.at)


def nothing() -> Form:
    """The form of what lies outside the picture."""
    return Form(Image.new("L", (1, 1)), (0, 0))


@lru_cache(maxsize=96)
def of_shape(shape: Shape, scale: float, size: Size) -> Form:
    """A shape's form on a picture of this size. Do not change its mask."""
    if shape.box is None:
        return _of_points(_outline(shape, scale), size, shape, scale)
    if shape.kind == "rectangle":
        return rectangle(shape.box, shape.corner, shape.rotate, scale, size)
    x, y, w, h = _scaled(shape.box, scale)
    large = Image.new("L", (max(round(w), 1) * _SMOOTH, max(round(h), 1) * _SMOOTH))
    ImageDraw.Draw(large).ellipse((0, 0, large.width - 1, large.height - 1), fill=255)
    return _cut(turned(large.reduce(_SMOOTH), (round(x), round(y)), shape.rotate), size)


@lru_cache(maxsize=96)
def rectangle(box: Area, corner: int, rotate: float, scale: float, size: Size) -> Form:
    x, y, w, h = _scaled(box, scale)
    left, top, right, foot = round(x), round(y), max(round(x + w), round(x) + 1), max(round(y + h), round(y) + 1)
    if rotate and not corner:
        corners = [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]
        return _polygon(_turned_points(corners, rotate), size)
    if not corner:
        left, top, right, foot = max(left, 0), max(top, 0), min(right, size[0]), min(foot, size[1])
        if right <= left or foot <= top:
            return nothing()
        return Form(Image.new("L", (right - left, foot - top), 255), (left, top), plain=True)
    large = Image.new("L", ((right - left) * _SMOOTH, (foot - top) * _SMOOTH))
    radius = min(corner * scale, (right - left) / 2, (foot - top) / 2)
    ImageDraw.Draw(large).rounded_rectangle((0, 0, large.width - 1, large.height - 1), radius * _SMOOTH, fill=255)
    return _cut(turned(large.reduce(_SMOOTH), (left, top), rotate), size)


def turned(mask: Image.Image, at: tuple[int, int], degrees: float) -> Form:
    """A picture or mask turned clockwise about its middle."""
    if not degrees:
        return Form(mask, at)
    found = mask.rotate(-degrees, Image.Resampling.BICUBIC, expand=True)
    x, y = at[0] + (mask.width - found.width) / 2, at[1] + (mask.height - found.height) / 2
    return Form(found, (round(x), round(y)))


def turn(point: Point, about: Point, degrees: float) -> Point:
    """A point turned clockwise."""
    angle, x, y = radians(degrees), point[0] - about[0], point[1] - about[1]
    return about[0] + x * cos(angle) - y * sin(angle), about[1] + x * sin(angle) + y * cos(angle)


def _turned_points(points: Sequence[Point], degrees: float) -> list[Point]:
    xs, ys = zip(*points, strict=True)
    middle = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    return [turn(point, middle, degrees) for point in points] if degrees else list(points)


def _outline(shape: Shape, scale: float) -> list[Point]:
    """The corners of a polygon, the points of a line, or the seven corners of an arrow."""
    points = _turned_points([(x * scale, y * scale) for x, y in shape.points], shape.rotate)
    if shape.kind != "arrow":
        return points
    (x0, y0), (x1, y1), width = points[0], points[-1], shape.width * scale
    long, angle = hypot(x1 - x0, y1 - y0), atan2(y1 - y0, x1 - x0)
    head, half, wing = min(_HEAD_LONG * width, long), width / 2, _HEAD_WIDE * width / 2
    flat = (
        (0, -half), (long - head, -half), (long - head, -wing), (long, 0.0),
        (long - head, wing), (long - head, half), (0, half),
    )  # fmt: skip
    return [(x0 + x * cos(angle) - y * sin(angle), y0 + x * sin(angle) + y * cos(angle)) for x, y in flat]


def _of_points(points: list[Point], size: Size, shape: Shape, scale: float) -> Form:
    if shape.kind != "line":
        return _polygon(points, size)
    width = max(shape.width * scale, 1.0)
    box = _around(points, width, size)
    large = Image.new("L", ((box[2] - box[0]) * _SMOOTH, (box[3] - box[1]) * _SMOOTH))
    inside = _inside(points, box)
    ImageDraw.Draw(large).line(inside, fill=255, width=max(round(width * _SMOOTH), 1), joint="curve")
    return Form(large.reduce(_SMOOTH), box[:2])


def _polygon(points: list[Point], size: Size) -> Form:
    box = _around(points, 1, size)
    large = Image.new("L", ((box[2] - box[0]) * _SMOOTH, (box[3] - box[1]) * _SMOOTH))
    ImageDraw.Draw(large).polygon(_inside(points, box), fill=255)
    return Form(large.reduce(_SMOOTH), box[:2])


def _inside(points: Sequence[Point], box: tuple[int, int, int, int]) -> list[Point]:
    return [((x - box[0]) * _SMOOTH, (y - box[1]) * _SMOOTH) for x, y in points]


def _around(points: Sequence[Point], grown: float, size: Size) -> tuple[int, int, int, int]:
    xs, ys = zip(*points, strict=True)
    left, top = max(floor(min(xs) - grown), 0), max(floor(min(ys) - grown), 0)
    right, foot = min(ceil(max(xs) + grown), size[0]), min(ceil(max(ys) + grown), size[1])
    return left, top, max(right, left + 1), max(foot, top + 1)


def _scaled(box: Area, scale: float) -> tuple[float, float, float, float]:
    return box.x * scale, box.y * scale, box.w * scale, box.h * scale


def _cut(form: Form, size: Size) -> Form:
    """Without what lies beyond the picture."""
    left, top, right, foot = form.box
    inside = max(left, 0), max(top, 0), min(right, size[0]), min(foot, size[1])
    if inside == form.box:
        return form
    if inside[2] <= inside[0] or inside[3] <= inside[1]:
        return nothing()
    part = (inside[0] - left, inside[1] - top, inside[2] - left, inside[3] - top)
    return Form(form.mask.crop(part), inside[:2])
