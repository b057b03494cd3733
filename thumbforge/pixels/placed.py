"""The subject on the canvas: what a look paints and what the finaliser keeps words away from, reckoned the same way in
both from hero, mask, subject, look, free side and painter number. Nothing of it is stored beside the art.

Lengths are pixels of the canvas that was asked for.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from functools import lru_cache

from PIL import Image, ImageChops, ImageDraw

from thumbforge.pixels import masks, placing
from thumbforge.pixels.heroes import HeroPicture, open_hero
from thumbforge.pixels.placing import EDGE, LEAN, PLATE_TILT, RIM, TILT, Lie, card_window, floor_of, subject_shape
from thumbforge.pixels.scene import Scene
from thumbforge.pixels.sides import Free
from thumbforge.pixels.subject import Subject, crown

GAP = 26
"""Pixels of 1280 that words keep from a subject."""
_CHIN, _BODY = 0.10, 0.07
"""Below the chin and a tenth of a face a body gives way to words, by this share of the width."""
_SEEN = 110
_PHOTO_FROM, _PHOTO_TO, _TONED = 0.30, 0.46, 0.19
_BELOW_CHIN = 0.032
_ROWS, _COLUMNS = 90, 160
_FADE = 0.11
_LEAST_ROOM = 0.36
_SIDE_TO_SIDE, _LIES, _FILLS = 0.85, 1.2, 0.7
"""Share of the hero's width from which a subject lies from side to side, if it is so much wider than high; and share of
its height from which one that both sides cut does."""
_BICUBIC = Image.Resampling.BICUBIC

PxBox = tuple[float, float, float, float]
"""Left, top, right, bottom; it may reach beyond the canvas."""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """`photo`, `box` and `face` are where hero, subject and face lie; `box` is None for a hero without a subject.
    `head` is the crown's y. `whole` is the subject's area in pixels, shown or not. `look` is never "auto"."""

    width: int
    height: int
    look: str
    free: Free
    lie: Lie
    subject: Subject
    photo: PxBox
    box: PxBox | None
    face: PxBox | None
    head: float
    whole: float
    _kept: dict[object, Image.Image] = field(default_factory=dict, repr=False)
    _rooms: list[float] = field(default_factory=list, repr=False)
    _making: threading.RLock = field(default_factory=threading.RLock, repr=False)

    @property
    def exact(self) -> bool:
        """The mask is the subject's own shape, not a box: letters may pass behind it."""
        return self.subject.mask is not None

    @property
    def window(self) -> PxBox:
        """Where `card` shows the hero, before it is turned."""
        left, top, right, foot = self.photo
        shape = subject_shape(self.subject, (right - left) / max(foot - top, 1.0))
        return card_window(self.free, shape, self.width, self.height)

    def mask(self, width: int, height: int) -> Image.Image:
        """The subject as it is shown (L, 255 is subject), at this size; 0 where the look hides it."""
        with self._making:
            if (width, height) not in self._kept:
                small = self._drawn(width, height)
                self._kept[width, height] = ImageChops.multiply(small, _window(self, width, height))
            return self._kept[width, height]

    def taken(self, width: int, height: int) -> Image.Image:
        """What is no ground, at this size (L): the subject, or the whole print of `card`."""
        if self.look == "card":
            return self.spared().resize((width, height), Image.Resampling.BOX, reducing_gap=2.0)
        return self.mask(width, height)

    def words_end(self, top: float, bottom: float) -> float:
        """Where words between these heights must end, if the subject is at the right; where they must begin, if it is
        at the left. Where words lie across, the canvas's edge."""
        if self.free.across:
            return float(self.width)
        if not self._rooms:
            rooms = [self._room(row) for row in range(_ROWS)]
            self._rooms.extend(rooms)
        first, last = (min(max(int(y / self.height * _ROWS), 0), _ROWS - 1) for y in (top, bottom))
        inwards = min(self._rooms[first : last + 1])
        return self.width - inwards if self.free.side == "left" else inwards

    def words_top(self) -> float:
        """Where words that lie across begin at the highest; 0 where they stand beside the subject."""
        if not self.free.across:
            return 0.0
        layout = self.free.at / 24 * self.height
        if self.look == "card":
            return max(layout, floor_of(self.free, self.height))
        if self.face:
            return max(layout, min(self.face[3] + _BELOW_CHIN * self.height, 0.6 * self.height))
        return max(layout, min(floor_of(self.free, self.height), (self.box or self.photo)[3]))

    def spared(self) -> Image.Image:
        """White (L) where the subject stands and no word does, black where words stand, a soft step between: where no
        scrim of a layout darkens the picture. Do not change it."""
        with self._making:
            if "spared" not in self._kept:
                self._kept["spared"] = self._spared()
            return self._kept["spared"]

    def _spared(self) -> Image.Image:
        size = self.width, self.height
        if self.look == "card":
            return print_shape(self)
        if self.box is None:
            return Image.new("L", size)
        if self.free.across:
            top = self.words_top() / self.height
            ramp = [1 - masks.smooth(top - 0.04, top + 0.10, (y + 0.5) / _ROWS) for y in range(_ROWS)]
            return Image.frombytes("L", (1, _ROWS), bytes(round(255 * v) for v in ramp)).resize(size, _BICUBIC)
        end = self.words_end(0, self.height) / self.width
        end = 1 - end if self.free.side == "left" else end
        ramp = [masks.smooth(end - 0.02, end + 0.10, (x + 0.5) / _COLUMNS) for x in range(_COLUMNS)]
        ramp = ramp[::-1] if self.free.side == "left" else ramp
        return Image.frombytes("L", (_COLUMNS, 1), bytes(round(255 * v) for v in ramp)).resize(size, _BICUBIC)

    def _drawn(self, width: int, height: int) -> Image.Image:
        """The subject's shape over the whole canvas, fading where the photo's own edge cuts it inside the canvas."""
        share = width / self.width
        whole = Image.new("L", (width, height))
        if self.box is None:
            return whole
        if self.subject.mask is None:
            box = [round(side * share) for side in self.box]
            ImageDraw.Draw(whole).rectangle((box[0], box[1], box[2] - 1, box[3] - 1), fill=255)
            return whole
        out, source = visible(self.lie, self.subject.mask.size, self.width, self.height, share)
        part = self.subject.mask.resize((out[2] - out[0], out[3] - out[1]), Image.Resampling.BICUBIC, box=source)
        whole.paste(part, out[:2])
        faded = fade(part, out, width, height)
        return ImageChops.multiply(whole, faded) if faded else whole

    def _room(self, row: int) -> float:
        """How far words may reach in one of 90 rows, reckoned for a subject at the right."""
        u, w = self.width / 1280, self.width
        y = (row + 0.5) / _ROWS
        if self.look == "split" and not self.free.panelled:
            return (EDGE + LEAN * (1 - 2 * y) - 0.018) * w - 28 * u
        if self.look == "card":
            left, _, right, _ = self.window
            return (w - right if self.free.side == "left" else left) - 0.04 * w - 28 * u
        first = self._first(row)
        if self.face:
            near = w - self.face[2] if self.free.side == "left" else self.face[0]
            if y * self.height > self.face[3] + _CHIN * (self.face[3] - self.face[1]):
                first = max(first, min(first + _BODY * w, near - GAP * u))
        room = first - GAP * u
        if self.look == "photo":
            room = min(room, (toned_from(self) + _TONED) * w)
        return max(room, _LEAST_ROOM * w)

    def _first(self, row: int) -> float:
        """The first pixel of the subject in a row, counted from the words' side."""
        if self.box is None:
            return float(self.width)
        small = self.mask(_COLUMNS, _ROWS)
        line = small.crop((0, row, _COLUMNS, row + 1)).tobytes()
        line = line[::-1] if self.free.side == "left" else line
        first = next((x for x, level in enumerate(line) if level > _SEEN), _COLUMNS)
        return first * self.width / _COLUMNS


