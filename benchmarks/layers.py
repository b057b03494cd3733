"""What finishing one picture of a template of ten elements costs beside a bare script that draws the same ten: the same
files in, the same steps. The script knows colours, sizes and line breaks beforehand; it measures and judges nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, ceil, cos, hypot, sin
from pathlib import Path

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from benchmarks.clock import take_turns, timed
from benchmarks.figure import Figure, at_most, seconds
from benchmarks.finalise import BARE, art_of, grown, middle, text_mask
from benchmarks.sample import scratch
from thumbforge import models
from thumbforge.imaging import encode
from thumbforge.imaging.finalise import Drawing, finalise
from thumbforge.imaging.userfiles import picture_file
from thumbforge.layers import Layers

ROUNDS = 31
WIDTH, HEIGHT = 1920, 1080
SHARE = WIDTH / 1280
INK, PAPER, RED, YELLOW, DARK = (16, 16, 20), (255, 255, 255), (174, 12, 32), (255, 224, 20), (5, 6, 10)
TITLE, NUMBER, LABEL, TAG = ("SELECT ROWS", "BY POSITION"), ("7",), ("PANDAS IN SHORT",), ("NEW",)
BAND = ((0, 470), (760, 470), (700, 640), (0, 640))
DISC, INSET, ARROW, RULE = (64, 60, 190, 190), (830, 90, 250, 250), ((300, 150), (560, 220)), ((64, 676), (500, 676))
TEXTS = {"title": "\n".join(TITLE), "number": NUMBER[0], "label": LABEL[0], "tag": TAG[0]}
_SMOOTH = 3


def _box(box: Sequence[int]) -> dict[str, int]:
    return dict(zip("xywh", box, strict=True))


LAYOUT = Layers.model_validate(
    {
        "colors": {"ink": "#101014", "paper": "#FFFFFF", "red": "#AE0C20", "yellow": "#FFE014", "dark": "#05060A"},
        "shapes": {
            "shade": {
                "kind": "rectangle",
                "box": _box((0, 0, 1000, 720)),
                "fill": {"linear": 0, "stops": [{"color": "dark", "opacity": 0.9}, {"color": "dark", "opacity": 0}]},
            },
            "band": {"kind": "polygon", "points": BAND, "fill": "red", "shadow": {"y": 8, "blur": 24}},
            "disc": {"kind": "circle", "box": _box(DISC), "fill": "yellow", "stroke": {"width": 8, "color": "paper"}},
            "arrow": {"kind": "arrow", "points": ARROW, "width": 18, "fill": "yellow"},
            "rule": {"kind": "line", "points": RULE, "width": 10, "fill": "paper"},
        },
        "images": {
            "inset": {"source": "picture", "box": _box(INSET), "corner": 40, "stroke": {"width": 8, "color": "paper"}}
        },
        "texts": {
            "title": {
                "text": "{{ text }}",
                "box": _box((64, 270, 720, 190)),
                "size": 92,
                "max_lines": 2,
                "line_height": 1.04,
                "fill": "paper",
                "stroke": {"width": 5, "color": "ink"},
                "shadow": {"x": 3, "y": 5, "blur": 10},
            },
            "number": {"text": "7", "box": _box((74, 80, 170, 150)), "size": 150, "align": "center", "fill": "ink"},
            "label": {
                "text": "label",
                "box": _box((64, 500, 600, 110)),
                "size": 64,
                "letterspacing": 0.06,
                "fill": "paper",
            },
            "tag": {
                "text": "tag",
                "box": _box((300, 60, 200, 60)),
                "size": 48,
                "fill": "ink",
                "plate": {"fill": "yellow", "corner": 12},
                "fine_print": True,
            },
        },
        "order": ["shade", "band", "disc", "arrow", "rule", "inset", "title", "number", "label", "tag"],
    }
)


def measure(*, quick: bool = False) -> list[Figure]:
    art = art_of(scratch() / "layers.jpg", "#10141C")
    inset = scratch() / "inset.png"
    Image.linear_gradient("L").resize((600, 600)).convert("RGB").save(inset)
    output, picture = models.Output(width=WIDTH, height=HEIGHT), picture_file(inset)
    drawing = Drawing("", None, picture=picture, texts=tuple(TEXTS.items()))
    rounds = take_turns(
        {
            "ours": timed(lambda: finalise(art, LAYOUT, drawing, output, scratch() / "ours.jpg")),
            BARE: timed(lambda: _bare(art, inset, scratch() / "bare.jpg")),
        },
        5 if quick else ROUNDS,
    )
    return [
        Figure(
            letter="e",
            what=f"finalising a template of ten elements, {WIDTH}x{HEIGHT}",
            figure=f"{seconds(rounds.median('ours'))}, {BARE} {seconds(rounds.median(BARE))}",
            ratio=rounds.ratio("ours", BARE),
            of=BARE,
            target=at_most(1.3),
        )
    ]


# --- the bare script ----------------------------------------------------------------------------------------------


def _bare(art: Path, inset: Path, target: Path) -> None:
    picture = Image.open(art).convert("RGB")
    picture = picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS, box=middle(picture, WIDTH / HEIGHT))
    _shade(picture)
    _polygon(picture, BAND, RED, shadow=True)
    _disc(picture)
    _polygon(picture, _arrow(), YELLOW)
    (x0, y0), (x1, _) = RULE
    _polygon(picture, ((x0, y0 - 5), (x1, y0 - 5), (x1, y0 + 5), (x0, y0 + 5)), PAPER)
    _inset(picture, inset)
    _letters(picture, TITLE, 92, (64, 355), PAPER, outlined=True)
    _letters(picture, NUMBER, 150, (128, 220), INK)
    _letters(picture, LABEL, 64, (64, 580), PAPER)
    _plate(picture)
    _letters(picture, TAG, 48, (314, 110), INK)
    picture.save(target, "JPEG", quality=encode.BEST, subsampling=0, optimize=True, icc_profile=encode.srgb_profile())


def _shade(picture: Image.Image) -> None:
    ramp = Image.frombytes("L", (256, 1), bytes(round(230 * (1 - x / 255)) for x in range(256)))
    picture.paste(DARK, (0, 0), ramp.resize((round(1000 * SHARE), HEIGHT), Image.Resampling.BILINEAR))


def _polygon(
    picture: Image.Image, points: Sequence[tuple[float, float]], rgb: tuple[int, int, int], *, shadow: bool = False
) -> None:
    xs, ys = zip(*((x * SHARE, y * SHARE) for x, y in points), strict=True)
    left, top, right, foot = int(min(xs)), int(min(ys)), ceil(max(xs)), ceil(max(ys))
    large = Image.new("L", ((right - left) * _SMOOTH, (foot - top) * _SMOOTH))
    corners = [((x - left) * _SMOOTH, (y - top) * _SMOOTH) for x, y in zip(xs, ys, strict=True)]
    ImageDraw.Draw(large).polygon(corners, fill=255)
    mask = large.reduce(_SMOOTH)
    if shadow:
        _shadow(picture, mask, (left, top), 12, (0, 12))
    picture.paste(rgb, (left, top), mask)


def _shadow(picture: Image.Image, mask: Image.Image, at: tuple[int, int], blur: float, by: tuple[int, int]) -> None:
    pad = ceil(blur * SHARE * 3)
    room = Image.new("L", (mask.width + 2 * pad, mask.height + 2 * pad))
    room.paste(mask, (pad, pad))
    soft = room.reduce(4).filter(ImageFilter.GaussianBlur(blur * SHARE / 4)).point([round(x * 0.6) for x in range(256)])
    picture.paste((0, 0, 0), (at[0] - pad + by[0], at[1] - pad + by[1]), soft.resize(room.size))


def _arrow() -> list[tuple[float, float]]:
    (x0, y0), (x1, y1) = ARROW
    long, angle = hypot(x1 - x0, y1 - y0), atan2(y1 - y0, x1 - x0)
    flat = ((0, -9), (long - 54, -9), (long - 54, -23), (long, 0), (long - 54, 23), (long - 54, 9), (0, 9))
    return [(x0 + x * cos(angle) - y * sin(angle), y0 + x * sin(angle) + y * cos(angle)) for x, y in flat]


def _disc(picture: Image.Image) -> None:
    x, y, w, _ = (side * SHARE for side in DISC)
    for grow, rgb in ((8 * SHARE, PAPER), (0, YELLOW)):
        side = round(w + 2 * grow)
        large = Image.new("L", (side * _SMOOTH, side * _SMOOTH))
        ImageDraw.Draw(large).ellipse((0, 0, large.width - 1, large.height - 1), fill=255)
        picture.paste(rgb, (round(x - grow), round(y - grow)), large.reduce(_SMOOTH))


def _inset(picture: Image.Image, file: Path) -> None:
    x, y, w, h = (round(side * SHARE) for side in INSET)
    photo = Image.open(file).convert("RGB").resize((w, h), Image.Resampling.LANCZOS)
    edge = round(8 * SHARE)
    picture.paste(PAPER, (x - edge, y - edge), _rounded((w + 2 * edge, h + 2 * edge), 48))
    picture.paste(photo, (x, y), _rounded((w, h), 40))


def _plate(picture: Image.Image) -> None:
    picture.paste(
        YELLOW, (round(300 * SHARE), round(60 * SHARE)), _rounded((round(110 * SHARE), round(60 * SHARE)), 12)
    )


def _rounded(size: tuple[int, int], corner: float) -> Image.Image:
    large = Image.new("L", (size[0] * _SMOOTH, size[1] * _SMOOTH))
    box = (0, 0, large.width - 1, large.height - 1)
    ImageDraw.Draw(large).rounded_rectangle(box, corner * SHARE * _SMOOTH, fill=255)
    return large.reduce(_SMOOTH)


def _letters(
    picture: Image.Image,
    lines: tuple[str, ...],
    size: float,
    pen: tuple[float, float],
    rgb: tuple[int, int, int],
    *,
    outlined: bool = False,
) -> None:
    mask, at = text_mask(lines, size * SHARE, (pen[0] * SHARE, pen[1] * SHARE))
    if outlined:
        outline = grown(mask, 5 * SHARE)
        _shadow(picture, outline, at, 5, (round(3 * SHARE), round(5 * SHARE)))
        picture.paste(INK, at, ImageChops.lighter(outline, mask))
    picture.paste(rgb, at, mask)
