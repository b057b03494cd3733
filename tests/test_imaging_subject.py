"""The subject and the words: they make room for it, never stain it, may pass behind it, and the report tells what they
cover."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops, ImageDraw

from tests.test_imaging_grounds import LAYOUTS, SMALL, noise
from thumbforge import ids, models
from thumbforge.imaging import compose, rules
from thumbforge.imaging.compose import Content
from thumbforge.imaging.finalise import Drawing, final_parts, finalise
from thumbforge.pixels.placed import Placed, staged
from thumbforge.pixels.scene import File, Scene
from thumbforge.pixels.sides import LEFT, free_side

SIZE = (1280, 720)
HERO = (600, 800)
BESIDE = ("series-parts", "minimal", "corner-card")
WORDS = ("Sort", "your", "data", "a", "*table*", "machine", "learning", "Überschriften", "with", "pandas?")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[File, File]:
    """A figure on a bright ground, cut at the foot, and the mask that knows its shape."""
    folder = tmp_path_factory.mktemp("hero")
    hero, mask = Image.new("RGB", HERO, "#D8D0C0"), Image.new("L", HERO)
    for layer, fill in ((hero, "#F8F4F0"), (mask, 255)):
        draws = ImageDraw.Draw(layer)
        draws.ellipse((200, 120, 400, 380), fill=fill)
        draws.rounded_rectangle((100, 370, 500, 900), 80, fill=fill)
    found = []
    for name, layer in (("hero.png", hero), ("hero.mask.png", mask)):
        layer.save(folder / name)
        found.append(File(folder / name, hashlib.sha256((folder / name).read_bytes()).hexdigest()))
    return found[0], found[1]


def scene(files: tuple[File, File], layout: models.Layout, **more: object) -> Scene:
    return Scene(files[0], files[1], look="cutout", free=free_side(layout), **more)  # type: ignore[arg-type]


def at(found: Scene) -> Placed:
    placed = staged(found, *SIZE)
    assert placed
    return placed


def painted(placed: Placed, ground: str = "#203050") -> Image.Image:
    """Art with the subject as one bright shape where it is placed."""
    art = Image.new("RGB", SIZE, ground)
    art.paste("#F8F4F0", (0, 0), placed.mask(*SIZE))
    return art


def check(checks: tuple[rules.Check, ...], rule: str) -> rules.Check:
    return next(found for found in checks if found.rule == rule)


def share(found: rules.Check) -> float:
    return int(found.detail.split("%")[0]) / 100


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), st.sampled_from(BESIDE))
@example(["machine", "Überschriften"] * 2 + ["Sort"] * 2, "minimal")
def test_words_make_room_for_the_subject(files: tuple[File, File], words: list[str], name: str) -> None:
    """Whatever the title: beside a subject no letter touches it where each word has a line to itself, and no more than
    is allowed where there are many long ones; none is lost for that."""
    placed = at(scene(files, LAYOUTS[name]))
    content = Content(" ".join(words), "Part 7")
    _, checks = compose.compose(painted(placed), LAYOUTS[name], content, SMALL, placed)
    _, alone = compose.compose(painted(placed), LAYOUTS[name], content, SMALL)
    if len(words) <= LAYOUTS[name].title.max_lines:
        assert share(check(checks, "subject.covered")) == 0
    assert check(checks, "subject.covered").ok
    assert check(checks, "text.truncated") == check(alone, "text.truncated")


def test_a_subject_at_the_left_keeps_words_at_the_right(files: tuple[File, File]) -> None:
    """The same on the other side, lines even at their right."""
    title = {"box": {"x": 300, "y": 188, "w": 900, "h": 360}, "align": "right", "size": 140}
    layout = models.Layout.model_validate({"title": title})
    placed = at(replace(scene(files, layout), free=LEFT))
    picture, checks = compose.compose(
        painted(placed), layout, Content("Compare machine learning models"), SMALL, placed
    )
    assert check(checks, "subject.covered").ok
    assert share(check(checks, "subject.covered")) == 0
    assert not check(checks, "text.truncated").detail.startswith("left out")
    assert ImageChops.difference(picture, painted(placed)).getbbox()


def test_another_break_comes_before_a_smaller_size(files: tuple[File, File]) -> None:
    """Where two short lines fit beside the subject at the same size, one long line is broken and not shrunk."""
    title = {"box": {"x": 64, "y": 120, "w": 1100, "h": 500}, "size": 120, "anchor": "middle"}
    layout = models.Layout.model_validate({"title": title})
    placed = at(replace(scene(files, layout), free=scene(files, LAYOUTS["series-parts"]).free))
    _, alone = compose.compose(painted(placed), layout, Content("Sort your data"), SMALL)
    _, beside = compose.compose(painted(placed), layout, Content("Sort your data"), SMALL, placed)
    assert share(check(beside, "subject.covered")) == 0
    assert check(beside, "text.height").detail == check(alone, "text.height").detail


@pytest.mark.parametrize("name", BESIDE)
def test_no_shade_lies_on_the_subject(files: tuple[File, File], name: str) -> None:
    """On a ground that needs help everywhere, the subject's own pixels are those of the layout without a word."""
    placed = at(scene(files, LAYOUTS[name]))
    art = painted(placed, "#F0D8A0")
    drawn, _ = compose.compose(art, LAYOUTS[name], Content("How do I sort a table?", "Part 7"), SMALL, placed)
    empty, _ = compose.compose(art, LAYOUTS[name], Content("\u200e"), SMALL, placed)
    inside = placed.mask(*SIZE).point([255 if level > 250 else 0 for level in range(256)])
    changed = ImageChops.difference(drawn, empty).convert("L")
    assert changed.histogram(inside)[0] == inside.histogram()[255]


