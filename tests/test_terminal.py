"""The terminal is the user's: nothing from a spec is obeyed by it, and no stream gets in the way of the work."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.project import Project, make_project
from tests.tiers import soak
from thumbforge.errors import Problem, SpecError, describe
from thumbforge.text import clean, plain_json

EVIL = "x\x1b]52;c;aGk=\x07\x9b31m\u202ey\x7f"


def obeyed(text: str) -> set[str]:
    """What a terminal would obey in a text, but for line ends."""
    return {char for char in text if not char.isprintable() and char != "\n"}


HIDDEN: dict[str, Callable[[Project], object]] = {
    "hero": lambda project: project.series(hero=f"{EVIL}.jpg"),
    "template": lambda project: project.series(template=EVIL),
    "provider": lambda project: project.series(provider=EVIL),
    "playlist": lambda project: project.series(playlist=EVIL),
    "logo": lambda project: project.series(brand={"logo": f"{EVIL}.png"}),
    "font": lambda project: project.series(brand={"fonts": {"title": f"{EVIL}.ttf"}}),
    "an unknown field": lambda project: project.series(**{EVIL: 1}),
    "a file's name": lambda project: project.write(f"specs/series/{EVIL.replace('/', '')}.yaml", "bad: 1\n"),
    "a setting": lambda project: project.write("thumbforge.toml", '["\\u001b]52;\\u009b"]\n"\\u202e" = 1\n'),
    "emoji font": lambda project: project.write("thumbforge.toml", '[output]\nemoji_font = "\\u001b]52;\\u009b.ttf"\n'),
    "a price": lambda project: project.profile("fake", price={"amount": "0.04", "as_of": EVIL}),
    "titles": lambda project: project.playlist([{"video": "aaaaaaaaaa1", "title": EVIL, "part": 1, "label": EVIL}]),
    "a program": lambda project: (
        project.profile("p", provider="command", params={"argv": [f"/{EVIL}", "{output}"]}),
        project.series(provider="p"),
    ),
}


@pytest.mark.parametrize("place", list(HIDDEN))
def test_nothing_of_a_spec_is_obeyed(tmp_path: Path, place: str) -> None:
    """By no command, in a refusal or a run that goes well, on neither stream; what --json prints is JSON."""
    project = make_project(tmp_path / "project", 1)
    HIDDEN[place](project)
    for words in (
        ["batch", "series=show", "--dry-run"],
        ["batch", "series=show"],
        ["list", "--all"],
        ["run"],
        ["status"],
    ):
        told = project.run(*words)
        assert obeyed(told.out + told.err) == set(), words
        assert "Traceback" not in told.err
    told = project.batch("--dry-run", "--json")
    assert obeyed(told.out + told.err) == set()
    assert json.loads(told.out or told.err.splitlines()[-1])


@given(st.text())
def test_a_cleaned_text_keeps_its_lines(text: str) -> None:
    """And holds nothing that is obeyed."""
    found = clean(text)
    assert obeyed(found) == set()
    assert found.count("\n") == text.count("\n")
    assert clean(found) == found


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_plain_json_says_the_same(value: object) -> None:
    """The escapes are JSON's own."""
    document = plain_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(document) == value
    assert {
        char for char in obeyed(document) if ord(char) in range(0x7F, 0xA0) or ord(char) in range(0x202A, 0x202F)
    } == set()


def test_ninety_thousand_problems_are_a_hundred_and_a_number() -> None:
    """A screen or two, not a flood."""
    error = SpecError([Problem("a.yaml", n, "x", "wrong") for n in range(1, 90_001)])
    lines = describe(error).splitlines()
    assert lines[0] == "spec_invalid: 90000 problems in the specs"
    assert lines[-1] == "  and 89,900 more"
    assert len(lines) == 102


# Streams


def shell(project: Project, line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    tool = f"{shlex.quote(sys.executable)} -m thumbforge.commands.main"
    return subprocess.run(
        ["sh", "-c", line.replace("TOOL", tool)], cwd=project.root, env={**project.environment(), **environment},
        capture_output=True, text=True, errors="replace", timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "where",
    [
        ">/dev/full",
        ">&- 2>&- <&-",
        *soak(">&-", "2>&-", "2>/dev/full"),
    ],
)
def test_a_stream_that_takes_nothing_changes_nothing(tmp_path: Path, where: str) -> None:
    """The pictures are there, the exit code is the work's, and nobody speaks of a bug or of the store."""
    project = make_project(tmp_path / "project", 1)
    done = shell(project, f"TOOL batch series=show {where}")
    assert done.returncode == 0, done.stderr
    assert len(project.out()) == 1
    assert "bug" not in done.stderr
    assert "store" not in done.stderr
    assert project.run("audit").code == 0


def test_a_reader_that_goes_away_does_not_stop_the_work(tmp_path: Path) -> None:
    """`batch | true` makes all the pictures, too."""
    project = make_project(tmp_path / "project", 1)
    assert shell(project, "TOOL batch series=show | true").stderr.count("Traceback") == 0
    assert len(project.out()) == 1


@pytest.mark.parametrize("encoding", ["ascii", *soak("cp1252")])
def test_letters_that_an_encoding_lacks_are_replaced(tmp_path: Path, encoding: str) -> None:
    """By our commands and by doit's."""
    project = make_project(tmp_path / "project", 1)
    project.playlist([{"video": "aaaaaaaaaa1", "title": "日本語", "part": 1}])
    for words in ("batch series=show", "list --all", "run"):
        done = shell(project, f"TOOL {words}", PYTHONIOENCODING=encoding)
        assert (done.returncode, done.stderr.count("Traceback")) == (0, 0)
    assert "Part 1" in shell(project, "TOOL list --all", PYTHONIOENCODING=encoding).stdout
