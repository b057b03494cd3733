"""Version 2 of the template language: what may be written, what is told of what may not, and what becomes of it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.project import Project, item
from thumbforge import ids, models
from thumbforge.errors import SpecError
from thumbforge.imaging import brand
from thumbforge.imaging.canvas.compose import Content, compose
from thumbforge.imaging.finalise import Drawing, final_parts, finalise
from thumbforge.imaging.rules import Report
from thumbforge.imaging.userfiles import picture_file
from thumbforge.layers import Layers, Template
from thumbforge.pixels import picture
from thumbforge.pixels.sides import free_side
from thumbforge.specs.catalog import Catalog
from thumbforge.specs.layer_faults import faults

OUTPUT = models.Output(width=1280, height=720, format="png", max_bytes=50_000_000)
TITLE = {"text": "{{ text }}", "box": {"x": 64, "y": 200, "w": 600, "h": 300}, "size": 120, "max_lines": 3}
FAULTY = """\
prompt: A picture of {{ topic }}
layout:
  colors: {paper: "#FFE600"}
  shapes:
    band: {kind: rectangle, box: {x: 0, y: 400, w: 1280, h: 200}, fill: paper}
    flat: {kind: polygon, points: [[0, 0], [10, 10]]}
    straight: {kind: polygon, points: [[0, 0], [10, 10], [20, 20]]}
    wide: {kind: circle, box: {x: 1200, y: 10, w: 200, h: 200}}
    gone: {kind: circle, box: {x: 2000, y: 10, w: 200, h: 200}, bleed: true}
    sun: {kind: circle, box: {x: 100, y: 10, w: 200, h: 200}, fill: {linear: 90}}
    one: {kind: line, points: [[1, 1], [9, 9]], fill: {radial: [0.5, 0.5], stops: [{color: paper}]}}
    moon: {kind: square}
  images:
    pic: {box: {x: 0, y: 0, w: 10, h: 10}}
  texts:
    title: {text: "{{ text }}", box: {x: 10, y: 420, w: 800, h: 150}, fill: "#FFFFFF"}
    other: {text: "{{ text }}", box: {x: 10, y: 20, w: 800, h: 150}, colour: red}
    far: {text: "x", box: {x: 1000, y: 420, w: 800, h: 150}, fill: reddish, min_size: 200, font: comic}
    tilted: {text: "x", box: {x: 4, y: 4, w: 400, h: 80}, rotate: 30, mask: window, only_with: nobody}
    plated: {text: "x", box: {x: 64, y: 64, w: 400, h: 80}, max_lines: 2, plate: {}}
  order: [band, flat, straight, wide, gone, sun, one, moon, titel, pic, other, tilted, plated, plated]
