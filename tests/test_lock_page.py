"""docs/lock.md: its five minutes, typed as they stand there."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.pages import text
from tests.project import Project
from tests.test_lock import entries

FILE = "specs/locks/example.yaml"


def typed() -> list[list[str]]:
    """The blocks of the page's first section, line by line."""
    section = text("lock.md").partition("## Five minutes")[2].partition("\n## ")[0]
    return [block.splitlines() for block in re.findall(r"```sh\n(.*?)```", section, flags=re.DOTALL)]


class Shell:
    """A shell with a place: our commands in this process, the others in one of theirs."""

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        self.said: list[str] = []

    def type(self, line: str) -> None:
        words = shlex.split(line)
        if words[0] == "cd":
            self.cwd = (self.cwd / words[1]).resolve()
        elif words[0] == "thumbforge":
            told = Project(self.cwd).run(*words[1:])
            assert told.code == 0, (line, told.err)
            self.said.append(told.out)
        else:
            done = subprocess.run(line, shell=True, cwd=self.cwd, capture_output=True, text=True, check=False)
            assert done.returncode == 0, (line, done.stderr)
            self.said.append(done.stdout)


def test_the_five_minutes_are_as_they_stand_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project, a clone that is made from nothing but git, a text of theirs, and a pull; nothing was paid."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")
    shell = Shell(tmp_path)
    made, cloned, changed, pulled = typed()
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"

    def pictures(root: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in root.glob("out/example/0*.jpg")}

    for line in made:
        shell.type(line)
    assert entries(Project(ours), FILE)["example0002"]["approved"] is True
    for line in cloned:
        shell.type(line)
    assert len(pictures(ours)) == 3
    assert pictures(theirs) == pictures(ours)
    assert "Locked: its picture stays as it is." in shell.said[-1]
    for line in changed:
        shell.type(line)
    assert f"{FILE} " in shell.said[-2]
    lines = subprocess.run(["git", "diff", "--numstat", "HEAD~", FILE], cwd=theirs, capture_output=True, text=True)
    assert lines.stdout.split()[:2] == ["1", "1"]
    for line in pulled:
        shell.type(line)
    assert shell.said[-1].endswith("Everything is up to date.\n")
    assert pictures(ours) == pictures(theirs)
