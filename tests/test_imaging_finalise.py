"""Art in, thumbnail out: the file, its report, its identity, and that the same input gives the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
import yaml
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageOps, ImageStat

from tests import built_in
from tests.tiers import soak
from thumbforge import ids, models
from thumbforge.errors import PictureError, UsageError
from thumbforge.imaging import encode, rules
from thumbforge.imaging.finalise import Drawing, final_parts, finalise
from thumbforge.imaging.type import clean, fonts
from thumbforge.imaging.zones import overlay_problems
from thumbforge.pixels import picture

HERE = Path(__file__).parent
IMAGES = HERE / "data" / "images"
GOLDEN = HERE / "golden"
BUILTIN = HERE.parent / "thumbforge" / "specs" / "builtin" / "templates"
NAMES = tuple(path.stem for path in built_in.FIRST)
SMALL = models.Output(width=1280, height=720)
TITLES = [
    json.loads(line.split("\t")[1])
    for line in (HERE / "data" / "titles.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


def template(name: str) -> models.Template:
    return models.Template(**yaml.safe_load((BUILTIN / f"{name}.yaml").read_text("utf-8")))


def layout(**title: object) -> models.Layout:
    box = {"x": 64, "y": 64, "w": 800, "h": 500}
    return models.Layout.model_validate(
        {"title": {"box": box, **title}, "part": {"box": {"x": 64, "y": 600, "w": 400, "h": 80}}}
    )


def sunset() -> Image.Image:
    """A made-up picture: a soft sky, a disk, a dark hill."""
    sky = Image.new("RGB", (2, 2))
    sky.putdata([(40, 30, 90), (190, 80, 90), (230, 140, 80), (60, 30, 60)])
    scene = sky.resize((688, 384), Image.Resampling.BICUBIC)
    ImageDraw.Draw(scene).ellipse((470, 90, 600, 220), fill=(250, 220, 170))
    return scene.filter(ImageFilter.GaussianBlur(2))


@pytest.fixture(scope="module")
def art(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("art") / "sunset.png"
    sunset().save(path)
    return path


def check(report: rules.Report, rule: str) -> rules.Check:
    return next(found for found in report.checks if found.rule == rule)


@pytest.mark.parametrize("name", NAMES)
def test_a_built_in_template_makes_a_good_thumbnail(name: str, art: Path, tmp_path: Path) -> None:
    """Each built-in template gives a 1920x1080 JPEG under the limit, with no warning but that words which lie across
    the picture cover what may be its subject."""
    target = tmp_path / "out.jpg"
    report = finalise(
        art, template(name).layout, Drawing("How do I sort a *table*?", "Part 7"), models.Output(), target
    )
    assert report.ok
    across = name in ("bold-title", "poster", "news-bar")
    assert [found for found in report.warnings if not (across and "a guess" in found)] == []
    assert (report.width, report.height, report.media_type) == (1920, 1080, "image/jpeg")
    assert report.bytes == target.stat().st_size <= 2_000_000


@pytest.mark.parametrize("name", NAMES)
def test_templates_look_as_they_did(name: str, art: Path, tmp_path: Path) -> None:
    """Seen at 168x94, a finished thumbnail is the stored one (a small tolerance: other processors round otherwise)."""
    target = tmp_path / "out.png"
    output = models.Output(width=1280, height=720, format="png", max_bytes=5_000_000)
    drawing = Drawing("Sort a *table* by two columns", "Part 7", series="A whole series", kicker="New")
    finalise(art, template(name).layout, drawing, output, target)
    seen = picture.open_rgb(target).resize((168, 94), Image.Resampling.LANCZOS)
    golden = picture.open_rgb(GOLDEN / f"{name}.png")
    difference = ImageChops.difference(seen, golden)
    if max(ImageStat.Stat(difference).mean) >= 0.5:
        visual = Image.new("RGB", (168, 282))
        for row, shown in enumerate((golden, seen, ImageOps.autocontrast(difference))):
            visual.paste(shown, (0, 94 * row))
        visual.save(tmp_path / f"{name}-golden-seen-difference.png")
        pytest.fail(f"{name} looks different: see {tmp_path}/{name}-golden-seen-difference.png")


@pytest.mark.parametrize("name", NAMES)
def test_built_in_layouts_keep_clear_of_the_players_marks(name: str) -> None:
    """No text or logo of a built-in template reaches the outer margin or what YouTube draws over thumbnails."""
    found = template(name).layout
    assert overlay_problems(found) == ()
    assert found.part
    for _, slot in found.slots:
        assert slot.box.x >= 48
        assert slot.box.y >= 48
        assert slot.box.x + slot.box.w <= 1232
        assert slot.box.y + slot.box.h <= 688


@pytest.mark.parametrize("share", [0, *soak(*range(1, 5))])
def test_every_title_of_the_collection_is_finished(share: int, art: Path, tmp_path: Path) -> None:
    """No title whatever raises; each gives a file, and only letters without a font are errors."""
    for number, title in [*enumerate(TITLES)][share::5]:
        shown = layout(case="upper", font=fonts.DISPLAY[number % 4])
        report = finalise(art, shown, Drawing(title, title[:20]), SMALL, tmp_path / f"{number}.jpg")
        assert {found.rule for found in report.checks if not found.ok and found.level == "error"} <= {"text.glyphs"}


@pytest.mark.parametrize("name", sorted(p.name for p in IMAGES.iterdir() if p.suffix != ".json"))
def test_any_readable_art_gives_exactly_the_output_size(name: str, tmp_path: Path) -> None:
    """Whatever the art's shape, mode or metadata: 1280x720, RGB, no metadata; bad art is a PictureError."""
    target = tmp_path / "out.jpg"
    try:
        report = finalise(IMAGES / name, layout(), Drawing("Title", None), SMALL, target)
    except PictureError:
        assert not target.exists()
        return
    assert report.ok
    with Image.open(target) as finished:
        assert (finished.size, finished.mode) == ((1280, 720), "RGB")
        assert not {"exif", "comment", "xmp", "parameters", "prompt"} & set(finished.info)
        assert finished.info["icc_profile"] == encode.srgb_profile()


