"""The provider `local`: the contract for each look, its colours, its calm side, its heroes."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageOps, ImageStat

from thumbforge import models
from thumbforge.errors import ProviderBadRequest
from thumbforge.pixels.colour import from_hex, from_oklch, to_oklch
from thumbforge.pixels.placed import staged
from thumbforge.pixels.scene import File, Scene
from thumbforge.pixels.sides import LEFT, RIGHT, Free
from thumbforge.providers.base import Reference
from thumbforge.providers.local import LocalProvider
from thumbforge.providers.looks.ink import YELLOW, ink_for
from thumbforge.providers.looks.palette import DUOTONE, GROUND, HUES, ramp
from thumbforge.providers.looks.variation import LIGHTS, PATTERNS, variation
from thumbforge.testing import ProviderContract, a_call, a_reference, a_request, same_in_another_process

PANDAS = Path(__file__).parents[1] / "specs" / "heroes" / "pandas.jpg"
MASK = PANDAS.with_name("pandas.mask.png")
LOOKS = tuple(name for name in get_args(models.LookName) if name != "auto")
VIDEO_IDS = st.from_regex(r"[A-Za-z0-9_-]{11}", fullmatch=True)


class LocalContract(ProviderContract):
    wrong_params: ClassVar = {"look": "sepia", "subject": ["right"], "seeds": 3}
    cancelled_at = 3


class TestAuto(LocalContract):
    profile = models.Profile(name="local", provider="local")


class TestSplit(LocalContract):
    profile = models.Profile(name="local", provider="local", params={"look": "split"})


class TestCard(LocalContract):
    profile = models.Profile(name="local", provider="local", params={"look": "card", "subject": "left"})


class TestDuotone(LocalContract):
    profile = models.Profile(name="local", provider="local", params={"look": "duotone"})


def reference_to(path: Path) -> Reference:
    return Reference(hashlib.sha256(path.read_bytes()).hexdigest(), path, "")


def pandas() -> Reference:
    return reference_to(PANDAS)


def scene(look: str = "auto", free: Free = RIGHT, mask: Path | None = None, **said: Any) -> Scene:
    file = File(mask, hashlib.sha256(mask.read_bytes()).hexdigest()) if mask else None
    return Scene(None, mask=file, look=look, free=free, **said)


def painted(
    tmp_path: Path,
    reference: Reference | None,
    look: str = "auto",
    free: Free = RIGHT,
    video: str = "dQw4w9WgXcQ",
    **said: Any,
) -> Image.Image:
    request = a_request(reference, video=video, scene=scene(look, free, **said))
    answer = LocalProvider({}).generate(request, a_call(tmp_path))
    return Image.open(io.BytesIO(answer.data)).convert("RGB")


def luminances(picture: Image.Image) -> Iterator[float]:
    """Relative luminance of each pixel (WCAG 2.2)."""
    for pixel in zip(*[iter(picture.tobytes())] * 3, strict=True):
        red, green, blue = (c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in pixel)
        yield 0.2126 * red + 0.7152 * green + 0.0722 * blue


def worst_contrast(picture: Image.Image) -> float:
    """Contrast of white with all but the lightest twentieth of a picture's pixels."""
    levels = sorted(luminances(picture))
    return 1.05 / (levels[int(len(levels) * 0.95)] + 0.05)


def one_per_hue() -> list[str]:
    """Video ids that show every hue of a wheel."""
    found: dict[int, str] = {}
    for number in range(1000):
        found.setdefault(variation(f"video{number:06}", 1).number % len(HUES), f"video{number:06}")
    return list(found.values())


def test_it_never_reads_the_prompt() -> None:
    """Only the size, the hero and what is known of its subject change a picture: a new wording, seed or title repaints
    nothing."""
    assert LocalProvider({}).capabilities.reads == {"width", "height", "reference"}


@pytest.mark.parametrize(
    ("look", "hero"),
    [
        pytest.param(look, hero, marks=[pytest.mark.soak] * (n % 3 != m))
        for n, look in enumerate(LOOKS)
        for m, hero in enumerate(("pandas", "white", "none"))
    ],
)
def test_white_text_can_be_read_on_the_calm_side(tmp_path: Path, look: str, hero: str) -> None:
    """In every hue and on a hero as bright as paper, the calm side has a contrast of 4.5 or more with white."""
    reference = pandas()
    if hero == "white":
        Image.new("RGB", (320, 180), "white").save(tmp_path / "white.png")
        reference = reference_to(tmp_path / "white.png")
    for video in one_per_hue():
        picture = painted(tmp_path, None if hero == "none" else reference, look, video=video)
        calm = picture.crop((32, 36, 256, 324)).resize((56, 72), Image.Resampling.BOX)
        assert worst_contrast(calm) >= 4.5, (look, video)