"""
SAID = (
    (6, "layout.shapes.flat.points", "a polygon needs at least 3 points"),
    (7, "layout.shapes.straight.points", "lie on one line"),
    (8, "layout.shapes.wide.box", "reaches outside the 1280x720 canvas; `bleed: true`"),
    (9, "layout.shapes.gone.box", "nothing of it would be seen"),
    (10, "layout.shapes.sun.fill.stops", "a gradient needs at least two stops"),
    (11, "layout.shapes.one.fill.stops", "got 1"),
    (12, "layout.shapes.moon.kind", "'rectangle', 'circle', 'line', 'polygon' or 'arrow'"),
    (14, "layout.images.pic", "`source` (picture, logo or second) or a `file`"),
    (17, "layout.texts.other.colour", "unknown field `colour`"),
    (18, "layout.texts.far.box", "words stay inside"),
    (18, "layout.texts.far.fill", "or one of `colors`: paper"),
    (18, "layout.texts.far.min_size", "larger than size"),
    (19, "layout.texts.tilted.box", "turned by 30 degrees"),
    (19, "layout.texts.tilted.mask", "no shape `window`"),
    (19, "layout.texts.tilted.only_with", "no text or image `nobody`"),
    (20, "layout.texts.plated.plate", "a text of one line"),
    (21, "layout.order[9]", "did you mean `title`?"),
    (21, "layout.order[14]", "twice"),
    (21, "layout.order", "not in the order: `title`, `far`"),
)


def layers(**given: Any) -> Layers:
    return Layers.model_validate({"texts": {"title": TITLE}, **given})


def saved(root: Path, name: str, **given: Any) -> Path:
    path = root / "specs" / "templates" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump({"prompt": "A picture of {{ topic }}", **given}, sort_keys=False), "utf-8")
    return path


def loaded(root: Path, name: str = "mine", **layout: Any) -> Template:
    saved(root, name, layout={"texts": {"title": TITLE}, **layout})
    found = Catalog(root).template(name)
    assert isinstance(found, Template)
    return found


def refused(root: Path, **layout: Any) -> list[str]:
    saved(root, "mine", layout={"texts": {"title": TITLE}, **layout})
    with pytest.raises(SpecError) as caught:
        Catalog(root).template("mine")
    return [f"{problem.where}: {problem.message}" for problem in caught.value.problems]


@pytest.fixture(scope="module")
def art(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("art") / "grey.png"
    Image.new("RGB", (1280, 720), "#404040").save(path)
    return path


def drawn(layout: Layers, art: Path, tmp_path: Path, **given: Any) -> tuple[Image.Image, Report]:
    texts = given.pop("texts", {"title": "Hello"})
    drawing = Drawing("Hello", None, texts=tuple(texts.items()), **given)
    target = tmp_path / "final.png"
    target.unlink(missing_ok=True)
    report = finalise(art, layout, drawing, OUTPUT, target)
    return picture.open_rgb(target), report


# what is refused


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    """Each with its line and what is allowed, whether a field is wrong by itself or beside another."""
    path = tmp_path / "specs" / "templates" / "faulty.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(FAULTY, "utf-8")
    with pytest.raises(SpecError) as caught:
        Catalog(tmp_path).template("faulty")
    told = [(problem.line, problem.where, problem.message) for problem in caught.value.problems]
    for line, where, words in SAID:
        assert [x for x in told if x[:2] == (line, where) and words in x[2]], f"{where}: {words} in {told}"
    assert len(told) == len(SAID)


def test_a_colour_that_nobody_can_read_is_refused(tmp_path: Path) -> None:
    """White on yellow, also by names; black is fine, and so is white with a dark outline."""
    band = {"kind": "rectangle", "box": {"x": 0, "y": 100, "w": 900, "h": 500}, "fill": "paper"}
    given = {"colors": {"paper": "#FFE600"}, "shapes": {"band": band}}
    [told] = refused(tmp_path, **given, texts={"title": {**TITLE, "fill": "#FFFFFF"}})
    assert told.startswith("layout.texts.title.fill: #FFFFFF on `band` (paper) has a contrast of 1.3 to 1")
    assert "4.5 is wanted, 3 at least" in told
    [plate] = refused(
        tmp_path, texts={"title": {**TITLE, "max_lines": 1, "fill": "#FFF0F0", "plate": {"fill": "#FFE600"}}}
    )
    assert "on its plate" in plate
    assert loaded(tmp_path, **given, texts={"title": {**TITLE, "fill": "#101010"}})
    outlined = {**TITLE, "fill": "#FFFFFF", "stroke": {"width": 8}}
    assert loaded(tmp_path, **given, texts={"title": outlined})


@pytest.mark.parametrize(
    "shape",
    [
        {"kind": "polygon", "points": [[0, 100], [900, 100], [800, 600], [0, 600]]},
        {"kind": "circle", "box": {"x": -100, "y": -100, "w": 1000, "h": 900}, "bleed": True},
    ],
)
def test_any_shape_that_holds_a_text_is_its_ground(shape: dict[str, Any], tmp_path: Path) -> None:
    """A slanted band and a disc, too; a text that reaches beyond it stands on the picture, which decides."""
    shapes = {"band": {**shape, "fill": "#FFE600"}}
    [told] = refused(tmp_path, shapes=shapes, texts={"title": {**TITLE, "fill": "#FFFFFF"}})
    assert "on `band`" in told
    beyond = {**TITLE, "fill": "#FFFFFF", "box": {"x": 64, "y": 200, "w": 1100, "h": 300}}
    assert loaded(tmp_path, shapes=shapes, texts={"title": beyond})


def test_templates_that_extend_each_other_in_a_circle_are_told(tmp_path: Path) -> None:
    """The way round is named."""
    saved(tmp_path, "one", extends="two", layout={"texts": {"title": TITLE}})
    saved(tmp_path, "two", extends="one", layout={"texts": {"title": TITLE}})
    with pytest.raises(SpecError, match="cannot extend itself: one > two > one"):
        Catalog(tmp_path).template("one")


@pytest.mark.parametrize(
    ("base", "own"), [("series-parts", {"texts": {"title": TITLE}}), ("new", {"title": {"size": 90}})]
)
def test_the_two_versions_do_not_extend_each_other(base: str, own: dict[str, Any], tmp_path: Path) -> None:
    """The template that is extended is named, and what both are written in."""
    saved(tmp_path, "new", layout={"texts": {"title": TITLE}})
    saved(tmp_path, "mine", extends=base, layout=own)
    with pytest.raises(SpecError, match=f"{base}: it (has a `title`|lists `texts`)"):
        Catalog(tmp_path).template("mine")


def test_an_unknown_face_is_told_with_those_that_there_are(project: Project) -> None:
    """By `template validate`, with its line."""
    saved(project.root, "mine", layout={"fonts": {"label": "comic"}, "texts": {"title": {**TITLE, "font": "curly"}}})
    told = project.run("template", "validate", "mine")
    assert told.code == 2
    for where in ("layout.fonts.label", "layout.texts.title.font"):
        [line] = [line for line in told.err.splitlines() if where in line]
        assert "source-serif" in line


def test_an_unknown_face_is_told_beside_all_else(project: Project) -> None:
    """Also where the template does not load, and once."""
    project.write("specs/templates/faulty.yaml", FAULTY)
    told = project.run("template", "validate", "faulty", "--json").problem["problems"]
    assert len(told) == len(SAID) + 1
    [face] = [problem for problem in told if "unknown font" in problem]
    assert face.startswith("specs/templates/faulty.yaml:18: layout.texts.far.font: unknown font 'comic'; fonts that a")


def test_words_under_the_duration_mark_are_told(project: Project) -> None:
    """The time stamp's corner stays free, as in version 1."""
    saved(project.root, "mine", layout={"texts": {"title": {**TITLE, "box": {"x": 800, "y": 560, "w": 400, "h": 100}}}})
    told = project.run("template", "validate", "mine")
    assert told.code == 2
    assert "texts.title.box reaches under YouTube's duration mark" in told.err