def test_art_that_carries_a_prompt_does_not_pass_it_on(tmp_path: Path) -> None:
    """Text inside the art's file never reaches the finished file."""
    for kind in ("jpeg", "png"):
        target = tmp_path / f"out.{kind}"
        output = models.Output(width=1280, height=720, format=kind)
        assert finalise(IMAGES / "prompt_in_text.png", layout(), Drawing("Title", None), output, target).ok
        assert b"prompt" not in target.read_bytes()


def test_the_encoder_writes_no_metadata(tmp_path: Path) -> None:
    """Comments, text and profiles that a picture carries in memory are not written; the tag of sRGB is, always the same
    bytes."""
    carrying = Image.new("RGB", (1280, 720))
    carrying.info = {"comment": b"secret words", "icc_profile": b"secret words", "exif": b"Exif\0\0secret words"}
    for kind in ("jpeg", "png"):
        target = tmp_path / f"out.{kind}"
        encode.write(carrying, target, models.Output(width=1280, height=720, format=kind))
        assert b"secret" not in target.read_bytes()
        with Image.open(target) as written:
            assert written.info["icc_profile"] == encode.srgb_profile()
    assert sha256(encode.srgb_profile()).hexdigest().startswith("f05e871ae8d9f561")
    assert carrying.info["comment"]


def noise(path: Path) -> Path:
    pixels = random.Random(3).randbytes(960 * 540 * 3)
    Image.frombytes("RGB", (960, 540), pixels).save(path)
    return path


def test_a_noisy_picture_stays_under_the_limit(tmp_path: Path) -> None:
    """Where the best quality is too large, a lower one is found that fits."""
    output = models.Output(width=1280, height=720, max_bytes=700_000)
    report = finalise(noise(tmp_path / "n.png"), layout(), Drawing("Noise", None), output, tmp_path / "out.jpg")
    assert 350_000 < report.bytes <= 700_000
    assert check(report, "file.bytes").ok


