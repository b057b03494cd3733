"""What YouTube draws over a thumbnail, and which parts of a layout it would cover.

YouTube publishes no such figures: these hold for a thumbnail shown 360 pixels wide, in pixels of 1280x720.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from thumbforge import models
from thumbforge.pixels.sides import Sides

if TYPE_CHECKING:
    from thumbforge.layers import AnyLayout

Box = tuple[int, int, int, int]
"""Left, top, right, bottom."""

DURATION_MARK = (960, 560, 1280, 720)
PROGRESS_BAR = (0, 688, 1280, 720)
HOVER_ICONS = (1140, 0, 1280, 270)
ZONES: dict[str, Box] = {
    "duration mark": DURATION_MARK,
    "progress bar": PROGRESS_BAR,
    "hover icons": HOVER_ICONS,
}


def covered(box: Box) -> tuple[str, ...]:
    """Names of the zones that a box (pixels of 1280x720) reaches into."""
    return tuple(name for name, zone in ZONES.items() if _meet(box, zone))


def overlay_problems(layout: AnyLayout) -> tuple[str, ...]:
    """One line for each text or logo of a layout that YouTube would cover, with the zone's place. Pure.

    A picture may reach under the marks; words must not.
    """
    share = 1280 / layout.canvas.width
    found: list[str] = []
    for name, at in _worded(layout):
        box = (round(at.x * share), round(at.y * share), round((at.x + at.w) * share), round((at.y + at.h) * share))
        for zone in covered(box):
            left, top, right, bottom = (round(side / share) for side in ZONES[zone])
            found.append(f"{name} reaches under YouTube's {zone} (x {left} to {right}, y {top} to {bottom})")
    return tuple(found)


def _worded(layout: AnyLayout) -> Iterator[tuple[str, Sides]]:
    """Name and box of every text and logo that is drawn."""
    if isinstance(layout, models.Layout):
        yield from ((f"{name}.box", slot.box) for name, slot in layout.slots if name != "picture")
        return
    yield from ((f"texts.{name}.box", text.box) for name, text in layout.seen_texts.items())
    logos = (name for name, image in layout.images.items() if image.source == "logo" and name in layout.drawn)
    yield from ((f"images.{name}.box", layout.images[name].box) for name in logos)


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
