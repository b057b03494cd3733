"""Names on a command line: heroes by stem, accents in either form, versions, and items by how they stand."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from tests.project import ALL_MARKED, Project, item, make_hero, make_project, video

NFC, NFD = (unicodedata.normalize(form, "Größe-é") for form in ("NFC", "NFD"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project", 3)


@pytest.mark.parametrize("word", ["hero", "hero.png", "specs/heroes/hero.png"])
def test_a_hero_goes_by_its_name_its_file_or_its_path(word: str, project: Project) -> None:
    """On the command line and in a series; all are the same picture, so nothing is made anew."""
    assert project.batch().code == 0
    assert project.batch(f"hero={word}").out.startswith("Nothing to do")
    project.series(hero=word)
    assert project.batch().out.startswith("Nothing to do")
    assert project.run("check").code == 0


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("heor", "did you mean hero=hero?"),
        ("HERO.PNG", "did you mean hero=hero.png?"),
        ("specs/heroes/hreo.png", "did you mean specs/heroes/hero.png?"),
        ("zzz", "there is hero; a picture file, a run id or an iteration id will do"),
    ],
)
def test_a_word_that_is_no_hero_is_told_with_the_nearest(word: str, hint: str, project: Project) -> None:
    """Capitals, slips, a wrong suffix; where nothing is near, what there is."""
    told = project.batch(f"hero={word}")
    assert (told.code, f"there is no hero {word}" in told.err, hint in told.err) == (3, True, True), told.err


@pytest.mark.parametrize(
    "words", [("series=SHOW",), ("series=show", "template=Plain"), ("series=show", "provider=FAKE"), ("playlist=SHOW",)]
)
def test_capitals_are_told(words: tuple[str, ...], project: Project) -> None:
    """A name is found as it is written; in other capitals it is the one that was meant."""
    told = project.run("batch", *words)
    assert (told.code, "did you mean" in told.err) == (3, True), told.err


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (("fetch", "lists/tlaks.csv"), "lists/talks.csv"),
        (("batch", "lists/talk.csv", "hero=hero"), "lists/talks.csv"),
        (("batch", "series=show", "hero=pics/you.png"), "pics/your.png"),
        (("hero", "cutout", "pics/yuor.png"), "pics/your.png"),
        (("template", "validate", "specs/templates/palin.yaml"), "specs/templates/plain.yaml"),
        (("--config", "thumbforg.toml", "runs"), "thumbforge.toml"),
    ],
)
def test_a_file_that_there_is_not_is_told_with_the_one_beside_it(
    words: tuple[str, ...], near: str, project: Project
) -> None:
    """As the user would type it, and where paths count from."""
    project.write("lists/talks.csv", "title,video\nA,aaaaaaaaaaa\n")
    make_hero(project.root / "pics/your.png")
    told = project.run(*words)
    assert (told.code, f"hint: did you mean {near}? (paths count from {project.root})" in told.err) == (3, True), told


def test_two_pictures_of_one_name_are_not_guessed(project: Project) -> None:
    """Exit 2 with both."""
    make_hero(project.root / "specs/heroes/hero.webp", "#112233")
    told = project.batch("hero=hero")
    assert (told.code, "specs/heroes/hero.png or specs/heroes/hero.webp" in told.err) == (2, True)
    assert {row["hero"] for row in project.shown("hero", "list")["heroes"]} == {"hero.png", "hero.webp"}


@pytest.mark.parametrize(("stored", "typed"), [(NFC, NFD), (NFD, NFC)])
def test_accents_are_found_in_either_form(stored: str, typed: str, project: Project) -> None:
    """A hero, a logo, a list: whatever the disk has and the keyboard gives; the same list has the same id."""
    make_hero(project.root / f"specs/heroes/{stored}.png", "#225577")
    (project.root / f"{stored}.csv").write_text(f"title,video\nA,{video(1)}\n", encoding="utf-8")
    assert project.batch(f"hero=specs/heroes/{typed}.png", "--dry-run").code == 0
    assert project.batch(f"hero={typed}", "--dry-run").code == 0
    project.series(brand={"logo": f"specs/heroes/{typed}.png"})
    assert project.batch("--dry-run").code == 0
    assert project.run("batch", f"playlist={typed}.csv", "hero=hero", "provider=fake").code == 0
    assert len(project.out("Gr-e")) == 1
    assert project.shown("fetch", f"{typed}.csv")["playlist"] == "Gr-e"


def test_heroes_are_listed_with_the_series_that_name_them(project: Project) -> None:
    """Files with their masks, picks of hero runs; a candidate that nobody picked is none."""
    make_hero(project.root / "specs/heroes/hero.mask.png")
    run = project.shown("hero", "generate", video(1), "--count", "1", "provider=fake", "template=plain")["run"]
    [row] = project.shown("hero", "list")["heroes"]
    assert (row["hero"], row["kind"], row["series"]) == ("hero", "file", ["show"])
    assert row["mask"] == "specs/heroes/hero.mask.png"
    assert project.run("hero", "pick", run, "1").code == 0
    project.series("other", hero=run[:8])
    found = project.shown("hero", "list")["heroes"]
    assert [(row["hero"], row["kind"], row["series"]) for row in found[1:]] == [(run[:8], "pick", ["other"])]
    assert "No heroes yet" in Project(project.root.parent / "nothing").run("hero", "list", cwd=project.root.parent).out


def test_a_candidate_is_asked_for_by_part_where_that_is_one_video(project: Project) -> None:
    """With its playlist, or where there is only one; with two lists a number is no video."""
    words = ("hero", "generate", "2", "--count", "1", "provider=fake", "template=plain")
    run = project.shown(*words)["run"]
    assert project.shown("runs", "show", run)["iterations"][0]["video"] == video(2)
    project.playlist([item(7)], name="other")
    assert project.run(*words).code == 3
    assert project.run(*words, "playlist=show").code == 0


def test_a_template_may_be_asked_for_in_one_version(project: Project) -> None:
    """Another one is not found, whoever asks; the name alone is whatever there is."""
    project.template(version=3)
    assert project.batch("template=plain@3").code == 0
    assert project.batch().out.startswith("Nothing to do")
    told = project.batch("template=plain@2")
    assert (told.code, "template plain is version 3 here, not 2" in told.err) == (3, True)
    project.series(template="plain@2")
    assert project.run("check").code == 3
    assert project.batch("template=plain@").code == 3


def test_template_and_provider_have_defaults_of_ones_own(project: Project) -> None:
    """For what names none: a series' word and the command's go before the settings'."""
    project.write("specs/series/bare.yaml", {"playlist": "show", "hero": "hero"})
    assert project.shown("series", "show", "bare")["provider"] == "local"
    mine = project.with_environment(THUMBFORGE_SERIES__TEMPLATE="plain", THUMBFORGE_SERIES__PROVIDER="fake")
    for shown in (mine.shown("series", "show", "bare"), mine.shown("series", "list")["series"][0]):
        assert shown["provider"] == "fake"
    assert mine.run("batch", "series=bare").code == 0
    assert project.calls == 3
    assert mine.shown("series", "show", "show")["template"]["name"] == "plain"
    told = mine.with_environment(THUMBFORGE_SERIES__TEMPLATE="plian").run("batch", "series=bare")
    assert (told.code, "no template `plian`" in told.err) == (3, True)


