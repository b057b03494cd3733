"""Colour arithmetic, contrast and the scrim, on grounds that are hard to write on."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from thumbforge.imaging import contrast, draw
from thumbforge.pixels import colour

BYTE = st.integers(0, 255)
RGB = st.tuples(BYTE, BYTE, BYTE)


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ("#FFFFFF", "#000000", 21.00),
        ("#FFFF00", "#000000", 19.56),
        ("#FFD400", "#000000", 14.67),
        ("#FFFFFF", "#0000FF", 8.59),
        ("#FF0000", "#000000", 5.25),
        ("#FFFFFF", "#767676", 4.54),
        ("#FFFFFF", "#FF0000", 4.00),
        ("#FFFFFF", "#FF8C00", 2.33),
        ("#FFFFFF", "#FFFF00", 1.07),
        ("#FFFFFF", "#666666", 5.74),
    ],
)
def test_contrast_is_that_of_wcag(one: str, other: str, wanted: float) -> None:
    """Contrast ratios are those of WCAG 2.2."""
    tones = [colour.luminance(colour.from_hex(text)) for text in (one, other)]
    assert colour.ratio(*tones) == pytest.approx(wanted, abs=0.01)


@given(RGB)
def test_oklch_there_and_back_is_the_same_colour(rgb: colour.Rgb) -> None:
    """Every sRGB colour survives the way through OKLCH within one step."""
    again = colour.from_oklch(*colour.to_oklch(rgb))
    assert all(abs(one - other) <= 1 for one, other in zip(rgb, again, strict=True))


@given(st.floats(0, 360))
def test_dark_letters_are_readable_on_an_accent_of_any_hue(hue: float) -> None:
    """The accent's lightness carries near-black text at more than 12 to 1 whatever its hue."""
    accent = colour.from_oklch(colour.ACCENT_LIGHTNESS, 0.17, hue)
    assert colour.ratio(colour.luminance(accent), colour.luminance((16, 16, 20))) > 12


@pytest.mark.parametrize("tone", [(180, 20, 20), (20, 120, 40), (30, 40, 160)])
def test_the_accent_has_the_hue_of_the_picture(tone: colour.Rgb) -> None:
    """A picture's accent is light and of the picture's own hue."""
    light, _, hue = colour.to_oklch(colour.accent(Image.new("RGB", (640, 360), tone)))
    assert light == pytest.approx(colour.ACCENT_LIGHTNESS, abs=0.02)
    assert abs((hue - colour.to_oklch(tone)[2] + 180) % 360 - 180) < 8


@pytest.mark.parametrize("tone", [(180, 20, 20), (20, 120, 40), (30, 40, 160), (150, 140, 20), (128, 128, 128)])
def test_a_deep_tone_carries_white_letters(tone: colour.Rgb) -> None:
    """`auto-dark` is dark enough for white text at every hue, and keeps the hue where that is not mud."""
    deep = colour.Tones(Image.new("RGB", (640, 360), tone)).of("auto-dark")
    assert colour.ratio(1.0, colour.luminance(deep)) > 9
    light, chroma, hue = colour.to_oklch(deep)
    assert light == pytest.approx(0.27, abs=0.02)
    assert chroma < 0.04 or abs((hue - colour.to_oklch(tone)[2] + 180) % 360 - 180) < 12


def test_a_grey_picture_gets_a_warm_accent() -> None:
    """Where a picture has no hue, the accent is a warm yellow."""
    red, green, blue = colour.accent(Image.new("RGB", (640, 360), (90, 90, 90)))
    assert red > 200
    assert green > 180
    assert blue < 140


def noise() -> Image.Image:
    pixels = random.Random(7).randbytes(160 * 90 * 3)
    return Image.frombytes("RGB", (160, 90), pixels).resize((640, 360), Image.Resampling.NEAREST)


def halves() -> Image.Image:
    image = Image.new("RGB", (640, 360), "black")
    image.paste("white", (320, 0, 640, 360))
    return image


GROUNDS = {
    "white": Image.new("RGB", (640, 360), "white"),
    "black": Image.new("RGB", (640, 360), "black"),
    "grey": Image.new("RGB", (640, 360), "#777777"),
    "yellow": Image.new("RGB", (640, 360), "#FFE600"),
    "cyan": Image.new("RGB", (640, 360), "#00FFFF"),
    "red": Image.new("RGB", (640, 360), "#FF0000"),
    "noise": noise(),
    "halves": halves(),
}


def letters() -> Image.Image:
    mask = Image.new("L", (400, 120))
    for x in range(20, 380, 40):
        ImageDraw.Draw(mask).rectangle((x, 20, x + 18, 100), fill=255)
    return mask