def test_words_over_the_subject_are_told(files: tuple[File, File]) -> None:
    """A layout that writes over it is an error where the subject is known, and its limits are the template's."""
    title = {"box": {"x": 640, "y": 60, "w": 560, "h": 600}, "size": 260, "min_size": 240, "case": "upper"}
    layout = models.Layout.model_validate({"title": title})
    placed = at(replace(scene(files, layout), free=scene(files, LAYOUTS["series-parts"]).free))
    _, checks = compose.compose(painted(placed), layout, Content("No way out"), SMALL, placed)
    found = check(checks, "subject.covered")
    assert share(found) > 0.1
    assert not found.ok
    for limits, level in (((0.0, 0.01), "error"), ((0.0, 0.99), "warning"), ((0.99, 1.0), "ok")):
        other = layout.model_copy(update={"subject": models.SubjectRules(covered=limits)})
        _, checks = compose.compose(painted(placed), other, Content("No way out"), SMALL, placed)
        found = check(checks, "subject.covered")
        assert (found.level if not found.ok else "ok") == level


def test_a_face_is_judged_for_itself(files: tuple[File, File]) -> None:
    """Words across a body are fine while the face is free; words on the face are an error."""
    layout = LAYOUTS["bold-title"]
    face = (200 / 600, 150 / 800, 200 / 600, 220 / 800)
    placed = at(scene(files, layout, face=face))
    _, checks = compose.compose(painted(placed), layout, Content("Compare machine learning models"), SMALL, placed)
    assert check(checks, "subject.covered").ok
    title = {"box": {"x": 340, "y": 40, "w": 600, "h": 400}, "size": 200, "align": "center"}
    over = models.Layout.model_validate({"title": title, "panels": [{"box": title["box"], "color": "#000000"}]})
    _, checks = compose.compose(painted(placed), over, Content("Oh"), SMALL, placed)
    found = check(checks, "subject.covered")
    assert (found.ok, found.level) == (False, "error")
    assert "of the face" in found.detail


