"""`size: series`: one size for the titles of a series."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.project import Project, item
from thumbforge import models
from thumbforge.imaging.finalise import Drawing, finalise
from thumbforge.imaging.type.common import STEPS, Room, common_size

ROOM = Room(760, 500, 160, 60, 3, 1.1, "anton", "upper", 0.055)
SHORT, LONG = "Sort a table", "How do I select several columns of a large table by their position in it"
BOX = {"x": 64, "y": 64, "w": 760, "h": 500}


def test_it_is_the_size_at_which_nine_of_ten_fit() -> None:
    """A single long title among ten is smaller by itself and makes the others no smaller; of three all fit."""
    assert common_size([SHORT] * 10, ROOM) == 160
    assert common_size([*[SHORT] * 19, LONG], ROOM) == 160
    assert common_size([SHORT, SHORT, LONG], ROOM) < 100
    assert common_size([], ROOM) == 160


@given(st.lists(st.text(max_size=60), max_size=30), st.sampled_from(["en", "ja", "tr", None]))
def test_it_is_a_step_and_no_order_moves_it(texts: list[str], language: str | None) -> None:
    """An eighth of the largest size or the smallest one, whatever the texts; one more text moves it by the step that
    this text needs or not at all."""
    found = common_size(texts, ROOM, language)
    assert found == ROOM.min_size or found in {ROOM.size * step // STEPS for step in range(1, STEPS + 1)}
    assert common_size(texts[::-1], ROOM, language) == found
    assert common_size([*texts, "a"], ROOM, language) >= found


@pytest.mark.parametrize(
    ("language", "text"), [("zh", "从零开始学习人工智能与机器学习"), ("th", "เรียนทำอาหารไทย"), ("ar", "كيف أرتّب جدولاً")]
)
def test_letters_that_the_face_lacks_count_too(language: str, text: str) -> None:
    """Scripts without spaces may break anywhere; what the face has not is taken for as wide as such letters are."""
    assert ROOM.min_size <= common_size([text], ROOM, language) <= ROOM.size


def drawn(tmp_path: Path, title: str, sizes: tuple[tuple[str, int], ...]) -> float:
    Image.new("RGB", (1280, 720), "#203040").save(tmp_path / "art.png")
    layout = models.Layout.model_validate({"title": {"box": BOX, "size": "series"}})
    report = finalise(
        tmp_path / "art.png", layout, Drawing(title, None, sizes=sizes), models.Output(width=1280, height=720),
        tmp_path / "out.jpg",
    )  # fmt: skip
    return next(float(check.detail.split()[2]) for check in report.checks if check.rule == "text.height")


def test_what_fits_has_the_size_and_what_does_not_is_smaller(tmp_path: Path) -> None:
    """Two titles of other lengths have letters of the same height."""
    sizes = (("title", 90),)
    assert drawn(tmp_path, "Sort", sizes) == drawn(tmp_path, "Sort a table by two", sizes)
    assert drawn(tmp_path, "Sort", ()) > drawn(tmp_path, "Sort", sizes)
    assert drawn(tmp_path, LONG * 2, sizes) < drawn(tmp_path, "Sort", sizes)


def test_a_size_that_moves_is_a_refinish_that_says_so(project: Project) -> None:
    """Drawn again from the art that is there, without a call, with the sizes as the reason; `only=` asks all titles."""
    project.template(layout={"title": {"size": "series"}})
    project.playlist([item(n, text="Short") for n in (1, 2, 3)])
    project.batch()
    before = project.calls
    project.playlist([item(1, text=LONG), item(2, text="Short"), item(3, text="Short")])
    rows = project.plan()
    assert [row["action"] for row in rows] == ["refinish"] * 3
    assert "sizes.title: '" in rows[1]["reason"]
    assert [row["reason"] for row in project.plan("only=2")] == [rows[1]["reason"]]
    assert project.batch().code == 0
    assert project.calls == before
    assert "Nothing to do" in project.batch().out


def test_it_is_asked_for_in_version_2_as_well(project: Project) -> None:
    """Text by text."""
    layout = {"texts": {"name": {"text": "{{ text }}", "box": BOX, "size": "series", "max_lines": 3}}}
    project.write("specs/templates/own.yaml", {"prompt": "About {{ topic }}", "layout": layout})
    project.series(template="own")
    project.playlist([item(1, text="Short"), item(2, text=LONG)])
    assert project.batch().code == 0
    project.playlist([item(1, text="Short"), item(2, text="Also short")])
    [first, _] = project.plan()
    assert "sizes.name: " in first["reason"]


def test_a_template_without_it_has_the_key_it_had(project: Project) -> None:
    """A default is left out of what keys are made of."""
    plain = models.Layout.model_validate({"title": {"box": BOX}})
    assert "of_series" not in plain.content["title"]
    assert models.TitleStyle.model_validate({"box": BOX, "size": "series"}).size == 150


def test_a_run_of_some_items_that_is_resumed_draws_at_the_size_of_all(project: Project) -> None:
    """The size stands in the frozen plan: the items of the run alone would give another, and the next batch draw them
    once more."""
    project.template(layout={"title": {"of_series": True}})
    project.playlist([item(1, text=LONG), item(2, text="Short"), item(3, text="Short")])
    assert project.with_environment(THUMBFORGE_FAULT="staged.after:kill").batch("only=2").code == -9
    [run] = project.query("SELECT id FROM run WHERE kind = 'batch'")
    assert project.run("runs", "resume", str(run["id"])).code == 0
    assert [row["action"] for row in project.plan()] == ["create", "skip", "create"]
