"""A channel's brand, an item's picture, a user's own fonts, emoji in colour."""

from __future__ import annotations

import struct
from hashlib import sha256
from importlib import resources
from pathlib import Path

import pytest
import yaml
from PIL import Image, ImageDraw

from tests import built_in
from thumbforge import ids, models
from thumbforge.errors import UsageError
from thumbforge.imaging import brand, userfiles
from thumbforge.imaging.finalise import Drawing, final_parts, finalise
from thumbforge.imaging.type import fonts
from thumbforge.pixels import picture

PNG = models.Output(width=1280, height=720, format="png")
LAYOUT = models.Layout.model_validate(
    {
        "title": {"box": {"x": 64, "y": 200, "w": 700, "h": 300}, "font": "inter", "stroke": 0, "shadow": 0},
        "part": {"box": {"x": 64, "y": 64, "w": 400, "h": 90}},
        "kicker": {"box": {"x": 64, "y": 520, "w": 400, "h": 60}, "text": "x"},
        "panels": [{"box": {"x": 0, "y": 180, "w": 800, "h": 420}, "color": "#203040"}],
        "logo": {"box": {"x": 900, "y": 300, "w": 200, "h": 100}},
        "picture": {"box": {"x": 820, "y": 420, "w": 400, "h": 280}},
    }
)


@pytest.fixture
def art(tmp_path: Path) -> Path:
    path = tmp_path / "art.png"
    Image.new("RGB", (1280, 720), "#102030").save(path)
    return path


def drawn(art: Path, drawing: Drawing, layout: models.Layout = LAYOUT) -> Image.Image:
    target = art.with_name("out.png")
    report = finalise(art, layout, drawing, PNG, target)
    assert report.ok, report.violations
    return picture.open_rgb(target)


def share(image: Image.Image, rgb: tuple[int, int, int], box: tuple[int, int, int, int]) -> float:
    """How much of a box has exactly this colour."""
    found = image.crop(box)
    return sum(n for n, seen in found.getcolors(1 << 20) or [] if seen == rgb) / (found.width * found.height)


def logo(folder: Path) -> Path:
    """A red block with a wide clear margin."""
    image = Image.new("RGBA", (600, 300))
    ImageDraw.Draw(image).rectangle((200, 100, 399, 199), fill=(255, 0, 0, 255))
    image.save(folder / "logo.png")
    return folder / "logo.png"


def test_a_brand_lays_its_colours_and_fonts_over_a_template(art: Path) -> None:
    """What the brand names takes the template's place; what it leaves out stays."""
    own = models.Brand.model_validate(
        {
            "colors": {"title": "#FFFF00", "badge": "#FFFFFF", "panel": "#000000", "label": "#00FF00"},
            "fonts": {"title": "anton", "label": "noto-sans"},
        }
    )
    found = brand.branded(LAYOUT, brand.identity(own, art.parent))
    assert (found.title.color, found.title.font) == ("#FFFF00", "anton")
    assert found.title.accent == LAYOUT.title.accent
    assert found.part
    assert (found.part.fill, found.part.color, found.part.font) == ("#FFFFFF", "#101014", "noto-sans")
    assert found.panels[0].color == "#000000"
    assert found.kicker
    assert found.kicker.color == "#00FF00"
    assert brand.branded(LAYOUT, None) is LAYOUT
    assert found.content["title"]["color"] == "#FFFF00"
    assert "color" not in LAYOUT.content["title"]
    image = drawn(art, Drawing("Title", "Part 1", brand=brand.identity(own, art.parent)))
    assert share(image, (0, 0, 0), (0, 180, 800, 600)) > 0.5
    assert share(image, (255, 255, 0), (64, 200, 764, 500)) > 0.01


def test_a_badge_in_the_brands_colour_has_readable_text() -> None:
    """Where only the badge's colour is given, its text is black or white, whichever stands out."""
    for fill, text in (("#000080", "#FFFFFF"), ("#FFE000", "#101014"), ("auto", LAYOUT.part and LAYOUT.part.color)):
        own = models.Brand.model_validate({"colors": {"badge": fill}})
        found = brand.branded(LAYOUT, brand.identity(own, Path()))
        assert found.part
        assert (found.part.fill, found.part.color) == (fill, text)


def test_a_logo_is_drawn_whole_in_its_slot(art: Path) -> None:
    """Its clear margin does not count: the mark itself fills the slot, at the side that the slot says."""
    own = brand.identity(models.Brand(logo=logo(art.parent).name), art.parent)
    image = drawn(art, Drawing("Title", None, brand=own))
    assert share(image, (255, 0, 0), (900, 300, 1100, 400)) > 0.97
    assert share(image, (255, 0, 0), (0, 0, 1280, 290)) == 0