def test_a_file_that_cannot_be_small_enough_fails_its_check(tmp_path: Path) -> None:
    """A file over `output.max_bytes` is written, and refused by file.bytes with both figures and what would help."""
    output = models.Output(format="png", max_bytes=1_000_000)
    report = finalise(noise(tmp_path / "n.png"), layout(), Drawing("Noise", None), output, tmp_path / "out.png")
    assert not report.ok
    assert report.media_type == "image/png"
    assert report.violations == (f"file.bytes: {report.bytes} bytes, at most 1000000: set output.format to jpeg",)
    assert (tmp_path / "out.png").stat().st_size == report.bytes


def test_a_limit_below_two_megabytes_is_kept_or_refused(tmp_path: Path) -> None:
    """Whatever the setting is, the report holds the file against that number."""
    output = models.Output(width=1280, height=720, max_bytes=20_000)
    report = finalise(noise(tmp_path / "n.png"), layout(), Drawing("Noise", None), output, tmp_path / "out.jpg")
    assert report.bytes > 20_000
    assert [text.partition(":")[0] for text in report.violations] == ["file.bytes"]
    assert "at most 20000: set output.max_bytes higher" in report.violations[0]


def test_a_letter_without_a_font_is_an_error_that_names_it(art: Path, tmp_path: Path) -> None:
    """Letters that no font has are left out, never drawn as boxes, and named by code point."""
    report = finalise(art, layout(), Drawing("Part \uf8ff \ue000", "\ue000"), SMALL, tmp_path / "out.jpg")
    assert report.violations == ("text.glyphs: no font has U+F8FF U+E000",)
    plain = tmp_path / "plain.jpg"
    finalise(art, layout(), Drawing("Part", None), SMALL, plain)
    assert plain.read_bytes() == (tmp_path / "out.jpg").read_bytes()


def test_a_title_that_is_too_long_is_a_warning(art: Path, tmp_path: Path) -> None:
    """A cut title is drawn with an ellipsis and the report says what was left out."""
    report = finalise(art, layout(), Drawing("a very long title " * 20, None), SMALL, tmp_path / "out.jpg")
    assert report.ok
    cut = next(text for text in report.warnings if text.startswith("text.truncated: left out: "))
    assert cut.endswith("set a shorter `text` for this item")


def test_small_letters_and_hidden_places_are_warnings(art: Path, tmp_path: Path) -> None:
    """Letters too small to read, and text under the player's marks, are named."""
    shown = models.Layout.model_validate(
        {"title": {"box": {"x": 900, "y": 620, "w": 360, "h": 90}, "size": 40, "min_size": 30}}
    )
    report = finalise(art, shown, Drawing("12 minutes", None), SMALL, tmp_path / "out.jpg")
    assert [text.split(":")[0] for text in report.warnings] == ["text.height", "text.overlay"]
    assert "px at 168x94: set a shorter `text`" in report.warnings[0]
    assert "duration mark" in report.warnings[1]


@pytest.mark.parametrize(("color", "level"), [("#101014", "error"), ("#6E6E74", "warning")])
def test_a_badge_that_cannot_be_read_is_named(color: str, level: str, art: Path, tmp_path: Path) -> None:
    """Contrast under 3 is an error, under 4.5 a warning; the figures are given."""
    shown = models.Layout.model_validate(
        {
            "title": {"box": {"x": 64, "y": 200, "w": 800, "h": 400}},
            "part": {"box": {"x": 64, "y": 64, "w": 400, "h": 90}, "color": color, "fill": "#202024"},
        }
    )
    if level == "warning":
        shown = shown.model_copy(update={"part": shown.part and shown.part.model_copy(update={"fill": "#08080A"})})
    report = finalise(art, shown, Drawing("Title", "Part 1"), SMALL, tmp_path / "out.jpg")
    found = check(report, "part.contrast")
    assert (found.ok, found.level) == (False, level)


