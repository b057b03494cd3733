"""Where a hero lies on the canvas, so that its subject stands on the free side: numbers alone, no pixels.

Lengths are pixels of the canvas. Everything is reckoned for a subject at the right; for the left the hero's shares are
mirrored and the result is mirrored back: the picture itself never is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import cos, radians, sin

from thumbforge.pixels.scene import Shares
from thumbforge.pixels.sides import STEPS, Free
from thumbforge.pixels.subject import Subject, crown

CENTRE = 0.765
"""Middle of the free side beside words, as a share of the width."""
EDGE, LEAN = 0.53, 0.036
"""Where the panel of `split` ends, as a share of the width, and how far it leans to either side."""
CARD = (0.775, 0.505, 0.395, 0.84)
"""Middle, width and height of the print of `card`, as shares."""
TILT, PLATE_TILT, RIM = 3.0, -5.0, 12
"""Degrees by which the print and the plate behind it are turned, and the print's rim in pixels of 1280."""
_FACE, _FACE_MOST, _EYES, _EYE_LINE = 0.36, 0.42, 0.40, 0.44
_AIR = 0.02
_OBJECT_HIGH, _OBJECT_WIDE = 0.94, 0.56
_MARGIN = 0.022
_WIDEST = 0.62
_UPPER = 0.62
"""Share of a standing figure's height that holds its head, where no face is known."""
_ASIDE = 0.08
"""Share of the width by which a subject above words may stand aside, so that its photo fills the canvas."""
_THIRD, _LOWEST_CHIN = 0.345, 0.565
"""What a face above words has of the height where its hair leaves it that, and how low its chin may come for it."""
_LEAST_FLOOR = 0.50
"""Words across the middle give way down to here, so that a head has room above them."""


@dataclass(frozen=True, slots=True)
class Lie:
    """A hero's pixel lies at pixel * scale + (x, y)."""

    scale: float
    x: float
    y: float


def floor_of(free: Free, height: float) -> float:
    """The height in pixels above which a face must end: words that lie across begin there."""
    share = free.at / STEPS
    return height * (max(share, _LEAST_FLOOR) if free.side == "middle" else share)


def lie(subject: Subject, hero: tuple[int, int], look: str, free: Free, width: int, height: int) -> Lie:
    """The place of a hero of this size for a look that is not "auto"."""
    flip = free.side == "left"
    shown = _Shown.of(subject, hero, flip)
    if free.across:
        found = _above(shown, look, free, width, height)
    elif look == "card":
        window = card_window(replace(free, side="right"), shown.shape, width, height)
        found = _in_window(shown, window)
    else:
        found = _beside(shown, look, free, width, height)
    return Lie(found.scale, width - found.x - hero[0] * found.scale, found.y) if flip else found


@dataclass(frozen=True, slots=True)
class _Shown:
    """The hero's size in pixels, and in its pixels the subject's box and face; `top` is that of the head."""

    w: int
    h: int
    left: float
    top: float
    right: float
    foot: float
    crown: float
    face: tuple[float, float, float, float] | None
    stands: bool
    at_top: bool
    at_outer: bool
    exact: bool

    @classmethod
    def of(cls, subject: Subject, hero: tuple[int, int], flip: bool) -> _Shown:
        w, h = hero
        x, y, bw, bh = _flipped(subject.box or (0.0, 0.0, 1.0, 1.0), flip)
        face = _flipped(subject.face, flip) if subject.face else None
        return cls(
            w,
            h,
            x * w,
            y * h,
            (x + bw) * w,
            (y + bh) * h,
            crown(subject) * h,
            face and (face[0] * w, face[1] * h, face[2] * w, face[3] * h),
            "foot" in subject.cut,
            "top" in subject.cut,
            ("left" if flip else "right") in subject.cut,
            subject.mask is not None,
        )

    @property
    def shape(self) -> float:
        """Width of the subject for its height."""
        return self.wide / max(self.high, 1.0)

    @property
    def high(self) -> float:
        return self.foot - self.top

    @property
    def wide(self) -> float:
        return self.right - self.left


