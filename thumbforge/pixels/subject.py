"""The subject of a hero: where it is, and what is known of it. Deterministic, Pillow alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from PIL import Image

from thumbforge.pixels import masks
from thumbforge.pixels.saliency import salient_box
from thumbforge.pixels.scene import Shares

Kind = Literal["masked", "given", "found", "none"]
"""Masked: cut out to the pixel. Given: a box that a user named. Found: a box that was guessed. None: a ground."""

Edge = Literal["left", "top", "right", "foot"]
_TOUCHES = 0.012
_CUT = 0.25
"""Share of the subject's length on a side, from which on the photo's edge cuts it there."""


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """`box` and `face` in shares of the hero, None where not known; `mask` (L) has the hero's size, None where there
    is only a box. `cut`: the photo's edges that cut it; a person that is cut at the foot stands there."""

    kind: Kind
    box: Shares | None = None
    face: Shares | None = None
    mask: Image.Image | None = None
    cut: frozenset[Edge] = frozenset()

    @property
    def at_foot(self) -> bool:
        return "foot" in self.cut


def find_subject(picture: Image.Image, face: Shares | None = None) -> Subject:
    """The subject of a picture (RGB) by what stands out; of kind `none` for a pattern, a black or a white picture.

    A box that was found is good enough to crop by and to keep words away, not to cut with. A `face` that is known
    belongs to it.
    """
    box = salient_box(picture)
    if box is None:
        return Subject("none") if face is None else in_box(picture.size, _body_of(face), face, "found")
    return in_box(picture.size, box if face is None else _around(box, face), face, "found")


def in_box(size: tuple[int, int], box: Shares, face: Shares | None, kind: Kind = "given") -> Subject:
    """A subject of which only a box is known, of a picture of this size in pixels."""
    return Subject(kind, _inside(box), face, cut=_touching(size, box))


def in_mask(mask: Image.Image, face: Shares | None) -> Subject:
    """A subject that is cut out; a mask with nothing in it has none."""
    if not masks.holds_any(mask):
        return Subject("none")
    return Subject("masked", masks.body(mask), face, mask, _cut_edges(mask))


def _touching(size: tuple[int, int], box: Shares) -> frozenset[Edge]:
    x, y, w, h = box
    ends: dict[Edge, float] = {"left": x, "top": y, "right": 1 - x - w, "foot": 1 - y - h}
    return frozenset(edge for edge, gap in ends.items() if gap < max(_TOUCHES, 1.5 / max(size)))


def _cut_edges(mask: Image.Image) -> frozenset[Edge]:
    """Where the mask meets the picture's edge over a good part of its own length on that side."""
    small = mask.resize((128, 128), Image.Resampling.BOX)
    _, _, w, h = masks.body(mask)
    lines: dict[Edge, tuple[tuple[int, int, int, int], float]] = {
        "left": ((0, 0, 2, 128), h),
        "top": ((0, 0, 128, 2), w),
        "right": ((126, 0, 128, 128), h),
        "foot": ((0, 126, 128, 128), w),
    }
    found: set[Edge] = set()
    for edge, (line, length) in lines.items():
        solid = sum(level > masks.SOLID for level in small.crop(line).tobytes()) / 2
        if solid > _CUT * length * 128:
            found.add(edge)
    return frozenset(found)


def _inside(box: Shares) -> Shares:
    x, y = min(max(box[0], 0.0), 0.98), min(max(box[1], 0.0), 0.98)
    return x, y, min(max(box[2], 0.02), 1 - x), min(max(box[3], 0.02), 1 - y)


def _around(box: Shares, face: Shares) -> Shares:
    """A found box that misses a known face is widened to hold its head."""
    head = _head(face)
    x0, y0 = min(box[0], head[0]), min(box[1], head[1])
    x1, y1 = max(box[0] + box[2], head[0] + head[2]), max(box[1] + box[3], head[1] + head[3])
    return _inside((x0, y0, x1 - x0, y1 - y0))


def _body_of(face: Shares) -> Shares:
    """Where a body is, if only its face is known: three faces wide, down to the foot."""
    x, y, w, h = face
    return _inside((x - w, y - 0.35 * h, 3 * w, 1 - y + 0.35 * h))


def _head(face: Shares) -> Shares:
    """A face with its hair: from brow to chin is three quarters of a head."""
    x, y, w, h = face
    return _inside((x - 0.15 * w, y - 0.32 * h, 1.3 * w, 1.36 * h))


def crown(subject: Subject) -> float:
    """The top of the head as a share of the hero's height, where a face is known; else the top of the box."""
    if subject.face is None:
        return subject.box[1] if subject.box else 0.0
    top = max(subject.face[1] - 0.32 * subject.face[3], 0.0)
    return min(top, subject.box[1]) if subject.kind == "masked" and subject.box else top