def test_a_rule_that_a_text_breaks_is_told_at_its_element(project: Project) -> None:
    """`validate` draws each template: what breaks a rule on one of three texts is refused, in both versions; what only
    warns is told and is no fault."""
    bright = {"color": "#F4F4F4", "help": "none", "stroke": 0}
    white = {"box": {"x": 0, "y": 0, "w": 1280, "h": 720}, "color": "#FFFFFF"}
    project.write("specs/templates/pale.yaml", {"extends": "minimal", "layout": {"title": bright, "panels": [white]}})
    shapes = {"over": {"kind": "rectangle", "box": {"x": 64, "y": 180, "w": 420, "h": 340}, "fill": "#204060"}}
    saved(project.root, "under", layout={"texts": {"title": TITLE}, "shapes": shapes, "order": ["title", "over"]})
    told = project.run("template", "validate", "pale", "under")
    assert told.code == 2
    assert "specs/templates/pale.yaml:3: layout.title: the shortest text: text.contrast: 1." in told.err
    assert "layout.texts.title: the shortest text: text.hidden" in told.err
    saved(project.root, "small", layout={"texts": {"title": {**TITLE, "size": 50, "box": {**TITLE["box"], "h": 60}}}})  # type: ignore[dict-item]
    told = project.run("template", "validate", "small")
    assert told.code == 0
    assert "small: the longest text: text.truncated" in told.err


# extending


