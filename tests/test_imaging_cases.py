"""The collection of troublesome pictures: each file does what its manifest says, as hero, as art and as item picture;
and what the command line says of a bad or unfit one."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from tests.project import Project, item, make_project
from tests.test_imaging_picture import COLOURLESS, pixel
from thumbforge import models
from thumbforge.errors import AssetDamaged, PictureError
from thumbforge.imaging import crop
from thumbforge.imaging.finalise import Drawing, finalise
from thumbforge.imaging.userfiles import picture_file
from thumbforge.pixels import bars, picture
from thumbforge.planning.reference import check_hero, hero_of_file, hero_remark
from thumbforge.providers.base import Reference
from thumbforge.providers.local import LocalProvider
from thumbforge.testing import a_call, a_request

IMAGES = Path(__file__).parent / "data" / "images"
MANIFEST: dict[str, dict[str, Any]] = json.loads((IMAGES / "manifest.json").read_text("utf-8"))["files"]
BLANK = {"rgba_hidden_colour.png", "animated_first_black.gif"}
"""Which the manifest lets be refused."""
REFUSED = {name for name, entry in MANIFEST.items() if entry["expect"].startswith("refused")} | BLANK
CROPPED_SIDES = {"portrait_9x16.jpg", "square_1x1.png", "ratio_3x2.png"}
"""Whose corner a crop around the middle leaves out."""
HD = models.Output(width=1280, height=720)
LAYOUT = models.Layout.model_validate(
    {
        "title": {"box": {"x": 64, "y": 500, "w": 560, "h": 140}},
        "picture": {"box": {"x": 640, "y": 60, "w": 480, "h": 270}, "radius": 0, "border": 0},
        "focus": [0.0, 0.0],
    }
)


def drawn(art: Path, drawing: Drawing, folder: Path) -> Image.Image:
    report = finalise(art, LAYOUT, drawing, HD, folder / "out.jpg")
    assert report.ok
    with Image.open(folder / "out.jpg") as written:
        assert not {"exif", "comment", "xmp", "parameters", "prompt"} & set(written.info)
    return picture.open_rgb(folder / "out.jpg")


def as_hero(path: Path, folder: Path) -> Image.Image:
    hero = hero_of_file(path)
    info = check_hero(hero)
    reference = Reference(hero.sha256, hero.path, info.media_type)
    answer = LocalProvider({}).generate(a_request(reference), a_call(folder))
    return Image.open(io.BytesIO(answer.data)).resize((1280, 720))


def as_art(path: Path, folder: Path) -> Image.Image:
    picture.inspect_art(path.read_bytes(), 1280, 720)
    return drawn(path, Drawing("Title", None), folder)


def as_item_picture(path: Path, folder: Path) -> Image.Image:
    Image.new("RGB", (1280, 720), "#203040").save(folder / "art.png")
    picture.inspect_own(path.read_bytes())
    whole = drawn(folder / "art.png", Drawing("Title", None, picture=picture_file(path)), folder)
    return whole.crop((640, 60, 1120, 330))


ROLES: tuple[Callable[[Path, Path], Image.Image], ...] = (as_hero, as_art, as_item_picture)


EACH = [(role, name) for role in ROLES for name in sorted(MANIFEST)]
"""A file in every role; the gate has each file once, and each role with a third of them."""


@pytest.mark.parametrize(
    ("role", "name"),
    [
        pytest.param(role, name, marks=[pytest.mark.soak] * (n % 3 != n // len(MANIFEST)), id=f"{role.__name__}-{name}")
        for n, (role, name) in enumerate(EACH)
    ],
)
def test_every_file_does_what_its_manifest_says(role: Any, name: str, tmp_path: Path) -> None:
    """In each role a file is shown upright, in its colours and without its metadata, or is refused in one line with a
    hint, that names no folder of the machine."""
    if name in REFUSED:
        with pytest.raises((PictureError, AssetDamaged)) as caught:
            role(IMAGES / name, tmp_path)
        told = f"{caught.value} {caught.value.hint}"
        assert caught.value.hint
        assert "\n" not in told
        assert str(IMAGES) not in told
        return
    shown = role(IMAGES / name, tmp_path)
    if role is as_hero or name in COLOURLESS or (role is as_item_picture and name in CROPPED_SIDES):
        return
    red, green, blue = pixel(shown, shown.width // 14, shown.height // 14)
    assert red > 150
    assert max(green, blue) < 110


# --- black bars ---------------------------------------------------------------------------------------------------


def scene(size: tuple[int, int]) -> Image.Image:
    """A made-up picture that is lit everywhere."""
    made = Image.linear_gradient("L").resize(size).point([90 + value // 2 for value in range(256)]).convert("RGB")
    ImageDraw.Draw(made).ellipse((size[0] // 3, size[1] // 4, size[0] // 2, size[1] // 2), fill="#d02020")
    return made


def framed(size: tuple[int, int], frame: tuple[int, int]) -> Image.Image:
    """A scene in the middle of a black frame, as a JPEG has it."""
    whole = Image.new("RGB", frame)
    whole.paste(scene(size), ((frame[0] - size[0]) // 2, (frame[1] - size[1]) // 2))
    data = io.BytesIO()
    whole.save(data, "JPEG", quality=80)
    return picture.open_rgb(data.getvalue())


BARRED = [
    ((640, 360), (640, 480)),
    ((1280, 536), (1280, 720)),
    ((960, 720), (1280, 720)),
    ((720, 720), (1280, 720)),
    ((406, 720), (1280, 720)),
    ((800, 450), (1280, 720)),
]


@pytest.mark.parametrize(("size", "frame"), BARRED)
def test_bars_are_cut_off_whatever_their_sides(size: tuple[int, int], frame: tuple[int, int]) -> None:
    """Letterbox, pillarbox and bars all round go, to within the blur of a JPEG; the picture between them stays."""
    left, top, right, bottom = bars.content(framed(size, frame))
    assert abs((right - left) - size[0]) <= 4
    assert abs((bottom - top) - size[1]) <= 4


@pytest.mark.parametrize(("size", "frame"), BARRED)
def test_no_bar_reaches_a_final_or_a_background_of_local(
    size: tuple[int, int], frame: tuple[int, int], tmp_path: Path
) -> None:
    """Finalising cuts the bars of art, and `local` those of its hero: the same picture as from a scene without bars."""
    cut = crop.cover(framed(size, frame), 640, 360, (0.5, 0.5))
    assert min(min(pixel(cut, x, y)) for x in (3, 320, 636) for y in (3, 180, 356)) > 25
    pictures = []
    for name, source in (("barred", framed(size, frame)), ("free", scene(size))):
        source.save(tmp_path / f"{name}.png")
        pictures.append(as_hero(tmp_path / f"{name}.png", tmp_path).resize((32, 18), Image.Resampling.BOX))
    apart = [abs(one - other) for one, other in zip(*(p.tobytes() for p in pictures), strict=True)]
    assert sum(apart) / len(apart) < 10


def test_what_is_dark_without_being_a_bar_stays() -> None:
    """A subject on black, a vignette, one dark side and a scene in the night are not cut."""
    lone = Image.new("RGB", (1280, 720))
    ImageDraw.Draw(lone).ellipse((440, 160, 840, 560), fill="white")
    vignette = Image.radial_gradient("L").point(lambda value: 255 - value).resize((1280, 720)).convert("RGB")
    one_side = scene((1280, 720))
    one_side.paste((0, 0, 0), (0, 0, 200, 720))
    for kept in (lone, vignette, one_side, Image.new("RGB", (1280, 720)), scene((1280, 720))):
        assert bars.content(kept) == (0, 0, 1280, 720)


# --- what the command line says -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_project(tmp_path_factory.mktemp("cases") / "project", 2)


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ((1280, 720), ()),
        ((1920, 1040), ()),
        ((480, 270), ("below 640x360",)),
        ((1024, 1024), ("not about 16:9", "cropped", "bars")),
        ((480, 360), ("below 640x360", "not about 16:9")),
    ],
)
def test_a_hero_that_is_small_or_of_another_shape_is_told_of(size: tuple[int, int], said: tuple[str, ...]) -> None:
    """One line with the hero's size and what is done; nothing on one of at least 640x360 and 16:9 within 5 %."""
    remark = hero_remark(picture.PictureInfo("image/png", *size, ".png"))
    assert bool(remark) == bool(said)
    assert all(word in remark for word in (*said, f"{size[0]}x{size[1]}" if said else ""))
    assert "\n" not in remark


