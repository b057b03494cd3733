"""The sheet of a series: written last whatever failed, current or not, and taken along with out/."""

from __future__ import annotations

import html
import re
import shlex
import shutil
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from tests.project import Project, finish, item, make_project, put_to_sleep, wait_until, wake
from thumbforge.imaging import sheet
from thumbforge.imaging.sheet import Sheet
from thumbforge.making.sheets.kept import digests, keep_sheet
from thumbforge.making.sheets.series import series_sheet
from thumbforge.planning.decide import plan_series
from thumbforge.planning.project import Project as Here
from thumbforge.planning.series import SeriesRequest, resolve


def page(project: Project) -> str:
    return (project.root / "out/show/sheet.html").read_text(encoding="utf-8")


def test_a_batch_ends_with_a_sheet_whatever_failed(project: Project) -> None:
    """Every item is on it, with the reason where one failed; the batch prints its path."""
    project.template(prompt="{% if part_number == 2 %}[[FAIL_PERMANENT]]{% endif %} A picture.")
    told = project.batch()
    assert (told.code, "Sheet: out/show/sheet.html" in told.out) == (6, True)
    assert "the prompt says" in page(project)
    assert (project.root / "out/show/sheet.png").read_bytes().startswith(b"\x89PNG")


def test_its_pictures_lie_beside_it(project: Project, tmp_path: Path) -> None:
    """out/ can be taken elsewhere: what the page shows lies beside it, and each picture leads to its export."""
    project.batch()
    shutil.move(project.root / "out", tmp_path / "elsewhere")
    folder = tmp_path / "elsewhere/show"
    text = (folder / "sheet.html").read_text(encoding="utf-8")
    sources, links = set(re.findall(r'src="([^"]*)"', text)), set(re.findall(r'class="shot" href="([^"]*)"', text))
    assert len(sources) == len(links) == 3
    for name in sources:
        with Image.open(folder / name) as preview:
            assert (preview.format, preview.size) == ("WEBP", (640, 360))
    assert all((folder / name).is_file() for name in links)


def shown(project: Project) -> Sheet:
    """What the sheet of the series says now."""
    here = Here(project.root)
    planned = plan_series(here, resolve(here.lookup(None), SeriesRequest(series="show")))
    return series_sheet(here, planned, planned.rows)


def test_previews_are_made_once_for_each_content(project: Project) -> None:
    """Kept under .thumbforge, so that out/ comes back without them being made again; those of pictures that are gone
    go, too, and so does what the page no longer shows."""
    project.batch()
    kept = project.home / "sheets/previews"
    before = {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}
    assert len(before) == 3
    shutil.rmtree(project.root / "out")
    assert project.batch().code == 0
    assert {path.name: path.stat().st_mtime_ns for path in kept.iterdir()} == before
    (kept / f"{'0' * 16}.webp").write_bytes(b"of a picture that is gone")
    project.playlist([item(1, text="Other"), item(2), item(3)])
    assert project.batch().code == 0
    beside = {path.name for path in (project.root / "out/show/sheet.files").iterdir()}
    assert len(beside) == 4  # the picture of before is shown, too
    assert beside == {path.name for path in kept.iterdir()}


def test_what_the_last_run_changed_is_shown_beside_what_was_before(project: Project) -> None:
    """By that run alone: an item that was only locked has not changed."""
    project.batch()
    assert [(one.is_changed, one.before) for one in shown(project).items] == [(True, None)] * 3
    old = shown(project).items[0].identity
    project.playlist([item(1, text="Other"), item(2), item(3)])
    assert project.batch().code == 0
    assert project.run("takes", "lock", "2").code == 0
    first, *others = shown(project).items
    assert (first.is_changed, first.before and first.before.identity) == (True, old)
    assert [(one.is_changed, one.before) for one in others] == [(False, None)] * 2
    assert others[0].is_locked


def test_the_sheet_shows_the_files_that_are_there(project: Project) -> None:
    """The user's own picture and the one of before, each marked, not those of the store; and what is not of the
    series."""
    project.batch()
    out = project.root / "out/show"
    first, second, _ = project.out()
    (out / second).write_bytes((out / first).read_bytes())
    Image.new("RGB", (1280, 720), "red").save(out / first)
    (out / "99-gone.jpg").write_bytes(b"x")
    (out / "notes").mkdir()
    project.playlist([item(1), item(2, text="Other"), item(3)])
    sheet = shown(project)
    assert [one.picture and one.picture.parent for one in sheet.items] == [out] * 3
    assert [one.is_old for one in sheet.items] == [False, True, False]
    assert "was edited" in sheet.items[0].reason
    assert [stray.name for stray in sheet.strays] == ["99-gone.jpg", "notes"]
    told = project.run("series", "sheet", "show")
    assert (told.code, told.out) == (0, "Sheet: out/show/sheet.html\n")
    for words in ("Not of this series", "99-gone.jpg", "The picture above is that of before."):
        assert words in page(project)
    assert project.calls == 3


