"""`runs list` and `runs show`: what the ledger knows, for people."""

from __future__ import annotations

import pytest

from tests.project import ALL_MARKED, Project


def test_the_runs_are_listed(finished: Project) -> None:
    """One line each, the newest first, with how far it got and its exit code."""
    told = finished.run("runs", "list")
    [run] = finished.query("SELECT id FROM run WHERE kind = 'batch'")
    first = told.out.splitlines()[1].split()
    assert (told.code, first[:7]) == (0, [run["id"][:8], "batch", "completed", "show", "plain", "fake", "12/12"])
    assert first[-1] == "0"


def test_runs_alone_is_the_list(finished: Project) -> None:
    """The list is what one wants most."""
    assert finished.run("runs").out == finished.run("runs", "list").out


def test_the_list_is_narrowed(finished: Project) -> None:
    """By kind, by status, by number."""
    assert finished.run("runs", "list", "--kind", "hero").out.count("\n") == 2
    assert finished.run("runs", "list", "--limit", "1").out.count("\n") == 2
    assert finished.shown("runs", "list", "--status", "failed") == {"runs": []}


def test_a_run_is_shown_by_the_start_of_its_id(finished: Project) -> None:
    """Its facts, its calls and a row for each item."""
    [run] = finished.query("SELECT id FROM run WHERE kind = 'batch'")
    told = finished.run("runs", "show", run["id"][:6])
    assert told.code == 0
    facts = dict(line.split(maxsplit=1) for line in told.out.split("\n\n")[0].splitlines())
    assert (facts["run"], facts["status"], facts["calls"]) == (run["id"][:8], "completed", "12")
    assert facts["items"] == "12: 12 completed, 0 failed, 0 pending"
    assert all(f"Lesson {n} " in told.out for n in range(1, 13))


def test_a_failed_run_tells_why(project: Project) -> None:
    """Its status line and each item's error."""
    project.template(prompt=ALL_MARKED)
    assert project.batch("var.fail=[[FAIL_PERMANENT]]").code == 4
    told = project.run("runs", "show", project.query("SELECT id FROM run WHERE kind = 'batch'")[0]["id"])
    assert "failed: 3 of 3 items failed" in told.out
    assert told.out.count("provider_bad_request: fake: the prompt says [[FAIL_PERMANENT]]") == 3


@pytest.mark.parametrize("prefix", ["deadbeef", "%", "zzz"])
def test_an_unknown_run_is_not_found(finished: Project, prefix: str) -> None:
    """Exit 3, one line."""
    told = finished.run("runs", "show", prefix)
    assert (told.code, told.out, told.err.split(":")[0]) == (3, "", "not_found")


@pytest.mark.parametrize(
    "words", [["show"], ["show", "a", "b"], ["list", "x"], ["dance"], ["list", "--kind", "x"], ["list", "--limit", "0"]]
)
def test_what_runs_does_not_know_is_refused(finished: Project, words: list[str]) -> None:
    """Exit 2, one line and a hint at most."""
    told = finished.run("runs", *words)
    assert (told.code, told.out, told.err.split(":")[0]) == (2, "", "usage")


def test_without_a_ledger_there_are_no_runs(project: Project) -> None:
    """list says so with exit 0, show does not find any; nothing is made."""
    before = project.files()
    assert (project.run("runs").code, project.run("runs").out) == (0, "No runs yet.\n")
    assert project.run("runs", "show", "abcd").code == 3
    assert project.files() == before
