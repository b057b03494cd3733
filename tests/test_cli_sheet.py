"""The sheet of a series: written last whatever failed, current or not, and taken along with out/."""

from __future__ import annotations

import re
import shutil
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

from tests.project import Project, finish, item, make_project, put_to_sleep, wait_until, wake
from thumbforge.imaging import sheet
from thumbforge.making.sheet import digests, keep_sheet
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


def test_its_pictures_lie_beside_it(project: Project) -> None:
    """out/ can be taken elsewhere: the page names the exports, and nothing outside."""
    project.batch()
    sources = set(re.findall(r'src="([^"]*)"', page(project)))
    assert sources == set(project.out())


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
    assert "Other" not in page(project)  # the video's title stands there, the drawn text is in the picture
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
    assert sorted(before) == ["sheet-2.html", "sheet-3.html", "sheet.html", "sheet.png"]
    assert keep(paged) == before


def test_one_changed_item_is_one_page() -> None:
    """And the picture, if it is among the first 120, which that shows; another status is told at the head of all."""
    items = [sheet.SheetItem(title=f"Title {n}", status="completed") for n in range(1, 1202)]
    shown = digests(sheet.Sheet("Long", tuple(items)))

    def changed(at: int, **fields: str) -> set[str]:
        now = digests(sheet.Sheet("Long", (*items[: at - 1], replace(items[at - 1], **fields), *items[at:])))
        return {name for name in now if now[name] != shown[name]}

    assert changed(120, title="Other") == {"sheet.html", "sheet.png"}
    assert changed(121, title="Other") == {"sheet.html"}
    assert changed(777, title="Other") == {"sheet-2.html"}
    assert changed(777, status="failed") == {"sheet.html", "sheet-2.html", "sheet-3.html"}


def test_pages_of_a_series_that_shrank_are_removed(paged: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those that were written as pages; a file of the user's that looks like one stays."""
    keep(paged)
    (paged.root / "out/show/sheet-9.html").write_text("mine")
    monkeypatch.setattr(sheet, "PER_PAGE", 500)
    assert sorted(keep(paged)) == ["sheet-9.html", "sheet.html", "sheet.png"]


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
    assert set(re.findall(r'src="([^"]*)"', page(shared))) == set(shared.out())
    assert "pending" not in page(shared)
