"""Each command once as a process of its own, and that the tests which do without see the same."""

from __future__ import annotations

import os
import re
import signal
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.project import Project, Told, make_project, video
from thumbforge import log
from thumbforge.commands.command import find_root
from thumbforge.tasks import session

WORDS = [
    "audit",
    "batch series=show",
    "config path",
    "fetch nowhere.json",
    "hero list",
    "init",
    "playlist list",
    "provider list",
    "prune",
    "pull",
    "push",
    "repair",
    "runs list --kind batch",
    "status",
    "watch nosuch",
    "check",
    f"takes list {video(1)} series=show",
    "template list",
    "explain specs/heroes/hero.png",
    "series list",
    "nosuch",
    "list --all",
    f"info thumb:show:{video(1)}",
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """One item, made by doit's own script."""
    project = make_project(tmp_path_factory.mktemp("made") / "project", 1)
    assert project.process("run", tool="doit").code == 0
    return project


@pytest.mark.parametrize("words", WORDS)
def test_a_command_tells_the_same_in_a_process_of_its_own(made: Project, words: str) -> None:
    """Exit code and both streams; doit's sets have no order, and each audit is one run more."""
    assert plain(made.run(*words.split())) == plain(made.process(*words.split()))


def plain(told: Told) -> tuple[int, list[str], str]:
    return told.code, sorted(re.sub(r"\d+ runs", "runs", told.out).splitlines()), told.err


def test_every_command_is_started_once() -> None:
    """A new command is looked at as a process too."""
    ours = {point.name for point in entry_points(group="doit.COMMAND") if point.value.startswith("thumbforge.")}
    assert ours <= {words.split()[0] for words in WORDS}


def test_a_command_leaves_no_trace_in_this_process(project: Project) -> None:
    """What a process has of its own is afterwards what it was."""

    def own() -> list[object]:
        handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)]
        streams = [sys.stdin, sys.stdout, sys.stderr]
        return [Path.cwd(), dict(os.environ), list(sys.argv), list(sys.path), streams, handlers, session.current()]

    before, sinks = own(), log._sinks
    assert project.doit("list", "--all").code == 0
    assert project.batch().code == 0
    assert (own(), log._sinks, "dodo" in sys.modules) == (before, sinks, False)


def test_two_projects_do_not_mix(project: Project, tmp_path: Path) -> None:
    """Each command has the dodo.py and the files of its own project."""
    other = project.copy(tmp_path / "other")
    other.write("dodo.py", "def task_mine():\n    return {'actions': None}\n")
    assert "mine" in other.doit("list").out
    assert "mine" not in project.doit("list").out


def test_an_error_that_escapes_ends_as_in_a_process(project: Project) -> None:
    """A dodo.py that ends the interpreter decides about the exit code; what it says is on stderr."""
    project.write("dodo.py", "raise SystemExit('not today')\n")
    told = project.doit("list")
    assert (told.code, told.err) == (1, "not today\n")
    assert project.process("list", tool="doit") == told


def test_the_search_for_a_project_stops_at_another_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dodo.py in a shared parent is not this user's word; one of the same owner is found from any depth."""
    (tmp_path / "dodo.py").write_text("")
    mine = tmp_path / "mine" / "deep"
    mine.mkdir(parents=True)
    assert find_root(mine) == tmp_path
    real = Path.stat

    def stat(path: Path, **how: bool) -> os.stat_result:
        found = real(path, **how)
        return os.stat_result((*found[:4], 4711, *found[5:10])) if path == tmp_path else found

    monkeypatch.setattr(Path, "stat", stat)
    assert find_root(mine) == mine
