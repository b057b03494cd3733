"""Which elements of a layout in version 2 are drawn, and in which order. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from thumbforge.layers import SUBJECT, Area, Layer, Layers


def present(layout: Layers, filled: Collection[str]) -> tuple[str, ...]:
    """The elements that have something to show, from back to front; `filled` are the texts and images that have."""
    there = {*filled, *layout.shapes, SUBJECT}
    found = [name for name in layout.drawn if name in there]
    while True:
        kept = [name for name in found if name == SUBJECT or _is_wanted(layout.elements[name], found)]
        if kept == found:
            return tuple(found)
        found = kept


def brought_forward(names: tuple[str, ...], front: Sequence[str]) -> tuple[str, ...]:
    """The order with these texts right after the subject."""
    if not front:
        return names
    rest = [name for name in names if name not in front]
    at = rest.index(SUBJECT) + 1
    return (*rest[:at], *front, *rest[at:])


def inside(box: Area, panel: Area) -> bool:
    across = panel.x <= box.x and box.x + box.w <= panel.x + panel.w
    return across and panel.y <= box.y and box.y + box.h <= panel.y + panel.h


def _is_wanted(element: Layer, there: Sequence[str]) -> bool:
    return not element.only_with or any(name in there for name in element.only_with)