def test_an_extending_template_writes_only_what_differs(tmp_path: Path) -> None:
    """One field of one element; a new element; one taken away."""
    tag = {"text": "new", "box": {"x": 64, "y": 64, "w": 300, "h": 80}}
    saved(tmp_path, "base", layout={"texts": {"title": TITLE, "tag": tag}, "colors": {"ink": "#101010"}})
    dot = {"kind": "circle", "box": {"x": 900, "y": 64, "w": 100, "h": 100}}
    own = {"texts": {"title": {"size": 90}, "tag": {"hidden": True}}, "shapes": {"dot": dot}}
    saved(tmp_path, "mine", extends="base", layout=own)
    layout = Catalog(tmp_path).template("mine").layout
    assert isinstance(layout, Layers)
    assert layout.texts["title"].size == 90
    assert layout.texts["title"].max_lines == TITLE["max_lines"]
    assert layout.drawn == ("dot", "title")


def test_a_template_hash_is_that_of_its_content(tmp_path: Path) -> None:
    """What is written out though it is the default changes nothing; an order, a colour, a point do."""
    plain = loaded(tmp_path).spec_hash
    assert loaded(tmp_path, texts={"title": {**TITLE, "opacity": 1.0, "fill": "auto"}}).spec_hash == plain
    assert loaded(tmp_path, colors={"ink": "#101010"}).spec_hash != plain
    assert loaded(tmp_path, texts={"title": {**TITLE, "rotate": 1}}).spec_hash != plain


# drawing


def test_elements_are_drawn_from_back_to_front(art: Path, tmp_path: Path) -> None:
    """What stands later in the order lies over what stands before."""
    shapes = {
        "red": {"kind": "rectangle", "box": {"x": 700, "y": 100, "w": 200, "h": 200}, "fill": "#FF0000"},
        "blue": {"kind": "circle", "box": {"x": 700, "y": 100, "w": 200, "h": 200}, "fill": "#0000FF"},
    }
    for order, seen in ((["red", "blue", "title"], (0, 0, 255)), (["blue", "red", "title"], (255, 0, 0))):
        found, _ = drawn(layers(shapes=shapes, order=order), art, tmp_path)
        assert found.getpixel((800, 200)) == seen


@pytest.mark.parametrize(
    ("shape", "inside", "outside"),
    [
        ({"kind": "rectangle", "box": {"x": 700, "y": 100, "w": 200, "h": 100}, "corner": 50}, (800, 150), (703, 103)),
        ({"kind": "circle", "box": {"x": 700, "y": 100, "w": 200, "h": 100}}, (800, 105), (710, 105)),
        ({"kind": "line", "points": [[700, 100], [900, 300]], "width": 20}, (800, 200), (800, 240)),
        ({"kind": "polygon", "points": [[700, 100], [900, 100], [700, 300]]}, (750, 150), (850, 250)),
        ({"kind": "arrow", "points": [[700, 200], [900, 200]], "width": 20}, (895, 200), (895, 220)),
        ({"kind": "rectangle", "box": {"x": 700, "y": 190, "w": 200, "h": 20}, "rotate": 90}, (800, 280), (720, 200)),
        ({"kind": "circle", "box": {"x": -100, "y": -100, "w": 200, "h": 200}, "bleed": True}, (20, 20), (95, 95)),
    ],
)
def test_a_shape_fills_its_form(
    shape: dict[str, Any], inside: tuple[int, int], outside: tuple[int, int], art: Path, tmp_path: Path
) -> None:
    """And nothing beside it."""
    found, _ = drawn(layers(shapes={"it": {**shape, "fill": "#00FF00"}}), art, tmp_path)
    assert found.getpixel(inside) == (0, 255, 0)
    assert found.getpixel(outside) == (64, 64, 64)


@pytest.mark.parametrize(
    ("way", "first", "last"),
    [
        ({"linear": 0}, (702, 200), (897, 200)),
        ({"linear": 90}, (800, 102), (800, 297)),
        ({"linear": 45}, (704, 104), (895, 295)),
        ({"linear": 180}, (897, 200), (702, 200)),
        ({"radial": [0.5, 0.5]}, (800, 200), (702, 102)),
    ],
)
def test_a_gradient_goes_from_its_first_colour_to_its_last(
    way: dict[str, Any], first: tuple[int, int], last: tuple[int, int], art: Path, tmp_path: Path
) -> None:
    """In its direction, or from its middle; where it is clear the picture is seen."""
    fill = {**way, "stops": [{"color": "#FF0000"}, {"color": "#FF0000", "opacity": 0}]}
    shapes = {"it": {"kind": "rectangle", "box": {"x": 700, "y": 100, "w": 200, "h": 200}, "fill": fill}}
    found, _ = drawn(layers(shapes=shapes), art, tmp_path)
    begin, end = found.getpixel(first), found.getpixel(last)
    assert isinstance(begin, tuple)
    assert isinstance(end, tuple)
    assert begin[0] > 240
    assert abs(end[0] - 64) < 16


