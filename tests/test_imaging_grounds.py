"""Titles on two hundred grounds: the measured contrast holds at its worst place, whatever the picture."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
import yaml
from PIL import Image, ImageDraw, ImageFilter

from tests import built_in
from tests.tiers import soak
from thumbforge import models
from thumbforge.imaging import compose, rules
from thumbforge.imaging.compose import Content
from thumbforge.imaging.zones import ZONES, overlay_problems

LAYOUTS = {p.stem: models.Template(**yaml.safe_load(p.read_text("utf-8"))).layout for p in built_in.FIRST}
NAMES = tuple(LAYOUTS)
SMALL = models.Output(width=1280, height=720)
SIZE = (640, 360)
TITLES = (
    "What is *pandas*?",
    "Как *сделать* это",
    "【初心者向け】*Python*で自動化",
    "A much longer *title* fills the box",
)


def broken(checks: tuple[rules.Check, ...]) -> list[rules.Check]:
    """What is wrong with the words: a made-up ground has no subject to be found, and the report says so."""
    return [check for check in checks if not check.ok and not check.detail.startswith("unknown")]


def stripes(width: int, one: str, other: str, lean: int) -> Image.Image:
    picture = Image.new("RGB", SIZE, one)
    for x in range(-SIZE[0], 2 * SIZE[0], 2 * width):
        band = [(x, 0), (x + width, 0), (x + width + lean, SIZE[1]), (x + lean, SIZE[1])]
        ImageDraw.Draw(picture).polygon(band, fill=other)
    return picture


def noise(grain: int, chance: random.Random) -> Image.Image:
    size = (SIZE[0] // grain, SIZE[1] // grain)
    return Image.frombytes("RGB", size, chance.randbytes(size[0] * size[1] * 3)).resize(SIZE, Image.Resampling.NEAREST)


def photo(chance: random.Random) -> Image.Image:
    """Soft light, and thirty bright and dark things in it."""
    small = Image.frombytes("RGB", (8, 5), chance.randbytes(120))
    picture = small.resize(SIZE, Image.Resampling.BICUBIC)
    for _ in range(30):
        x, y, wide = chance.randrange(SIZE[0]), chance.randrange(SIZE[1]), chance.randrange(5, 120)
        fill = (chance.randrange(256), chance.randrange(256), chance.randrange(256))
        ImageDraw.Draw(picture).ellipse((x, y, x + wide, y + wide), fill=fill)
    return picture.filter(ImageFilter.GaussianBlur(chance.random() * 4))


def grounds() -> Iterator[Image.Image]:
    chance = random.Random(1)
    for flat in ("black", "white", "#777777", "red", "lime", "blue", "yellow", "cyan", "magenta", "#FF8C00"):
        yield Image.new("RGB", SIZE, flat)
    for _ in range(40):
        yield Image.new("RGB", SIZE, tuple(chance.randbytes(3)))
    for grain in (1, 2, 4, 6, 8, 12, 16, 24, 40, 60):
        yield noise(grain, chance)
    for width in (2, 5, 10, 20, 40):
        for one, other in (("black", "white"), ("red", "cyan"), ("yellow", "blue")):
            yield stripes(width, one, other, 0)
            yield stripes(width, one, other, 100)
    for _ in range(110):
        yield photo(chance)


@pytest.mark.parametrize("share", [0, *soak(*range(1, 8))])
def test_titles_and_parts_can_be_read_on_two_hundred_grounds(share: int) -> None:
    """On flat colours, noise, stripes and made-up photos, in every built-in template, title, part and series name have
    a contrast of at least 4.5 at their worst place on the finished pixels (3 beyond a title's outline, which has the
    4.5 itself), and title and part 3 at 168x94."""
    seen = 0
    for number, ground in enumerate(grounds()):
        if number % 8 != share:
            continue
        content = Content(TITLES[number // 8 % 4], part="Part 7", series="The whole series")
        _, checks = compose.compose(ground, LAYOUTS[NAMES[number % len(NAMES)]], content, SMALL)
        for found in checks:
            if found.rule.endswith(".contrast"):
                assert found.ok, (number, NAMES[number % len(NAMES)], found)
                enough = 3 if "place, 3 wanted" in found.detail else 4.5
                assert float(found.detail.split()[0]) >= enough
        seen += 1
    assert seen == 25


def test_colours_that_no_shade_can_help_stand_on_a_plate() -> None:
    """A mid-tone title gets a plate, an accent that cannot be read there gives way, and the report says so."""
    title = {"box": {"x": 64, "y": 200, "w": 700, "h": 300}, "color": "#C02020", "accent": "#20A020", "stroke": 0}
    layout = models.Layout.model_validate({"title": title})
    for ground in ("#808080", "#A09080", "#406080"):
        picture, checks = compose.compose(Image.new("RGB", SIZE, ground), layout, Content("red *green*"), SMALL)
        found = next(check for check in checks if check.rule == "text.contrast")
        assert found.ok, found
        assert found.detail.endswith("on a plate")
        colours = {rgb for _, rgb in picture.getcolors(1 << 20) or []}
        assert (192, 32, 32) in colours
        assert (32, 160, 32) not in colours


def test_dark_letters_have_a_light_glow_not_a_shadow() -> None:
    """A shadow never darkens the ground of dark letters."""
    title = {"box": {"x": 64, "y": 200, "w": 700, "h": 300}, "color": "#101014", "stroke": 0, "shadow": 1}
    layout = models.Layout.model_validate({"title": title})
    picture, checks = compose.compose(Image.new("RGB", SIZE, "#909090"), layout, Content("dark"), SMALL)
    assert broken(checks) == []
    assert picture.convert("L").getextrema() == (16, picture.convert("L").getextrema()[1])
    assert not any(16 < red < 120 and red == blue for _, (red, _, blue) in picture.getcolors(1 << 20) or [] if _ > 400)


@pytest.mark.parametrize(
    ("width", "limit", "name"),
    [
        pytest.param(width, limit, name, marks=[pytest.mark.soak] * (width > 1920 and name != NAMES[0]))
        for width, limit in ((1280, 2_000_000), (1920, 2_000_000), (3840, 50_000_000))
        for name in NAMES
    ],
)
def test_the_three_sizes_are_one_design(name: str, width: int, limit: int) -> None:
    """At 1280x720, 1920x1080 and 3840x2160 nothing is cut or missing, and the letters take the same share."""
    output = models.Output(width=width, height=width * 9 // 16, max_bytes=limit)
    content = Content("Sort a *table*", part="Part 7")
    _, checks = compose.compose(Image.new("RGB", SIZE, "#304050"), LAYOUTS[name], content, output)
    assert broken(checks) == []
    pixels = next(check.detail.split()[2] for check in checks if check.rule == "text.height")
    _, reference = compose.compose(Image.new("RGB", SIZE, "#304050"), LAYOUTS[name], content, SMALL)
    assert abs(int(pixels) - int(next(c.detail.split()[2] for c in reference if c.rule == "text.height"))) <= 1


@pytest.mark.parametrize(
    ("box", "zone"),
    [
        ({"x": 900, "y": 600, "w": 300, "h": 60}, "duration mark"),
        ({"x": 64, "y": 640, "w": 300, "h": 60}, "progress bar"),
        ({"x": 1000, "y": 64, "w": 200, "h": 60}, "hover icons"),
    ],
)
@pytest.mark.parametrize("slot", ["title", "part", "kicker", "series", "logo"])
def test_text_under_youtubes_marks_is_a_problem_of_the_layout(box: dict[str, int], zone: str, slot: str) -> None:
    """Any text or logo that reaches into a zone is named with the zone and its place."""
    data: dict[str, object] = {"title": {"box": {"x": 64, "y": 200, "w": 400, "h": 200}}}
    data[slot] = {"box": box, **({"text": "x"} if slot in ("kicker", "series") else {})}
    (problem,) = overlay_problems(models.Layout.model_validate(data))
    assert problem.startswith(f"{slot}.box reaches under YouTube's {zone} (x ")


def test_zones_scale_with_the_canvas_and_pictures_may_bleed() -> None:
    """On a 1920 canvas the zones are half as large again; an item's picture may lie under the marks."""
    data = {
        "canvas": {"width": 1920, "height": 1080},
        "title": {"box": {"x": 1390, "y": 410, "w": 300, "h": 420}},
        "picture": {"box": {"x": 1400, "y": 800, "w": 520, "h": 280}},
    }
    assert overlay_problems(models.Layout.model_validate(data)) == ()
    data["title"] = {"box": {"x": 1390, "y": 410, "w": 300, "h": 450}}
    (problem,) = overlay_problems(models.Layout.model_validate(data))
    assert "(x 1440 to 1920, y 840 to 1080)" in problem
    assert ZONES["duration mark"] == (960, 560, 1280, 720)


