"""Colour arithmetic, accents, contrast and what helps it, on grounds that are hard to write on."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from thumbforge.imaging import contrast, draw, ground, patches, slots, tones
from thumbforge.imaging.surfaces import Surfaces
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
    luminances = [colour.luminance(colour.from_hex(text)) for text in (one, other)]
    assert colour.ratio(*luminances) == pytest.approx(wanted, abs=0.01)


@given(RGB)
def test_oklch_there_and_back_is_the_same_colour(rgb: colour.Rgb) -> None:
    """Every sRGB colour survives the way through OKLCH within one step."""
    again = colour.from_oklch(*colour.to_oklch(rgb))
    assert all(abs(one - other) <= 1 for one, other in zip(rgb, again, strict=True))


@given(st.integers(0, 359), st.floats(0, 1), st.booleans())
def test_an_accent_can_be_read_on_any_ground(hue: int, ground: float, own: bool) -> None:
    """Whatever hue and ground, the accent has 4.5: on a ground that help makes dark enough for white, or on a bright
    one; it is never pale."""
    found = tones.accent(hue, ground, own=own)
    stands_on = ground if ground > tones.BRIGHT else min(ground, tones.DARK)
    assert colour.ratio(colour.luminance(found), stands_on) >= 4.5
    assert colour.to_oklch(found)[1] >= 0.14 or found == tones.shade(hue)


@pytest.mark.parametrize(
    ("hue", "light"),
    [(146, (0, 255, 86)), (168, (0, 252, 193)), (338, (255, 146, 225)), (8, tones.YELLOW), (254, tones.YELLOW)],
)
def test_an_own_accent_is_as_strong_as_its_hue_can_be(hue: int, light: colour.Rgb) -> None:
    """On a dark ground the lightness is the one at which the hue is strongest; a hue that stays pale gives yellow."""
    dark = colour.luminance(colour.from_oklch(0.42, 0.19, hue))
    assert all(abs(a - b) <= 14 for a, b in zip(tones.accent(hue, dark, own=True), light, strict=True))


@pytest.mark.parametrize("tone", [(180, 20, 20), (20, 120, 40), (30, 40, 160), (90, 90, 90)])
def test_a_series_has_one_accent(tone: colour.Rgb) -> None:
    """`auto` is the same yellow whatever the picture's hue; dark letters on a bright ground get a dark accent."""
    found = tones.Tones(Image.new("RGB", (640, 360), tone))
    assert found.of("auto") == found.accent("auto", 0.05) == tones.YELLOW
    assert colour.ratio(colour.luminance(found.accent("auto", 0.8)), 0.8) >= 4.5


@pytest.mark.parametrize("tone", [(180, 20, 20), (20, 120, 40), (30, 40, 160), (150, 140, 20), (128, 128, 128)])
def test_a_deep_tone_carries_white_letters(tone: colour.Rgb) -> None:
    """`auto-dark` is dark enough for white text at every hue, and keeps the hue where that is not mud."""
    deep = tones.Tones(Image.new("RGB", (640, 360), tone)).of("auto-dark")
    assert colour.ratio(1.0, colour.luminance(deep)) > 9
    light, chroma, hue = colour.to_oklch(deep)
    assert light == pytest.approx(0.27, abs=0.02)
    assert chroma < 0.04 or abs((hue - colour.to_oklch(tone)[2] + 180) % 360 - 180) < 12


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


SIZE = (640, 360)


def words(*colours: colour.Rgb) -> contrast.Letters:
    """A word of bars without an outline."""
    word = contrast.Word((120, 120, 478, 200), colours)
    return contrast.Letters(letters(), (100, 100), 60, 0.0, (0, 0, 0), (word,))


def stand(*colours: colour.Rgb, own: Image.Image | None = None, others: Image.Image | None = None) -> contrast.Stand:
    return contrast.stand(words(*colours), SIZE, own or Image.new("L", patches.size(SIZE), 255), others)


def measured(
    picture: Image.Image, text: contrast.Stand, plates: dict[contrast.Word, patches.Box] | None = None
) -> float:
    return contrast.measured(contrast.tones(contrast.in_patches(picture)), text, plates or {})


def helped(picture: Image.Image, text: contrast.Stand, how: ground.How = "shade") -> ground.Ground:
    """Lay into `picture` what the text needs."""
    found = ground.plan(text, picture.reduce(patches.step(SIZE[0])), (0,), how, text.letters.words[0].colours[0])
    ground.lay(picture, found, Surfaces(SIZE))
    return found