def test_a_mask_is_all_that_is_seen_of_an_element(art: Path, tmp_path: Path) -> None:
    """A shape that only masks is not drawn itself."""
    round_ = {"kind": "circle", "box": {"x": 700, "y": 100, "w": 200, "h": 200}}
    square = {"kind": "rectangle", "box": {"x": 700, "y": 100, "w": 200, "h": 200}, "fill": "#00FF00", "mask": "round"}
    found, _ = drawn(layers(shapes={"round": round_, "square": square}, order=["square", "title"]), art, tmp_path)
    assert (found.getpixel((800, 200)), found.getpixel((705, 105))) == ((0, 255, 0), (64, 64, 64))


def test_stroke_shadow_and_glow_lie_around_an_element(art: Path, tmp_path: Path) -> None:
    """In their own colours, outside of its form."""
    base = {"kind": "rectangle", "box": {"x": 700, "y": 200, "w": 200, "h": 100}, "fill": "#00FF00"}
    stroked, _ = drawn(layers(shapes={"it": {**base, "stroke": {"width": 10, "color": "#0000FF"}}}), art, tmp_path)
    assert stroked.getpixel((694, 250)) == (0, 0, 255)
    shadowed, _ = drawn(layers(shapes={"it": {**base, "shadow": {"x": 20, "y": 20, "blur": 4}}}), art, tmp_path)
    assert shadowed.getpixel((910, 310))[0] < 50  # type: ignore[index]
    glowing, _ = drawn(layers(shapes={"it": {**base, "glow": {"size": 30, "color": "#FFFFFF"}}}), art, tmp_path)
    assert glowing.getpixel((694, 250))[0] > 120  # type: ignore[index]
    assert glowing.getpixel((600, 250)) == (64, 64, 64)


def test_letters_may_have_a_gradient_and_stand_turned(art: Path, tmp_path: Path) -> None:
    """Red at the top of the letters, blue at their foot; a turned text is as high as its box was wide."""
    fill = {"linear": 90, "stops": [{"color": "#FFB0B0"}, {"color": "#B0B0FF"}]}
    box = {"x": 300, "y": 260, "w": 500, "h": 200}
    found, report = drawn(layers(texts={"title": {**TITLE, "box": box, "fill": fill}}), art, tmp_path)
    colours = {pixel for _, pixel in found.getcolors(1 << 20) or []}
    assert any(c[0] > c[2] + 40 for c in colours if isinstance(c, tuple))
    assert any(c[2] > c[0] + 40 for c in colours if isinstance(c, tuple))
    assert report.ok
    turned, _ = drawn(layers(texts={"title": {**TITLE, "box": box, "rotate": 90, "fill": "#FFFFFF"}}), art, tmp_path)
    left, top, right, foot = turned.convert("L").point([0] * 200 + [255] * 56).getbbox() or (0, 0, 0, 0)
    assert foot - top > 2 * (right - left)


def test_what_lies_around_letters_shrinks_with_them(art: Path, tmp_path: Path) -> None:
    """Where a series has them smaller, their outline is thinner in the same measure."""
    title = {**TITLE, "fill": "#FFFFFF", "stroke": {"width": 12, "color": "#0000FF"}}
    layout = layers(texts={"title": title})
    seen = []
    for size in (120, 60):
        found, _ = drawn(layout, art, tmp_path, sizes=(("title", size),))
        counts = {rgb: count for count, rgb in found.getcolors(1 << 20) or []}
        seen.append(counts[0, 0, 255] / counts[255, 255, 255])
    assert seen[0] == pytest.approx(seen[1], rel=0.12)


