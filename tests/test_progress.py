"""The bar on a terminal: it counts what has ended, and leaves the terminal as it was."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, suppress
from types import SimpleNamespace
from typing import Any

import pytest

from tests.project import Project, finish, video
from thumbforge import log
from thumbforge.tasks.progress import Progress

HIDDEN, SHOWN = "\x1b[?25l", "\x1b[?25h"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    found = Terminal()
    monkeypatch.setattr(log, "_sinks", log._Sinks())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return found


def rows(*idle: bool) -> Any:
    return [SimpleNamespace(idle=is_idle, name=f"item {n}") for n, is_idle in enumerate(idle, 1)]


def ended(status: str, error: str | None = None) -> Any:
    return SimpleNamespace(status=status, error=error)


def name(row: Any) -> str:
    return str(row.name)


def test_it_counts_each_item_that_was_not_idle(terminal: Terminal) -> None:
    """A line for each with how it ended, and the count goes up; idle items are not waited for."""
    first, _, last = made = rows(False, True, False)
    with redirect_stderr(terminal), Progress(made, name) as progress:
        progress.ended(first, ended("completed"))
        progress.ended(last, ended("failed", "it\x1b[2J broke"))
    told = terminal.getvalue()
    assert ("✔ item 1" in told, "✘ item 3: it [2J broke" in told, "2/2" in told) == (True, True, True)


def test_an_error_leaves_the_terminal_whole(terminal: Terminal) -> None:
    """The cursor is back and log lines go to stderr again, whatever was raised."""
    with suppress(KeyboardInterrupt), redirect_stderr(terminal), Progress(rows(False), name):
        assert log._sinks.write is not log._to_stderr
        raise KeyboardInterrupt
    assert (terminal.getvalue().count(HIDDEN), terminal.getvalue().count(SHOWN)) == (1, 1)
    assert log._sinks.write is log._to_stderr


@pytest.mark.parametrize("made", [[], [True, True]])
def test_without_work_there_is_no_bar(terminal: Terminal, made: list[bool]) -> None:
    """Nothing is drawn for what is only looked at."""
    with redirect_stderr(terminal), Progress(rows(*made), name):
        pass
    assert terminal.getvalue() == ""


def test_quiet_draws_nothing(terminal: Terminal) -> None:
    """Only errors were asked for."""
    log.insist("error")
    [row] = made = rows(False)
    with redirect_stderr(terminal), Progress(made, name) as progress:
        progress.ended(row, ended("completed"))
    assert terminal.getvalue() == ""


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo terminals here")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["hero", "generate", video(1), "--count", "3", "--provider", "fake"], "Candidate 3"),
        (["batch", "series=show"], "Part 3"),
    ],
)
def test_heroes_and_batches_are_counted_alike(project: Project, words: list[str], says: str) -> None:
    """The bar of each ends at all of its items, and the cursor is shown again."""
    ours, theirs = os.openpty()
    environment = {**project.environment(), "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(
        [sys.executable, "-m", "thumbforge.commands.main", *words],
        cwd=project.root, env=environment, stdout=subprocess.PIPE, stderr=theirs, text=True,
    )  # fmt: skip
    os.close(theirs)
    told = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # how Linux says that nobody writes any more
            break
        if not part:
            break
        told += part
    os.close(ours)
    assert finish(process).code == 0
    shown = told.decode(errors="replace")
    assert ("3/3" in shown, says in shown, shown.count(HIDDEN), shown.count(SHOWN)) == (True, True, 1, 1)
