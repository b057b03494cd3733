"""Draws `pandas.jpg`, the bundled hero: a panda at its laptop before a low sun, bamboo that grows like a bar chart.
Beside it `pandas.mask.png`, which says what of it is the subject: the panda and its laptop, from their own layers.

    python specs/heroes/make_pandas.py [FILE]

The subject is in the right 45 % of 1920x1080 pixels, the left stays calm for a title. Coordinates are pixels of that
canvas; everything is drawn at three times the size and reduced, because ImageDraw has no antialiasing.
"""

from __future__ import annotations

import functools
import itertools
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from PIL import Image, ImageChops, ImageColor, ImageDraw, ImageFilter

WIDTH, HEIGHT, SCALE = 1920, 1080, 3
CANVAS = (WIDTH * SCALE, HEIGHT * SCALE)

SKY = ((0.0, "#14233f"), (0.34, "#2b3f63"), (0.58, "#8a5a72"), (0.76, "#e58a5f"), (1.0, "#f9c27a"))
SUN = ((0.0, "#ffdc94"), (1.0, "#ff9a5a"))
FUR = ((0.0, "#fffaf0"), (0.55, "#f6ead9"), (1.0, "#cdbfc4"))
COAT = ((0.0, "#2c3046"), (1.0, "#161a2b"))
INK, AMBER, CREAM, BLUSH, TEAL = "#171a29", "#ffb552", "#fff6e3", "#f08a77", "#2f8f86"

# fmt: off
BARS = ((930, 150), (1000, 235), (1070, 330), (1668, 480), (1738, 590), (1808, 520), (1878, 690))
LEAVES = (
    (976, 840, 92, -28, "#49a487"), (1046, 760, 100, -34, "#3a9180"), (1068, 668, 104, 205, "#49a487"),
    (1116, 662, 110, -38, "#5cb58e"), (1690, 520, 110, -60, "#49a487"), (1760, 410, 120, -135, "#5cb58e"),
    (1760, 408, 120, -48, "#3a9180"), (1880, 330, 130, -150, "#5cb58e"), (1890, 310, 110, -75, "#49a487"),
)
# fmt: on

Stops = Sequence[tuple[float, str]]
Point = tuple[float, float]
Place = Callable[[float, float], Point]


def scaled(points: Iterable[Point]) -> list[Point]:
    return [(x * SCALE, y * SCALE) for x, y in points]


def gradient(stops: Stops, top: float = 0, bottom: float = HEIGHT) -> Image.Image:
    """A vertical gradient over the canvas, whose stops are shares of the way from `top` to `bottom`."""
    column = Image.new("RGB", (1, CANVAS[1]))
    for y in range(CANVAS[1]):
        column.putpixel((0, y), colour_at(stops, (y / SCALE - top) / (bottom - top)))
    return column.resize(CANVAS)


def colour_at(stops: Stops, share: float) -> tuple[int, int, int]:
    share = min(max(share, stops[0][0]), stops[-1][0])
    (low, first), (high, second) = next(pair for pair in itertools.pairwise(stops) if share <= pair[1][0])
    part = (share - low) / (high - low)
    red, green, blue = (
        round(a + (b - a) * part)
        for a, b in zip(ImageColor.getrgb(first)[:3], ImageColor.getrgb(second)[:3], strict=True)
    )
    return red, green, blue


def blank() -> tuple[Image.Image, ImageDraw.ImageDraw]:
    mask = Image.new("L", CANVAS)
    return mask, ImageDraw.Draw(mask)


def ellipse(x: float, y: float, rx: float, ry: float, turn: float = 0) -> Image.Image:
    steps = (math.tau * step / 240 for step in range(240))
    return polygon(turned([(x + rx * math.cos(a), y + ry * math.sin(a)) for a in steps], (x, y), turn))


