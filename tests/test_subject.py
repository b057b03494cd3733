"""The subject of a hero: found, cut out, placed; and the side of a layout that its words leave free."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFilter, PngImagePlugin

from thumbforge import models
from thumbforge.errors import PictureError
from thumbforge.pixels import masks
from thumbforge.pixels.heroes import HeroPicture, open_hero
from thumbforge.pixels.placed import Placed, place, staged
from thumbforge.pixels.scene import File, Scene
from thumbforge.pixels.sides import LEFT, RIGHT, Free, free_side
from thumbforge.pixels.subject import Subject, find_subject, in_box, in_mask
from thumbforge.specs.catalog import Catalog

PANDAS = Path(__file__).parents[1] / "specs" / "heroes" / "pandas.jpg"
MASK = PANDAS.with_name("pandas.mask.png")
SIDES = (RIGHT, LEFT, Free("right", 15), Free("foot", 13), Free("middle", 6))
LOOKS = ("cutout", "photo", "split", "card", "duotone")
SHAPES = ((1920, 1080), (1080, 1920), (800, 800), (640, 480))


def file(path: Path) -> File:
    return File(path, hashlib.sha256(path.read_bytes()).hexdigest())


def portrait(size: tuple[int, int], face: tuple[float, float, float, float]) -> tuple[Image.Image, Image.Image]:
    """A head on shoulders before a soft room, drawn for a face box in shares; and its mask."""
    w, h = size
    x, y, fw, fh = face[0] * w, face[1] * h, face[2] * w, face[3] * h
    mask = Image.new("L", size)
    draw = ImageDraw.Draw(mask)
    draw.ellipse((x - 0.1 * fw, y - 0.25 * fh, x + 1.1 * fw, y + fh), fill=255)
    draw.rounded_rectangle((x - fw, y + 0.95 * fh, x + 2 * fw, h + fh), round(0.5 * fw), fill=255)
    picture = Image.effect_noise((w // 16, h // 16), 60).resize(size).filter(ImageFilter.GaussianBlur(w / 40))
    picture = Image.merge("RGB", [picture] * 3)
    picture.paste((208, 150, 120), (0, 0), mask)
    ImageDraw.Draw(picture).ellipse((x + 0.2 * fw, y + 0.35 * fh, x + 0.4 * fw, y + 0.45 * fh), fill=(20, 20, 30))
    return picture, mask


def layout(name: str) -> models.Layout:
    return Catalog(Path("/nowhere")).template(name).layout


@pytest.mark.parametrize(
    ("name", "free"),
    [
        ("series-parts", "right"),
        ("minimal", "right"),
        ("corner-card", "right 14"),
        ("split-panel", "right 15"),
        ("bold-title", "foot 13"),
        ("poster", "foot 12"),
        ("news-bar", "foot 14"),
    ],
)
def test_the_free_side_of_every_built_in_template(name: str, free: str) -> None:
    """It is what the words leave: beside them, or above where they lie across; a panel of the layout's own is told."""
    assert str(free_side(layout(name))) == free


def test_a_layout_with_its_words_at_the_right_is_free_at_the_left() -> None:
    """A layout for a list that reads from the right needs no other setting: its subject goes to the left."""
    right = models.Layout(title=models.TitleStyle(box=models.Box(x=464, y=188, w=752, h=468)))
    assert free_side(right) == LEFT


@given(x=st.integers(0, 500), y=st.integers(0, 300), w=st.integers(100, 700), h=st.integers(100, 400))
def test_the_colour_of_letters_moves_no_subject(x: int, y: int, w: int, h: int) -> None:
    """Only boxes decide the free side."""
    box = models.Box(x=x, y=y, w=w, h=h)
    one, other = (models.Layout(title=models.TitleStyle(box=box, color=c)) for c in ("#FFFFFF", "#102030"))
    assert free_side(one) == free_side(other)


def test_a_thing_before_a_soft_ground_is_found() -> None:
    """The box of a portrait lies over its head and shoulders, wherever it stands."""
    for left in (0.15, 0.4, 0.65):
        picture, mask = portrait((960, 540), (left, 0.25, 0.16, 0.36))
        found = find_subject(picture)
        true = masks.body(mask)
        assert found.kind == "found"
        assert found.box
        assert true[0] <= found.box[0] + found.box[2] / 2 <= true[0] + true[2]
        assert "foot" in found.cut


@pytest.mark.parametrize("make", ["noise", "black", "white"])
def test_a_pattern_has_no_subject(make: str) -> None:
    """Noise or one colour is a ground, and nothing is made up."""
    picture = Image.new("RGB", (640, 360), {"black": "black"}.get(make, "white"))
    if make == "noise":
        picture = Image.effect_noise((640, 360), 90).convert("RGB")
    assert find_subject(picture).kind == "none"


