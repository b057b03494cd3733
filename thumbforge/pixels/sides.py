"""Which side of a layout its words leave free: what a look has to know of a template, and all it is told.

Pure, and asked for every plan: no Pillow here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from thumbforge import models

if TYPE_CHECKING:
    from thumbforge.layers import AnyLayout, Layers

Side = Literal["left", "right", "middle", "foot"]
"""Where the subject goes: beside the words, or, where they lie across the middle or the foot, above them."""

STEPS = 24
"""Heights and edges are told in 24ths: a box moved by a few pixels repaints nothing."""
GAP = 24
"""Canvas pixels that words keep around them."""
_BESIDE = 0.28
"""A free side narrower than this share of the width holds no subject: the words lie across."""
_ACROSS = 0.8
_TALL = 0.5
_LOW = 0.5


@dataclass(frozen=True, slots=True)
class Free:
    """`at` is in 24ths: for `middle` and `foot` the top of the words, of the height; for `left` and `right` how far the
    layout's own panel under the words reaches, of the width (0 without one)."""

    side: Side
    at: int = 0

    def __str__(self) -> str:
        """As it stands in art keys: `right`, `right 15`, `middle 6`."""
        return f"{self.side} {self.at}" if self.at else self.side

    @property
    def across(self) -> bool:
        """The words lie across the picture; the subject is above them."""
        return self.side in ("middle", "foot")

    @property
    def panelled(self) -> bool:
        """The layout brings its own panel: a look draws no second edge beside it."""
        return self.at > 0 and not self.across


RIGHT = Free("right")
LEFT = Free("left")


class Sides(Protocol):
    """A rectangle of a layout."""

    @property
    def x(self) -> int: ...
    @property
    def y(self) -> int: ...
    @property
    def w(self) -> int: ...
    @property
    def h(self) -> int: ...


def free_side(layout: AnyLayout) -> Free:
    """The canvas minus the boxes of title and part (in version 2 of all texts that must be read): the larger side, if a
    subject can stand there. A layout of version 2 may say where it stands itself."""
    if not isinstance(layout, models.Layout):
        return _free_of_layers(layout)
    boxes = [layout.title.box, *([layout.part.box] if layout.part else [])]
    panels = [panel.box for panel in layout.panels if panel.opacity > 0.5]
    return _free(layout.canvas, layout.title.box, boxes, panels, None)


def _free_of_layers(layout: Layers) -> Free:
    texts = layout.seen_texts
    boxes = [text.box for text in texts.values() if not text.fine_print] or [text.box for text in texts.values()]
    title = texts["title"].box if "title" in texts else max(boxes, key=lambda box: box.w * box.h)
    shapes = [layout.shapes[name] for name in layout.drawn if name in layout.shapes]
    panels = [box for shape in shapes if (box := shape.panel)]
    return _free(layout.canvas, title, boxes, panels, layout.free)


def _free(
    canvas: models.Size, title: Sides, boxes: Sequence[Sides], panels: Sequence[Sides], asked: Side | None
) -> Free:
    width, height = canvas.width, canvas.height
    grow = GAP * width / 1280
    before = min(box.x for box in boxes) - grow
    behind = width - max(box.x + box.w for box in boxes) - grow
    under = [panel for panel in panels if _meet(panel, title)]
    across = asked in ("middle", "foot") if asked else max(before, behind) < _BESIDE * width
    if across:
        tops = [title.y, *(box.y for box in under if box.w >= _ACROSS * width)]
        top = min(tops)
        side: Side = "foot" if top >= _LOW * height else "middle"
        return Free(asked or side, max(int(top * STEPS / height), 1))
    beside = [box for box in under if box.w < _ACROSS * width and box.h >= _TALL * height]
    if asked == "right" or (asked is None and behind >= before):
        edge = max((box.x + box.w for box in beside), default=0)
        return Free("right", round(edge * STEPS / width))
    edge = max((width - box.x for box in beside), default=0)
    return Free("left", round(edge * STEPS / width))


def _meet(one: Sides, other: Sides) -> bool:
    across = one.x < other.x + other.w and other.x < one.x + one.w
    return across and one.y < other.y + other.h and other.y < one.y + one.h
