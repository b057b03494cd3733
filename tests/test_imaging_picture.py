"""Bytes to pixels: what is taken, what is refused and why, and that colours survive."""

from __future__ import annotations

import contextlib
from io import BytesIO
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from thumbforge.errors import PictureError
from thumbforge.imaging import crop
from thumbforge.pixels import picture

IMAGES = Path(__file__).parent / "data" / "images"

REFUSED = {
    "truncated.jpg": "damaged JPEG",
    "truncated.png": "damaged PNG",
    "bitflip.png": "damaged PNG",
    "zero_bytes.png": "empty",
    "text_named.jpg": "text",
    "html_error_named.png": "HTML",
    "json_error_named.png": "JSON",
    "vector.svg": "SVG",
    "heic_header_only.heic": "HEIC",
    "stdout_prefix.png": "before a PNG",
    "bomb_header_60000x60000.png": "too large",
}
UNFIT = {
    "all_black_1024x1024.png": "black",
    "animated_first_black.gif": "black",
    "rgba_hidden_colour.png": "fully transparent",
}
SUFFIXES = {
    "webp_named.jpg": ".webp",
    "jpeg_named.png": ".jpg",
    "avif_named.jpg": ".avif",
    "photo.avif": ".avif",
    "animated.png": ".png",
    "animated.webp": ".webp",
}
USED = sorted(path.name for path in IMAGES.iterdir() if path.suffix != ".json" and path.name not in {*REFUSED, *UNFIT})
COLOURLESS = {"grayscale.jpg", "gray_alpha.png", "alpha.webp", "hq_letterbox_480x360.jpg"}


def pixel(image: Image.Image, x: int, y: int) -> tuple[int, int, int]:
    red, green, blue = cast("tuple[int, int, int]", image.getpixel((x, y)))
    return red, green, blue


def read(name: str) -> bytes:
    return (IMAGES / name).read_bytes()


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_no_picture_is_refused_by_its_kind(name: str) -> None:
    """Bytes that are no whole picture are refused in one line that names what they are, with a hint."""
    with pytest.raises(PictureError, match=REFUSED[name]) as caught:
        picture.inspect(read(name))
    assert caught.value.hint
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", sorted(UNFIT))
def test_a_blank_picture_is_no_art(name: str) -> None:
    """A black or fully transparent picture decodes, but is refused as the ground of a thumbnail."""
    picture.inspect(read(name))
    with pytest.raises(PictureError, match=UNFIT[name]):
        picture.inspect_art(read(name), 1280, 720)