def superellipse(x: float, y: float, rx: float, ry: float, power: float, turn: float = 0) -> Image.Image:
    """Rounder than a box, fuller than an ellipse (power 2); heads and bodies look drawn rather than constructed."""

    def bent(value: float) -> float:
        return math.copysign(abs(value) ** (2 / power), value)

    steps = (math.tau * step / 360 for step in range(360))
    points = [(x + rx * bent(math.cos(a)), y + ry * bent(math.sin(a))) for a in steps]
    return polygon(turned(points, (x, y), turn))


def turned(points: Iterable[Point], about: Point, degrees: float) -> list[Point]:
    turn = complex(math.cos(math.radians(degrees)), math.sin(math.radians(degrees)))
    moved = [complex(*about) + turn * complex(x - about[0], y - about[1]) for x, y in points]
    return [(point.real, point.imag) for point in moved]


def polygon(points: Iterable[Point]) -> Image.Image:
    mask, draw = blank()
    draw.polygon(scaled(points), fill=255)
    return mask


def box(x: float, y: float, w: float, h: float, radius: float) -> Image.Image:
    mask, draw = blank()
    draw.rounded_rectangle(scaled([(x, y), (x + w, y + h)]), radius * SCALE, fill=255)
    return mask


def stroke(points: Sequence[Point], width: float) -> Image.Image:
    """A line with round joins and ends."""
    mask, draw = blank()
    draw.line(scaled(points), fill=255, width=round(width * SCALE))
    for x, y in points:
        draw.ellipse(scaled([(x - width / 2, y - width / 2), (x + width / 2, y + width / 2)]), fill=255)
    return mask


def curve(start: Point, pull: Point, end: Point, steps: int = 40) -> list[Point]:
    """A quadratic Bezier curve."""

    def along(axis: int, t: float) -> float:
        return (1 - t) ** 2 * start[axis] + 2 * t * (1 - t) * pull[axis] + t * t * end[axis]

    return [(along(0, step / steps), along(1, step / steps)) for step in range(steps + 1)]


def union(*masks: Image.Image) -> Image.Image:
    return functools.reduce(ImageChops.lighter, masks)


def shifted(mask: Image.Image, dx: float, dy: float) -> Image.Image:
    moved = Image.new("L", CANVAS)
    moved.paste(mask, (round(dx * SCALE), round(dy * SCALE)))
    return moved


