"""What finalising one picture costs beside a bare script that draws the same: the same files in, the same steps.

The bare script decodes, fits, lays the layout's scrim, sets the same lines with the same outline and shadow, draws the
same badge, encodes the same JPEG. It knows colours, sizes and line breaks beforehand; it measures and judges nothing.
"""

from __future__ import annotations

import random
from math import ceil, cos, pi, sin
from pathlib import Path

import uharfbuzz
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from benchmarks.clock import take_turns, timed
from benchmarks.figure import Figure, Target, at_most, seconds
from benchmarks.sample import scratch
from thumbforge import models
from thumbforge.imaging import encode
from thumbforge.imaging.finalise import Drawing, finalise
from thumbforge.imaging.type import fonts
from thumbforge.specs.catalog import Catalog

ROUNDS = 31
BARE = "a bare script"
LINES, PART = ("SELECT ROWS", "BY POSITION"), "PART 7"
_SPACE, _LETTER, _STROKE = 64, 148, 0.05
"""Pixels of 1280x720: the margin, an em of the title; the outline in em. As the template series-parts has them."""
_REACH, _OPACITY = 0.85, 0.62
"""Of the scrim from the left."""
_BADGE = (64, 64, 96, 16)
"""Left, top, height, radius."""


def measure(*, quick: bool = False) -> list[Figure]:
    asked, bright = art_of(scratch() / "asked.jpg", "#10141C"), art_of(scratch() / "bright.jpg", "#E8E0C8")
    rounds = 5 if quick else ROUNDS
    return [
        _compare("1920x1080", asked, 1920, 1080, rounds, at_most(1.15)),
        _compare("1920x1080 where letters need a darker ground", bright, 1920, 1080, rounds),
        _compare("1280x720", asked, 1280, 720, rounds),
    ]


def _compare(what: str, art: Path, width: int, height: int, repeats: int, target: Target | None = None) -> Figure:
    layout = Catalog(scratch()).template("series-parts").layout
    output = models.Output(width=width, height=height)
    drawing = Drawing("\n".join(LINES), PART)
    rounds = take_turns(
        {
            "ours": timed(lambda: finalise(art, layout, drawing, output, scratch() / "ours.jpg")),
            BARE: timed(lambda: _bare(art, width, height, scratch() / "bare.jpg")),
        },
        repeats,
    )
    return Figure(
        letter="e",
        what=f"finalising one picture, {what}",
        figure=f"{seconds(rounds.median('ours'))}, {BARE} {seconds(rounds.median(BARE))}",
        ratio=rounds.ratio("ours", BARE),
        of=BARE,
        target=target,
    )


def art_of(path: Path, left: str) -> Path:
    """A noisy picture of the size that services give, as JPEG; its left half has this colour under the noise."""
    fading = Image.linear_gradient("L").rotate(90).resize((1376, 768))
    picture = Image.composite(Image.new("RGB", (1376, 768), "#D07040"), Image.new("RGB", (1376, 768), left), fading)
    blobs = Image.frombytes("RGB", (86, 48), random.Random(7).randbytes(86 * 48 * 3))
    picture = Image.blend(picture, blobs.resize(picture.size, Image.Resampling.BICUBIC), 0.25)
    grain = Image.frombytes("L", picture.size, random.Random(8).randbytes(1376 * 768))
    Image.blend(picture, Image.merge("RGB", (grain,) * 3), 0.12).save(path, quality=95)
    return path


# --- the bare script ----------------------------------------------------------------------------------------------


def _bare(art: Path, width: int, height: int, target: Path) -> None:
    picture = Image.open(art).convert("RGB")
    picture = picture.resize((width, height), Image.Resampling.LANCZOS, box=middle(picture, width / height))
    _scrim(picture)
    share = width / 1280
    size = _LETTER * share
    mask, at = text_mask(LINES, size, (_SPACE * share, 410 * share))
    outline = grown(mask, _STROKE * size)
    shadow = outline.reduce(4).filter(ImageFilter.GaussianBlur(0.05 * size / 4)).resize(mask.size)
    picture.paste((0, 0, 0), (at[0] + round(0.03 * size), at[1] + round(0.05 * size)), shadow)
    picture.paste((8, 8, 12), at, outline)
    picture.paste((255, 255, 255), at, mask)
    _badge(picture, share)
    picture.save(target, "JPEG", quality=encode.BEST, subsampling=0, optimize=True, icc_profile=encode.srgb_profile())