def staged(scene: Scene, width: int, height: int) -> Placed | None:
    """The scene's subject on a canvas of this size; None where the scene has no hero. Kept for the series.

    Raises PictureError as `open_hero` does.
    """
    hero = open_hero(scene, width, height)
    return None if hero is None else place(hero, scene.look, scene.free, width, height)


@lru_cache(maxsize=4)
def place(hero: HeroPicture, look: str, free: Free, width: int, height: int) -> Placed:
    """The hero's subject where this look has it; `look` may be "auto"."""
    look = drawn_as(chosen_look(hero, free).look if look == "auto" else look, hero, free)
    subject, size = hero.subject, hero.rgb.size
    at = placing.lie(subject, size, look, free, width, height)
    photo = (at.x, at.y, at.x + size[0] * at.scale, at.y + size[1] * at.scale)
    box = _on_canvas(subject.box, photo)
    whole = 0.0
    if box:
        whole = (box[2] - box[0]) * (box[3] - box[1])
    if subject.mask is not None:
        whole = masks.weight(subject.mask) * at.scale**2
    head = photo[1] + crown(subject) * (photo[3] - photo[1])
    return Placed(width, height, look, free, at, subject, photo, box, _on_canvas(subject.face, photo), head, whole)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The look that `auto` takes, and why, in a reader's words."""

    look: str
    why: str

    def __str__(self) -> str:
        return f"{self.look} ({self.why})"