def test_drawn_text_under_a_mark_is_a_warning() -> None:
    """The report judges the ink, not the box."""
    assert not rules.overlay([(1150, 80, 1200, 120)]).ok
    assert rules.overlay([(64, 64, 900, 600)]).ok


@pytest.mark.parametrize("tone", ["white", "yellow", "#FFF6E0", "#DDE8F8"])
def test_minimal_stands_on_bright_art_without_a_cloud(tone: str) -> None:
    """On plain bright art the scrims of `minimal` do nearly all: the shade that is added around a text is faint, so no
    box shows, and the contrast is 4.5 or more."""
    content = Content("How do I sort a *table* by two columns?", "Part 7")
    _, checks = compose.compose(Image.new("RGB", SIZE, tone), LAYOUTS["minimal"], content, SMALL)
    for rule, most in (("text.contrast", 0.4), ("part.contrast", 0.08)):
        found = next(check for check in checks if check.rule == rule)
        assert found.ok
        assert float(found.detail.rpartition("shade ")[2]) <= most


OWN = {
    "title": {
        "box": {"x": 64, "y": 470, "w": 860, "h": 190}, "font": "anton", "size": 130, "case": "upper",
        "color": "#111111", "stroke": 0, "shadow": 0,
    },
    "part": {"box": {"x": 40, "y": 40, "w": 700, "h": 400}, "size": 390, "color": "#FFE600", "fill": None},
    "panels": [{"box": {"x": 0, "y": 446, "w": 960, "h": 238}, "color": "#FFE600", "slant": 90}],
}  # fmt: skip
BAND = (0, 446, 860, 684)