def test_an_inset_fills_its_box_and_a_cutout_stands_in_it(art: Path) -> None:
    """An inset is cropped to its box with a border; a cut-out is whole, with what is around it still to be seen."""
    figure = Image.new("RGBA", (200, 400))
    ImageDraw.Draw(figure).ellipse((0, 0, 199, 399), fill=(0, 255, 0, 255))
    figure.save(art.with_name("figure.png"))
    own = userfiles.picture_file(art.with_name("figure.png"))
    inset = drawn(art, Drawing("Title", None, picture=own))
    assert share(inset, (255, 255, 255), (824, 500, 828, 600)) == 1
    assert share(inset, (0, 255, 0), (900, 480, 1140, 640)) == 1
    slot = LAYOUT.picture and LAYOUT.picture.model_copy(update={"kind": "cutout"})
    cutout = drawn(art, Drawing("Title", None, picture=own), LAYOUT.model_copy(update={"picture": slot}))
    assert share(cutout, (0, 255, 0), (955, 430, 1085, 690)) > 0.8
    assert share(cutout, (16, 32, 48), (820, 420, 900, 700)) == 1


def test_a_slot_without_content_changes_nothing(art: Path) -> None:
    """Without a kicker, logo and picture the result is that of a layout without these slots."""
    bare = LAYOUT.model_copy(update={"kicker": None, "logo": None, "picture": None})
    assert drawn(art, Drawing("Title", "1")).tobytes() == drawn(art, Drawing("Title", "1"), bare).tobytes()


def test_final_parts_name_the_brands_files(art: Path) -> None:
    """Other bytes of the logo, the picture or a font are another final; a file that no slot shows is not."""
    file = userfiles.picture_file(logo(art.parent))
    own = brand.identity(models.Brand(logo="logo.png"), art.parent)
    parts = final_parts("0" * 64, LAYOUT, Drawing("Title", None, brand=own, picture=file, kicker="New"), PNG)
    assert (parts["logo"], parts["picture"], parts["kicker"]) == (file.sha256, file.sha256, "New")
    bare = LAYOUT.model_copy(update={"kicker": None, "logo": None, "picture": None})
    plain = final_parts("0" * 64, bare, Drawing("Title", None), PNG)
    assert plain == final_parts("0" * 64, bare, Drawing("Title", None, brand=own, picture=file, kicker="New"), PNG)


def test_final_parts_hold_the_language_only_where_it_draws() -> None:
    """A language moves the key of a Turkish series and of Han letters, never of an English title."""

    def key(title: str, language: str | None) -> str:
        return ids.final_key(final_parts("0" * 64, LAYOUT, Drawing(title, None, language=language), PNG))

    assert key("Title", None) == key("Title", "en") == key("Title", "ja") != key("Title", "tr")
    assert key("骨", "zh") == key("骨", None) != key("骨", "ja")
    assert key("ラーメン", "zh") == key("ラーメン", "ja")


def test_a_users_own_font_is_named_by_its_bytes(art: Path) -> None:
    """A font file draws the title under a name of its own; its hash is in the final parts; what it lacks falls back."""
    source = resources.files("fontpkg_roboto_condensed").joinpath("files/RobotoCondensed[wght].ttf").read_bytes()
    path = art.with_name("My Font.ttf")
    path.write_bytes(source)
    own = brand.identity(models.Brand.model_validate({"fonts": {"title": "My Font.ttf"}}), art.parent)
    parts = final_parts("0" * 64, LAYOUT, Drawing("Title", None, brand=own), PNG)
    name = f"file-{sha256(source).hexdigest()[:16]}"
    assert parts["layout"]["title"]["font"] == name
    assert parts["fonts"][name] == sha256(source).hexdigest()
    assert fonts.cap(name) == pytest.approx(0.711, abs=0.003)
    drawn(art, Drawing("Title 東京", None, brand=own))


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"wOF2....", "web font"), (b"hello", "no TrueType"), (b"", "no TrueType"), (None, "cannot be read")],
)
def test_a_file_that_is_no_font_is_refused(data: bytes | None, message: str, tmp_path: Path) -> None:
    """Web fonts, other files and missing ones are usage errors with a hint, found before anything is drawn."""
    if data is not None:
        (tmp_path / "x.ttf").write_bytes(data)
    with pytest.raises(UsageError, match=message) as caught:
        brand.identity(models.Brand.model_validate({"fonts": {"label": "x.ttf"}}), tmp_path)
    assert caught.value.hint


def test_other_mistakes_of_a_brand_are_named(art: Path) -> None:
    """An unknown font, a missing logo, a logo that is no picture, and a font that is only a header."""
    with pytest.raises(UsageError, match="comic-sans"):
        brand.identity(models.Brand.model_validate({"fonts": {"title": "comic-sans"}}), art.parent)
    with pytest.raises(UsageError, match=r"gone\.png"):
        brand.identity(models.Brand(logo="gone.png"), art.parent)
    art.with_name("text.png").write_text("hello")
    own = brand.identity(models.Brand(logo="text.png"), art.parent)
    report = finalise(art, LAYOUT, Drawing("x", None, brand=own), PNG, art.with_name("out.png"))
    assert report.violations == ("logo.file: text.png: not a picture we can use: text",)
    art.with_name("head.ttf").write_bytes(b"\0\1\0\0" + bytes(8))
    own = brand.identity(models.Brand.model_validate({"fonts": {"title": "head.ttf"}}), art.parent)
    with pytest.raises(UsageError, match="no letters"):
        drawn(art, Drawing("x", None, brand=own))
    art.with_name("bitmap.ttf").write_bytes(colour_font().replace(b"glyf", b"CBDT"))
    with pytest.raises(UsageError, match="bitmaps only") as caught:
        drawn(art, Drawing("\U0001f600", None, emoji=userfiles.font_file(art.with_name("bitmap.ttf"))))
    assert "COLR" in caught.value.hint