@pytest.mark.parametrize("look", LOOKS)
def test_the_calm_side_is_opposite_the_subject(tmp_path: Path, look: str) -> None:
    """The side that the subject is not on is the darker, quieter one, whichever it is."""
    right, left = painted(tmp_path, pandas(), look, mask=MASK), painted(tmp_path, pandas(), look, LEFT, mask=MASK)
    for picture in (right, ImageOps.mirror(left)):
        west, east = (
            list(luminances(picture.crop(box).resize((40, 45)))) for box in ((0, 0, 320, 360), (360, 0, 640, 360))
        )
        assert max(west) < max(east)


@pytest.mark.parametrize("look", ["cutout", "photo", "split", "card"])
@pytest.mark.parametrize("free", [RIGHT, LEFT, Free("foot", 13)], ids=str)
def test_the_subject_keeps_its_colours(tmp_path: Path, look: str, free: Free) -> None:
    """Where the subject is shown, the picture has the hero's own colours, not the ground's: what is white stays white,
    in whichever hue and on whichever side."""
    placed = staged(replace(scene(look, free, MASK), hero=File(PANDAS, pandas().sha256)), 640, 360)
    assert placed
    left, top, right, foot = placed.photo
    brow = round(left + (right - left) * 1390 / 1920), round(top + (foot - top) * 430 / 1080)
    for video in one_per_hue()[:4]:
        picture = painted(tmp_path, pandas(), look, free, video, mask=MASK)
        red, green, blue = picture.getpixel(brow)
        assert min(red, green, blue) > 150, (look, video)
        assert max(red, green, blue) - min(red, green, blue) < 60, (look, video)