def block(*colours: colour.Rgb, **more: object) -> contrast.Letters:
    return contrast.Letters(letters(), (100, 100), 60, 0.05, colours, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(GROUNDS))
@pytest.mark.parametrize("text", [(255, 255, 255), (16, 16, 20), (255, 214, 60)])
def test_the_scrim_makes_text_readable_on_every_ground(name: str, text: colour.Rgb) -> None:
    """After the scrim the ground at its worst place has a contrast of at least 4.5; without need it is not touched."""
    picture = GROUNDS[name].copy()
    needed = contrast.calm(picture, block(text))
    assert not needed.plate
    assert contrast.measured(picture, block(text)) >= contrast.ENOUGH
    assert needed.scrim <= 0.7
    assert (needed.scrim == 0) == (picture.tobytes() == GROUNDS[name].tobytes())
    assert picture.getpixel((630, 350)) == GROUNDS[name].getpixel((630, 350))


def test_one_bright_patch_is_enough_to_be_seen() -> None:
    """The worst place counts: a white spot of 1/100 of the ground makes the measure fail, and the scrim goes there."""
    picture = Image.new("RGB", (640, 360), "#101010")
    picture.paste("white", (300, 200, 316, 216))
    white = block((255, 255, 255))
    assert contrast.measured(picture, white) < 1.2
    needed = contrast.calm(picture, white)
    assert needed.scrim > 0.5
    assert contrast.measured(picture, white) >= contrast.ENOUGH
    assert picture.getpixel((120, 160)) == (16, 16, 16)


def test_where_a_scrim_would_be_a_cloud_a_plate_is_asked_for() -> None:
    """Red letters on mid grey would need an almost black cloud: nothing is laid, a plate is wanted."""
    picture = Image.new("RGB", (640, 360), "#808080")
    needed = contrast.calm(picture, block((230, 30, 30)))
    assert needed.plate
    assert needed.scrim == 0
    assert picture.getpixel((200, 150)) == (128, 128, 128)


def test_other_things_are_no_ground_of_a_text() -> None:
    """A bright badge beside the letters is left out of their ground; on a panel only the panel counts."""
    picture = Image.new("RGB", (640, 360), "black")
    picture.paste("white", (100, 208, 300, 300))
    white = (255, 255, 255)
    assert contrast.measured(picture, block(white)) < 1.2
    assert contrast.measured(picture, block(white, apart=((100, 208, 300, 300),))) > 15
    assert contrast.measured(picture, block(white, within=(60, 60, 580, 207))) > 15


def test_contrast_at_168x94_falls_with_thin_letters() -> None:
    """At the size of the sidebar the edges of letters mix with the ground: a hairline loses most of its contrast."""
    found = []
    for width in (2, 24):
        mask = Image.new("L", (400, 120))
        for x in range(20, 380, 60):
            ImageDraw.Draw(mask).rectangle((x, 20, x + width, 100), fill=255)
        picture = Image.new("RGB", (1280, 720), "black")
        picture.paste("white", (100, 100), mask)
        text = contrast.Letters(mask, (100, 100), 100, 0.0, ((255, 255, 255),))
        found.append(contrast.seen_small(picture.resize(contrast.TINY, Image.Resampling.BOX), text, picture.size))
    assert found[0] < 6 < 15 < found[1]


@pytest.mark.parametrize(("side", "dark", "kept"), [("left", (2, 180), (630, 180)), ("bottom", (320, 357), (320, 4))])
def test_a_scrim_comes_from_its_side(side: str, dark: tuple[int, int], kept: tuple[int, int]) -> None:
    """A shade has its full opacity at its side and none beyond its reach."""
    picture = Image.new("RGB", (640, 360), "white")
    contrast.shade(picture, side, 0.7, 0.6, (0, 0, 0))
    assert picture.getchannel("R").getpixel(dark) in range(115)
    assert picture.getpixel(kept) == (255, 255, 255)


@pytest.mark.parametrize("radius", [3, 9, 20])
def test_an_outline_is_round(radius: int) -> None:
    """A dot grows to a disk of the radius, within a pixel and a half in every direction."""
    dot = Image.new("L", (80, 80))
    dot.paste(255, (38, 38, 43, 43))
    left, top, right, bottom = draw.dilate(dot, radius).getbbox() or (0, 0, 0, 0)
    for side in (38 - left, 38 - top, right - 43, bottom - 43):
        assert abs(side - radius) <= 1.5
    diagonal = draw.dilate(dot, radius)
    reach = max(step for step in range(38) if diagonal.getpixel((40 + step, 40 + step)))
    assert abs((reach - 2) * 2**0.5 - radius) <= 2.5