@pytest.mark.parametrize("name", USED)
def test_every_usable_picture_opens_upright_with_red_top_left(name: str) -> None:
    """Whatever its format, mode, orientation or profile, a picture opens as RGB of the inspected size, red top left."""
    info, _ = picture.inspect_art(read(name), 640, 360)
    opened = picture.open_rgb(read(name))
    assert (opened.mode, opened.size) == ("RGB", (info.width, info.height))
    red, green, blue = pixel(opened, opened.width // 12, opened.height // 12)
    if name not in COLOURLESS:
        assert red > 150
        assert max(green, blue) < 110


@pytest.mark.parametrize("name", sorted(SUFFIXES))
def test_kind_follows_content_not_name(name: str) -> None:
    """A file's type and suffix come from its bytes."""
    assert picture.inspect(read(name)).suffix == SUFFIXES[name]


@pytest.mark.parametrize("name", ["ok_640x360.jpg", "ok_640x360.png", "progressive.jpg", "trailing_garbage.png"])
def test_a_plain_picture_gives_no_warning(name: str) -> None:
    """An ordinary 16:9 picture is accepted without a word."""
    assert picture.inspect_art(read(name), 640, 360)[1] == ()


@pytest.mark.parametrize("name", ["exif_orient6.jpg", "exif_orient6.png", "exif_orient5_mirrored.jpg"])
def test_size_is_that_of_the_upright_picture(name: str) -> None:
    """A turned picture is measured after the turn."""
    info = picture.inspect(read(name))
    assert (info.width, info.height) == (640, 360)


@pytest.mark.parametrize(
    ("name", "red"),
    [("adobe_rgb_like.png", (255, 24, 24)), ("display_p3_like.png", (240, 0, 0)), ("display_p3_like.jpg", (240, 0, 0))],
)
def test_profiles_are_converted_not_dropped(name: str, red: tuple[int, int, int]) -> None:
    """Colours of a tagged picture are converted to sRGB."""
    found = pixel(picture.open_rgb(read(name)), 50, 30)
    assert all(abs(one - other) <= 6 for one, other in zip(found, red, strict=True))


def test_colour_under_full_transparency_never_shows() -> None:
    """What an alpha channel hides stays hidden; white shows instead."""
    assert picture.open_rgb(read("rgba_hidden_colour.png")).getextrema() == ((255, 255),) * 3


@pytest.mark.parametrize(
    ("name", "kept"), [("portrait_9x16.jpg", "32%"), ("square_1x1.png", "56%"), ("ratio_3x2.png", "84%")]
)
def test_another_shape_is_a_warning_that_says_what_a_crop_keeps(name: str, kept: str) -> None:
    """A picture of another shape is usable; the warning names both sizes and the share that is kept."""
    _, warnings = picture.inspect_art(read(name), 1280, 720)
    assert any("cropped" in text and kept in text for text in warnings)


@pytest.mark.parametrize("name", ["animated.webp", "animated.png"])
def test_an_animation_gives_its_first_frame_with_a_warning(name: str) -> None:
    """Of an animation the first frame is used, the same each time, and the report says so."""
    assert any("animated" in text for text in picture.inspect_art(read(name), 640, 360)[1])
    assert picture.open_rgb(read(name)).tobytes() == picture.open_rgb(read(name)).tobytes()


def encoded(image: Image.Image, kind: str = "PNG") -> bytes:
    target = BytesIO()
    image.save(target, kind)
    return target.getvalue()


def test_tiny_and_banner_pictures_are_refused_and_flat_ones_warned_of() -> None:
    """Icons and strips are no backgrounds; one flat colour is suspicious but usable."""
    with pytest.raises(PictureError, match="tiny"):
        picture.inspect_art(encoded(Image.new("RGB", (160, 90), "red")), 1280, 720)
    with pytest.raises(PictureError, match="would keep"):
        picture.inspect_art(encoded(Image.new("RGB", (4000, 400), "red")), 1280, 720)
    assert picture.inspect_art(encoded(Image.new("RGB", (640, 360), "red")), 640, 360)[1] == (
        "the picture is one flat colour",
    )


def test_sixteen_bit_grey_keeps_its_tones() -> None:
    """A 16-bit grey picture is scaled to 8 bits, not clipped to white."""
    deep = Image.new("I;16", (640, 360), 0x8000)
    assert picture.open_rgb(encoded(deep)).getpixel((5, 5)) == (128, 128, 128)


def test_a_missing_file_is_a_picture_error(tmp_path: Path) -> None:
    """A path that cannot be read names the file, not the machine's folders."""
    with pytest.raises(PictureError, match=r"cannot read gone\.png"):
        picture.open_rgb(tmp_path / "gone.png")


@given(
    st.binary(max_size=400),
    st.sampled_from(["", "ok_640x360.png", "ok_640x360.jpg", "alpha.webp", "animated_first_black.gif"]),
)
def test_no_bytes_raise_anything_but_a_picture_error(tail: bytes, name: str) -> None:
    """Any bytes at all are a picture or a PictureError."""
    data = (read(name)[:200] if name else b"") + tail
    with contextlib.suppress(PictureError):
        assert picture.inspect(data).width > 0


@given(st.integers(320, 1400), st.integers(320, 1400), st.floats(0, 1), st.floats(0, 1))
def test_cover_has_the_exact_size_and_keeps_circles_round(w: int, h: int, x: float, y: float) -> None:
    """Any picture is cropped around its focus to exactly the size asked for; nothing is stretched."""
    board = Image.new("L", (w, h))
    cut = crop.cover(board, 320, 180, (x, y))
    assert cut.size == (320, 180)


def test_a_crop_never_stretches() -> None:
    """A square in a square picture is a square in the 16:9 crop."""
    source = Image.new("RGB", (800, 800), "white")
    source.paste("red", (300, 300, 500, 500))
    mask = crop.cover(source, 640, 360, (0.5, 0.5)).getchannel("G").point([255] * 128 + [0] * 128)
    left, top, right, bottom = mask.getbbox() or (0, 0, 0, 9)
    assert abs((right - left) - (bottom - top)) <= 2


def test_the_focus_decides_what_a_crop_keeps() -> None:
    """Of an upright picture, a focus at the top keeps the top and one at the bottom keeps the bottom."""
    source = Image.new("RGB", (360, 640), "blue")
    source.paste("red", (0, 0, 360, 320))
    assert crop.cover(source, 640, 360, (0.5, 0.0)).getpixel((320, 180)) == (255, 0, 0)
    assert crop.cover(source, 640, 360, (0.5, 1.0)).getpixel((320, 180)) == (0, 0, 255)


def test_letterbox_bars_are_cut_off() -> None:
    """A 16:9 still inside a 4:3 frame loses its black bars, wherever the focus is."""
    opened = picture.open_rgb(read("hq_letterbox_480x360.jpg"))
    cut = crop.cover(opened, 640, 360, (0.5, 0.4))
    assert pixel(cut, 60, 8)[0] > 150
    assert min(pixel(cut, 320, 352)) > 60