def test_the_remark_on_a_hero_is_made_once(project: Project) -> None:
    """`batch`, its `--dry-run` and `hero import` say it once each, whatever the number of items; a good hero is not
    spoken of."""
    (project.root / "old.jpg").write_bytes((IMAGES / "hq_letterbox_480x360.jpg").read_bytes())
    for words in (
        ("batch", "playlist=show", "hero=old.jpg", "template=plain", "provider=fake", "--dry-run"),
        ("hero", "import", "old.jpg"),
        ("batch", "playlist=show", "hero=old.jpg", "template=plain", "provider=fake"),
    ):
        told = project.run(*words)
        assert told.code == 0, told.err
        assert told.err.count("480x360") == 1
    assert "the hero is" not in project.batch().err


def test_a_picture_that_is_missing_is_told_with_its_place(project: Project) -> None:
    """An item's `picture:` without a file is exit 2, with the playlist's file and line, and paths as the user wrote
    them."""
    project.template("newsy", extends="news-bar")
    project.playlist([item(1), item(2, picture="specs/pictures/gone.png")])
    told = project.run("batch", "series=show", "template=newsy")
    lines = (project.root / "specs/playlists/show.yaml").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "gone.png" in text)
    assert told.code == 2
    assert f"specs/playlists/show.yaml:{line}: items[2].picture: specs/pictures/gone.png cannot be read" in told.err
    assert str(project.root) not in told.err


