"""The sheet of a series: written last whatever failed, current or not, and taken along with out/."""

from __future__ import annotations

import re
import shutil

from tests.project import Project, item


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