@pytest.mark.parametrize("part", [None, "", "  ", "\u200b\u202e"])
def test_without_a_part_no_badge_is_drawn(part: str | None, art: Path, tmp_path: Path) -> None:
    """An item without a part, or with one that cannot be seen, has no plate: the picture is that of no part."""
    first, second = tmp_path / "a.jpg", tmp_path / "b.jpg"
    finalise(art, layout(), Drawing("Title", part), SMALL, first)
    finalise(art, layout().model_copy(update={"part": None}), Drawing("Title", "Part 9"), SMALL, second)
    assert first.read_bytes() == second.read_bytes()


def test_an_empty_title_draws_nothing_but_says_so(art: Path, tmp_path: Path) -> None:
    """A blank title leaves the picture as it is, with a warning."""
    report = finalise(art, layout(), Drawing(" \u200b", None), SMALL, tmp_path / "out.jpg")
    assert report.ok
    assert any(text.startswith("text.title") for text in report.warnings)


def test_a_report_is_json(art: Path, tmp_path: Path) -> None:
    """as_dict is plain JSON with every check and its figures."""
    report = finalise(art, layout(), Drawing("Title", "Part 1"), SMALL, tmp_path / "out.jpg")
    found = json.loads(json.dumps(report.as_dict()))
    assert found["ok"] is True
    assert {"rule", "level", "ok", "detail"} == set(found["checks"][0])
    assert [c["rule"] for c in found["checks"]][:5] == [
        "size.aspect",
        "size.width",
        "file.format",
        "file.bytes",
        "color.mode",
    ]


def test_the_written_file_is_what_is_judged(tmp_path: Path) -> None:
    """Rules about the file look at the file: its shape, width, format and colours."""
    wrong = tmp_path / "wrong.jpg"
    Image.new("L", (1000, 700)).save(wrong, "WEBP")
    report = rules.judge(wrong, SMALL, ())
    failed = {text.split(":")[0] for text in report.violations}
    assert failed == {"size.aspect", "size.width", "file.format"}
    grey = tmp_path / "grey.jpg"
    Image.new("L", (1280, 720)).save(grey, "JPEG")
    assert [text.split(":")[0] for text in rules.judge(grey, SMALL, ()).violations] == ["color.mode"]
    grey.write_bytes(grey.read_bytes()[:400])
    with pytest.raises(PictureError, match="cannot be read"):
        rules.judge(grey, SMALL, ())


@pytest.mark.parametrize("kind", ["jpeg", "png"])
def test_a_file_that_was_not_written_to_its_end_is_not_judged(kind: str, art: Path, tmp_path: Path) -> None:
    """A finished file from which the last byte is missing cannot be read."""
    target = tmp_path / "out"
    output = models.Output(width=1280, height=720, format=kind)
    assert finalise(art, layout(), Drawing("Title", None), output, target).ok
    target.write_bytes(target.read_bytes()[:-1])
    with pytest.raises(PictureError, match="cannot be read: its end is missing"):
        rules.judge(target, output, ())


def test_an_unknown_font_is_a_usage_error(art: Path, tmp_path: Path) -> None:
    """A layout with a font that we don't have fails before anything is drawn, naming the choices."""
    for call in (
        lambda: finalise(art, layout(font="comic-sans"), Drawing("x", None), SMALL, tmp_path / "out.jpg"),
        lambda: final_parts("0" * 64, layout(font="comic-sans"), Drawing("x", None), SMALL),
    ):
        with pytest.raises(UsageError, match="comic-sans") as caught:
            call()
        assert "anton" in caught.value.hint
    assert not (tmp_path / "out.jpg").exists()


SCRIPT = """
import sys, hashlib, yaml, pathlib
from thumbforge import models
from thumbforge.imaging.finalise import Drawing, finalise
art, target, spec = map(pathlib.Path, sys.argv[1:4])
layout = models.Template(**yaml.safe_load(spec.read_text("utf-8"))).layout
finalise(art, layout, Drawing("Ёлки *und* עברית 10 😀", "Part 7"), models.Output(), target)
print(hashlib.sha256(target.read_bytes()).hexdigest())
"""