def test_a_file_is_its_items_under_whatever_name(project: Project) -> None:
    """Of a locked item the one that it keeps, of one that is to be renamed the one until then; what is left of an item
    that is gone stands apart, with the command that takes it away."""
    project.batch()
    assert project.run("takes", "lock", "1").code == 0
    project.series(output={"width": 1280, "height": 720, "name": "{slug}"})
    project.playlist([item(1), item(2, text="Other")])
    sheet = shown(project)
    assert [one.file for one in sheet.items] == project.out()[:2]
    assert [(stray.name, stray.is_left) for stray in sheet.strays] == [(project.out()[2], True)]
    assert project.run("series", "sheet", "show").code == 0
    assert "thumbforge prune --orphans --apply" in page(project)
    assert project.run("prune", "--orphans", "--apply").code == 0
    assert project.batch().code == 0
    assert [one.file for one in shown(project).items] == ["01-video-00001.jpg", "other.jpg"]
    assert shown(project).strays == ()


def test_a_batch_with_nothing_to_do_keeps_the_sheet_current(project: Project) -> None:
    """What was locked, and what has come into the folder or gone from it, stands there; else nothing is written."""
    project.batch()
    assert project.run("takes", "lock", "1").code == 0
    assert project.batch().code == 0
    assert "its picture stays as it is" in page(project)
    stray = project.write("out/show/notes.txt", "mine")
    assert project.batch().code == 0
    assert "notes.txt" in page(project)
    before = project.files()
    assert project.batch().code == 0
    assert project.files() == before
    stray.unlink()
    assert project.batch().code == 0
    assert "notes.txt" not in page(project)


def test_every_command_on_the_page_can_be_pasted(project: Project) -> None:
    """From the page, as it stands, in the project's directory: each does what it says."""
    project.batch()
    assert project.batch("only=2", "retake=yes").code == 0
    found = re.findall(r"<code>(.*?)</code>", page(project))
    lines = [html.unescape(line) for line in found if "video-00002" in line or "only=2" in line]
    assert [line.split()[1] for line in lines] == ["playlist", "batch", "takes", "takes"]
    for line in (*lines[:2], lines[3], lines[2]):  # locked last: then it keeps its picture
        tool, *words = shlex.split(line)
        told = project.run(*words)
        assert (tool, told.code) == ("thumbforge", 0), told.err
    assert shown(project).items[1].is_locked


def test_a_series_of_the_command_line_has_commands_too(project: Project) -> None:
    """It is named by what it was made of."""
    (project.root / "specs/series/show.yaml").unlink()
    assert project.run("batch", "show", "hero=hero", "template=plain", "provider=fake", "var.mood=it's so").code == 0
    line = next(found for found in re.findall(r"<code>(.*?)</code>", page(project)) if "retake" in found)
    told = project.run(*shlex.split(html.unescape(line))[1:], "--dry-run", "--json")
    assert [row["action"] for row in told.document["plan"]] == ["create"]


def test_a_packed_sheet_is_one_file(project: Project) -> None:
    """Its pictures are in it, and it says where it lies and how large it is."""
    project.batch()
    (project.root / "sub").mkdir()
    told = project.run("series", "sheet", "show", "--pack", "--to", "mine.html", "--json", cwd=project.root / "sub")
    packed = (project.root / "sub/mine.html").read_text(encoding="utf-8")
    assert told.document == {"series": "show", "sheet": "sub/mine.html", "bytes": len(packed.encode()), "exit_code": 0}
    assert len(re.findall(r'src="data:image/webp;base64,[A-Za-z0-9+/=]{100,}"', packed)) == 3
    assert project.run("series", "sheet", "show", "--pack").out.startswith("Sheet: out/show/sheet-pack.html, 0.")
    assert shown(project).strays == ()
    assert project.run("series", "sheet", "show", "--to", "x").code == 2


def test_clean_takes_the_whole_sheet(project: Project) -> None:
    """Page, picture and what lies beside them; the exports and their manifest are other tasks'."""
    assert project.doit().code == 0
    assert project.doit("clean", "sheet:show").code == 0
    left = {path.name for path in (project.root / "out/show").iterdir()}
    assert left == {*project.out(), "manifest.json"}


def test_previews_are_not_written_through_a_link(project: Project, tmp_path: Path) -> None:
    """A folder of files that leads elsewhere, as a clone may bring it, is told."""
    project.batch()
    shutil.rmtree(project.root / "out/show/sheet.files")
    (project.root / "out/show/sheet.files").symlink_to(tmp_path)
    project.playlist([item(1, text="Other"), item(2), item(3)])
    assert "is a link that leads elsewhere" in project.batch().err
    assert not list(tmp_path.glob("*.webp"))