def test_an_element_goes_with_another(art: Path, tmp_path: Path) -> None:
    """A circle behind a number is not drawn where there is no number."""
    circle = {
        "kind": "circle",
        "box": {"x": 900, "y": 64, "w": 200, "h": 200},
        "fill": "#00FF00",
        "only_with": "number",
    }
    number = {
        "text": "{{ part_number }}",
        "box": {"x": 900, "y": 64, "w": 200, "h": 200},
        "size": 20,
        "fill": "#000000",
    }
    layout = layers(shapes={"circle": circle}, texts={"title": TITLE, "number": number})
    with_it, _ = drawn(layout, art, tmp_path, texts={"title": "Hello", "number": "7"})
    without, _ = drawn(layout, art, tmp_path)
    assert (with_it.getpixel((1000, 80)), without.getpixel((1000, 80))) == ((0, 255, 0), (64, 64, 64))


def test_a_text_under_another_element_is_told(art: Path, tmp_path: Path) -> None:
    """As an error where much of it is lost."""
    over = {"kind": "rectangle", "box": {"x": 64, "y": 200, "w": 400, "h": 300}, "fill": "#00FF00"}
    _, report = drawn(layers(shapes={"over": over}, order=["title", "over"]), art, tmp_path)
    assert any(violation.startswith("text.hidden") for violation in report.violations)


def test_a_brand_takes_the_place_of_what_a_layout_names_alike(art: Path, tmp_path: Path) -> None:
    """Colours and faces by name; what the layout does not name stays."""
    panel = {"kind": "rectangle", "box": {"x": 700, "y": 100, "w": 200, "h": 200}, "fill": "panel"}
    layout = layers(
        colors={"panel": "#FF0000", "paper": "#FFFFFF"}, fonts={"title": "anton"}, shapes={"panel-shape": panel}
    )
    own = brand.Identity(models.BrandColors(panel="#0000FF", scrim="#123456"), title_font="inter")
    found, _ = drawn(layout, art, tmp_path, brand=own)
    assert found.getpixel((800, 200)) == (0, 0, 255)
    branded = brand.branded_layers(layout, own)
    assert (branded.fonts["title"], branded.colors) == ("inter", {"panel": "#0000FF", "paper": "#FFFFFF"})


def test_what_a_brand_wishes_in_vain_is_told(project: Project) -> None:
    """Of a layout that names no such colour and shows no logo."""
    saved(project.root, "mine", layout={"texts": {"title": TITLE}, "colors": {"label": "#FFFFFF"}})
    Image.new("RGB", (20, 20)).save(project.root / "logo.png")
    project.series(template="mine", brand={"colors": {"label": "#FFFF00", "scrim": "#000000"}, "logo": "logo.png"})
    told = project.run("batch", "series=show", "--dry-run").err
    assert "`brand.colors.scrim` has no effect" in told
    assert "`brand.logo` has no effect" in told
    assert "label" not in told


# files and keys


def test_every_file_that_is_drawn_stands_in_the_key(tmp_path: Path) -> None:
    """Other bytes of an image are another final; a text that is not seen moves nothing."""
    layout = layers(images={"badge": {"file": "badge.png", "box": {"x": 700, "y": 64, "w": 200, "h": 200}}})

    def key(colour: str, text: str = "Hello") -> str:
        Image.new("RGB", (20, 20), colour).save(tmp_path / "badge.png")
        images = (("badge", picture_file(tmp_path / "badge.png")),)
        return ids.final_key(
            final_parts("0" * 64, layout, Drawing("x", None, texts=(("title", text),), images=images), OUTPUT)
        )

    assert key("red") == key("red", "Hello ")
    assert len({key("red"), key("blue"), key("red", "Hello!")}) == 3


