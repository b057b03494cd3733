"""`thumbforge check`: all that is wrong with the specs at once, and nothing made."""

from __future__ import annotations

from tests.project import Project


def test_a_project_in_order_is_counted(project: Project) -> None:
    """By kind; nothing is written and nobody called."""
    before = project.files()
    told = project.run("check")
    assert (told.code, told.err, project.files(), project.calls) == (0, "", before, 0)
    assert told.out.startswith("Nothing is wrong: 1 playlist, ")
    assert project.shown("check")["checked"]["series"] == 1


def test_everything_that_is_wrong_is_told_at_once(project: Project) -> None:
    """A field, a template that is not there and a picture that is none stand in one answer, each with its place."""
    project.write("specs/playlists/bad.yaml", "playlist: {id: PLx, surprise: 1}\nitems: []\n")
    project.series("lost", template="nosuch")
    project.write("specs/heroes/text.png", "no picture")
    project.series("blind", hero="specs/heroes/text.png")
    told = project.run("check", "--json")
    problems = told.problem["problems"]
    assert (told.code, told.out) == (2, "")
    assert any("specs/playlists/bad.yaml" in problem and "surprise" in problem for problem in problems)
    assert any("nosuch" in problem for problem in problems)
    assert any(problem.startswith("series blind: ") for problem in problems)


def test_one_thing_that_is_wrong_is_itself(project: Project) -> None:
    """With its own code and hint."""
    project.series("lost", hero="specs/heroes/nosuch.png")
    told = project.run("check")
    assert (told.code, told.err.partition(":")[0]) == (3, "not_found")


def test_a_candidate_that_there_is_not_is_not_found(project: Project) -> None:
    """`hero pick RUN 9` ends with 3 and says how many there are."""
    run = project.shown("hero", "generate", "video-00001", "--count", "2", "--provider", "fake")["run"]
    told = project.run("hero", "pick", run, "9")
    assert told.code == 3
    assert "has candidates 1 to 2, not 9" in told.err
