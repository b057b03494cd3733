"""Every run row ends with a code, whatever runner or reporter doit is told to use, and whoever ends it."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest

from tests.project import ALL_MARKED, Project, Told, finish, kill, wait_until
from thumbforge.providers.fake import FakeProvider


def ends(project: Project) -> list[tuple[str, int | None]]:
    rows = project.query("SELECT status, exit_code FROM run WHERE kind = 'batch' ORDER BY created_at")
    return [(row["status"], row["exit_code"]) for row in rows]


def test_processes_of_doit_are_refused(project: Project) -> None:
    """Each task says so in one line, nothing is opened, and with threads it goes on."""
    told = finished(project, "run", "-P", "process", "-n", "2")
    assert told.code == 1
    assert told.out.count("usage: thumbnails are not made in processes of doit (-P process)") == 3
    assert "-P thread" in told.out
    assert not (project.home / "ledger.sqlite3").exists()
    assert project.doit("run", "-n", "2", "-P", "thread").code == 0
    assert ends(project) == [("completed", 0)]


def test_another_reporter_leaves_no_run_open(project: Project) -> None:
    """A reporter of doit's own knows nothing of runs; they are closed with the process."""
    assert finished(project, "run", "-r", "zero").code == 0
    assert ends(project) == [("completed", 0)]
    assert len(project.out()) == 3


def finished(project: Project, *words: str) -> Told:
    """In a process of its own: it is its end that matters."""
    return finish(project.start(*words, tool="doit", anew=True))


def test_a_killed_run_has_a_code_once_it_is_found(project: Project) -> None:
    """The next command that writes marks it paused, with 1: nobody knows how it would have ended."""
    project.profile("slow", params={"delay_ms": 20_000})
    project.series(provider="slow")
    process = project.start("batch", "series=show")
    wait_until(lambda: project.calls > 0)
    kill(process)
    assert ends(project) == [("running", None)]
    project.series()
    assert project.batch().code == 0
    assert ends(project) == [("paused", 1), ("completed", 0)]


def test_a_cancelled_run_has_a_code(project: Project) -> None:
    """Also one that nobody executes any more."""
    project.template(prompt=ALL_MARKED)
    project.series(vars={"fail": "[[FAIL_PERMANENT]]"})
    assert project.batch().code == 4
    [run] = project.query("SELECT id FROM run WHERE kind = 'batch'")
    assert project.run("runs", "cancel", run["id"]).code == 0
    assert ends(project) == [("cancelled", 130)]


def test_what_a_call_found_out_reaches_the_result(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that notices in the call that it cannot take the hero: in the document, in the text, and next time."""
    generate = FakeProvider.generate
    monkeypatch.setattr(FakeProvider, "generate", lambda *args: replace(generate(*args), reference_ignored=True))
    assert project.batch("--json").document["reference_ignored"] is True
    assert project.batch("--json").document["reference_ignored"] is True
    project.playlist({**entry, "text": "Other"} for entry in project.items())
    assert ", ignored by the provider)" in project.batch().out


def test_export_of_a_hero_run_without_a_picture_says_so(project: Project) -> None:
    """Exit 2 and where to look; no folder is made."""
    project.template(prompt="[[FAIL_PERMANENT]]")
    made = project.run("hero", "generate", "video-00001", "--template", "plain", "--provider", "fake", "--count", "1")
    assert made.code == 4
    [run] = project.query("SELECT id FROM run WHERE kind = 'hero'")
    told = project.run("hero", "export", run["id"], "--to", "heroes")
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith(f"usage: run {run['id'][:8]} has no picture yet\nhint: thumbforge hero show ")
    assert not (project.root / "heroes").exists()


def test_a_deleted_ingest_takes_its_list_along(project: Project) -> None:
    """Its frozen list is no stray file afterwards."""
    assert project.batch().code == 0
    project.playlist(project.items()[:2])
    assert project.batch().code == 0
    first, _ = project.query("SELECT id FROM run WHERE kind = 'ingest' ORDER BY created_at")
    lists = list((project.home / "assets").rglob("*.json"))
    assert len(lists) == 2
    assert project.run("runs", "delete", first["id"]).code == 0
    assert len(list((project.home / "assets").rglob("*.json"))) == 1
    long_ago = time.time() - 10_000
    for path in project.home.rglob("*"):
        if path.is_file() and "ledger" not in path.name:
            os.utime(path, (long_ago, long_ago))
    assert project.run("audit").code == 0