def test_the_same_input_gives_the_same_bytes_everywhere(art: Path, tmp_path: Path) -> None:
    """Other processes, hash seeds, locales and threads make the same file, byte for byte."""
    drawing = Drawing("Ёлки *und* עברית 10 😀", "Part 7")
    shown = template("series-parts").layout

    def make(number: int) -> str:
        target = tmp_path / f"{number}.jpg"
        finalise(art, shown, drawing, models.Output(), target)
        return hashlib.sha256(target.read_bytes()).hexdigest()

    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(make, range(8)))
    for seed, locale in (("1", "C"), ("77", "tr_TR.UTF-8")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "LANG": locale}
        command: list[str | Path] = [
            sys.executable,
            "-c",
            SCRIPT,
            art,
            tmp_path / f"p{seed}.jpg",
            BUILTIN / "series-parts.yaml",
        ]
        found.add(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip())
    assert len(found) == 1


def test_final_parts_are_pinned() -> None:
    """The identity of a finished picture is persisted: this value changes only on purpose."""
    parts = final_parts("ab" * 32, template("series-parts").layout, Drawing("Ёлки", "Part 7"), models.Output())
    assert set(parts) == {"art", "layout", "title", "part", "output", "fonts", "finaliser"}
    assert ids.final_key({**parts, "layout": {}}) == "b46c9a4ebb3dcc6dfbfffbd7f440377226d7268bf75997cfe438fa2b3f4502f4"


def test_final_parts_name_the_fonts_that_can_take_part() -> None:
    """An English title depends on its own font; others on the display faces and the fonts of their scripts."""

    def names(title: str, part: str | None = None) -> set[str]:
        return set(final_parts("0" * 64, layout(), Drawing(title, part), SMALL)["fonts"])

    assert names("Plain title") == {"anton"}
    assert names("Ёлки") == set(fonts.DISPLAY)
    assert names("हिन्दी") == {*fonts.DISPLAY, "noto-sans-devanagari"}
    assert names("Title", "😀") == {*fonts.DISPLAY, "noto-emoji", "noto-sans-symbols"}


def test_final_parts_move_with_what_is_drawn_and_with_nothing_else() -> None:
    """A space at the end of a title is no change; the title, the part, the output and the art are."""

    def key(title: str = "Title", part: str | None = "1", output: models.Output = SMALL, art: str = "0" * 64) -> str:
        return ids.final_key(final_parts(art, layout(), Drawing(title, part), output))

    assert key() == key("Title \u200e ") == key(part=" 1")
    assert key(part=None) == key(part="")
    assert len({key(), key("Titel"), key(part="2"), key(output=models.Output()), key(art="1" * 64)}) == 5


def test_planning_needs_no_picture_library() -> None:
    """final_parts imports neither Pillow, HarfBuzz, regex, ICU nor BudouX, whatever the language: a plan of thousands
    stays quick."""
    code = (
        "import sys; from thumbforge import models; from thumbforge.imaging.finalise import *\n"
        "box = {'x': 0, 'y': 0, 'w': 9, 'h': 9}\n"
        "layout = models.Layout.model_validate({'title': {'box': box}})\n"
        "final_parts('', layout, Drawing('ё 東京', None, language='ja'), models.Output())\n"
        "print(sorted({'PIL', 'uharfbuzz', 'regex', 'icu4py', 'budoux'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"


def test_forced_lines_and_accents_reach_the_picture(art: Path, tmp_path: Path) -> None:
    """*word* is drawn in the accent colour, and only there."""
    shown = layout(accent="#FF00FF", stroke=0, shadow=0)
    for title, expected in (("one *two*", True), ("one two", False)):
        target = tmp_path / "out.png"
        output = models.Output(width=1280, height=720, format="png")
        finalise(art, shown, Drawing(title, None), output, target)
        colours = {found for _, found in picture.open_rgb(target).getcolors(1 << 20) or []}
        assert ((255, 0, 255) in colours) is expected
    assert clean.marked("one *two*", "none").chars == "one two"
