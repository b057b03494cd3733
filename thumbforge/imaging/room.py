"""Words make room for the subject: another line break, another height of the block, a smaller size, in this order.

What fits its box beside the subject stays as it is. Where nothing fits, neither at the smallest size, the words stand
where they would without a subject, and the rules tell it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Protocol

from thumbforge.imaging.draw import Frame
from thumbforge.imaging.type import fit
from thumbforge.imaging.type.fit import Fitted, Space
from thumbforge.imaging.type.shape import Setting

_SHIFTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares of the box's free height above the block."""
_ANCHOR = {"top": 0.0, "middle": 0.5, "bottom": 1.0}
_ALIGN = {"left": 0.0, "center": 0.5, "right": 1.0}
_SMALLER = 0.94
"""From one size tried to the next."""
_LINE_COST, _SHIFT_COST = 0.25, 0.6
"""What a line more, and a block moved by its whole room, cost beside the spread of line widths."""
_MANY, _NEARLY = 4, 0.82
"""So many lines give way to fewer, down to this share of their size."""
_APART = 0.12
"""Em above and below a line that stay free of the subject, too."""
_BOTTOM = 0.25
"""Em that letters may hang below a line, until it is known which they are."""
_LEAST = 0.45
"""Share of its box that a title keeps where it must begin lower."""


class Room(Protocol):
    """Where words may stand. Pixels of the picture."""

    def words_end(self, top: float, bottom: float) -> float:
        """Where words between these heights end, or begin, if the subject is at the left."""

    def words_top(self) -> float:
        """Where words that lie across the picture begin at the highest."""


@dataclass(frozen=True, slots=True)
class Beside:
    """`room`, and on which side of the words the subject stands; `into` are pixels that words may reach into it."""

    room: Room
    at_left: bool = False
    across: bool = False
    into: float = 0.0

    def holds(self, left: float, right: float, top: float, bottom: float) -> bool:
        if self.across:
            return top >= self.room.words_top() - 1
        end = self.room.words_end(top, bottom)
        return left >= end - self.into if self.at_left else right <= end + self.into

    def width(self, frame: Frame, top: float, bottom: float) -> float:
        """The widest line between these heights."""
        end = self.room.words_end(top, bottom)
        if self.at_left:
            free = frame.left + frame.width - max(end - self.into, frame.left)
        else:
            free = min(end + self.into, frame.left + frame.width) - frame.left
        if _ALIGN[frame.align] == 0.5:  # what a side loses, a line in the middle loses on both
            free = frame.width - 2 * (frame.width - free)
        return max(free, 0.0)


def fitted(setting: Setting, space: Space, frame: Frame, beside: Beside) -> tuple[Fitted | None, Space, Frame]:
    """The lines of a text and where they go."""
    if beside.across:
        top = min(max(beside.room.words_top(), frame.top), frame.top + (1 - _LEAST) * frame.height)
        frame = replace(frame, top=top, height=frame.top + frame.height - top)
        space = replace(space, height=frame.height)
    first = fit.fit(setting, space)
    if first is None or beside.across or _clear(setting, first, space, frame, beside):
        return first, space, frame
    best = _largest(setting, space, frame, beside, first.size, space.min_size)
    if best is None:
        return first, space, frame
    if len(best[1].lines) >= _MANY:  # fewer lines read better, if they are nearly as large
        size = best[1].size
        fewer = replace(space, max_lines=_MANY - 1)
        other = _largest(setting, fewer, frame, beside, size, max(space.min_size, _NEARLY * size))
        best = min(best, other, key=lambda found: found[0]) if other else best
    _, lines, share = best
    free = frame.height - (lines.height + 2 * space.outline) * lines.size
    return lines, space, replace(frame, top=frame.top + max(free, 0) * share, anchor="top")


def _largest(
    setting: Setting, space: Space, frame: Frame, beside: Beside, size: int, least: float
) -> tuple[float, Fitted, float] | None:
    """What `_at` finds at the largest size that anything fits at."""
    floor = ceil(least)
    while size >= floor:
        if found := _at(setting, space, frame, beside, size):
            return found
        if size == floor:
            break
        size = max(min(int(size * _SMALLER), size - 1), floor)
    return None


def _at(setting: Setting, space: Space, frame: Frame, beside: Beside, size: int) -> tuple[float, Fitted, float] | None:
    """The best lines of this size with their cost, and the share of the free height that is above them."""
    best: tuple[float, Fitted, float] | None = None
    for count in range(len(setting.paragraphs), space.max_lines + 1):
        for share in _SHIFTS:
            widths = [
                beside.width(frame, *rows) / size - 2 * space.outline
                for rows in _rows(space, frame, size, count, share)
            ]
            if widths and min(widths) > 0 and (lines := fit.lines_within(setting, space, size, widths)):
                if not _clear(setting, lines, space, frame, beside, share):
                    continue
                cost = _cost(setting, lines) + _SHIFT_COST * abs(share - _ANCHOR[frame.anchor])
                if best is None or cost < best[0]:
                    best = cost, lines, share
    return best


def _cost(setting: Setting, lines: Fitted) -> float:
    widths = [fit.line_width(setting, line) for line in lines.lines]
    return (max(widths) - min(widths)) / max(*widths, 0.01) + _LINE_COST * len(widths)


def _rows(space: Space, frame: Frame, size: int, count: int, share: float) -> list[tuple[float, float]]:
    """Top and bottom of each of `count` lines, as far as it can be known before they are."""
    edge = space.outline * size
    high = (space.cap + (count - 1) * space.line_height + _BOTTOM / 2) * size + 2 * edge
    if high > frame.height:
        return []
    first = frame.top + (frame.height - high) * share + edge + space.cap * size
    lines = [first + n * space.line_height * size for n in range(count)]
    pad = edge + _APART * size
    return [(line - space.cap * size - pad, line + pad) for line in lines]


def _clear(
    setting: Setting, found: Fitted, space: Space, frame: Frame, beside: Beside, share: float | None = None
) -> bool:
    """Whether every line keeps away from the subject."""
    share = _ANCHOR[frame.anchor] if share is None else share
    size, edge = found.size, space.outline * found.size
    free = frame.height - (found.height + 2 * space.outline) * size
    baseline = frame.top + free * share + edge + found.top * size
    for number, line in enumerate(found.lines):
        wide = fit.line_width(setting, line) * size + 2 * edge
        align = 1.0 if setting.rtl and frame.align == "left" and beside.at_left else _ALIGN[frame.align]
        left = frame.left + (frame.width - wide) * align
        foot = baseline + number * found.pitch * size
        pad = edge + _APART * size
        top, bottom = foot - fit.line_top(setting, line, space) * size - pad, foot + pad
        if not beside.holds(left, left + ceil(wide), top, bottom):
            return False
    return True
