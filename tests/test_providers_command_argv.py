"""The provider `command`: what reaches the program, its secrets, its exit codes, its end."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.recorded_server import painted
from tests.stubs.command_kit import call_in, failed, gen, require_gone
from thumbforge.cancel import Cancel
from thumbforge.errors import (
    Interrupted,
    OutputMissing,
    ProviderError,
    ProviderSetup,
    ProviderTransient,
    UsageError,
)
from thumbforge.providers import process
from thumbforge.providers.base import Answer
from thumbforge.providers.command import CommandProvider, rendered
from thumbforge.testing import a_call, a_request


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    path = tmp_path / "wide.png"
    path.write_bytes(painted("wide", size=(1344, 768)))
    return path


# What reaches the program


@pytest.mark.parametrize(
    ("argv", "values", "made"),
    [
        (["a", "{prompt}"], {"prompt": "x y"}, ["a", "x y"]),
        (["a", ["--neg", "{negative_prompt}"], "z"], {"negative_prompt": None}, ["a", "z"]),
        (["a", ["--neg", "{negative_prompt}"], "z"], {"negative_prompt": "rain"}, ["a", "--neg", "rain", "z"]),
        (["a", "--neg={negative_prompt}"], {"negative_prompt": None}, ["a", "--neg="]),
        (["a", "{prompt}"], {"prompt": "{seed}"}, ["a", "{seed}"]),
        (["a", "{prompt}"], {"prompt": ""}, ["a", ""]),
        (["a", "{1}", "{}", "{ x }"], {}, ["a", "{1}", "{}", "{ x }"]),
    ],
)
def test_an_argv_is_filled_in(argv: list[Any], values: dict[str, str | None], made: list[str]) -> None:
    """Each text is one argument; a list is left out whole where a value in it is absent."""
    assert rendered(argv, values) == made


@given(prompt=st.text(max_size=40))
def test_a_prompt_is_one_argument_whatever_it_holds(prompt: str) -> None:
    """It is neither split nor read again, and alone it never begins with a dash."""
    alone, joined = rendered(["{prompt}", "--p={prompt}"], {"prompt": prompt})
    assert joined == f"--p={prompt}"
    assert alone.removeprefix(" ") == prompt.removeprefix(" ")
    assert not alone.startswith("-")


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["my-gen", "{prompt}"], "argv has no {output}"),
        (["my-gen", "{promt}", "{output}"], "unknown placeholder {promt}"),
        (["my-gen", ["--seed", "{sead}"], "{output}"], "unknown placeholder {sead}"),
        (["{prompt}", "{output}"], "must begin with the name of a program"),
        ([["my-gen"], "{output}"], "must be a list of texts that begins with a program"),
        ("my-gen {output}", "must be a list of texts"),
        (["my-gen", 3, "{output}"], "must be a list of texts"),
        (["my-gen", [], "{output}"], "must be a list of texts"),
        (None, "argv is missing: the program to run"),
    ],
)
def test_an_argv_that_cannot_be_is_refused_when_the_profile_is_read(argv: Any, says: str) -> None:
    """Before anything runs."""
    with pytest.raises(UsageError) as caught:
        CommandProvider({"argv": argv} if argv is not None else {})
    assert says in caught.value.message


def test_it_reads_what_its_argv_uses() -> None:
    """A field that reaches no argument never causes a repaint."""
    argv = ["my-gen", "--file={prompt_file}", ["--seed", "{seed}"], "{output}"]
    assert CommandProvider({"argv": argv}).capabilities.reads == {"prompt", "seed"}


def test_secrets_are_not_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child sees no key of anybody, except what `env_pass` names; and that one is blanked in its messages."""
    monkeypatch.setenv("REMOTE_API_KEY", "hunter2-hunter2")
    monkeypatch.setenv("GITHUB_TOKEN", "other")
    monkeypatch.setenv("THUMBFORGE_RETRY__BASE_S", "1")
    record = tmp_path / "seen"
    failed(gen("environment", f"--record={record}"), tmp_path)
    seen = record.read_text().split("--\n")[0].split()
    assert not {"REMOTE_API_KEY", "GITHUB_TOKEN", "THUMBFORGE_RETRY__BASE_S"} & set(seen)
    assert {"PATH", "HOME"} & os.environ.keys() <= set(seen)
    error = failed(gen("environment", f"--record={record}", env_pass=["REMOTE_API_KEY"]), tmp_path)
    assert "REMOTE_API_KEY" in record.read_text()
    assert error.message == "command: exit 1: the key is [redacted]"
    assert "hunter2" not in (tmp_path / "scratch" / "stderr.txt").read_text()