def test_a_batch_shows_files_pictures_logo_and_a_second_hero(project: Project) -> None:
    """Each where its image is; another second hero draws the picture anew, without a call."""
    for name, colour in (("own", "#FF0000"), ("logo", "#00FF00"), ("second", "#0000FF"), ("pic", "#FFFF00")):
        Image.new("RGB", (200, 200), colour).save(project.root / f"{name}.png")
    boxes = {
        name: {"x": 660 + 150 * n, "y": 300, "w": 140, "h": 140}
        for n, name in enumerate(("own", "logo", "second", "pic"))
    }
    images = {
        "own": {"file": "own.png", "box": boxes["own"]},
        "logo": {"source": "logo", "box": boxes["logo"]},
        "other": {"source": "second", "box": boxes["second"]},
        "pic": {"source": "picture", "box": boxes["pic"]},
    }
    saved(project.root, "mine", layout={"texts": {"title": TITLE}, "images": images})
    project.playlist([item(1, picture="pic.png")])
    project.series(
        template="mine", second_hero="second.png", brand={"logo": "logo.png"}, output={"width": 1280, "height": 720}
    )
    assert project.run("batch", "series=show").code == 0
    [final] = sorted((project.root / "out" / "show").glob("*.jpg"))
    with Image.open(final) as made:
        seen = [made.getpixel((box["x"] + 70, 370)) for box in boxes.values()]
    wanted = ((255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0))
    assert all(max(abs(a - b) for a, b in zip(x, y, strict=True)) < 12 for x, y in zip(seen, wanted, strict=True))  # type: ignore[arg-type]
    assert project.run("batch", "series=show").code == 0
    Image.new("RGB", (200, 200), "#FF00FF").save(project.root / "second.png")
    told = project.shown("batch", "series=show", "--dry-run")
    assert (told["summary"]["refinish"], told["summary"]["create"]) == (1, 0)


def test_a_file_of_a_template_that_is_not_there_is_told_with_its_line(project: Project) -> None:
    """Before anything is made; so is one outside of the project."""
    for path, why in (("nowhere.png", "cannot be read"), ("../aside.png", "leads out of the project")):
        images = {"own": {"file": path, "box": {"x": 700, "y": 64, "w": 200, "h": 200}}}
        saved(project.root, "mine", layout={"texts": {"title": TITLE}, "images": images})
        project.series(template="mine")
        told = project.run("batch", "series=show")
        assert told.code == 2
        assert "specs/templates/mine.yaml:" in told.err
        assert "layout.images.own.file" in told.err
        assert why in told.err


def test_a_text_may_be_any_field_or_expression(project: Project) -> None:
    """In the same sandbox as a prompt; a name that there is not is told at its line."""
    texts = {
        "title": TITLE,
        "tag": {
            **TITLE,
            "text": "{{ (video.duration / 60) | round | int }} min",
            "box": {"x": 64, "y": 64, "w": 300, "h": 80},
        },
    }
    saved(project.root, "mine", layout={"texts": texts})
    told = project.run("template", "render", "mine")
    assert "13 min" in told.out
    texts["tag"]["text"] = "{{ nobody }}"
    saved(project.root, "mine", layout={"texts": texts})
    told = project.run("template", "validate", "mine")
    assert told.code == 2
    assert "layout.texts.tag.text" in told.err


def test_a_layout_goes_to_another_process_whole() -> None:
    """As a cluster's workers are given it: equal, with the same hash and content."""
    layout = layers(shapes={"it": {"kind": "line", "points": [[1, 2], [3, 4]], "fill": "#00FF00"}})
    there = pickle.loads(pickle.dumps(layout))
    assert (there, hash(there), there.content) == (layout, hash(layout), layout.content)


# where the subject goes


@pytest.mark.parametrize(
    ("given", "side"),
    [
        ({}, "right"),
        ({"free": "left"}, "left"),
        ({"texts": {"title": {**TITLE, "box": {"x": 600, "y": 200, "w": 600, "h": 300}}}}, "left"),
        ({"texts": {"title": {**TITLE, "box": {"x": 64, "y": 480, "w": 1100, "h": 180}}}}, "foot 16"),
        ({"shapes": {"p": {"kind": "rectangle", "box": {"x": 0, "y": 0, "w": 720, "h": 720}}}}, "right 14"),
    ],
)
def test_the_subject_goes_where_the_words_are_not(given: dict[str, Any], side: str) -> None:
    """By the same rule as in version 1, or where the layout says."""
    assert str(free_side(layers(**given))) == side


# whatever may be written

