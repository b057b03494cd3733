"""What a spec names is opened with care, and what cannot be drawn with is told before a call is paid for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.project import Project, make_hero, make_project
from thumbforge.durable import read_regular
from thumbforge.errors import UsageError
from thumbforge.named import inside

NAMES: dict[str, Callable[[Project, str], None]] = {
    "logo": lambda project, file: project.series(brand={"logo": file}),
    "title font": lambda project, file: project.series(brand={"fonts": {"title": file}}),
    "mask": lambda project, file: project.series(mask=file),
    "hero": lambda project, file: project.series(hero=file),
    "emoji font": lambda project, file: project.write("thumbforge.toml", f'[output]\nemoji_font = "{file}"\n') and None,
    "picture": lambda project, file: with_picture(project, file),
    "playlist": lambda project, file: project.series(playlist=file),
}


def with_picture(project: Project, file: str) -> None:
    project.template(layout={"picture": {"box": {"x": 836, "y": 64, "w": 300, "h": 300}, "kind": "inset"}})
    project.playlist([{"video": "aaaaaaaaaa1", "title": "One", "part": 1, "picture": file}])


def a_fifo(at: Path) -> None:
    os.mkfifo(at)


def a_device(at: Path) -> None:
    at.symlink_to("/dev/zero")


def a_folder(at: Path) -> None:
    at.mkdir()


def a_huge_file(at: Path) -> None:
    with at.open("wb") as file:
        file.truncate(3 * 2**30)


def a_circle(at: Path) -> None:
    at.symlink_to(at.name)


def a_way_out(at: Path) -> None:
    """A link to a good picture of the user's own, elsewhere."""
    outside = at.parents[1] / "private.png"
    make_hero(outside)
    at.symlink_to(outside)


TRICKS = (a_fifo, a_device, a_folder, a_huge_file, a_circle, a_way_out)


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.__name__)
@pytest.mark.parametrize("name", list(NAMES))
def test_a_file_that_is_none_is_refused_at_once(tmp_path: Path, name: str, trick: Callable[[Path], None]) -> None:
    """Nothing waits for a FIFO, eats the memory or leaves the project; no call is made and no run is opened."""
    project = make_project(tmp_path / "project", 1)
    trick(project.root / "theirs.png")
    NAMES[name](project, "theirs.png")
    told = project.batch()
    assert told.code in (1, 2, 3)
    assert "theirs.png" in told.err
    assert "bug" not in told.err
    assert not project.home.exists()
    assert project.calls == 0


@pytest.mark.parametrize("name", list(NAMES))
def test_a_spec_does_not_lead_out_of_the_project(tmp_path: Path, name: str) -> None:
    """Neither by dots nor by a whole path; the message has the file and says what to do."""
    project = make_project(tmp_path / "project", 1)
    make_hero(tmp_path / "private.png")
    shutil.copy(project.root / "specs/playlists/show.yaml", tmp_path / "private.yaml")
    file = "private.yaml" if name == "playlist" else "private.png"
    for named in (f"../{file}", str(tmp_path / file)):
        NAMES[name](project, named)
        told = project.batch("--dry-run")
        assert told.code == 2
        assert told.err.startswith("spec_invalid: ")
        assert "leads out of the project" in told.err


def test_a_command_line_may_point_anywhere(tmp_path: Path) -> None:
    """What the user types, or has in the environment, is the user's own."""
    project = make_project(tmp_path / "project", 1)
    make_hero(tmp_path / "mine.png")
    assert project.batch("hero=../mine.png", "--dry-run").code == 0
    gone = project.with_environment(THUMBFORGE_OUTPUT__EMOJI_FONT="../mine.ttf").batch("--dry-run")
    assert "leads out" not in gone.err
    assert "mine.ttf cannot be read: No such file" in gone.err


def test_a_settings_file_is_a_file(tmp_path: Path) -> None:
    """A FIFO in its place is told, not waited for."""
    project = make_project(tmp_path / "project", 1)
    (project.root / "thumbforge.toml").unlink()
    os.mkfifo(project.root / "thumbforge.toml")
    told = project.run("config", "show")
    assert (told.code, told.err.splitlines()[0][:29]) == (2, "spec_invalid: thumbforge.toml")


def test_a_bound_is_kept_and_exact(tmp_path: Path) -> None:
    """As many bytes as may be are read, one more is refused."""
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert read_regular(file, 5) == b"12345"
    with pytest.raises(OSError, match="more than the 4 bytes"):
        read_regular(file, 4)


def test_inside_is_judged_after_links(tmp_path: Path) -> None:
    """A link inside the project to a file inside it is fine, whatever way the project itself is reached."""
    root = tmp_path / "real"
    (root / "a").mkdir(parents=True)
    (root / "a/file").write_text("x")
    (root / "link").symlink_to("a/file")
    (tmp_path / "alias").symlink_to("real")
    for base in (root, tmp_path / "alias"):
        assert inside(base, "link").read_text() == "x"
        assert inside(base, "a/../a/file").read_text() == "x"
        with pytest.raises(UsageError, match="leads out"):
            inside(base, "a/../../real2")


# Fonts

CUT = b"\0\1\0\0" + bytes(8)


def unknown_in_template(project: Project) -> None:
    project.template(layout={"title": {"font": "comic"}})


def cut_in_brand(project: Project) -> None:
    (project.root / "cut.ttf").write_bytes(CUT)
    project.series(brand={"fonts": {"label": "cut.ttf"}})


def unknown_in_brand(project: Project) -> None:
    project.series(brand={"fonts": {"title": "comic"}})


def cut_in_settings(project: Project) -> None:
    (project.root / "cut.ttf").write_bytes(CUT)
    project.write("thumbforge.toml", '[output]\nemoji_font = "cut.ttf"\n')


FONTS: dict[Any, str] = {
    unknown_in_template: "specs/templates/plain.yaml:5: layout.title.font: unknown font 'comic'",
    cut_in_brand: "specs/series/show.yaml:7: brand.fonts.label: font cut.ttf has no letters",
    unknown_in_brand: "specs/series/show.yaml:7: brand.fonts.title: unknown font 'comic'",
    cut_in_settings: "thumbforge.toml: output.emoji_font: font cut.ttf has no letters",
}


@pytest.mark.parametrize("broken", list(FONTS), ids=lambda broken: broken.__name__)
def test_a_font_that_cannot_be_drawn_with_is_told_before_any_call(tmp_path: Path, broken: Any) -> None:
    """With its line, by the batch, the dry run, doit, and a hero run; no run is left behind."""
    project = make_project(tmp_path / "project", 2)
    broken(project)
    for told in (project.batch("--dry-run"), project.batch(), project.run("run"), project.doit("run")):
        assert told.code in (1, 2, 3)
        assert FONTS[broken] in told.out + told.err
        assert "bug" not in told.err
    assert project.batch().code == 2
    if "series" not in FONTS[broken]:  # a hero run has no brand
        told = project.run("hero", "generate", "video-00001", "--template", "plain", "--provider", "fake")
        assert (told.code, FONTS[broken] in told.err) == (2, True)
    assert project.calls == 0
    assert not project.home.exists() or project.count("run") == 0


def test_a_font_that_breaks_later_leaves_no_run_open(tmp_path: Path) -> None:
    """What was made stays readable with a template that cannot be drawn any more: a plan with nothing to do says so."""
    project = make_project(tmp_path / "project", 2)
    assert project.batch().code == 0
    unknown_in_template(project)
    assert project.batch().code == 2
    assert [row["status"] for row in project.query("SELECT status FROM run WHERE kind = 'batch'")] == ["completed"]
