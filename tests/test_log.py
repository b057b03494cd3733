"""Logs: one line a happening for people, JSON lines for programs, no secret in either."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thumbforge import log


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "thumbforge.jsonl"


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_the_file_gets_json_lines(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every event is one JSON object with level, UTC time and fields, also those below stderr's level."""
    log.configure(level="warning", file=file)
    log.debug("looked", part=1)
    log.error("failed", part=2, error="no answer")
    first, second = lines(file)
    assert (first["event"], first["level"], first["part"]) == ("looked", "debug", 1)
    assert (second["event"], second["level"], second["error"]) == ("failed", "error", "no answer")
    assert second["timestamp"].endswith("Z")
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("level", log.LEVELS)
def test_stderr_gets_the_level_and_above(level: str, capsys: pytest.CaptureFixture[str]) -> None:
    """stdout gets nothing at all."""
    log.configure(level=level, file=None)
    for name in log.LEVELS:
        getattr(log, name)(f"it is {name}")
    told = capsys.readouterr()
    expected = [name for name, rank in log.LEVELS.items() if rank >= log.LEVELS[level]]
    assert [line.split()[1] for line in told.err.splitlines()] == expected
    assert told.out == ""


@given(st.text(), st.text(), st.recursive(st.text() | st.none(), lambda inner: st.lists(inner, max_size=3)))
def test_an_event_is_one_line_whatever_its_values_hold(title: str, error: str, more: Any) -> None:
    """No value breaks a line or brings a control character; the event's own text is ours."""
    told: list[str] = []
    log.configure(level="info", file=None)
    with log.through(told.append):
        log.warning("item failed", title=title, error=error, more=more)
    [line] = told
    assert line.isprintable()
    assert line[9:].startswith("warning item failed  ")


def test_a_line_in_the_file_is_one_line_too(file: Path) -> None:
    """Line breaks of a value, also the rare ones, do not break JSON lines."""
    log.configure(level="error", file=file)
    log.warning("item failed", title="one\ntwo\u2028three\x1b[31m")
    text = file.read_text(encoding="utf-8")
    assert text.count("\n") == 1
    assert json.loads(text)["title"] == "one\ntwo\u2028three\x1b[31m"


def test_ids_are_short_for_people_and_whole_in_the_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """stderr shows eight digits of a run's id; the file has all of it."""
    log.configure(level="info", file=file)
    log.info("item completed", run="12345678-9abc-4000-8000-000000000000", part=None)
    assert capsys.readouterr().err.endswith("info item completed  run=12345678\n")
    assert lines(file)[0]["run"] == "12345678-9abc-4000-8000-000000000000"


def test_no_secret_is_written(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither a field with a secret's name nor a text of a key's shape reaches a log."""
    log.configure(level="info", file=file)
    secret = "sk-" + "Ab1" * 10
    with log.bound(api_key="swordfish"):
        log.info("call", headers={"Authorization": "swordfish"}, error=f"refused {secret}")
    for text in (file.read_text(), capsys.readouterr().err):
        assert "swordfish" not in text
        assert secret not in text


def test_an_exception_is_in_the_file_and_not_on_stderr(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A traceback is for whoever reads the log."""
    log.configure(level="info", file=file)
    log.error("unexpected", exc_info=ValueError("boom"))
    assert "ValueError: boom" in lines(file)[0]["exception"]
    assert "Traceback" not in capsys.readouterr().err


def test_bound_fields_are_on_every_line_while_they_last(file: Path) -> None:
    """They nest, end with their block, and are those of one thread."""
    log.configure(level="error", file=file)
    with log.bound(run="r", part=1):
        with log.bound(part=2):
            log.info("inner")
        thread = threading.Thread(target=log.info, args=("elsewhere",))
        thread.start()
        thread.join()
        log.info("outer", part=3)
    log.info("after")
    found = {line["event"]: (line.get("run"), line.get("part")) for line in lines(file)}
    assert found == {"inner": ("r", 2), "elsewhere": (None, None), "outer": ("r", 3), "after": (None, None)}


def test_through_redirects_and_gives_back(capsys: pytest.CaptureFixture[str]) -> None:
    """While it lasts stderr gets nothing; afterwards, also after an error, it gets the lines again."""
    told: list[str] = []
    log.configure(level="info", file=None)

    def fail_inside() -> None:
        with log.through(told.append):
            log.info("inside")
            raise KeyError

    with pytest.raises(KeyError):
        fail_inside()
    log.info("after")
    assert [line.split()[-1] for line in told] == ["inside"]
    assert capsys.readouterr().err.endswith("info after\n")


def test_a_log_that_cannot_be_written_loses_only_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the file's place is taken the command goes on, and stderr has its lines."""
    (tmp_path / "logs").write_text("in the way")
    log.configure(level="info", file=tmp_path / "logs" / "thumbforge.jsonl")
    log.info("one")
    log.info("two")
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_the_library_is_loaded_at_the_first_event() -> None:
    """A command that logs nothing does not load structlog."""
    import subprocess

    script = "import sys; from thumbforge import log; log.debug('x'); print('structlog' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