def test_bad_pictures_are_all_told_before_anything_is_paid(project: Project) -> None:
    """Files that are no pictures, damaged or blank are named with file and line, all at once, before the first call."""
    bad = ("text_named.jpg", "truncated.png", "all_black_1024x1024.png")
    for name in (*bad, "ok_640x360.png"):
        (project.root / name).write_bytes((IMAGES / name).read_bytes())
    project.template("newsy", extends="news-bar")
    project.playlist([item(n, picture=name) for n, name in enumerate((*bad, "ok_640x360.png"), 1)])
    before = project.calls
    told = project.run("batch", "series=show", "template=newsy")
    assert (told.code, project.calls) == (2, before)
    for number, (name, what) in enumerate(zip(bad, ("text", "damaged PNG", "black"), strict=True), 1):
        line = next(line for line in told.err.splitlines() if f"items[{number}].picture" in line)
        assert f": {name}: " in line
        assert what in line
        assert "specs/playlists/show.yaml:" in line
    assert "items[4]" not in told.err
    assert str(project.root) not in told.err
    project.playlist([item(4, picture="ok_640x360.png")])
    assert project.run("batch", "series=show", "template=newsy").code == 0


def test_a_bad_logo_is_told_before_anything_is_paid(project: Project) -> None:
    """A brand's logo that is no picture is exit 2 and named once, however many items show it."""
    (project.root / "logo.png").write_bytes((IMAGES / "html_error_named.png").read_bytes())
    project.template("newsy", extends="news-bar")
    project.playlist([item(1), item(2)])
    project.series("branded", template="newsy", brand={"logo": "logo.png"})
    told = project.run("batch", "series=branded")
    assert told.code == 2
    assert told.err.count("brand.logo: logo.png: not a picture we can use: an HTML page") == 1


