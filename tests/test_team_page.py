"""docs/team.md: its five minutes, typed as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.pages import text
from tests.project import Project
from tests.test_lock_page import Shell


def typed() -> list[list[str]]:
    """The blocks of the page's first section, line by line."""
    section = text("team.md").partition("## Five minutes")[2].partition("\n## ")[0]
    return [block.splitlines() for block in re.findall(r"```sh\n(.*?)```", section, flags=re.DOTALL)]


class Machine(Shell):
    """With an environment that it was told, and one count of the calls of all projects."""

    def __init__(self, cwd: Path) -> None:
        super().__init__(cwd)
        self.exported: dict[str, str] = {}
        self.log = cwd / "calls"
        self.told: list[str] = []

    def type(self, line: str) -> None:
        if line.startswith("export "):
            name, _, value = line.removeprefix("export ").partition("=")
            self.exported[name] = value
        elif line.startswith("thumbforge "):
            own = {**self.exported, "THUMBFORGE_FAKE_LOG": str(self.log)}
            told = Project(self.cwd, own).run(*line.split()[1:])
            assert told.code == 0, (line, told.err)
            self.told.append(told.err)
        else:
            super().type(line)

    @property
    def calls(self) -> int:
        return self.log.read_text().count('"start"') if self.log.exists() else 0


def pictures(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.glob("out/example/0*.jpg")}


def test_the_five_minutes_are_as_they_stand_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three are paid for once, a clone has them without a call, a fourth is painted there and comes back; without the
    place the work goes on, and it has everything afterwards."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")
    shell = Machine(tmp_path)
    made, cloned, added, away = typed()
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for line in made:
        shell.type(line)
    assert (shell.calls, len(pictures(ours))) == (3, 3)
    for line in cloned:
        shell.type(line)
    assert (shell.calls, pictures(theirs)) == (3, pictures(ours))
    for line in added:
        shell.type(line)
    assert (shell.calls, len(pictures(ours)), pictures(theirs)) == (4, 4, pictures(ours))
    for line in away:
        shell.type(line)
    assert (shell.calls, len(pictures(ours))) == (5, 5)
    assert "the work goes on without the shared store" in shell.told[-2]
    assert "without the shared store" not in shell.told[-1]
    assert len(list((tmp_path / "share/keys/art").iterdir())) == 5