def chosen_look(hero: HeroPicture, free: Free) -> Chosen:
    """What `auto` takes: the first of cutout, split, photo and card that suits the hero."""
    subject = hero.subject
    words = "right" if free.side == "left" else "left"
    cut = bool(subject.cut & ({"top"} if free.across else {"top", words}))
    if not hero.has_ground:
        return Chosen("cutout", "the picture is transparent")
    if subject.kind == "masked" and not cut:
        return Chosen("cutout", "mask found")
    if subject.kind == "none":
        return Chosen("card", "a slide or a screenshot" if hero.flat else "no subject stands out")
    if _spans(subject, hero.rgb.width / hero.rgb.height):
        return Chosen("card", "the subject reaches from side to side")
    if _under_panel(hero, free):
        return Chosen("card", "it would reach under the template's panel")
    if subject.face and subject.face[3] >= 0.5:
        return Chosen("split", "the face fills the picture")
    if cut and subject.kind != "found":
        return Chosen("split", "the picture's edge cuts the subject")
    return Chosen("photo", "subject found, no mask" if subject.kind == "found" else "subject known, no mask")


def _spans(subject: Subject, ratio: float) -> bool:
    """A group, a skyline, a texture: from side to side, so that no free side would be left."""
    if subject.face or subject.box is None:
        return False
    lies = subject.box[2] >= _SIDE_TO_SIDE and subject_shape(subject, ratio) >= _LIES
    return lies or ({"left", "right"} <= subject.cut and subject.box[3] > _FILLS)


def _under_panel(hero: HeroPicture, free: Free) -> bool:
    """At the canvas's height the subject would reach under the layout's own panel."""
    face = hero.subject.face
    if not free.panelled or (face and face[3] < 0.5):
        return False
    shape = subject_shape(hero.subject, hero.rgb.width / hero.rgb.height)
    return 0.9 * shape * 9 / 16 > 1 - free.at / 24


def drawn_as(look: str, hero: HeroPicture, free: Free) -> str:
    """The look that is drawn for the look that is asked for: no second edge beside a layout's own panel, or through
    words that lie across; a subject without a photo around it is a cut-out in every look that would show one; one
    without a mask cannot be cut out."""
    if look == "cutout" and hero.subject.mask is None:
        look = "photo" if hero.subject.kind != "none" else "card"
    if look in ("photo", "split", "card") and not hero.has_ground:
        return "cutout"
    filled = look == "cutout" and {"top", "foot"} <= hero.subject.cut
    if hero.has_ground and (filled or look in ("photo", "split")) and _under_panel(hero, free):
        return "card"
    return "photo" if look == "split" and (free.panelled or free.across) else look


def toned_from(placed: Placed) -> float:
    """Where `photo` begins to turn from the toned ground to the picture, as a share of the width from the words'
    side."""
    w, flip = placed.width, placed.free.side == "left"
    if placed.face:
        start = (w - placed.face[2] if flip else placed.face[0]) / w - 0.30
    else:
        start = (w - placed.photo[2] if flip else placed.photo[0]) / w
    start = min(max(start, _PHOTO_FROM), _PHOTO_TO)
    if not placed.exact and placed.box:
        near = w - placed.box[2] if flip else placed.box[0]
        start = min(start, max(near / w - 0.10, 0.16))
    return start


def visible(
    at: Lie, hero: tuple[int, int], width: int, height: int, share: float = 1.0
) -> tuple[tuple[int, int, int, int], PxBox]:
    """The part of the canvas that the hero covers, in pixels of a canvas `share` times as large, and the part of the
    hero that is seen there, in its own pixels."""
    scale, x, y = at.scale * share, at.x * share, at.y * share
    w, h = round(width * share), round(height * share)
    left, top = max(round(max(x, 0)), 0), max(round(max(y, 0)), 0)
    right = max(min(round(x + hero[0] * scale), w), left + 1)
    foot = max(min(round(y + hero[1] * scale), h), top + 1)
    source = (left - x) / scale, (top - y) / scale, (right - x) / scale, (foot - y) / scale
    inside = (
        min(max(source[0], 0.0), hero[0] - 1.0),
        min(max(source[1], 0.0), hero[1] - 1.0),
        min(source[2], float(hero[0])),
        min(source[3], float(hero[1])),
    )
    return (left, top, right, foot), (
        inside[0],
        inside[1],
        max(inside[2], inside[0] + 1),
        max(inside[3], inside[1] + 1),
    )