def colour_font() -> bytes:
    """A COLR font of one emoji, U+1F600: a blue square with a red square on its left half."""
    square = struct.pack(">hhhhh", 1, 0, 0, 1000, 1000) + struct.pack(">HH", 3, 0) + bytes([1] * 4)
    square += struct.pack(">4h", 0, 0, 1000, 0) + struct.pack(">4h", 0, 1000, 0, -1000)
    half = struct.pack(">hhhhh", 1, 0, 0, 500, 1000) + struct.pack(">HH", 3, 0) + bytes([1] * 4)
    half += struct.pack(">4h", 0, 0, 500, 0) + struct.pack(">4h", 0, 1000, 0, -1000)
    glyphs = [b"", square, square, half]
    padded = [glyph + bytes(-len(glyph) % 4) for glyph in glyphs]
    places = [sum(map(len, padded[:i])) for i in range(len(padded) + 1)]
    groups = struct.pack(">III", 0x1F600, 0x1F600, 1)
    cmap = struct.pack(">HHHHI", 0, 1, 3, 10, 12) + struct.pack(">HHIII", 12, 0, 28, 0, 1) + groups
    colr = struct.pack(">HHIIH", 0, 1, 14, 20, 2) + struct.pack(">HHH", 1, 0, 2) + struct.pack(">HHHH", 2, 0, 3, 1)
    cpal = struct.pack(">HHHHIH", 0, 2, 1, 2, 14, 0) + bytes([255, 0, 0, 255]) + bytes([0, 0, 255, 255])
    tables = {
        b"COLR": colr,
        b"CPAL": cpal,
        b"cmap": cmap,
        b"glyf": b"".join(padded),
        b"head": struct.pack(
            ">IIIIHHqqhhhhHHhhh", 0x10000, 0, 0, 0x5F0F3CF5, 0, 1000, 0, 0, 0, 0, 1000, 1000, 0, 8, 2, 1, 0
        ),
        b"hhea": struct.pack(">IhhhHhhhhhhhhhhhH", 0x10000, 1000, 0, 0, 1000, *[0] * 11, 4),
        b"hmtx": struct.pack(">HhHhHhHh", *(1000, 0) * 4),
        b"loca": struct.pack(">5I", *places),
        b"maxp": struct.pack(">IH", 0x10000, 4) + bytes(26),
    }
    head = struct.pack(">IHHHH", 0x10000, len(tables), 128, 3, 16)
    offset, records, body = 12 + 16 * len(tables), b"", b""
    for tag, data in tables.items():
        records += tag + struct.pack(">III", 0, offset + len(body), len(data))
        body += data + bytes(-len(data) % 4)
    return head + records + body


def test_emoji_have_the_colours_of_a_font_that_was_given(art: Path) -> None:
    """With a colour font an emoji is drawn in its own colours, in the accent too; without, in the title's colour."""
    art.with_name("emoji.ttf").write_bytes(colour_font())
    own = userfiles.font_file(art.with_name("emoji.ttf"))
    box = (64, 200, 764, 500)
    image = drawn(art, Drawing("\U0001f600 *\U0001f600*", None, emoji=own))
    red, blue = share(image, (255, 0, 0), box), share(image, (0, 0, 255), box)
    assert red > 0.05
    assert blue == pytest.approx(red, rel=0.1)
    plain = drawn(art, Drawing("\U0001f600", None))
    assert share(plain, (255, 0, 0), box) == share(plain, (0, 0, 255), box) == 0
    assert share(plain, (255, 255, 255), box) > 0.01


def test_a_colour_font_is_part_of_the_final_only_where_it_could_draw(art: Path) -> None:
    """An ASCII title does not depend on the emoji font; an emoji that it lacks is drawn in one colour."""
    art.with_name("emoji.ttf").write_bytes(colour_font())
    own = userfiles.font_file(art.with_name("emoji.ttf"))
    assert own.name not in final_parts("0" * 64, LAYOUT, Drawing("Title", None, emoji=own), PNG)["fonts"]
    assert own.name in final_parts("0" * 64, LAYOUT, Drawing("\U0001f600", None, emoji=own), PNG)["fonts"]
    with_it, without = (drawn(art, Drawing("\U0001f525", None, emoji=font)) for font in (own, None))
    assert with_it.tobytes() == without.tobytes()


def test_new_fields_left_alone_move_no_template() -> None:
    """A layout that uses none of the new slots has the content that it had before they existed."""
    for path in built_in.FIRST:
        data = yaml.safe_load(path.read_text("utf-8"))["layout"]
        content = models.Layout.model_validate(data).content
        assert set(content) <= set(data)