def test_only_those_that_failed_or_that_have_changed(project: Project) -> None:
    """Each alone, together, and with parts; that there are none is no error."""
    project.template(prompt=ALL_MARKED)
    project.series(vars={"fail": ""})
    project.playlist([item(1, vars={"fail": "[[FAIL_PERMANENT]]"}), item(2), item(3)])
    assert project.batch("only=changed").out == "Nothing to do: no item of show stands as only= says.\n"
    assert project.batch().code == 6

    def parts(only: str) -> list[int]:
        return [row["part"] for row in project.plan(f"only={only}")]

    assert (parts("failed"), parts("failed,3")) == ([1], [1, 3])
    project.playlist([item(1), item(2), item(3, text="Other")])
    assert (parts("changed"), parts("failed,changed,2")) == ([3], [2, 3])
    done = project.shown("batch", "series=show", "only=changed")
    assert [(row["part"], row["action"]) for row in done["items"]] == [(3, "refinish")]
    assert project.shown("batch", "series=show", "only=failed") == {
        **done,
        "run": None,
        "items": [],
        "summary": {"total": 0, "completed": 0, "failed": 0, "pending": 0},
    }
    told = project.batch("only=faild")
    assert (told.code, "faild is no number or range, nor failed or changed" in told.err) == (2, True)