@pytest.mark.parametrize("name", sorted(GROUNDS))
@pytest.mark.parametrize("text", [(255, 255, 255), (16, 16, 20), (255, 214, 60)])
def test_the_shade_makes_text_readable_on_every_ground(name: str, text: colour.Rgb) -> None:
    """After the shade the ground at its worst place has a contrast of at least 4.5; without need it is not touched, and
    half an em away it never is."""
    picture = GROUNDS[name].copy()
    found = helped(picture, stand(text))
    assert not found.plates
    assert measured(picture, stand(text)) >= contrast.ENOUGH
    assert (found.veil is None) == (picture.tobytes() == GROUNDS[name].tobytes())
    for box in ((0, 0, 640, 90), (0, 0, 90, 360), (0, 230, 640, 360), (508, 0, 640, 360)):
        assert picture.crop(box).tobytes() == GROUNDS[name].crop(box).tobytes()


def test_one_bright_patch_is_enough_to_be_seen() -> None:
    """The worst place counts: a white spot of 1/100 of the ground makes the measure fail, and the shade goes there."""
    picture = Image.new("RGB", SIZE, "#101010")
    picture.paste("white", (300, 196, 316, 212))
    white = stand((255, 255, 255))
    assert measured(picture, white) < 1.2
    helped(picture, white)
    assert measured(picture, white) >= contrast.ENOUGH
    assert picture.getpixel((120, 160)) == (16, 16, 16)


@pytest.mark.parametrize("tone", ["#F0D090", "#80E0F0", "#F0A0E0"])
def test_a_shade_has_the_hue_of_its_ground(tone: str) -> None:
    """No smoke: what darkens a coloured ground is a deep tone of its hue."""
    picture = Image.new("RGB", SIZE, tone)
    helped(picture, stand((255, 255, 255)))
    wanted, hue = (colour.to_oklch(rgb)[2] for rgb in (colour.from_hex(tone), picture.getpixel((160, 210))))
    assert picture.getpixel((160, 210)) != colour.from_hex(tone)
    assert abs((hue - wanted + 180) % 360 - 180) < 12


def test_where_a_shade_would_be_a_cloud_a_plate_is_laid() -> None:
    """Red letters on mid grey would need an almost black cloud: their word gets a plate."""
    picture = Image.new("RGB", SIZE, "#808080")
    found = helped(picture, stand((230, 30, 30)))
    assert found.veil is None
    assert len(found.plates) == 1
    assert measured(picture, stand((230, 30, 30)), found.plates) >= contrast.ENOUGH


def test_help_that_is_not_wanted_is_not_laid() -> None:
    """`none` leaves the picture alone, `plate` takes a plate where a shade would do."""
    picture = Image.new("RGB", SIZE, "white")
    helped(picture, stand((255, 255, 255)), "none")
    assert picture.getcolors() == [(640 * 360, (255, 255, 255))]
    found = helped(picture, stand((255, 255, 255)), "plate")
    assert found.plates
    assert found.veil is None


def test_other_things_are_no_ground_of_a_text() -> None:
    """A bright badge beside the letters is left out of their ground; on a panel only the panel counts."""
    picture = Image.new("RGB", SIZE, "black")
    picture.paste("white", (100, 204, 300, 300))
    white = (255, 255, 255)
    assert measured(picture, stand(white)) < 1.2
    assert measured(picture, stand(white, others=patches.outside((100, 204, 300, 300), SIZE))) > 15
    assert measured(picture, stand(white, own=patches.inside((60, 60, 580, 204), SIZE))) > 15


def test_contrast_at_168x94_falls_with_thin_letters() -> None:
    """At the size of the sidebar the edges of letters mix with the ground: a hairline loses most of its contrast."""
    found = []
    for width in (2, 24):
        mask = Image.new("L", (400, 120))
        for x in range(20, 380, 60):
            ImageDraw.Draw(mask).rectangle((x, 20, x + width, 100), fill=255)
        picture = Image.new("RGB", (1280, 720), "black")
        picture.paste("white", (100, 100), mask)
        word = contrast.Word((100, 100, 500, 220), ((255, 255, 255),))
        text = contrast.Letters(mask, (100, 100), 100, 0.0, (0, 0, 0), (word,))
        own = Image.new("L", patches.size(picture.size), 255)
        placed = contrast.stand(text, picture.size, own, None)
        found.append(contrast.seen_small(picture.resize(contrast.TINY, Image.Resampling.BOX), placed))
    assert found[0] < 6 < 15 < found[1]


@pytest.mark.parametrize(("side", "dark", "kept"), [("left", (2, 180), (630, 180)), ("bottom", (320, 357), (320, 4))])
def test_a_scrim_comes_from_its_side(side: str, dark: tuple[int, int], kept: tuple[int, int]) -> None:
    """A shade has its full opacity at its side and none beyond its reach."""
    picture = Image.new("RGB", (640, 360), "white")
    slots.scrim(picture, side, 0.7, 0.6, (0, 0, 0))
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