def middle(picture: Image.Image, ratio: float) -> tuple[float, float, float, float]:
    high = picture.width / ratio
    top = (picture.height - high) / 2
    return (0, top, picture.width, top + high) if top >= 0 else (0, 0, picture.width, picture.height)


def _scrim(picture: Image.Image) -> None:
    fading = [max(0.0, 1 - x / 255 / _REACH) for x in range(256)]
    ramp = Image.frombytes("L", (256, 1), bytes(round(255 * _OPACITY * x * x * (3 - 2 * x)) for x in fading))
    picture.paste((0, 0, 0), (0, 0), ramp.resize(picture.size, Image.Resampling.BICUBIC))


def _badge(picture: Image.Image, share: float) -> None:
    left, top, height, radius = (round(side * share) for side in _BADGE)
    mask, at = text_mask((PART,), 66 * share, (left + 0.24 * height, top + 0.8 * height))
    wide = mask.width + round(0.3 * height)
    large = Image.new("L", (wide * 4, height * 4))
    ImageDraw.Draw(large).rounded_rectangle((0, 0, wide * 4 - 1, height * 4 - 1), radius * 4, fill=255)
    picture.paste((255, 212, 0), (left, top), large.reduce(4))
    picture.paste((8, 8, 12), at, mask)


def text_mask(lines: tuple[str, ...], size: float, pen: tuple[float, float]) -> tuple[Image.Image, tuple[int, int]]:
    """The mask of some lines in Anton, each glyph drawn by HarfBuzz, and where its corner lies."""
    face = fonts.face("anton")
    pad, scale = ceil(size * 0.3), size / face.upem
    spots = [(*_glyph(gid, size), x, y) for gid, x, y in _placed(lines, face, scale, size)]
    wide = ceil(max(x + left + image.width for image, left, _, x, _ in spots)) + 2 * pad
    high = ceil(max(y + top + image.height for image, _, top, _, y in spots) + size) + 2 * pad
    mask = Image.new("L", (wide, high))
    for image, left, top, x, y in spots:
        mask.paste(255, (round(x) + left + pad, round(y + size) + top + pad), image)
    return mask, (round(pen[0]) - pad, round(pen[1] - size) - pad)


def _placed(lines: tuple[str, ...], face: fonts.Face, scale: float, size: float) -> list[tuple[int, float, float]]:
    placed: list[tuple[int, float, float]] = []
    for number, line in enumerate(lines):
        buffer = uharfbuzz.Buffer()
        buffer.add_str(line)
        buffer.guess_segment_properties()
        uharfbuzz.shape(face.hb, buffer)
        x = 0.0
        for info, position in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True):
            placed.append((info.codepoint, x, number * 1.1 * size))
            x += position.x_advance * scale
    return [spot for spot in placed if spot[0] != _space(face)]


def _space(face: fonts.Face) -> int | None:
    found: int | None = face.hb.get_nominal_glyph(32)
    return found


def _glyph(gid: int, size: float) -> tuple[Image.Image, int, int]:
    from thumbforge.imaging.type import glyphs

    found = glyphs.drawn("anton", gid, size, 0)
    assert found
    return found.image, found.left, found.top


def grown(mask: Image.Image, radius: float) -> Image.Image:
    for step in range(ceil(radius / 5)):
        grown = mask
        for corner in range(8):
            angle = step * pi / 4 / ceil(radius / 5) + corner * pi / 4
            share = radius / ceil(radius / 5)
            moved = ImageChops.offset(mask, round(cos(angle) * share), round(sin(angle) * share))
            grown = ImageChops.lighter(grown, moved)
        mask = grown
    return mask