def soft(mask: Image.Image, radius: float) -> Image.Image:
    """A blur, made on an eighth of the size: the same to the eye, 60 times faster."""
    small = mask.resize((CANVAS[0] // 8, CANVAS[1] // 8), Image.Resampling.BOX)
    return small.filter(ImageFilter.GaussianBlur(radius * SCALE / 8)).resize(CANVAS, Image.Resampling.BICUBIC)


def faded(mask: Image.Image, opacity: float) -> Image.Image:
    return mask.point([round(value * opacity) for value in range(256)])


class Scene:
    """The picture so far; every method lays something over it."""

    def __init__(self) -> None:
        self.picture = gradient(SKY, 0, 900)
        self.subject = Image.new("L", CANVAS)
        self.is_subject = False

    def fill(self, mask: Image.Image, colour: str | Image.Image, opacity: float = 1) -> None:
        self._lay(mask, colour, opacity)
        if self.is_subject:
            self.subject = ImageChops.lighter(self.subject, mask)

    def glow(self, mask: Image.Image, colour: str, radius: float, opacity: float) -> None:
        self._lay(soft(mask, radius), colour, opacity)

    def _lay(self, mask: Image.Image, colour: str | Image.Image, opacity: float) -> None:
        whole = colour if isinstance(colour, Image.Image) else Image.new("RGB", CANVAS, colour)
        self.picture.paste(whole, (0, 0), faded(mask, opacity))

    def shade(self, mask: Image.Image, by: Image.Image, colour: str, opacity: float) -> None:
        """Colour only what lies within both masks."""
        self.fill(ImageChops.multiply(mask, by), colour, opacity)

    def rim(self, mask: Image.Image, colour: str, dx: float, dy: float, blur: float, opacity: float) -> None:
        """Light on the edge that faces away from (dx, dy)."""
        inner = soft(shifted(mask, dx, dy), blur)
        self.fill(ImageChops.multiply(mask, ImageChops.invert(inner)), colour, opacity)


def ridge(base: float, heights: Sequence[float]) -> list[Point]:
    """A smooth skyline through evenly spread heights above `base`, from edge to edge."""
    step = WIDTH / (len(heights) - 1)
    line: list[Point] = []
    for x in range(0, WIDTH + 1, 8):
        left = min(int(x / step), len(heights) - 2)
        t = (1 - math.cos(math.pi * (x / step - left))) / 2
        line.append((x, base - heights[left] * (1 - t) - heights[left + 1] * t))
    return line


def sky_and_hills(scene: Scene) -> None:
    scene.glow(ellipse(0, 160, 900, 460), "#101c36", 240, 0.75)
    scene.glow(ellipse(1400, 500, 700, 520), "#e0637a", 200, 0.55)
    scene.glow(ellipse(1400, 560, 520, 420), "#ff9d63", 150, 0.70)
    scene.fill(ellipse(1400, 455, 540, 540), "#ffc9a0", 0.10)
    scene.fill(ellipse(1400, 455, 430, 430), "#ffd3a0", 0.20)
    scene.fill(ellipse(1400, 455, 330, 330), gradient(SUN, 125, 785))

    for y in range(150, 800, 108):
        scene.fill(stroke([(96, y), (880, y)], 2), CREAM, 0.05)
    for base, heights, top, bottom in (
        (830, (60, 150, 90, 210, 130, 250, 170, 90), "#7c5a78", "#b9746f"),
        (900, (120, 60, 150, 80, 190, 110, 60, 150), "#4a4768", "#75566f"),
        (990, (70, 130, 60, 110, 50, 90, 130, 70), "#26395a", "#2b3150"),
    ):
        mask = polygon([*ridge(base, heights), (WIDTH, HEIGHT), (0, HEIGHT)])
        scene.fill(mask, gradient(((0.0, top), (1.0, bottom)), base - max(heights), base + 90))
        scene.shade(mask, soft(ellipse(1400, base - 120, 560, 150), 90), "#ffb070", 0.28)
    for number, height in enumerate((60, 150, 90, 210, 130)):
        scene.fill(ellipse(number * WIDTH / 7, 830 - height, 9, 9), "#ffcf93", 0.85)


def bamboo(scene: Scene, x: float, height: float, width: float, dark: bool) -> None:
    """One stalk, which is one bar: segments with a light side, knots between."""
    foot, segment = 985.0, 118.0
    y = foot - height
    stalk = box(x, y, width, height + 60, 9)
    tones: Stops = ((0.0, "#3f9c83"), (1.0, "#1c5a63")) if not dark else ((0.0, "#2c7774"), (1.0, "#17475a"))
    scene.fill(stalk, gradient(tones, foot - 620, foot))
    scene.shade(stalk, box(x, y, width * 0.34, height + 60, 0), "#9fd6a4", 0.32)
    scene.shade(stalk, box(x + width * 0.72, y, width, height + 60, 0), "#0d2f44", 0.35)
    for knot in range(1, int(height / segment) + 1):
        level = foot - knot * segment
        if level > y + 20:
            scene.fill(box(x - 4, level, width + 8, 7, 3.5), "#c4e3a5", 0.75)
            scene.fill(box(x - 4, level + 7, width + 8, 6, 3), "#0d2f44", 0.45)


def leaf(scene: Scene, x: float, y: float, length: float, turn: float, colour: str) -> None:
    upper = curve((x, y), (x + length * 0.45, y - length * 0.24), (x + length, y))
    lower = curve((x + length, y), (x + length * 0.45, y + length * 0.16), (x, y))
    scene.fill(polygon(turned([*upper, *lower], (x, y), turn)), colour)
    scene.fill(stroke(turned([(x + 6, y), (x + length * 0.86, y - 2)], (x, y), turn), 2), "#d9efb4", 0.35)


def grove(scene: Scene) -> None:
    for number, (x, height) in enumerate(BARS):
        bamboo(scene, x, height, 46, dark=number % 2 == 1)
    for place in LEAVES:
        leaf(scene, *place)


def body(scene: Scene) -> None:
    torso = superellipse(1400, 1010, 330, 330, 2.4)
    coat = union(torso, ellipse(1130, 960, 120, 190, 24), ellipse(1670, 960, 120, 190, -24))
    scene.glow(coat, "#0c1226", 26, 0.5)
    scene.fill(coat, gradient(COAT, 700, 1060))
    for dx in (-5, 5):
        scene.rim(coat, "#ff9f63", dx, 7, 3, 0.62)


def head(scene: Scene, tilt: float = -5) -> None:
    def at(x: float, y: float) -> Point:
        return turned([(x, y)], (1400, 540), tilt)[0]

    for x in (1202, 1598):
        ear = ellipse(*at(x, 368), 92, 92)
        scene.fill(ear, gradient(COAT, 270, 470))
        scene.shade(ear, ellipse(*at(x + (12 if x < 1400 else -12), 386), 54, 54), "#4a4560", 0.9)
        scene.rim(ear, "#ffb873", 0, 7, 3, 0.85)

    face = superellipse(1400, 540, 282, 238, 2.35, tilt)
    scene.glow(shifted(face, 0, 26), "#0c1226", 22, 0.42)
    scene.fill(face, gradient(FUR, 310, 800))
    scene.shade(face, soft(ellipse(1400, 850, 330, 170), 40), "#8c7f9c", 0.42)
    scene.rim(face, "#fffdf2", 0, 14, 10, 0.9)
    for dx in (-14, 14):
        scene.rim(face, "#f2955e", dx, 0, 12, 0.38)
    for side in (-1, 1):
        patch = superellipse(*at(1400 + side * 122, 540), 78, 94, 2.1, tilt + side * 24)
        scene.fill(patch, gradient(COAT, 440, 640))
        scene.fill(soft(ellipse(*at(1400 + side * 186, 652), 46, 30), 10), BLUSH, 0.55)
        eye(scene, at(1400 + side * 112, 536))
    glasses(scene, at, tilt)
    muzzle(scene, at, tilt)


def eye(scene: Scene, centre: Point) -> None:
    x, y = centre
    scene.fill(ellipse(x, y, 39, 41), CREAM)
    scene.fill(ellipse(x - 3, y + 7, 30, 32), "#6b3f2a")
    scene.fill(ellipse(x - 3, y + 7, 22, 24), INK)
    scene.fill(ellipse(x + 7, y - 6, 10, 11), "#ffffff")
    scene.fill(ellipse(x - 12, y + 18, 5, 5), "#ffffff", 0.8)


def glasses(scene: Scene, at: Place, tilt: float) -> None:
    rims = []
    for side in (-1, 1):
        centre = at(1400 + side * 116, 540)
        outer = superellipse(*centre, 100, 98, 2.5, tilt)
        inner = superellipse(*centre, 88, 86, 2.5, tilt)
        x, y = centre
        glint = polygon([(x - 74, y - 96), (x - 34, y - 96), (x - 92, y + 96), (x - 132, y + 96)])
        scene.shade(inner, glint, "#ffffff", 0.13)
        rims.append(ImageChops.subtract(outer, inner))
    bridge = stroke(curve(at(1377, 520), at(1400, 500), at(1423, 520)), 12)
    temples = union(stroke([at(1186, 524), at(1126, 508)], 12), stroke([at(1614, 524), at(1674, 508)], 12))
    whole = union(*rims, bridge, temples)
    scene.glow(shifted(whole, 0, 7), "#1a1020", 5, 0.35)
    scene.fill(whole, gradient(((0.0, "#ffd27d"), (1.0, "#f0913f")), 440, 640))


def muzzle(scene: Scene, at: Place, tilt: float) -> None:
    scene.fill(soft(ellipse(*at(1400, 668), 104, 70), 16), "#fffdf6", 0.9)
    scene.fill(superellipse(*at(1400, 634), 40, 27, 2.4, tilt), INK)
    scene.fill(ellipse(*at(1388, 625), 14, 7), "#ffffff", 0.35)
    mouth = union(
        stroke([at(1400, 656), at(1400, 676)], 8),
        stroke(curve(at(1352, 680), at(1376, 712), at(1400, 676)), 8),
        stroke(curve(at(1400, 676), at(1424, 712), at(1448, 680)), 8),
    )
    scene.fill(mouth, INK)


def desk(scene: Scene) -> None:
    top = box(-40, 1018, WIDTH + 80, 120, 0)
    scene.glow(shifted(top, 0, -14), "#0b1022", 14, 0.5)
    scene.fill(top, gradient(((0.0, "#33263f"), (1.0, "#1a1429")), 1018, 1080))
    scene.fill(box(-40, 1018, WIDTH + 80, 5, 0), "#ffb873", 0.55)


def laptop(scene: Scene) -> None:
    lid = box(1150, 776, 500, 250, 26)
    scene.glow(shifted(lid, 0, -6), "#0c1226", 18, 0.5)
    scene.fill(lid, gradient(((0.0, "#3b5573"), (1.0, "#22324f")), 776, 1026))
    scene.rim(lid, "#ffe1a8", 0, 4, 1, 0.8)
    scene.fill(box(1110, 1014, 580, 22, 11), gradient(((0.0, "#56708c"), (1.0, "#2a3a58")), 1014, 1036))
    for x, height, colour in ((1322, 46, TEAL), (1364, 76, "#58b090"), (1406, 60, "#f4d58a"), (1448, 104, AMBER)):
        scene.fill(box(x, 956 - height, 30, height, 7), colour)
    scene.fill(box(1312, 962, 176, 6, 3), CREAM, 0.65)
    for x in (1160, 1640):
        paw = superellipse(x, 985, 66, 52, 2.4)
        scene.glow(shifted(paw, 0, 8), "#0c1226", 8, 0.5)
        scene.fill(paw, gradient(COAT, 920, 1040))
        scene.rim(paw, "#ff9f63", 0, 6, 3, 0.6)


def cup(scene: Scene) -> None:
    for x, y, length, turn in ((985, 930, 70, -112), (1000, 930, 84, -78), (1016, 934, 66, -48)):
        leaf(scene, x, y, length, turn, "#5cb58e")
    scene.fill(box(962, 930, 78, 96, 16), gradient(((0.0, "#f7e3c4"), (1.0, "#c99a86")), 930, 1026))
    scene.shade(box(962, 930, 78, 96, 16), box(1014, 920, 40, 120, 0), "#5a3550", 0.25)


def paint() -> tuple[Image.Image, Image.Image]:
    """The picture, and the mask of its subject; the desk hides the foot of the coat, not the laptop on it."""
    scene = Scene()
    sky_and_hills(scene)
    grove(scene)
    scene.is_subject = True
    body(scene)
    head(scene)
    scene.is_subject = False
    desk(scene)
    scene.is_subject = True
    laptop(scene)
    scene.is_subject = False
    cup(scene)
    size = (WIDTH, HEIGHT)
    return scene.picture.resize(size, Image.Resampling.LANCZOS), scene.subject.resize(size, Image.Resampling.LANCZOS)


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("pandas.jpg")
    picture, mask = paint()
    picture.save(target, "JPEG", quality=93, subsampling=0, optimize=True)
    mask.save(target.with_name(f"{target.stem}.mask.png"), optimize=True)


if __name__ == "__main__":
    main()
