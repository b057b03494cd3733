"""`runs cost` without a run: what was paid, by month, series and profile."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.project import Project, make_project, video


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Three calls of a month that is long over, and of now: six, four of them at a price; `local` painted three."""
    made = make_project(tmp_path / "project", 3)
    made.profile("paid", price={"amount": "0.04"})
    made.series(provider="paid")
    made.series("free", provider="local")
    made.series("unknown", provider="fake", template="minimal")
    assert made.run("run").code == 0
    made.execute("UPDATE attempt SET called_at = 1781000000 WHERE cost = '0.04'")
    assert made.batch("retake=yes").code == 0
    assert made.run("hero", "generate", video(1), "--count", "1", "--template", "plain", "--provider", "paid").code == 0
    return made


def test_each_month_series_and_profile_has_its_line(project: Project) -> None:
    """And all of them a sum; what nobody knows is counted and not taken for nothing, what `local` paints is 0."""
    told = project.run("runs", "cost")
    assert told.code == 0
    now, was = _month(project), "2026-06"
    lines = [re.split("  +", line.strip()) for line in told.out.splitlines()]
    assert lines[0] == ["month", "series", "profile", "calls", "money", "without a price", "perhaps billed"]
    assert sorted(lines[1:-1]) == sorted(
        [
            [now, "free", "local", "0", "0"],
            [now, "paid", "1", "0.04 USD"],  # a hero run has no series
            [now, "show", "paid", "3", "0.12 USD"],
            [now, "unknown", "fake", "3", "no data", "3"],
            [was, "show", "paid", "3", "0.12 USD"],
        ]
    )
    assert lines[-1] == ["All: 10 calls, 0.28 USD."]


def test_they_are_summed_by_one_alone(project: Project) -> None:
    """In JSON, too; the others are null then."""
    found = project.shown("runs", "cost", "--by", "profile")
    assert {each["profile"]: (each["calls"], each["money"], each["no_data"]) for each in found["costs"]} == {
        "fake": (3, {}, 3),
        "local": (0, {}, 0),
        "paid": (7, {"USD": "0.28"}, 0),
    }
    assert all(each["month"] is None and each["series"] is None for each in found["costs"])
    assert (found["total"]["money"], found["total"]["attempts"]) == ({"USD": "0.28"}, 13)


def test_by_goes_with_all_runs(project: Project) -> None:
    """Beside a run it would do nothing."""
    run = project.shown("runs", "list")["runs"][0]["id"]
    assert project.run("runs", "cost", run, "--by", "month").code == 2


def test_nothing_was_called_yet(tmp_path: Path) -> None:
    """Said, and no ledger is made for it."""
    project = make_project(tmp_path / "project", 1)
    told = project.run("runs", "cost")
    assert (told.code, told.out, project.home.exists()) == (0, "No calls yet.\n", False)
    assert project.shown("runs", "cost")["costs"] == []


def test_money_that_is_none_is_damage(project: Project) -> None:
    """A ledger may have come from anywhere."""
    project.execute("UPDATE attempt SET cost = 'much' WHERE cost IS NOT NULL")
    told = project.run("runs", "cost")
    assert (told.code, told.err.splitlines()[0]) == (
        1,
        "ledger_failed: the ledger is damaged: 'much' is no amount of money",
    )


def _month(project: Project) -> str:
    return str(project.query("SELECT max(day) AS day FROM spending")[0]["day"])[:7]