def test_a_bad_picture_is_told_before_anything_is_paid(project: Project) -> None:
    """Under plain doit as under batch: with the place in the playlist, and no call; with a good file all is made."""
    folder = project.root.with_name("alone")
    alone = make_project(folder, 2)
    alone.template(extends="news-bar")
    (folder / "own.png").write_bytes((IMAGES / "truncated.png").read_bytes())
    alone.playlist([item(1, picture="own.png"), item(2)])
    told = alone.doit()
    assert told.code == 1
    assert "spec_invalid: specs/playlists/show.yaml:" in told.out
    assert "own.png: a damaged PNG picture" in told.out
    assert (alone.out(), alone.calls) == ([], 0)
    (folder / "own.png").write_bytes((IMAGES / "ok_640x360.png").read_bytes())
    assert alone.doit().code == 0
    assert (len(alone.out()), alone.calls) == (2, 2)


@pytest.mark.parametrize(("kind", "suffix"), [("jpeg", "jpg"), ("png", "png")])
def test_a_picture_of_3840x2160_is_made_end_to_end(project: Project, kind: str, suffix: str) -> None:
    """With `output` of 3840x2160 and 50,000,000 bytes a batch makes it, JPEG and PNG: of that size to the pixel, in the
    best quality, judged by that limit and not by 2 MB."""
    project.playlist([item(7)])
    output = {"width": 3840, "height": 2160, "format": kind, "max_bytes": 50_000_000}
    project.series(f"large-{kind}", output=output)
    told = project.run("batch", f"series=large-{kind}", "--json")
    assert told.code == 0, told.err
    [made] = told.document["items"]
    final = made["final_asset"]
    assert (final["width"], final["height"], made["compliant"]) == (3840, 2160, True)
    [name] = project.out(f"large-{kind}")
    path = project.root / "out" / f"large-{kind}" / name
    with Image.open(path) as opened:
        assert (opened.size, opened.format, path.suffix) == ((3840, 2160), kind.upper(), f".{suffix}")
    assert path.stat().st_size == final["bytes"]
    [row] = project.query("SELECT report_json FROM final WHERE sha256 = ?", final["sha256"])
    size = next(check for check in json.loads(row["report_json"])["checks"] if check["rule"] == "file.bytes")
    assert (size["ok"], size["detail"]) == (True, f"{final['bytes']} bytes, at most 50000000")


def test_titles_that_are_cut_or_small_are_named_in_the_summary(project: Project) -> None:
    """The summary of a batch names their parts with the hint to set `text`, also when only others were made anew; with
    --json `runs show` has the rule and its figures for each item."""
    long = "How do I select many rows and columns of a pandas DataFrame at once "
    project.template("tight", layout={"title": {"min_size": 30, "box": {"x": 64, "y": 188, "w": 500, "h": 300}}})
    project.playlist([item(1), item(2, title=long * 6), item(3, title=long * 2)])
    told = project.run("batch", "series=show", "template=tight")
    said = "Titles that are cut: part 2; too small to read at 168x94: part 2, 3. Set a shorter `text`"
    assert told.code == 0
    assert said in told.out
    project.playlist([item(1, text="Anew"), item(2, title=long * 6), item(3, title=long * 2)])
    assert said in project.run("batch", "series=show", "template=tight").out
    run = next(run for run in project.shown("runs", "list")["runs"] if run["kind"] == "batch")
    second = project.shown("runs", "show", run["id"])["iterations"][1]["report"]["checks"]
    failed = {check["rule"]: check["detail"] for check in second if not check["ok"]}
    assert {"text.truncated", "text.height"} <= set(failed)
    assert all("set a shorter `text`" in failed[rule] for rule in ("text.truncated", "text.height"))
    project.playlist([item(n, text="Short") for n in (1, 2, 3)])
    assert "Set a shorter" not in project.run("batch", "series=show", "template=tight").out
