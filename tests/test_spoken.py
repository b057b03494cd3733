"""Hints are for the tool that was typed."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from tests.project import Project
from thumbforge import spoken

COMMANDS = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "entry-points"
]["doit.COMMAND"]


def test_every_command_of_ours_is_known() -> None:
    """A new one is told by its name, too."""
    assert COMMANDS.keys() == spoken.COMMANDS


@pytest.mark.parametrize(
    ("started", "tool"),
    [
        ("/x/.venv/bin/doit", "doit"),
        ("doit.exe", "doit"),
        ("/x/site-packages/doit/__main__.py", "doit"),
        ("/x/.venv/bin/thumbforge", "thumbforge"),
        ("/x/thumbforge/commands/main.py", "thumbforge"),
        ("/x/doit/me.py", "thumbforge"),
        ("", "thumbforge"),
    ],
)
def test_the_tool_is_the_program_that_was_started(started: str, tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is called in the words of a hint; other words stay."""
    monkeypatch.setattr(sys, "argv", [started])
    assert spoken.tool() == tool
    assert (
        spoken.spoken("thumbforge batch x; a newer thumbforge made it\x1b")
        == f"{tool} batch x; a newer thumbforge made it "
    )


@pytest.mark.parametrize("tool", ["doit", "thumbforge"])
def test_a_command_names_itself_as_it_was_typed(tool: str, project: Project) -> None:
    """In errors, in their JSON, in what comes next, and in the line on how a run goes on; help, too."""
    other = {"doit": "thumbforge ", "thumbforge": "doit "}[tool]
    project.series(vars={"fail": "[[FAIL_PERMANENT]]"})
    project.template(prompt="{{ topic }} {{ vars.fail }}")
    for words in (["hero", "pikc"], ["runs", "show"], ["runs", "show", "--json"], ["batch", "series=show"], ["status"]):
        told = project.run(*words, tool=tool)
        assert f"{tool} " in told.out + told.err, words
        assert other not in told.out + told.err, words
    assert f"{tool} hero pick RUN" in project.run("hero", "--help", tool=tool).out