def test_the_same_picture_has_the_same_subject() -> None:
    """Nothing is drawn by lot."""
    with Image.open(PANDAS) as hero:
        assert find_subject(hero.convert("RGB")).box == find_subject(hero.convert("RGB")).box


def test_whiskers_do_not_widen_a_subject() -> None:
    """The box of a mask leaves thin parts out."""
    mask = Image.new("L", (400, 400))
    draw = ImageDraw.Draw(mask)
    draw.ellipse((150, 100, 250, 300), fill=255)
    draw.line((0, 200, 400, 200), fill=255, width=3)
    x, _, w, _ = masks.body(mask)
    assert x > 0.3
    assert w < 0.4


def test_an_outline_is_as_wide_as_it_was_asked_for() -> None:
    """A grown mask reaches so many pixels further, to within two."""
    mask = Image.new("L", (400, 300))
    ImageDraw.Draw(mask).rectangle((150, 100, 250, 200), fill=255)
    left, top, right, foot = masks.grown(mask, 12).point([255 if v > 127 else 0 for v in range(256)]).getbbox() or ()
    assert all(abs(side) <= 2 for side in (left - 138, top - 88, right - 263, foot - 213))


def seen(placed: Placed) -> None:
    """The rules for a face that is known."""
    assert placed.face
    left, top, right, foot = placed.face
    high = foot - top
    assert left >= 0
    assert right <= placed.width
    assert top >= 0
    assert foot <= placed.height
    assert high >= 0.25 * placed.height
    if placed.free.across:
        assert foot <= placed.words_top() + 1
    else:
        inwards = placed.width - right if placed.free.side == "left" else left
        room = placed.words_end(top, foot)
        room = placed.width - room if placed.free.side == "left" else room
        assert room <= inwards + 0.01 * placed.width or placed.look in ("split", "card")