def with_accent(accent: str) -> models.Layout:
    return models.Layout.model_validate({**OWN, "title": {**OWN["title"], "accent": accent}})


@pytest.mark.parametrize("tone", ["#F4F0E0", "#C08040", "#203040"])
@pytest.mark.parametrize("accent", ["#111111", "#E10600"])
def test_the_help_of_one_text_is_no_ground_of_another(tone: str, accent: str) -> None:
    """A yellow number over bright, middle and dark art, above black words on a yellow band: each stands out, and what
    the number needs changes no pixel of the band."""
    picture, checks = compose.compose(
        Image.new("RGB", SIZE, tone), with_accent(accent), Content("Coffee *myths*", "7"), SMALL
    )
    assert broken(checks) == []
    alone, _ = compose.compose(Image.new("RGB", SIZE, "#203040"), with_accent(accent), Content("Coffee *myths*"), SMALL)
    if accent == "#111111":
        assert picture.crop(BAND).getcolors() == alone.crop(BAND).getcolors()


def test_a_plate_stands_under_the_failing_word_alone() -> None:
    """A red accent on a yellow band gets a plate; the black word beside it stands on the band as it was drawn."""
    picture, checks = compose.compose(
        Image.new("RGB", SIZE, "#203040"), with_accent("#E10600"), Content("Coffee *myths*", "7"), SMALL
    )
    assert next(c for c in checks if c.rule == "text.contrast").detail.endswith("plate under 1 of 2 words")
    assert picture.getpixel((30, 560)) == (255, 230, 0)
    assert picture.getpixel((64 + 170, 470)) == (255, 230, 0)
    assert (225, 6, 0) in {rgb for _, rgb in picture.getcolors(1 << 20) or []}


@pytest.mark.parametrize("band", ["#C81018", "#FFE600", "#0A5A9C"])
def test_a_panel_is_never_stained(band: str) -> None:
    """Whatever colour a designer's band and its words have, beyond the plates of failing words it keeps one colour."""
    panels = [{"box": {"x": 0, "y": 446, "w": 1280, "h": 238}, "color": band}]
    title = {**OWN["title"], "color": "#FFFFFF", "accent": "#FFFFFF"}
    layout = models.Layout.model_validate({**OWN, "title": title, "panels": panels})
    for words in ("one", "one two three"):
        picture, _ = compose.compose(photo(random.Random(3)), layout, Content(words, "7"), SMALL)
        right = picture.crop((1000, 450, 1280, 680))
        assert len(right.getcolors() or []) == 1


def test_a_title_can_choose_dark_letters_on_bright_art() -> None:
    """`color: auto` is white on dark art and almost black on bright art, and neither needs help."""
    title = {"box": {"x": 64, "y": 200, "w": 700, "h": 300}, "color": "auto", "stroke": 0, "shadow": 0}
    layout = models.Layout.model_validate({"title": title})
    for ground, light in (("#F0E8D8", False), ("#102030", True)):
        picture, checks = compose.compose(Image.new("RGB", SIZE, ground), layout, Content("words"), SMALL)
        assert next(c for c in checks if c.rule == "text.contrast").detail.endswith("shade 0.00")
        assert (picture.convert("L").getextrema()[1] == 255) is light


def test_a_text_can_ask_for_another_contrast() -> None:
    """`contrast: 7` gives more help than the 4.5 of the default, `contrast: 3` less; the report wants that."""
    found = []
    for contrast in (3, 4.5, 7):
        title = {"box": {"x": 64, "y": 200, "w": 700, "h": 300}, "stroke": 0, "shadow": 0, "contrast": contrast}
        layout = models.Layout.model_validate({"title": title})
        _, checks = compose.compose(Image.new("RGB", SIZE, "#A0A0A0"), layout, Content("words"), SMALL)
        check = next(c for c in checks if c.rule == "text.contrast")
        assert f"{contrast} wanted; " in check.detail
        found.append(float(check.detail.rpartition("shade ")[2]))
        assert check.ok
    assert found == sorted(set(found))
