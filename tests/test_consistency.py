"""A series as a figure: a picture that is unlike the rest is named in the run's result and on the sheet, whatever the
colours, and never in its own report."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from tests.project import Project, item
from tests.test_imaging_grounds import LAYOUTS, SMALL, photo
from thumbforge.imaging import compose, likeness
from thumbforge.imaging.compose import Content

TITLES = ("Sort a *table*", "Read files", "What does axis mean?", "Combine many *filters* at once", "Use it", "Why?")
HUES = ("#203060", "#601830", "#105038", "#402060", "#5A3208", "#0A4A5A")


def art(ground: str, shape: str = "person") -> Image.Image:
    picture = Image.new("RGB", (640, 360), ground)
    draws = ImageDraw.Draw(picture)
    if shape == "person":
        draws.ellipse((420, 40, 540, 190), fill="#E8C8A8")
        draws.rounded_rectangle((380, 190, 600, 400), 40, fill="#D04020")
    else:
        draws.rectangle((330, 60, 620, 300), fill="#F4F4F0")
        for y in range(80, 290, 20):
            draws.line((345, y, 600, y), fill="#303030", width=5)
    return picture


def final(folder: Path, name: str, picture: Image.Image, title: str, template: str = "series-parts") -> bytes:
    drawn, _ = compose.compose(picture, LAYOUTS[template], Content(title, "Part 7"), SMALL)
    drawn.save(folder / f"{name}.jpg", quality=90)
    return likeness.signature(folder / f"{name}.jpg")


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    folder = tmp_path_factory.mktemp("series")
    return {
        str(n): final(folder, str(n), art(hue), title) for n, (hue, title) in enumerate(zip(HUES, TITLES, strict=True))
    }


def test_a_series_in_many_colours_is_one(series: Mapping[str, bytes]) -> None:
    """Other words on another hue, the subject at its place: no picture is named."""
    assert likeness.outliers(series) == {}


@pytest.mark.parametrize(
    ("picture", "template"),
    [
        (art(HUES[0], "slide"), "series-parts"),
        (art(HUES[0]), "corner-card"),
        (art("#F8F4E8"), "series-parts"),
        (Image.new("RGB", (640, 360), "black"), "series-parts"),
    ],
    ids=["another subject", "another template", "another light", "nothing"],
)
def test_a_picture_that_is_unlike_the_rest_is_named(
    series: Mapping[str, bytes], picture: Image.Image, template: str, tmp_path: Path
) -> None:
    """Alone among its series, and it names nobody else; in whichever order they come."""
    odd = final(tmp_path, "odd", picture, TITLES[0], template)
    for found in ({**series, "odd": odd}, {"odd": odd, **series}):
        assert set(likeness.outliers(found)) == {"odd"}


def test_pictures_that_have_nothing_in_common_are_no_outliers(tmp_path: Path) -> None:
    """Where every background is another, the series varies everywhere, and none stands out."""
    chance = random.Random(5)
    found = {str(n): final(tmp_path, str(n), photo(chance), TITLES[n % 6]) for n in range(8)}
    assert likeness.outliers(found) == {}


def test_a_few_pictures_are_no_series(series: Mapping[str, bytes], tmp_path: Path) -> None:
    """Of fewer than five none is the odd one."""
    odd = final(tmp_path, "odd", art(HUES[0], "slide"), "Words")
    few = dict(list(series.items())[: likeness.FEWEST - 2])
    assert likeness.outliers({**few, "odd": odd}) == {}


def test_an_outlier_is_told_by_run_and_sheet_alone(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result names the item, --json too, the sheet shows why; the final's report and the exit code know nothing of
    it. `consistency: off` tells nothing."""
    monkeypatch.setattr(likeness, "LIMIT", 0.0)
    project.playlist([item(n) for n in range(1, 7)])
    told = project.batch()
    assert told.code == 0
    assert "look at part " in told.out
    assert "unlike its series" in (project.root / "out/show/sheet.html").read_text(encoding="utf-8")
    reports = [row["report_json"] for row in project.query("SELECT report_json FROM final")]
    assert len(reports) >= 6
    assert not any("unlike" in report for report in reports)
    project.playlist([item(n, text=f"Other {n}") for n in range(1, 7)])
    told = project.batch("--json")
    assert told.code == 0, told.err
    assert {found["video"] for found in told.document["unlike"]} <= {item(n)["video"] for n in range(1, 7)}
    assert told.document["unlike"]
    spec = project.root / "specs/series/show.yaml"
    spec.write_text(spec.read_text(encoding="utf-8").rstrip() + "\nconsistency: off\n", encoding="utf-8")
    project.playlist([item(n, text=f"Third {n}") for n in range(1, 7)])
    assert project.batch("--json").document["unlike"] == []
    assert "unlike its series" not in (project.root / "out/show/sheet.html").read_text(encoding="utf-8")
