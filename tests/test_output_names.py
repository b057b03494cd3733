"""`output.name`: what the files of a series are called. No key knows of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.project import Project, item, make_hero, make_project, video
from thumbforge.models import Output
from thumbforge.specs.file_names import LONGEST, file_name, slug
from thumbforge.store.names import is_export

PATTERN = "{part:02}-{slug}-{video}"


@pytest.fixture
def named(tmp_path: Path) -> Project:
    project = make_project(tmp_path / "project", 2)
    project.playlist(
        [item(1), {"video": video(2), "title": "Größe & Maß", "text": "*Größe*\nzählt"}, item(3, part=None)]
    )
    assert project.batch().code == 0
    project.series(output={"name": PATTERN})
    return project


NEW = [f"01-lesson-1-{video(1)}.jpg", f"02-grosse-zahlt-{video(2)}.jpg", f"03-lesson-3-{video(3)}.jpg"]


def test_a_new_pattern_renames_and_draws_nothing(named: Project) -> None:
    """It is told by each command; then all is as it was."""
    assert [row["reason"] for row in named.plan()] == [f"renamed from 0{n}-{video(n)}.jpg" for n in (1, 2, 3)]
    finals, calls = named.count("final"), named.calls
    told = named.batch()
    assert "3 renamed: out/show/" in told.out
    assert named.out() == NEW
    assert (named.count("final"), named.calls) == (finals, calls)
    assert "Nothing to do" in named.batch().out
    assert named.doit().code == 0
    assert named.out() == NEW
    lock = (named.root / "specs/locks/show.yaml").read_text(encoding="utf-8")
    assert all(f'"{name}"' in lock for name in NEW)


def test_a_file_that_was_edited_is_left_and_told(named: Project) -> None:
    """Beside the picture under its new name."""
    path = named.root / f"out/show/02-{video(2)}.jpg"
    make_hero(path)
    mine = path.read_bytes()
    told = named.batch()
    assert (
        f"out/show/02-{video(2)}.jpg was edited and is left alone; the item's picture is out/show/{NEW[1]} now"
        in told.err
    )
    assert path.read_bytes() == mine
    assert set(NEW) < set(named.out())


def test_a_name_alone_leaves_the_settings_output(named: Project) -> None:
    """Size and format are those of thumbforge.toml, so no final key moves; the pattern is no part of a key."""
    assert {row["action"] for row in named.plan()} == {"skip"}
    assert Output(name=PATTERN).content == Output().content
    named.series(output={"name": PATTERN, "format": "png", "width": 1280, "height": 720})
    assert {row["action"] for row in named.plan()} == {"refinish"}


def test_a_text_that_changes_renames_its_file(named: Project) -> None:
    """The slug follows what is drawn; no file of an old name stays."""
    assert named.batch().code == 0
    assert named.run("playlist", "set", "show", "1", "text=Привет, мир").code == 0
    assert named.batch().code == 0
    assert named.out() == [f"01-privet-mir-{video(1)}.jpg", *NEW[1:]]


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("{title}", "the fields {part}"),
        ("{slug}/{video}", "expected letters, digits"),
        ("{part:2f}", "expected letters, digits"),
        ("..{video}", "in front"),
        ("fixed", "at least one field"),
        ("{slug}", "items 2 and 3 would both be same.jpg"),
    ],
)
def test_a_pattern_that_cannot_name_files_is_refused_with_its_line(pattern: str, says: str, project: Project) -> None:
    """Before anything is made."""
    project.playlist([item(1), item(2, title="Same"), item(3, title="*Same*!")])
    project.series(output={"name": pattern})
    told = project.batch()
    assert (told.code, project.calls) == (2, 0)
    assert says in told.err
    assert re.search(r"specs/series/show.yaml:\d+: output.name: ", told.err)


def test_a_second_place_of_a_video_has_its_number(project: Project) -> None:
    """So that one pattern does for a list that has a video twice."""
    project.playlist([item(1), item(2), {**item(1), "part": 3}])
    project.series(output={"name": "{video}"})
    assert project.batch().code == 0
    assert project.out() == sorted([f"{video(1)}.jpg", f"{video(2)}.jpg", f"{video(1)}-2.jpg"])


def test_a_name_that_a_locked_picture_keeps_is_not_taken_from_it(project: Project) -> None:
    """Two parts change places, one of them is locked: it keeps its file, the other is told why it has none."""
    project.series(output={"name": "{part:02}"})
    assert project.batch().code == 0
    kept = (project.root / "out/show/01.jpg").read_bytes()
    assert project.run("takes", "lock", "1", "series=show").code == 0
    project.playlist([{**item(1), "part": 2}, {**item(2), "part": 1}, item(3)])
    for told in (project.batch(), project.batch()):
        assert told.code == 6
        assert "out/show/01.jpg is the name of a locked picture" in told.out
        assert f"thumbforge takes unlock thumb:show:{video(1)} gives it up" in told.out
        assert (project.root / "out/show/01.jpg").read_bytes() == kept
    assert project.run("takes", "unlock", video(1), "series=show").code == 0
    assert project.batch().code == 0
    assert project.out() == ["01.jpg", "02.jpg", "03.jpg"]


def test_a_png_is_never_called_as_the_sheet(project: Project) -> None:
    """`sheet.png` is taken."""
    project.playlist([item(1, title="Sheet")])
    project.series(output={"name": "{slug}", "format": "png"})
    assert "item 1 would be called as the sheet, sheet.png" in project.batch().err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*Ownership* explained", "ownership-explained"),
        ("Größe & Maß", "grosse-mass"),
        ("Crème brûlée — don't panic", "creme-brulee-dont-panic"),
        ("Tiếng Việt đẹp", "tieng-viet-dep"),
        ("Физика для всех: Ёжик", "fizika-dlya-vsekh-ezhik"),
        ("Καλημέρα κόσμε", "kalemera-kosme"),
        ("はじめて カメラ", "hazimete-kamera"),
        ("한국어 배우기", "hangugeo-baeugi"),
        ("../../etc/passwd", "etc-passwd"),
        ("C:\\CON ‮x", "c-con-x"),
        ("三天学会做面包", ""),
        ("🎉", ""),
    ],
)
def test_a_slug_is_what_a_reader_would_type(text: str, expected: str) -> None:
    """Latin letters without their marks, other alphabets by their sounds."""
    assert slug(text) == expected


def test_a_long_slug_ends_with_a_word() -> None:
    """At most 60, and a single long word is cut."""
    assert slug("word " * 30) == "-".join(["word"] * 12)
    assert slug("a" * 99) == "a" * 60


@given(
    st.text(max_size=90),
    st.none() | st.integers(0, 100_000),
    st.sampled_from([PATTERN, "{slug}", "v_{position:3}.{slug}"]),
)
def test_no_title_is_a_path(text: str, part: int | None, pattern: str) -> None:
    """Whatever it is: a plain name, and all that comes of the title is a-z, 0-9 and dashes."""
    name = file_name(pattern, part=part, position=3, video="dQw4w9WgXcQ", text=text)
    assert is_export(f"show/{name}.jpg")
    assert re.fullmatch(r"[a-z0-9-]{0,60}", slug(text))
    assert len(slug(text)) <= LONGEST
    assert "--" not in slug(text)
