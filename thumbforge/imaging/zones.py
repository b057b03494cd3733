"""What YouTube draws over a thumbnail, and which parts of a layout it would cover.

YouTube publishes no such figures: these hold for a thumbnail shown 360 pixels wide, in pixels of 1280x720.
"""

from __future__ import annotations

from thumbforge import models

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


def overlay_problems(layout: models.Layout) -> tuple[str, ...]:
    """One line for each text or logo of a layout that YouTube would cover, with the zone's place. Pure.

    A picture may reach under the marks; words must not.
    """
    share = 1280 / layout.canvas.width
    found: list[str] = []
    for name, slot in layout.slots:
        if name == "picture":
            continue
        at = slot.box
        box = (round(at.x * share), round(at.y * share), round((at.x + at.w) * share), round((at.y + at.h) * share))
        for zone in covered(box):
            left, top, right, bottom = (round(side / share) for side in ZONES[zone])
            found.append(f"{name}.box reaches under YouTube's {zone} (x {left} to {right}, y {top} to {bottom})")
    return tuple(found)


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
