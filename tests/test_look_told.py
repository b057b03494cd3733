"""Which look `auto` took is told before anything is painted, and what became of the subject is told in figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from tests.project import Project, item, make_project, video


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A series that `local` paints from a photo of a thing, with its mask."""
    made = make_project(tmp_path / "project", 1)
    hero = Image.linear_gradient("L").resize((640, 480)).convert("RGB")
    mask = Image.new("L", hero.size)
    ImageDraw.Draw(mask).ellipse((220, 100, 420, 400), fill=255)
    hero.paste("#e8c070", (0, 0), mask)
    hero.save(made.root / "specs/heroes/hero.png")
    mask.save(made.root / "specs/heroes/hero.mask.png")
    made.series(template="series-parts", provider="local")
    return made


def looks(said: str) -> list[str]:
    return [line.strip() for line in said.splitlines() if line.strip().startswith("look: ")]


def test_a_batch_says_once_which_look_it_takes_and_why(project: Project) -> None:
    """So do its plan and doit's account of the item; a batch with nothing to paint says nothing."""
    told = "look: cutout (mask found)"
    assert looks(project.batch("--dry-run").out) == [told]
    assert looks(project.doit("info", f"thumb:show:{video(1)}").out) == [told]
    assert looks(project.batch().err) == [told]
    assert looks(project.batch().err) == []


def test_a_look_that_is_named_is_not_told(project: Project) -> None:
    """What the user wrote is no news."""
    project.series(template="series-parts", provider="local", look="photo")
    assert looks(project.batch("--dry-run").out) == []
    assert project.batch("--json").document["look"] is None


@pytest.mark.parametrize("mask", [True, False])
def test_the_figures_of_the_subject_are_in_the_document(project: Project, mask: bool) -> None:
    """Shares of what is covered and cut, and whether they are sure; and the look with its reason."""
    if not mask:
        (project.root / "specs/heroes/hero.mask.png").unlink()
    document = project.batch("--json").document
    [entry] = document["items"]
    assert document["look"] == (
        {"look": "cutout", "why": "mask found"} if mask else {"look": "photo", "why": "subject found, no mask"}
    )
    figures: dict[str, Any] = entry["subject"]
    assert figures["known"] == ("sure" if mask else "guess")
    assert figures["covered"] == 0
    assert 0 <= figures["cut"] <= 0.1
    assert (figures["face_covered"], figures["face_cut"]) == (None, None)


def test_art_of_another_provider_has_no_sure_subject(project: Project) -> None:
    """It is looked for in the art; what nobody knows is never called fine."""
    project.series()
    [entry] = project.batch("--json").document["items"]
    assert entry["subject"]["known"] in ("guess", "unknown")
    project.playlist([item(1), item(2)])
    assert project.batch("--json").document["look"] is None
