"""Tables that fit: what must be seen or typed is whole at every width, and what describes gives way in its order."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.project import ALL_MARKED, Project, item, make_project
from tests.tiers import soak
from thumbforge.commands.telling.table import LEAVES, TITLES, lay_out

COLUMNS = ("part", "title", "status", "size", "compliant", "file", "error")
LONG = "A title as long as titles of videos on this site usually are when nobody cuts them"
ROWS = (
    ("1", LONG, "made", "1280x720 140 kB", "yes", "01-dQw4w9WgXcQ.jpg", ""),
    ("12", "日本語のタイトルはとても長いですからここで切ります", "failed", *[""] * 3, "provider_refused: not this one"),
    ("#3", "Short", "drawn again", "1280x720 90 kB", "no", "03-aaaaaaaaaaa.jpg", ""),
)
SCREENS = {
    20: """\
part  status
   1  made
  12  failed
    provider_refused:
    not this one
  #3  drawn again""",
    40: """\
part  title                  status
   1  A title as long as t…  made
  12  日本語のタイトルはと…  failed
    provider_refused: not this one
  #3  Short                  drawn again""",
    80: """\
part  title                           status       compliant  file
   1  A title as long as titles of…   made         yes        01-dQw4w9WgXcQ.jpg
  12  日本語のタイトルはとても長い…   failed
    provider_refused: not this one
  #3  Short                           drawn again  no         03-aaaaaaaaaaa.jpg""",
    116: """\
part  title                                              status       size             compliant  file
   1  A title as long as titles of videos on this site…  made         1280x720 140 kB  yes        01-dQw4w9WgXcQ.jpg
  12  日本語のタイトルはとても長いですからここで切りま…  failed
    provider_refused: not this one
  #3  Short                                              drawn again  1280x720 90 kB   no         03-aaaaaaaaaaa.jpg""",
}


def screen(columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...], width: int) -> list[str]:
    return ["".join(span.text for span in line) for line in lay_out(columns, rows, width)]


@pytest.mark.parametrize("width", SCREENS)
def test_a_screen(width: int) -> None:
    """Part and state are whole at every width; title, size, key and file give way; an error is under its row."""
    assert screen(COLUMNS, ROWS, width) == SCREENS[width].split("\n")


def test_a_wide_screen_has_everything() -> None:
    """At 200 columns nothing is cut."""
    told = "\n".join(screen(COLUMNS, ROWS, 200))
    assert [cell for row in ROWS for cell in row if cell not in told] == []


WORDS = st.text("abc 日\N{COMBINING ACUTE ACCENT}-", max_size=60).map(str.strip)


@given(st.lists(st.tuples(WORDS, WORDS, WORDS, WORDS, WORDS), min_size=1, max_size=4), st.integers(1, 120))
def test_what_has_a_rank_of_its_own_is_never_cut(rows: list[tuple[str, ...]], width: int) -> None:
    """Whatever the cells hold: part and state are found whole, and no line of a table is wider than the terminal."""
    columns = ("part", "title", "size", "state", "error")
    lines = screen(columns, tuple(rows), width)
    whole = "\n".join(lines)
    for part, _, _, state, error in rows:
        assert part in whole
        assert state in whole
        assert all(word in whole for word in error.split())
    longest = max(cell_len(word) for row in rows for cell in row for word in (cell, *cell.split()))
    assert all(cell_len(line) <= max(width, longest + 8, 12) for line in lines)


def test_a_column_either_gives_way_or_is_whole() -> None:
    """No name is ranked twice."""
    assert not TITLES & set(LEAVES)
    assert len(set(LEAVES)) == len(LEAVES)


# In a terminal


def in_terminal(project: Project, *words: str, columns: int = 80, **extra: str) -> str:
    """What a terminal of that width is sent on stdout."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environ = {**project.environment(), **extra}
    command = [sys.executable, "-m", "thumbforge.commands.main", *words]
    process = subprocess.Popen(
        command, cwd=project.root, env=environ, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE
    )
    os.close(theirs)
    told = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        told += piece
    process.communicate()
    os.close(ours)
    return told.decode().replace("\r\n", "\n")


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Three items with long titles whose provider refuses them."""
    project = make_project(tmp_path_factory.mktemp("tables") / "project", 3)
    project.playlist([item(n, title=f"{n} {LONG}") for n in (1, 2, 3)])
    project.template(prompt=ALL_MARKED)
    project.series(vars={"fail": "[[FAIL_PERMANENT]]"})
    assert project.batch().code == 4
    return project


@pytest.mark.parametrize("columns", [40, 80])
def test_a_terminal_shows_part_and_state_of_every_item(columns: int, broken: Project) -> None:
    """The run's table at 40 and at 80 columns: nothing that matters is cut, nothing is wider than the terminal."""
    [run] = broken.shown("runs", "list", "--kind", "batch")["runs"]
    lines = in_terminal(broken, "runs", "show", run["id"][:8], columns=columns).splitlines()
    rows = [line for line in lines if re.match(r" +[123]  ", line)]
    assert [line.split()[0] for line in rows] == ["1", "2", "3"]
    assert all("failed" in line for line in rows)
    table = [line for line in lines[lines.index("") :] if not line.startswith("hint ")]  # a sentence wraps by itself
    assert [line for line in table if len(line) > columns] == []


@pytest.mark.parametrize("told", ["0", *soak("", "many", "-3")])
def test_a_width_that_is_none_is_the_terminals(told: str, broken: Project) -> None:
    """COLUMNS=0 in the environment leaves the table as it is."""
    assert in_terminal(broken, "runs", "list", COLUMNS=told) == in_terminal(broken, "runs", "list")
    assert "failed" in in_terminal(broken, "runs", "list", COLUMNS=told)


def test_colours_are_for_terminals_that_have_them(broken: Project) -> None:
    """None for a dumb terminal, none with NO_COLOR, none in a pipe."""
    assert "\x1b[31mfailed" in in_terminal(broken, "runs", "list", TERM="xterm", NO_COLOR="")
    assert "\x1b[" not in in_terminal(broken, "runs", "list", TERM="xterm", NO_COLOR="1")
    assert "\x1b[" not in in_terminal(broken, "runs", "list", TERM="dumb", NO_COLOR="")
    assert "\x1b[" not in broken.with_environment(TERM="xterm", NO_COLOR="").run("runs", "list").out


def test_a_pipe_gets_one_form_whatever_the_width(broken: Project, tmp_path: Path) -> None:
    """Without a terminal each item is one line and nothing is cut."""
    [run] = broken.shown("runs", "list", "--kind", "batch")["runs"]
    narrow = broken.with_environment(COLUMNS="20").run("runs", "show", run["id"]).out
    assert narrow == broken.run("runs", "show", run["id"]).out
    assert narrow.count(LONG) == 3