def fade(part: Image.Image, out: tuple[int, int, int, int], width: int, height: int) -> Image.Image | None:
    """A ramp where the photo's own side cuts the subject inside the canvas; None where nothing is cut so. `part` is
    the mask as far as it is seen, `out` its place."""
    far = max(round(_FADE * height), 1)
    whole: Image.Image | None = None
    sides: tuple[tuple[str, bool, tuple[int, int, int, int]], ...] = (
        ("left", out[0] > 2, (0, 0, min(3, part.width), part.height)),
        ("right", out[2] < width - 2, (max(part.width - 3, 0), 0, part.width, part.height)),
    )
    for side, inside, line in sides:
        if not inside or not masks.holds_any(part.crop(line)):
            continue
        ramp = bytes(
            round(255 * masks.smooth(0, far, (x - out[0] if side == "left" else out[2] - x) + 0.5))
            for x in range(width)
        )
        layer = Image.frombytes("L", (width, 1), ramp).resize((width, height))
        whole = layer if whole is None else ImageChops.multiply(whole, layer)
    return whole


def _on_canvas(shares: tuple[float, float, float, float] | None, photo: PxBox) -> PxBox | None:
    if shares is None:
        return None
    x, y, w, h = shares
    wide, high = photo[2] - photo[0], photo[3] - photo[1]
    return photo[0] + x * wide, photo[1] + y * high, photo[0] + (x + w) * wide, photo[1] + (y + h) * high


def _window(placed: Placed, width: int, height: int) -> Image.Image:
    """White where the look shows the hero."""
    if placed.look == "split":
        return split_window(placed, width, height)
    if placed.look == "card":
        return card_shape(placed, width, height)
    return Image.new("L", (width, height), 255)


def split_window(placed: Placed, width: int, height: int) -> Image.Image:
    """White beyond the slanted edge."""
    return slanted(width, height, 0.0, 2.0, flip=placed.free.side == "left")


def slanted(width: int, height: int, start: float, end: float, *, flip: bool) -> Image.Image:
    """White from `start` to `end` (shares of the width) beyond the edge of `split`, with smooth sides."""
    large = Image.new("L", (width * 2, height * 2))
    corners = ((EDGE + LEAN + start, 0), (EDGE + LEAN + end, 0), (EDGE - LEAN + end, 1), (EDGE - LEAN + start, 1))
    points = [((1 - x if flip else x) * large.width, y * large.height) for x, y in corners]
    ImageDraw.Draw(large).polygon(points, fill=255)
    return large.reduce(2)


def print_shape(placed: Placed) -> Image.Image:
    """White where the print of `card` lies with its rim and the plate behind it, as they are turned."""
    left, top, right, foot = placed.window
    rim, cx, cy = RIM * placed.width / 1280, (left + right) / 2, (top + foot) / 2
    x, y = (right - left) / 2 + rim, (foot - top) / 2 + rim
    whole = Image.new("L", (placed.width // 2, placed.height // 2))
    for tilt in (TILT, PLATE_TILT):
        turn = math.radians(-tilt if placed.free.side == "left" else tilt)
        cos, sin = math.cos(turn), math.sin(turn)
        corners = [(cx + a * cos + b * sin, cy + b * cos - a * sin) for a, b in ((-x, -y), (x, -y), (x, y), (-x, y))]
        ImageDraw.Draw(whole).polygon([(a / 2, b / 2) for a, b in corners], fill=255)
    return whole.resize((placed.width, placed.height), _BICUBIC)


def card_shape(placed: Placed, width: int, height: int) -> Image.Image:
    """White where the print of `card` shows the hero; it is turned a little, so its box is a little more."""
    share = width / placed.width
    box = [side * share for side in placed.window]
    whole = Image.new("L", (width, height))
    ImageDraw.Draw(whole).rectangle((box[0], box[1], box[2] - 1, box[3] - 1), fill=255)
    return whole