@pytest.mark.parametrize("look", ["cutout", "photo", "split", "card", "duotone"])
@pytest.mark.parametrize("free", SIDES, ids=str)
@pytest.mark.parametrize("size", SHAPES, ids=str)
@pytest.mark.parametrize("x", [0.1, 0.4, 0.7])
def test_a_known_face_is_whole_and_large_and_free_of_words(
    look: str, free: Free, size: tuple[int, int], x: float
) -> None:
    """In every look, on every side, for every shape of hero, wherever the face was in it."""
    fh = 0.3
    fw = min(fh * 0.75 * size[1] / size[0], 0.9 - x)
    face = (x, 0.28, fw, fh)
    picture, mask = portrait((size[0] // 4, size[1] // 4), face)
    subject = in_mask(mask, face)
    placed = place(HeroPicture(picture, subject), look, free, 1280, 720)
    assert placed.subject is subject
    if placed.look == "card":
        window, own = placed.window, placed.face
        assert own
        assert own[1] >= window[1]
        assert own[3] <= window[3]
        return
    seen(placed)


@given(
    box=st.tuples(st.floats(0, 0.8), st.floats(0, 0.8), st.floats(0.05, 1), st.floats(0.05, 1)),
    size=st.sampled_from(SHAPES),
    free=st.sampled_from(SIDES),
    look=st.sampled_from(LOOKS),
)
def test_a_subject_is_on_the_free_side(
    box: tuple[float, float, float, float], size: tuple[int, int], free: Free, look: str
) -> None:
    """Wherever the box is in the hero, its middle is in the free part of the canvas, mirrored hero or not."""
    x, y, w, h = box
    box = (x, y, min(w, 1 - x), min(h, 1 - y))
    hero = HeroPicture(Image.new("RGB", (size[0] // 8, size[1] // 8)), in_box(size, box, None))
    placed = place(hero, look, free, 1280, 720)
    assert placed.box
    middle = (max(placed.box[0], 0) + min(placed.box[2], 1280)) / 2 / 1280
    if free.across:
        assert 0.2 <= middle <= 0.8
        assert placed.box[1] <= placed.words_top()
    else:
        assert (middle < 0.55) if free.side == "left" else (middle > 0.45)


def test_left_is_right_mirrored() -> None:
    """A hero and its mirror image, on either side, lie as each other's mirror image; the picture itself is not
    turned."""
    one = HeroPicture(Image.new("RGB", (320, 180)), in_box((320, 180), (0.1, 0.2, 0.3, 0.8), (0.2, 0.25, 0.1, 0.3)))
    other = HeroPicture(Image.new("RGB", (320, 180)), in_box((320, 180), (0.6, 0.2, 0.3, 0.8), (0.7, 0.25, 0.1, 0.3)))
    for look in LOOKS:
        right, left = place(one, look, RIGHT, 1280, 720), place(other, look, LEFT, 1280, 720)
        assert right.box
        assert left.box
        assert left.box[0] == pytest.approx(1280 - right.box[2])
        assert right.words_end(200, 600) == pytest.approx(1280 - left.words_end(200, 600), abs=9)


def test_the_look_that_is_chosen() -> None:
    """A cut-out subject is a sticker; one that the photo cuts at the words' side stays in its photo; a found one too; a
    ground is a print, and so is what would reach under a layout's own panel."""
    picture, mask = portrait((480, 270), (0.45, 0.3, 0.15, 0.35))
    whole, cut = in_mask(mask, None), Subject("masked", (0.0, 0.1, 0.6, 0.9), None, mask, frozenset({"left", "foot"}))
    cases: list[tuple[Subject, Free, str]] = [
        (whole, RIGHT, "cutout"),
        (cut, RIGHT, "split"),
        (cut, Free("right", 15), "card"),
        (cut, LEFT, "cutout"),
        (find_subject(picture), RIGHT, "photo"),
        (Subject("none"), RIGHT, "card"),
        (in_box((480, 270), (0.1, 0.0, 0.8, 1.0), (0.2, 0.2, 0.5, 0.6)), RIGHT, "split"),
    ]
    for subject, free, look in cases:
        assert place(HeroPicture(picture, subject), "auto", free, 1280, 720).look == look


def test_a_mask_beside_the_hero_is_the_subject() -> None:
    """The bundled hero's mask places its panda, and the shape on the canvas is the panda's, not a box."""
    placed = staged(Scene(file(PANDAS), mask=file(MASK)), 640, 360)
    assert placed
    assert placed.exact
    assert placed.look == "cutout"
    shape = placed.mask(160, 90)
    assert 0.15 < masks.weight(shape) / (160 * 90) < 0.5
    assert placed.words_end(300, 340) > 0.35 * 640


def test_a_mask_of_another_shape_is_told(tmp_path: Path) -> None:
    """A mask that cannot belong to the hero is refused in one line that says what to do."""
    Image.new("L", (300, 300), 255).save(tmp_path / "m.png")
    with pytest.raises(PictureError, match="another shape") as caught:
        open_hero(Scene(file(PANDAS), mask=file(tmp_path / "m.png")), 640, 360)
    assert "cutout" in (caught.value.hint or "")


def test_a_face_is_read_from_the_mask(tmp_path: Path) -> None:
    """What the cut-out's maker knew is in the file; text of another kind is passed over."""
    with Image.open(MASK) as mask:
        for text, face in ((json.dumps({"face": [0.6, 0.3, 0.2, 0.4]}), (0.6, 0.3, 0.2, 0.4)), ("{nonsense", None)):
            facts = PngImagePlugin.PngInfo()
            facts.add_text("thumbforge", text)
            mask.save(tmp_path / "m.png", pnginfo=facts)
            hero = open_hero(Scene(file(PANDAS), mask=file(tmp_path / "m.png")), 640, 360)
            assert hero
            assert hero.subject.face == face


def test_a_transparent_hero_keeps_its_colours_at_the_edge(tmp_path: Path) -> None:
    """What is clear takes no part in the colours beside it: no dark seam, whatever lay under it."""
    clear = Image.new("RGBA", (900, 900), (0, 0, 0, 0))
    ImageDraw.Draw(clear).ellipse((200, 100, 700, 800), fill=(240, 200, 60, 255))
    clear.save(tmp_path / "clear.png")
    hero = open_hero(Scene(file(tmp_path / "clear.png")), 320, 180)
    assert hero
    assert not hero.has_ground
    assert hero.subject.kind == "masked"
    half = hero.subject.mask and hero.subject.mask.point([255 if 40 < v < 220 else 0 for v in range(256)])
    edge = Image.new("RGB", hero.rgb.size, (240, 200, 60))
    edge.paste(hero.rgb, (0, 0), half)
    assert all(low >= want - 12 for (low, _), want in zip(edge.getextrema(), (240, 200, 60), strict=True))


def test_bars_are_cut_off_mask_and_boxes_too(tmp_path: Path) -> None:
    """Black bars that are baked into a hero move neither mask nor face."""
    picture, mask = portrait((400, 500), (0.35, 0.3, 0.3, 0.3))
    framed, shape = Image.new("RGB", (890, 500)), Image.new("L", (890, 500))
    framed.paste(picture, (245, 0))
    shape.paste(mask, (245, 0))
    framed.save(tmp_path / "h.png")
    shape.save(tmp_path / "h.mask.png")
    face = ((245 + 140) / 890, 0.3, 120 / 890, 0.3)
    hero = open_hero(Scene(file(tmp_path / "h.png"), mask=file(tmp_path / "h.mask.png"), face=face), 640, 360)
    assert hero
    assert hero.subject.face == pytest.approx((0.35, 0.3, 0.3, 0.3), abs=0.02)