def test_a_link_is_no_output(tmp_path: Path, wide: Path) -> None:
    """A program cannot hand in a file from elsewhere."""
    assert type(failed(gen("link", f"--picture={wide}"), tmp_path)) is OutputMissing


@pytest.mark.parametrize(
    ("code", "error", "retryable"),
    [
        (1, ProviderError, False),
        (75, ProviderTransient, True),
        (126, ProviderSetup, False),
        (127, ProviderSetup, False),
    ],
)
def test_exit_codes(tmp_path: Path, code: int, error: type[ProviderError], retryable: bool) -> None:
    """75 means try again later, 126 and 127 that a program in the command is not there; others are failures."""
    found = failed(gen("exit", f"--code={code}"), tmp_path)
    assert (type(found), found.retryable) == (error, retryable)


def test_a_program_that_floods_the_disk_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages have a limit on the disk too."""
    monkeypatch.setattr(process, "MAX_OUTPUT", 2_000_000)
    monkeypatch.setattr(process, "LOOK_S", 0.01)
    error = failed(gen("big_stderr", "--blocks=100000"), tmp_path)
    assert "MB of messages" in error.message


def test_a_second_call_of_an_attempt_finds_nothing_of_the_first(tmp_path: Path, wide: Path) -> None:
    """An old output is not taken for a new one."""
    assert gen("ok", f"--picture={wide}").generate(a_request(), call_in(tmp_path)).data
    assert type(failed(gen("nothing"), tmp_path)) is OutputMissing


# The end


@pytest.mark.parametrize("case", ["hang", "stubborn"])
def test_ctrl_c_ends_two_children_and_what_they_started(tmp_path: Path, case: str) -> None:
    """Within a second no process of theirs is left, not even one that ignores SIGTERM."""
    cancel, raised = Cancel(), []
    records = [tmp_path / "one", tmp_path / "two"]

    def run(record: Path) -> None:
        scratch = tmp_path / f"scratch-{record.name}"
        scratch.mkdir()
        try:
            gen(case, f"--record={record}").generate(a_request(), a_call(scratch, cancel))
        except BaseException as error:
            raised.append(type(error))

    workers = [threading.Thread(target=run, args=(record,), daemon=True) for record in records]
    for worker in workers:
        worker.start()
    while not all(record.exists() and record.read_text() for record in records):
        workers[0].join(0.01)
    cancel.set()
    for worker in workers:
        worker.join(1)
    assert raised == [Interrupted, Interrupted]
    for record in records:
        require_gone(record)


def test_a_check_looks_for_the_program_and_its_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs nothing, because that might cost something."""
    sh = shutil.which("sh")
    assert CommandProvider({"argv": [sh, "{output}"]}).check(Cancel()).ok
    provider = CommandProvider({"argv": ["sh", "{output}"], "env_pass": ["REMOTE_API_KEY"]})
    monkeypatch.delenv("REMOTE_API_KEY", raising=False)
    assert (provider.check(Cancel()).auth, provider.auth_state()) == ("missing", "missing")
    monkeypatch.setenv("REMOTE_API_KEY", "x")
    assert provider.check(Cancel()).ok


# Fuzz


def _anything(tmp_path: Path, data: bytes, code: int) -> None:
    source, program = tmp_path / "source", tmp_path / "program"
    source.write_bytes(data)
    if not program.exists():
        program.write_text('#!/bin/sh\ncp "$1" "$2"\ncat "$1" >&2\nexit "$3"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    provider = CommandProvider({"argv": [str(program), str(source), "{output}", str(code)]})
    try:
        found: object = provider.generate(a_request(), call_in(tmp_path))
    except ProviderError as error:
        found = error
    assert "\n" not in getattr(found, "message", "")
    assert isinstance(found, (Answer, ProviderError))
    assert not (isinstance(found, Answer) and code)


BYTES = st.binary(max_size=300) | st.binary(max_size=60).map(lambda data: b"\x89PNG\r\n\x1a\n" + data)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=BYTES, code=st.sampled_from([0, 0, 0, 1]))
def test_any_output_is_a_picture_or_an_error(tmp_path: Path, data: bytes, code: int) -> None:
    """Whatever a program writes as its picture and as its words."""
    _anything(tmp_path, data, code)


@pytest.mark.soak
@settings(max_examples=5000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=BYTES, code=st.sampled_from([0, 0, 0, 1]))
def test_any_output_for_long(tmp_path: Path, data: bytes, code: int) -> None:
    """The same, many times."""
    _anything(tmp_path, data, code)