GREY = Image.linear_gradient("L").resize((1280, 720)).convert("RGB")
CLEAR = Image.merge("RGBA", [Image.radial_gradient("L").resize((120, 90))] * 4)


def _maybe(**strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=strategies)


INKS = st.sampled_from(("#FFFFFF", "#101010", "auto", "own", "auto-dark", "accent"))
STOPS = st.lists(
    st.fixed_dictionaries({"color": INKS, "opacity": st.sampled_from((0, 0.5, 1))}), min_size=2, max_size=3
)
FILLS = INKS | st.fixed_dictionaries({"linear": st.integers(-360, 360), "stops": STOPS})
FILLS |= st.fixed_dictionaries({"radial": st.tuples(st.floats(0, 1), st.floats(0, 1)), "stops": STOPS})
BOXES = st.fixed_dictionaries(
    {"x": st.integers(-200, 1270), "y": st.integers(-200, 710), "w": st.integers(1, 1500), "h": st.integers(1, 900)}
)
EFFECTS = _maybe(
    rotate=st.integers(-180, 180),
    opacity=st.sampled_from((0, 0.4)),
    mask=st.just("window"),
    stroke=_maybe(color=INKS).map(lambda found: {"width": 9, **found}),
    shadow=_maybe(blur=st.integers(0, 60), x=st.integers(-40, 40)),
    glow=_maybe(size=st.integers(1, 90)),
)
POINTS = st.lists(st.tuples(st.integers(-300, 1500), st.integers(-300, 900)), min_size=3, max_size=5)
FORMS = st.fixed_dictionaries({"kind": st.sampled_from(("rectangle", "circle")), "box": BOXES, "fill": FILLS})
FORMS |= st.fixed_dictionaries({"kind": st.sampled_from(("line", "polygon", "arrow")), "points": POINTS, "fill": FILLS})
PICTURES = st.fixed_dictionaries(
    {"source": st.just("logo"), "box": BOXES, "fit": st.sampled_from(("cover", "contain"))}
)
WORDS = st.fixed_dictionaries(
    {
        "text": st.just("-"),
        "box": st.just({"x": 400, "y": 260, "w": 480, "h": 200}),
        "size": st.integers(8, 400),
        "min_size": st.just(8),
        "max_lines": st.integers(1, 3),
        "fill": FILLS,
        "letterspacing": st.sampled_from((-0.05, 0, 0.4)),
    }
)
TALK = st.sampled_from(("Go", "Read *tabular* files", "مرحبا *بك*", "三天学会做面包", "🔥", "A\nB", "x" * 120, "नमस्ते"))


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_what_is_not_refused_is_drawn(data: st.DataObject) -> None:
    """Whatever elements, turned, masked, clear, partly outside, in whatever order: a picture and a verdict."""
    both = {"bleed": True}
    shapes = [a | b | both for a, b in data.draw(st.lists(st.tuples(FORMS, EFFECTS), max_size=3))]
    images = [a | b | both for a, b in data.draw(st.lists(st.tuples(PICTURES, EFFECTS), max_size=2))]
    texts = [a | b for a, b in data.draw(st.lists(st.tuples(WORDS, EFFECTS), min_size=1, max_size=2))]
    given_ = {
        "shapes": {f"s{n}": one for n, one in enumerate(shapes)}
        | {"window": data.draw(FORMS) | both | {"hidden": True}},
        "images": {f"i{n}": one for n, one in enumerate(images)},
        "texts": {f"t{n}": one for n, one in enumerate(texts)},
    }
    names = [name for group in given_.values() for name in group if name != "window"]
    layout = Layers.model_validate({**given_, "order": data.draw(st.permutations([*names, "subject"]))})
    assume(not [loc for loc, _ in faults(layout) if loc[:2] != ("shapes", "window")])
    content = Content({name: data.draw(TALK) for name in layout.texts}, dict.fromkeys(layout.images, CLEAR))
    drawn_, checks = compose(GREY, layout, content, models.Output(width=1280, height=720))
    assert (drawn_.size, drawn_.mode) == ((1280, 720), "RGB")
    assert {"text.glyphs", "text.overlay"} <= {check.rule for check in checks}