def test_the_doit_task_is_current_until_a_picture_changes(project: Project) -> None:
    """`sheet:show` is up to date after a batch, without .doit.db too, and made again when it is gone."""
    project.batch()
    shutil.rmtree(project.root / ".doit.db", ignore_errors=True)
    (project.root / ".doit.db").unlink(missing_ok=True)
    assert "U sheet:show" in project.doit("list", "--all", "-s").out
    project.playlist([item(1, text="Other"), item(2), item(3)])
    assert "R sheet:show" in project.doit("list", "--all", "-s").out
    assert project.doit().code == 0
    assert "U sheet:show" in project.doit("list", "--all", "-s").out
    (project.root / "out/show/sheet.html").unlink()
    assert project.doit().code == 0
    assert '<dd dir="auto">Other</dd>' in page(project)
    assert "U sheet:show" in project.doit("list", "--all", "-s").out


def test_a_title_is_data_on_the_page(project: Project) -> None:
    """Markup in a title is shown, not run."""
    project.playlist([item(1, title="<script>alert(1)</script>")])
    project.batch()
    assert "<script>alert" not in page(project)


def test_no_control_character_is_in_the_file(project: Project) -> None:
    """A page is opened by `less` and `cat`, too. What joins letters stays."""
    family = "\U0001f468\u200d\U0001f469"
    head = {"id": "PLshow0000000000", "title": "A \x1b]0;gone\x07 show \u202e"}
    items = [item(1, title=f"Red \x1b[31m\x9b {family}", label="\x1b[2J", part=None)]
    project.write("specs/playlists/show.yaml", {"playlist": head, "items": items})
    assert project.batch().code == 0
    page = (project.root / "out/show/sheet.html").read_text(encoding="utf-8")
    assert not [char for char in page if unicodedata.category(char) == "Cc" and char not in "\n\t"]
    assert family in page
    assert "\u202e" not in page


@pytest.fixture
def paged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Twelve finished items, five to a page."""
    made = make_project(tmp_path / "paged", 12)
    assert made.batch().code == 0
    monkeypatch.setattr(sheet, "PER_PAGE", 5)
    return made


def keep(project: Project) -> dict[str, int]:
    """The pages with the times at which they were written, after the sheet was asked for."""
    here = Here(project.root)
    planned = plan_series(here, resolve(here.lookup(None), SeriesRequest(series="show")))
    keep_sheet(here, planned, planned.rows)
    return {path.name: path.stat().st_mtime_ns for path in (project.root / "out/show").glob("sheet*")}


def test_pages_are_written_once(paged: Project) -> None:
    """Asked for again, nothing of the sheet is written."""
    before = keep(paged)
    assert sorted(before) == ["sheet-2.html", "sheet-3.html", "sheet.files", "sheet.html", "sheet.png"]
    assert keep(paged) == before


def test_one_changed_item_is_one_page() -> None:
    """And the picture, if it is among the first 120, which that shows, and tells that; another status is told at the
    head of all."""
    items = [sheet.SheetItem(title=f"Title {n}", status="completed") for n in range(1, 1202)]
    shown = digests(sheet.Sheet("Long", tuple(items)))

    def changed(at: int, **fields: str) -> set[str]:
        now = digests(sheet.Sheet("Long", (*items[: at - 1], replace(items[at - 1], **fields), *items[at:])))
        return {name for name in now if now[name] != shown[name]}

    assert changed(120, title="Other") == {"sheet.html", "sheet.png"}
    assert changed(120, text="Other") == {"sheet.html"}
    assert changed(121, title="Other") == {"sheet.html"}
    assert changed(777, title="Other") == {"sheet-2.html"}
    assert changed(777, status="failed") == {"sheet.html", "sheet-2.html", "sheet-3.html"}


def test_pages_of_a_series_that_shrank_are_removed(paged: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those that were written as pages; a file of the user's that looks like one stays."""
    keep(paged)
    (paged.root / "out/show/sheet-9.html").write_text("mine")
    monkeypatch.setattr(sheet, "PER_PAGE", 500)
    assert sorted(keep(paged)) == ["sheet-9.html", "sheet.files", "sheet.html", "sheet.png"]


def test_the_sheet_shows_what_another_batch_made_meanwhile(tmp_path: Path) -> None:
    """Two terminals, each at its own part: whoever ends last leaves a sheet of both."""
    shared = make_project(tmp_path / "shared", 3)
    shared.profile("slow", params={"delay_ms": 1000})
    shared.series(provider="slow")
    first = shared.start("batch", "series=show", "only=1-2", "-n", "1")
    wait_until(lambda: shared.calls == 1)
    put_to_sleep(shared, first)
    assert shared.batch("only=3").code == 0
    wake(first)
    assert finish(first).code == 0
    assert set(re.findall(r'class="shot" href="([^"]*)"', page(shared))) == set(shared.out())
    assert "pending" not in page(shared)