@pytest.mark.parametrize("look", ["photo", "split", "card"])
@pytest.mark.parametrize("free", [Free("foot", 13), Free("middle", 6), RIGHT], ids=str)
def test_a_hero_without_a_subject_is_shown(tmp_path: Path, look: str, free: Free) -> None:
    """A pattern, a logo, a screenshot: what it shows is seen above or beside the words, and they begin below it."""
    cells = Image.frombytes("L", (30, 30), bytes(255 * ((n + n // 30) % 2) for n in range(900)))
    cells.resize((600, 600), Image.Resampling.NEAREST).convert("RGB").save(tmp_path / "cells.png")
    hero = reference_to(tmp_path / "cells.png")
    placed = staged(replace(scene(look, free), hero=File(hero.path, hero.sha256)), 640, 360)
    assert placed
    assert placed.subject.kind == "none"
    left, top, right, foot = placed.window if look == "card" else placed.photo
    middle, high = (max(left, 0) + min(right, 640)) / 2, (max(top, 0) + min(foot, 360)) / 2
    picture = painted(tmp_path, hero, look, free)
    seen = picture.crop((round(middle) - 30, round(high) - 30, round(middle) + 30, round(high) + 30)).convert("L")
    assert ImageStat.Stat(seen).stddev[0] > 50
    assert not free.across or 0 < placed.words_top() <= 0.6 * 360


def test_a_transparent_hero_stands_on_the_coloured_ground(tmp_path: Path) -> None:
    """Whatever the look, what is clear in a hero shows the item's ground, never a slab of one colour of ours."""
    hero = Image.new("RGBA", (600, 600))
    ImageDraw.Draw(hero).ellipse((150, 60, 450, 560), fill=(250, 240, 230, 255))
    hero.save(tmp_path / "clear.png")
    for look in LOOKS:
        picture = painted(tmp_path, reference_to(tmp_path / "clear.png"), look)
        corners = [picture.getpixel(at) for at in ((8, 8), (320, 8), (632, 200), (8, 352))]
        assert all(max(corner) - min(corner) > 12 for corner in corners), look


def test_the_hue_is_that_of_the_video(tmp_path: Path) -> None:
    """A ground keeps its hue whatever the words, the place in the list or the number of items; another hero may have
    other hues, because a ground keeps away from the subject's own."""
    notes = [
        LocalProvider({}).generate(a_request(pandas(), video=video, scene=scene()), a_call(tmp_path)).notes["hue"]
        for video in ("dQw4w9WgXcQ", "yzIMircGU5I", "dQw4w9WgXcQ")
    ]
    assert notes[0] == notes[2]


def test_a_brand_reaches_the_ground(tmp_path: Path) -> None:
    """With a palette the grounds have its hues, and no others."""
    wanted = [to_oklch(from_hex(colour))[2] for colour in ("#1947D2", "#C01F5A")]
    for number in range(6):
        request = a_request(pandas(), video=f"video{number:06}", scene=scene(palette=("#1947D2", "#C01F5A"), hues=""))
        hue = LocalProvider({}).generate(request, a_call(tmp_path)).notes["hue"]
        assert min(abs(hue - own) for own in wanted) < 1


FREE = (RIGHT, LEFT, Free("middle", 6), Free("foot", 14), Free("right", 15))
SHAPES = ((1, 1), (3, 400), (400, 3), (90, 160), (100, 100), (1000, 120))


@pytest.mark.parametrize(
    ("look", "free", "size"),
    [
        # each pair of the three once, all triples with -m soak
        pytest.param(look, free, size, marks=[pytest.mark.soak] * ((n + m - k) % len(FREE) != 0))
        for n, look in enumerate(LOOKS)
        for m, size in enumerate(SHAPES)
        for k, free in enumerate(FREE)
    ],
    ids=str,
)
def test_a_hero_of_any_shape_will_do(tmp_path: Path, look: str, free: Free, size: tuple[int, int]) -> None:
    """A tiny, tall, square or very wide hero gives a full picture of the asked size."""
    path = tmp_path / "odd.png"
    Image.linear_gradient("L").resize(size).convert("RGB").save(path)
    reference = Reference(hashlib.sha256(path.read_bytes()).hexdigest(), path, "image/png")
    assert painted(tmp_path, reference, look, free).size == (640, 360)


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGBA", "CMYK", "1"])
def test_a_hero_of_any_mode_will_do(tmp_path: Path, mode: str) -> None:
    """Grey, indexed, transparent and print heroes are used as what they show."""
    path = tmp_path / ("hero.jpg" if mode == "CMYK" else "hero.png")
    Image.linear_gradient("L").convert(mode).save(path)
    reference = Reference(hashlib.sha256(path.read_bytes()).hexdigest(), path, "image/png")
    assert painted(tmp_path, reference).getextrema() != ((0, 0), (0, 0), (0, 0))


def test_a_16_bit_hero_is_not_clipped(tmp_path: Path) -> None:
    """A grey hero of 16 bits gives the picture that it gives in 8 bits."""
    grey = Image.linear_gradient("L")
    wide = Image.frombytes("I;16", grey.size, b"".join(bytes((level, level)) for level in grey.tobytes()))
    pictures = []
    for picture, name in ((grey, "8.png"), (wide, "16.png")):
        picture.save(tmp_path / name)
        data = (tmp_path / name).read_bytes()
        pictures.append(painted(tmp_path, Reference(hashlib.sha256(data).hexdigest(), tmp_path / name, "image/png")))
    assert pictures[0].tobytes() == pictures[1].tobytes()


def test_an_upright_copy_of_a_turned_hero_is_used(tmp_path: Path) -> None:
    """A camera's orientation mark is obeyed: the hero looks as its owner sees it."""
    plain = Image.open(a_reference(tmp_path / "plain.png").path)
    turned, mark = plain.transpose(Image.Transpose.ROTATE_90), Image.Exif()
    mark[0x0112] = 6
    turned.save(tmp_path / "turned.png", exif=mark)
    pictures = []
    for name in ("plain.png", "turned.png"):
        data = (tmp_path / name).read_bytes()
        pictures.append(painted(tmp_path, Reference(hashlib.sha256(data).hexdigest(), tmp_path / name, "image/png")))
    assert pictures[0].tobytes() == pictures[1].tobytes()


def test_a_hero_that_is_gone_or_changed_or_broken_is_said_so(tmp_path: Path) -> None:
    """A missing file, other bytes under the recorded name, and bytes that are no picture are refused in one line."""
    text = tmp_path / "hero.jpg"
    text.write_text("not a picture")
    sha = hashlib.sha256(b"not a picture").hexdigest()
    cases = {
        "cannot be read": Reference(sha, tmp_path / "gone.jpg", "image/jpeg"),
        "has changed": Reference("0" * 64, text, "image/jpeg"),
        "not a picture": Reference(sha, text, "image/jpeg"),
    }
    for says, reference in cases.items():
        with pytest.raises(ProviderBadRequest, match=says) as caught:
            painted(tmp_path, reference)
        assert caught.value.hint
        assert "\n" not in caught.value.message


@pytest.mark.parametrize("size", [(63, 360), (640, 7681)])
def test_sizes_that_cannot_be_drawn_are_refused(tmp_path: Path, size: tuple[int, int]) -> None:
    """A side below 64 or above 7680 pixels is a bad request, not a crash."""
    with pytest.raises(ProviderBadRequest, match="64 to 7680"):
        LocalProvider({}).generate(a_request(width=size[0], height=size[1]), a_call(tmp_path))


def test_another_process_paints_the_same(tmp_path: Path) -> None:
    """The bytes do not depend on the process, its hash seed or its time zone."""
    request = a_request(a_reference(tmp_path / "hero.png"))
    answer = LocalProvider({}).generate(request, a_call(tmp_path))
    assert same_in_another_process(TestAuto.profile, request, answer)


def test_a_variation_is_persisted_state() -> None:
    """What a video's id decides is pinned: if this changes, every series would change its colours in the middle."""
    v = variation("dQw4w9WgXcQ", 1)
    assert (HUES[v.number % len(HUES)], v.pattern, v.light, v.scene) == (308.0, "rings", (0.80, 0.10), 3)


@given(video=VIDEO_IDS, take=st.integers(1, 500))
def test_a_variation_stays_in_bounds(video: str, take: int) -> None:
    """Every id and take gives a pattern and a light of the lists."""
    v = variation(video, take)
    assert v.pattern in PATTERNS
    assert v.light in LIGHTS


@given(video=VIDEO_IDS, count=st.integers(2, 11))
def test_as_many_takes_as_hues_show_them_all(video: str, count: int) -> None:
    """A new take never repeats the hue of the one before, nor of any before that while there are others."""
    hues = HUES[:count]
    assert {ink_for(hues, YELLOW, variation(video, take)).hue for take in range(1, count + 1)} == set(hues)


def test_hues_are_spread_evenly() -> None:
    """Over many videos each hue is about as frequent as any other."""
    counts = Counter(variation(f"video{number:06}", 1).number % len(HUES) for number in range(6000))
    assert all(440 < count < 650 for count in counts.values())


def test_hues_are_well_apart() -> None:
    """Neighbouring hues differ by 18 degrees or more, and none lies between 60 and 130, where dark colours are mud."""
    gaps = [(after - before) % 360 for before, after in zip(HUES, (*HUES[1:], HUES[0]), strict=True)]
    assert min(gaps) >= 18
    assert not [hue for hue in HUES if 60 <= hue <= 130]


@pytest.mark.parametrize("hue", HUES)
def test_a_ramp_gets_lighter_all_the_way(hue: float) -> None:
    """A lighter tone is never a darker colour, so the hero keeps its shape in every hue."""
    tables = ramp(DUOTONE, hue)
    levels = list(
        luminances(Image.frombytes("RGB", (256, 1), bytes(c for tone in zip(*tables, strict=True) for c in tone)))
    )
    assert all(before <= after + 0.004 for before, after in pairwise(levels))
    assert levels[0] < 0.02
    assert levels[-1] > 0.85


@pytest.mark.parametrize("hue", HUES)
def test_white_can_be_read_on_every_ground(hue: float) -> None:
    """Words stand on tones up to 0.55: white on them has a contrast of 7 or more in every hue."""
    tables = ramp(GROUND, hue)
    (level,) = luminances(Image.new("RGB", (1, 1), tuple(table[140] for table in tables)))
    assert 1.05 / (level + 0.05) >= 7


@pytest.mark.parametrize(
    ("light", "chroma", "hue", "expected"),
    [
        (0.0, 0.0, 0, (0, 0, 0)),
        (1.0, 0.0, 0, (255, 255, 255)),
        (0.6279554, 0.25768, 29.2339, (255, 0, 0)),
        (0.8664396, 0.294827, 142.4953, (0, 255, 0)),
        (0.4520137, 0.313214, 264.052, (0, 0, 255)),
        (0.5998708, 0.0, 0, (128, 128, 128)),
    ],
)
def test_oklch_of_known_colours(light: float, chroma: float, hue: float, expected: tuple[int, int, int]) -> None:
    """The conversion gives the published values of the primary colours, white, black and grey."""
    assert all(abs(got - want) <= 1 for got, want in zip(from_oklch(light, chroma, hue), expected, strict=True))


@given(light=st.floats(0, 1), chroma=st.floats(0, 0.5), hue=st.floats(-720, 720))
def test_every_colour_can_be_shown(light: float, chroma: float, hue: float) -> None:
    """A colour beyond the screen loses chroma, and never wraps around."""
    assert all(0 <= channel <= 255 for channel in from_oklch(light, chroma, hue))


def test_the_bundled_hero_is_what_it_should_be() -> None:
    """The bundled hero is a 1920x1080 RGB JPEG of less than 400 kB, calm on its left."""
    assert PANDAS.stat().st_size < 400_000
    with Image.open(PANDAS) as hero:
        assert (hero.format, hero.size, hero.mode) == ("JPEG", (1920, 1080), "RGB")
        left, right = hero.crop((0, 0, 860, 1080)), hero.crop((1060, 0, 1920, 1080))
        assert worst_contrast(left.resize((43, 54), Image.Resampling.BOX)) > worst_contrast(right.resize((43, 54)))