def _flipped(box: Shares, flip: bool) -> Shares:
    return (1 - box[0] - box[2], *box[1:]) if flip else box


def _beside(s: _Shown, look: str, free: Free, width: int, height: int) -> Lie:
    """Beside the words: a face by its height, an object by its own. A look that shows the photo covers the height."""
    edge = free.at / STEPS if free.panelled else 0.0
    centre = max(CENTRE, (edge + 1) / 2) if edge else CENTRE
    fills = look != "cutout"
    if s.face and s.face[3] < 0.5 * s.h:
        return _by_face(s, s.face, fills, centre * width, width, height)
    wide = min(_OBJECT_WIDE, 1 - 2 * _MARGIN - edge) * width
    scale = min(_OBJECT_HIGH * height / s.high, wide / s.wide)
    if s.at_top and s.stands:
        scale = height / s.high
    if fills:
        scale = max(scale, height / s.h, 0.50 * width / s.w)
        y = 0.5 * height - (s.top + s.high / 2) * scale
        if s.high * scale > 0.96 * height:
            y = 0.03 * height - s.top * scale
        y = min(max(y, height - s.h * scale), 0.0)
    elif s.stands and not s.at_top:
        y = height - s.foot * scale
    elif s.at_top:
        y = -s.top * scale
    else:
        y = 0.51 * height - (s.top + s.high / 2) * scale
    return Lie(scale, _outwards(s, scale, edge, width), y)


def _outwards(s: _Shown, scale: float, edge: float, width: int) -> float:
    """The left edge of a hero whose subject stands at the canvas's side, with half of the room left over inwards."""
    wide = s.wide * scale
    if wide > _WIDEST * width:  # as much as can be shown, from where words must end; the rest bleeds
        x = 0.345 * width - s.left * scale
        return min(x, 0.80 * width - (s.left + s.right) / 2 * scale)
    x = width * (1 - (0.0 if s.at_outer else _MARGIN)) - s.right * scale
    room = (1 - 2 * _MARGIN - edge if edge else 0.47) * width - wide
    return x - room / 2 if room > 0 else x


def _by_face(
    s: _Shown, face: tuple[float, float, float, float], fills: bool, centre: float, width: int, height: int
) -> Lie:
    """The face at its height, its eyes a little above the middle, its crown under the canvas's top."""
    scale = _FACE * height / face[3]
    if fills:
        wanted = max(height / s.h, 2 * (width - centre) / s.w)  # the photo's edges outside the canvas, if that can be
        scale = max(scale, min(wanted, _FACE_MOST * height / face[3]))
    y = _EYES * height - (face[1] + _EYE_LINE * face[3]) * scale
    air = s.crown * scale + y
    if air < _AIR * height and not s.at_top:
        y += _AIR * height - air
    if scale * s.h >= height:
        if 0.01 * height <= s.crown * scale <= 0.09 * height or s.at_top:
            y = 0.0  # the head keeps its air with the photo's top at the canvas's: no ground has to be made up
        y = max(y, height - scale * s.h) if y <= 0 else y
    if s.stands and s.foot * scale + y < height:
        y = height - s.foot * scale
    return Lie(scale, centre - (face[0] + face[2] / 2) * scale, y)


def _in_window(s: _Shown, window: tuple[float, float, float, float]) -> Lie:
    """The hero behind a print's window: it fills that, the subject in its middle, a face in its upper half."""
    left, top, right, foot = window
    wide, high = right - left, foot - top
    scale = max(wide / s.w, high / s.h)
    if s.face:
        scale = max(scale, min(0.40 * high / s.face[3], 0.55 * wide / s.face[2]))
        x = (left + right) / 2 - (s.face[0] + s.face[2] / 2) * scale
        y = top + max(0.40 * high - (s.face[1] + _EYE_LINE * s.face[3]) * scale, 0.04 * high - s.crown * scale)
    else:
        scale = max(scale, min(0.92 * high / s.high, 0.92 * wide / s.wide))
        x = (left + right) / 2 - (s.left + s.right) / 2 * scale
        y = (top + foot) / 2 - (s.top + s.high / 2) * scale
        if s.high * scale > 0.92 * high:
            y = top + 0.04 * high - s.top * scale
    return Lie(scale, min(max(x, right - s.w * scale), left), min(max(y, foot - s.h * scale), top))