def test_art_of_others_is_only_warned_of() -> None:
    """In art that `local` did not place, what is found is a guess; where nothing is found the report says unknown."""
    art = Image.new("RGB", SIZE, "#305070")
    ImageDraw.Draw(art).ellipse((700, 150, 1150, 650), fill="#F0E0A0")
    title = {"box": {"x": 700, "y": 150, "w": 450, "h": 500}, "size": 260, "case": "upper"}
    layout = models.Layout.model_validate({"title": title})
    _, checks = compose.compose(art, layout, Content("No way out"), SMALL)
    found = check(checks, "subject.covered")
    assert (found.ok, found.level) == (False, "warning")
    assert "a guess" in found.detail
    for nothing in (Image.new("RGB", SIZE, "#305070"), noise(1, random.Random(4)).resize(SIZE)):
        _, checks = compose.compose(nothing, layout, Content("No way out"), SMALL)
        found = check(checks, "subject.covered")
        assert not found.ok
        assert found.detail.startswith("unknown")


def behind(**title: object) -> models.Layout:
    own = LAYOUTS["series-parts"]
    return own.model_copy(update={"title": own.title.model_copy(update={"behind": True, "size": 256, **title})})


def test_short_words_may_pass_behind_the_subject(files: tuple[File, File]) -> None:
    """With `behind: true` a short title reaches behind a subject that is cut out: the subject's pixels stay the art's,
    no letter is lost, and hidden letters cover nothing."""
    layout = behind()
    placed = at(scene(files, layout))
    art = painted(placed)
    reached = 0
    for words in ("No fear", "Pandas", "Deep sea", "Overcome"):
        picture, checks = compose.compose(art, layout, Content(words, "Part 7"), SMALL, placed)
        assert share(check(checks, "subject.covered")) == 0
        inside = placed.mask(*SIZE).point([255 if level > 250 else 0 for level in range(256)])
        bare, _ = compose.compose(art, layout, Content("\u200e", "Part 7"), SMALL, placed)
        assert ImageChops.difference(picture, bare).convert("L").histogram(inside)[0] == inside.histogram()[255]
        front, _ = compose.compose(art, behind(behind=False), Content(words, "Part 7"), SMALL, placed)
        reached += picture.tobytes() != front.tobytes()
    assert reached


def test_only_a_shape_can_be_passed_behind(files: tuple[File, File]) -> None:
    """Where only a box is known, or the title is long, `behind` changes nothing."""
    layout = behind()
    box = (0.16, 0.15, 0.67, 0.85)
    boxed = at(Scene(files[0], subject=box, look="photo", free=free_side(layout)))
    cut_out = at(scene(files, layout))
    for placed, words in ((boxed, "No fear"), (cut_out, "Compare machine learning models")):
        pictures = {
            compose.compose(painted(placed), each, Content(words), SMALL, placed)[0].tobytes()
            for each in (layout, behind(behind=False))
        }
        assert len(pictures) == 1


def test_the_final_key_holds_what_places_the_subject(files: tuple[File, File]) -> None:
    """Mask, face and side move it; colours do not, and without a scene there is no such part."""
    layout = LAYOUTS["series-parts"]
    first = scene(files, layout)

    def key(found: Scene | None) -> str:
        return ids.final_key(final_parts("0" * 64, layout, Drawing("Title", None, scene=found), SMALL))

    others = [None, replace(first, mask=None), replace(first, face=(0.3, 0.2, 0.3, 0.3)), replace(first, free=LEFT)]
    assert len({key(first), *map(key, others)}) == 5
    assert key(first) == key(replace(first, hues="one", palette=("#FF0000",)))
    assert "subject" not in final_parts("0" * 64, layout, Drawing("Title", None), SMALL)


def test_a_hero_that_is_gone_is_told_in_the_report(files: tuple[File, File], tmp_path: Path) -> None:
    """The picture is drawn all the same, and fails with the name of the file."""
    art = tmp_path / "art.png"
    painted(at(scene(files, LAYOUTS["series-parts"]))).save(art)
    gone = Scene(File(tmp_path / "gone.png", "0" * 64), look="cutout")
    report = finalise(art, LAYOUTS["series-parts"], Drawing("Title", None, scene=gone), SMALL, tmp_path / "out.jpg")
    assert not report.ok
    assert any("gone.png" in found for found in report.violations)
    assert (tmp_path / "out.jpg").exists()
