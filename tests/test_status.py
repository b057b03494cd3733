"""`thumbforge status`, and `thumbforge` alone: where each series stands, told without a call and without a write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import MARKED, Project, item, make_project, video


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project", 3)


def states(root: Path) -> dict[str, int]:
    return {path.relative_to(root).as_posix(): path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}


def test_thumbforge_alone_is_status_and_makes_nothing(project: Project) -> None:
    """No call, no file: also where everything is still to be made."""
    before = states(project.root)
    alone, named = project.run(), project.run("status")
    assert (alone.code, alone.out) == (0, named.out)
    assert "Next: thumbforge batch series=show" in alone.out.splitlines()
    assert (project.calls, states(project.root)) == (0, before)


@pytest.mark.parametrize("words", [("--json",), ("-v",), ("--no-color",)])
def test_an_option_that_is_everybodys_does_not_make_it_a_run(words: tuple[str, ...], project: Project) -> None:
    """What every command takes says nothing of making."""
    assert project.run(*words).code == 0
    assert project.calls == 0


def test_an_option_of_doits_run_makes_the_series(project: Project) -> None:
    """`thumbforge -n 2` is doit's: it asks for a run."""
    assert project.run("-n", "2").code == 0
    assert project.calls == 3


def test_each_state_is_counted(project: Project) -> None:
    """Done, drawn again without a call, new, used up and locked stand in the one document, and in the one line."""
    project.template(prompt=MARKED)
    project.series(vars={"fail": "[[FAIL_PERMANENT]]"})
    assert project.batch("max_retries=1").code == 6  # part 3 fails
    project.run("takes", "lock", "1", "series=show")
    project.playlist([item(1), item(2, text="Other words"), item(3), item(4)])
    project.write("thumbforge.toml", "[batch]\nmax_retries = 1\n[output]\nwidth = 1280\nheight = 720\n")
    [found] = project.shown("status")["series"]
    assert found == {
        "series": "show", "total": 4, "skip": 2, "refinish": 1, "retry": 0, "create": 1, "used_up": 1, "locked": 1,
        "lock": "current",
        "calls": 1, "price": None, "next": "thumbforge batch series=show",
    }  # fmt: skip
    row = next(line for line in project.run("status").out.splitlines() if line.startswith("show"))
    assert row.split() == ["show", "4", "1", "1", "0", "1", "1", "1", "1", "call"]


def test_the_next_command_is_one_that_works(project: Project) -> None:
    """It carries the ceilings that the plan needs, the price among them; afterwards nothing is left."""
    project.profile("dear", price={"amount": "0.04", "currency": "USD", "as_of": "2026-01-01"})
    project.series(provider="dear", max_images=2)
    [found] = project.shown("status")["series"]
    assert found["next"] == "thumbforge batch series=show max_images=3 max_cost=0.12"
    assert found["price"] == {"amount": "0.12", "currency": "USD"}
    assert project.run(*found["next"].split()[1:]).code == 0
    [found] = project.shown("status")["series"]
    assert (found["skip"], found["next"]) == (3, None)
    assert "Everything is up to date." in project.run().out


def test_what_is_painted_here_is_no_call(project: Project) -> None:
    """The built-in painter asks no service."""
    project.series(provider="local")
    [found] = project.shown("status")["series"]
    assert (found["create"], found["calls"]) == (3, 0)


def test_a_broken_series_leaves_the_others(project: Project) -> None:
    """It is told on stderr, with its exit code; the others stand there as they would."""
    project.write("specs/series/bad.yaml", "playlist: show\nhero: specs/heroes/hero.png\ntemplate: nosuch\n")
    project.write("specs/series/worse.yaml", "playlist: 7\nsurprise: yes\n")
    told = project.run("status", "--json")
    assert [found["series"] for found in told.document["series"]] == ["show"]
    assert told.document["exit_code"] == told.code
    assert told.code == 2
    problems = " ".join(told.problem["problems"])
    assert "nosuch" in problems
    assert "surprise" in problems


def test_series_that_are_named_are_told_alone(project: Project) -> None:
    """A name that is none is not found, with what there is."""
    project.series("other")
    assert [found["series"] for found in project.shown("status", "other")["series"]] == ["other"]
    told = project.run("status", "shwo")
    assert told.code == 3
    assert "show" in told.err


def test_an_empty_project_is_told_its_first_step(tmp_path: Path) -> None:
    """With no dodo.py: init. With a list: the batch that needs a picture."""
    empty = Project(tmp_path)
    assert "thumbforge init" in empty.run().out
    empty.playlist([item(1)])
    assert "Next: thumbforge batch show --hero PICTURE" in empty.run().out.splitlines()
    assert video(1) not in empty.run().out
