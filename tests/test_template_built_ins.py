"""The built-in templates from layers: each on texts of all kinds, beside and over subjects, seen small."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageDraw, ImageStat

from tests.built_in import LAYERED
from tests.tiers import soak
from thumbforge import models
from thumbforge.imaging.canvas.order import present
from thumbforge.imaging.finalise import Drawing, finalise
from thumbforge.imaging.rules import Report
from thumbforge.imaging.userfiles import picture_file
from thumbforge.imaging.zones import overlay_problems
from thumbforge.layers import Layers
from thumbforge.models import Item, PlaylistHead
from thumbforge.pixels import picture
from thumbforge.pixels.scene import File, Scene
from thumbforge.pixels.sides import free_side
from thumbforge.planning.preview import TEXTS
from thumbforge.specs.catalog import Catalog
from thumbforge.specs.prompts import Prompts
from thumbforge.specs.variables import variables_for

GOLDEN = Path(__file__).parent / "golden"
OUTPUT = models.Output(width=1280, height=720)
EDGE = 48
USUAL = "Read *tabular* files"


@cache
def layout_of(name: str) -> Layers:
    found = Catalog(Path()).template(name).layout
    assert isinstance(found, Layers)
    return found


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cut-out hero (a ball with a hat), a picture and a logo."""
    folder = tmp_path_factory.mktemp("built-ins")
    hero = Image.new("RGBA", (600, 700))
    ImageDraw.Draw(hero).ellipse((60, 160, 540, 690), fill="#F2A541")
    ImageDraw.Draw(hero).rectangle((180, 20, 420, 240), fill="#2B4A6F")
    hero.save(folder / "hero.png")
    Image.linear_gradient("L").resize((400, 400)).convert("RGB").save(folder / "picture.png")
    Image.new("RGBA", (300, 100), "#FFFFFFE0").save(folder / "logo.png")
    return folder


@cache
def painted(hero: Path, free: str, name: str) -> tuple[Path, Scene]:
    """What `local` paints for a layout, and by what."""
    from thumbforge.cancel import Cancel
    from thumbforge.ids import sha256_hex
    from thumbforge.providers.base import Call, Reference, Request
    from thumbforge.providers.local import LocalProvider

    scene = Scene(File(hero, sha256_hex(hero.read_bytes())), free=free_side(layout_of(name)))
    reference = Reference(scene.hero.sha256, hero, "") if scene.hero else None
    request = Request("", None, 1280, 720, None, reference, "yzIMircGU5I", scene=scene)
    art = hero.with_name(f"art-{free.replace(' ', '-')}.jpg")
    art.write_bytes(LocalProvider({}).generate(request, Call(Cancel(), 60, "", "", hero.parent)).data)
    return art, scene


def drawn(name: str, text: str, files: Path, target: Path) -> Report:
    layout, template = layout_of(name), Catalog(Path()).template(name)
    item = Item(video="yzIMircGU5I", title="x", text=text, part=7, duration=754)
    head = PlaylistHead(id="PLsample", title="pandas in short", channel="Data School", language="en")
    seen = variables_for(item, head, {"guest": "Grace Hopper"}, 1280, 720, layout.negative_space, 7)
    art, scene = painted(files / "hero.png", str(free_side(layout)), name)
    own = {"second": picture_file(files / "picture.png"), "logo": picture_file(files / "logo.png")}
    images = [(x, own[str(layout.images[x].source)]) for x in layout.images if layout.images[x].source in own]
    drawing = Drawing(
        text,
        None,
        texts=Prompts(template).texts({**seen, "text": text}),
        images=tuple(images),
        picture=picture_file(files / "picture.png"),
        scene=scene,
    )
    return finalise(art, layout, drawing, OUTPUT, target)


@pytest.mark.parametrize("name", LAYERED)
def test_it_loses_no_text_and_breaks_no_rule(name: str, files: Path, tmp_path: Path) -> None:
    """On the shortest, a usual, the longest and a right-to-left text: a small one is all that may be warned of."""
    for number, text in enumerate((USUAL, *TEXTS.values())):
        report = drawn(name, text, files, tmp_path / f"{number}.jpg")
        told = [*report.violations, *(w for w in report.warnings if not (number and ".height" in w.split(":")[0]))]
        assert told == [], text


@pytest.mark.parametrize("name", LAYERED)
def test_it_looks_as_it_did(name: str, files: Path, tmp_path: Path) -> None:
    """Seen at 168x94 it is the stored one (a small tolerance: other processors round otherwise)."""
    drawn(name, USUAL, files, tmp_path / "out.jpg")
    seen = picture.open_rgb(tmp_path / "out.jpg").resize((168, 94), Image.Resampling.LANCZOS)
    if os.environ.get("WRITE_GOLDEN"):
        seen.save(GOLDEN / f"{name}.png")
    golden = picture.open_rgb(GOLDEN / f"{name}.png")
    assert max(ImageStat.Stat(ImageChops.difference(seen, golden)).mean) < 0.5


def test_a_headline_passes_behind_a_head(files: Path, tmp_path: Path) -> None:
    """A wide one, and no letter of it is lost; a long one, which has no room beside, stands in front."""
    report = drawn("cover-story", "Missing *values*", files, tmp_path / "behind.jpg")
    [found] = [check for check in report.checks if check.rule == "text.hidden"]
    assert found.ok
    assert not found.detail.startswith("0%")
    report = drawn("cover-story", "W" * 60, files, tmp_path / "front.jpg")
    assert not [check for check in report.checks if check.rule == "text.hidden" and not check.ok]


@pytest.mark.parametrize("name", LAYERED)
def test_its_words_keep_to_the_margins(name: str) -> None:
    """Nothing that is read reaches the outer margin or what YouTube draws over thumbnails: the time stamp's corner is
    free."""
    layout = layout_of(name)
    assert overlay_problems(layout) == ()
    logos = [image.box for image in layout.images.values() if image.source == "logo"]
    for box in (*(text.box for text in layout.seen_texts.values()), *logos):
        assert box.x >= EDGE
        assert box.y >= 40
        assert box.x + box.w <= 1280 - EDGE
        assert box.y + box.h <= 680


@pytest.mark.parametrize("name", ["red-band", *soak("big-number", "cover-story", "flat-shapes", "guest"), "versus"])
def test_it_is_whole_where_an_item_brings_little(name: str, files: Path, tmp_path: Path) -> None:
    """Without part, picture, second hero and logo: what has nothing to show is left out, and what goes with it."""
    layout = layout_of(name)
    item = Item(video="yzIMircGU5I", title="x", text=USUAL)
    head = PlaylistHead(id="PLsample", title="", channel="", language=None)
    seen = variables_for(item, head, {}, 1280, 720, layout.negative_space, 7)
    art, scene = painted(files / "hero.png", str(free_side(layout)), name)
    texts = Prompts(Catalog(Path()).template(name)).texts({**seen, "text": USUAL})
    drawing = Drawing(USUAL, None, texts=texts, scene=scene)
    report = finalise(art, layout, drawing, OUTPUT, tmp_path / "out.jpg")
    assert report.ok
    shown = present(layout, dict(texts))
    alone = {x for x, element in layout.elements.items() if element.only_with and not {*element.only_with} & {*shown}}
    assert alone.isdisjoint(shown)