def subject_shape(subject: Subject, ratio: float) -> float:
    """Width of the subject for its height, in a hero of this ratio; of the whole hero where there is none."""
    _, _, w, h = subject.box or (0.0, 0.0, 1.0, 1.0)
    return ratio * w / h


def card_window(free: Free, shape: float, width: int, height: int) -> tuple[float, float, float, float]:
    """Left, top, right and foot of the print of `card`, before it is turned: upright, or lying for a wide subject.
    `shape` is the subject's width for its height."""
    if free.across:
        ratio, lean, room = min(max(shape, 1.0), 1.7), radians(abs(PLATE_TILT)), floor_of(free, height) - 0.04 * height
        high = (room - 2 * RIM * width / 1280) / (cos(lean) + ratio * sin(lean))  # turned it is as high as the room
        middle = 0.02 * height + room / 2
        return width / 2 - high * ratio / 2, middle - high / 2, width / 2 + high * ratio / 2, middle + high / 2
    cx, cy, cw, ch = CARD[0] * width, CARD[1] * height, CARD[2] * width, CARD[3] * height
    left, right = cx - cw / 2, cx + cw / 2
    if free.panelled:
        left = max(left, (free.at / STEPS + 0.025) * width)
    ch = min(ch, (right - left) / min(max(shape, 0.6), 1.6))
    if free.side == "left":
        left, right = width - right, width - left
    return left, cy - ch / 2, right, cy + ch / 2


def _upper(shape: float) -> float:
    """Share of the height of what stands on the photo's foot that has to be seen: of a person the upper part, of what
    is about as wide as high, such as a head, nearly all."""
    return min(max(_UPPER, _UPPER + 0.9 * (shape - 0.6)), 1.0)


def _above(s: _Shown, look: str, free: Free, width: int, height: int) -> Lie:
    """Above words that lie across: the head, or the whole of an object, ends where they begin."""
    floor = floor_of(free, height)
    if look == "card":
        return _in_window(s, card_window(free, s.shape, width, height))
    top, room = _AIR * height, floor - 0.03 * height
    if s.face:
        room = floor - 0.05 * height  # letters have an outline
        chin = s.face[1] + s.face[3]
        wanted = _THIRD * height / s.face[3] * (chin - s.crown)
        room = max(room, min(wanted, _LOWEST_CHIN * height - top))  # words give way to a head with much hair
        scale = min(_FACE * height / s.face[3], room / max(chin - s.crown, 1.0))
        ends, middle = chin, s.face[0] + s.face[2] / 2
    else:
        upper = _UPPER if s.exact else _upper(s.shape)
        ends = s.top + (upper if s.stands else 1.0) * s.high
        scale = min(room / (ends - s.top), 0.86 * width / s.wide)
        middle = (s.left + s.right) / 2
    begins = s.crown if s.face else s.top
    if look != "cutout":
        covers = max(width / s.w, height / s.h)
        if covers * (ends - begins) <= room:
            scale = max(scale, covers)
    y = top + (room - (ends - begins) * scale) / 2 - begins * scale
    if y > 0 and (s.at_top or look != "cutout") and ends * scale <= floor:
        y = 0.0  # no ground has to be made up above the photo
    if look == "cutout" and s.stands and s.foot * scale + y < height:
        y = min(height - s.foot * scale, floor - 0.01 * height - ends * scale)
    x = width / 2 - middle * scale
    if look != "cutout" and s.w * scale >= width:
        aside = _ASIDE * width
        x = min(max(min(max(x, width - s.w * scale), 0.0), x - aside), x + aside)
    return Lie(scale, x, y)
