"""The provider `command`: the contract, every recorded behaviour of external commands, and what reaches the program."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import ClassVar

import pytest

from tests.recorded_server import RESPONSES, painted
from tests.stubs.command_kit import IMAGES, PAINTER, call_in, failed, failed_with, gen, require_gone
from thumbforge import models
from thumbforge.cancel import Cancel
from thumbforge.errors import (
    OutputMissing,
    OutputUnusable,
    PictureError,
    ProviderBadRequest,
    ProviderSetup,
    ProviderTimeout,
)
from thumbforge.pixels.picture import inspect_art
from thumbforge.providers import process
from thumbforge.providers.command import CommandProvider
from thumbforge.testing import ProviderContract, a_reference, a_request


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    path = tmp_path / "wide.png"
    path.write_bytes(painted("wide", size=(1344, 768)))
    return path


class TestContract(ProviderContract):
    profile = models.Profile(
        name="painter",
        provider="command",
        params={
            "argv": [
                sys.executable, "-c", PAINTER, "{output}", "{width}", "{height}", "{prompt}", "{seed}",
                ["--without", "{negative_prompt}"], ["{reference}"],
            ],
        },
    )  # fmt: skip
    wrong_params: ClassVar = {"argv": [], "output_format": "svg", "env_pass": "PATH", "shell": True}
    cancelled_at = 1


# Every recorded behaviour


COMMANDS = {entry["id"]: entry for entry in json.loads((RESPONSES / "commands.json").read_text())}


def _tested() -> set[str]:
    return {name.removeprefix("test_") for name in globals() if name.startswith(("test_agy_", "test_cmd_"))}


def test_every_recorded_behaviour_is_here() -> None:
    """Each entry of commands.json has the test of its name, and the other way round."""
    assert _tested() == COMMANDS.keys()


def test_agy_exit0_no_file(tmp_path: Path) -> None:
    """Exit 0 without a new picture is a failure."""
    error = failed(gen("nothing"), tmp_path)
    assert type(error) is OutputMissing
    assert "{output}" in error.hint


def test_agy_exit0_denied(tmp_path: Path) -> None:
    """A program that was not allowed to write is told, with a hint at permission rules."""
    entry = COMMANDS["agy_exit0_denied"]
    error = failed(gen("nothing", f"--says={entry['stdout']}", f"--complains={entry['stderr']}"), tmp_path)
    assert type(error) is OutputMissing
    assert "permission rules" in error.hint
    assert "headless mode cannot ask" in error.message


def test_agy_wrong_place(tmp_path: Path, wide: Path) -> None:
    """A picture somewhere else, also in the working directory under another name, is not ours."""
    assert type(failed(gen("elsewhere", f"--picture={wide}"), tmp_path)) is OutputMissing


def test_agy_hang_no_tty(tmp_path: Path) -> None:
    """stdin is empty, the time is ours, and the whole group ends."""
    record = tmp_path / "pid"
    error = failed(gen("hang", f"--record={record}"), tmp_path, timeout_s=1)
    assert type(error) is ProviderTimeout
    require_gone(record)


def test_agy_stdout_lost(tmp_path: Path, wide: Path) -> None:
    """The file is the result; what the program says is not needed."""
    assert gen("ok", f"--picture={wide}").generate(a_request(), call_in(tmp_path)).data == wide.read_bytes()


@pytest.mark.parametrize(
    ("file", "says"), [("vector.svg", "SVG"), ("html_error_named.png", "HTML"), ("json_error_named.png", "JSON")]
)
def test_agy_svg_or_html_instead(tmp_path: Path, file: str, says: str) -> None:
    """Told by content, whatever its name."""
    error = failed(gen("ok", f"--picture={IMAGES / file}"), tmp_path)
    assert type(error) is OutputUnusable
    assert says in error.message


def test_agy_edits_other_files(tmp_path: Path, wide: Path) -> None:
    """It runs in an empty directory of its own, with a copy of the reference that it may spoil."""
    record = tmp_path / "seen"
    failed(gen("environment", f"--record={record}"), tmp_path)
    assert record.read_text().partition("--\n")[2].split() == ["prompt.txt"]
    hero = a_reference(tmp_path / "hero.png")
    before = hero.path.read_bytes()
    spoil = ["sh", "-c", 'echo x > "$1"; cp "$2" "$3"', "sh", "{reference}", str(wide), "{output}"]
    CommandProvider({"argv": spoil}).generate(a_request(hero), call_in(tmp_path))
    assert hero.path.read_bytes() == before


def test_cmd_grandchild(tmp_path: Path) -> None:
    """A grandchild that holds the output open delays nobody and is gone."""
    record = tmp_path / "pids"
    script = f"sleep 600 & echo $! > {record}; sleep 600"
    provider = CommandProvider({"argv": ["sh", "-c", script, "sh", "{output}"]})
    assert type(failed(provider, tmp_path, timeout_s=0.5)) is ProviderTimeout
    require_gone(record)
    ended = CommandProvider({"argv": ["sh", "-c", f"sleep 600 & echo $! > {record}", "sh", "{output}"]})
    assert type(failed(ended, tmp_path)) is OutputMissing
    require_gone(record)


def test_cmd_stdout_prefix(tmp_path: Path) -> None:
    """Log lines before a picture make it none."""
    error = failed(gen("ok", f"--picture={IMAGES / 'stdout_prefix.png'}"), tmp_path)
    assert type(error) is OutputUnusable
    assert "something else before a" in error.message


def test_cmd_big_stderr(tmp_path: Path) -> None:
    """100 MB of messages block nothing; the last of them are kept, and only they."""
    error = failed(gen("big_stderr", "--blocks=1000"), tmp_path)
    assert "the last words" in error.message
    kept = (tmp_path / "scratch" / "stderr.txt").read_bytes()
    assert kept.endswith(b"the last words\n")
    assert len(kept) < 4 * process.TAIL


def test_cmd_bad_bytes(tmp_path: Path) -> None:
    """What cannot be decoded is kept with replacement."""
    error = failed(gen("bad_bytes"), tmp_path)
    assert error.message == "command: exit 1: \ufffd\ufffd\ufffd fail"


def test_cmd_not_found(tmp_path: Path) -> None:
    """A program that is not there meets every item."""
    error = failed(CommandProvider({"argv": ["no-such-program-here", "{output}"]}), tmp_path)
    assert type(error) is ProviderSetup
    assert "no-such-program-here" in error.message
    assert CommandProvider({"argv": ["no-such-program-here", "{output}"]}).check(Cancel()).problem


def test_cmd_not_executable(tmp_path: Path) -> None:
    """Nor does one that cannot be run heal, whichever way it is broken."""
    plain, strange = tmp_path / "plain.py", tmp_path / "strange"
    plain.write_text("x")
    strange.write_bytes(b"\x7fELF but not really")
    strange.chmod(0o755)
    for path in (plain, strange, tmp_path):
        assert type(failed(CommandProvider({"argv": [str(path), "{output}"]}), tmp_path)) is ProviderSetup


def test_cmd_signal(tmp_path: Path) -> None:
    """Killed by signal 9 is mostly too little memory."""
    assert "killed by signal 9 (memory?)" in failed(gen("signal"), tmp_path).message


def test_cmd_exit0_truncated(tmp_path: Path) -> None:
    """A picture that is cut is found out when it is decoded in full, before it is stored."""
    _require_damaged(gen("ok", f"--picture={IMAGES / 'truncated.jpg'}", output_format="jpg"), tmp_path)


def test_cmd_still_writing(tmp_path: Path, wide: Path) -> None:
    """A helper that goes on writing after the exit is stopped, and half a picture is none."""
    _require_damaged(gen("still_writing", f"--picture={wide}"), tmp_path)


def test_cmd_percent_braces(tmp_path: Path, wide: Path) -> None:
    """A prompt arrives as one argument, byte for byte; no shell looks at it and no placeholder is found in it."""
    prompt = COMMANDS["cmd_percent_braces"]["prompt"]
    assert _received(tmp_path, wide, ["--prompt={prompt}"], prompt) == [f"--prompt={prompt}".encode()]


def test_cmd_prompt_leading_dash(tmp_path: Path, wide: Path) -> None:
    """It is never an option: joined it is as it was, alone it gets a space before it."""
    prompt = COMMANDS["cmd_prompt_leading_dash"]["prompt"]
    received = _received(tmp_path, wide, ["--prompt={prompt}", "{prompt}"], prompt)
    assert received == [b"--prompt=-rf --help", b" -rf --help"]


def test_cmd_prompt_too_long(tmp_path: Path, wide: Path) -> None:
    """Over the limit of an argument it is a clear failure; by file there is no limit."""
    prompt = "x" * 200_000
    error = failed_with(gen("ok", f"--picture={wide}", "--prompt={prompt}"), tmp_path, prompt)
    assert type(error) is ProviderBadRequest
    assert "{prompt_file}" in error.hint
    copied = [
        "sh",
        "-c",
        'cp "$1" "$2"; cp "$3" "$4"',
        "sh",
        "{prompt_file}",
        str(tmp_path / "p"),
        str(wide),
        "{output}",
    ]
    CommandProvider({"argv": copied}).generate(a_request(prompt=prompt), call_in(tmp_path))
    assert (tmp_path / "p").read_text() == prompt


def test_cmd_prompt_nul(tmp_path: Path, wide: Path) -> None:
    """NUL is taken out."""
    assert _received(tmp_path, wide, ["--prompt={prompt}"], "a\0b") == [b"--prompt=ab"]


def _require_damaged(provider: CommandProvider, tmp_path: Path) -> None:
    answer = provider.generate(a_request(), call_in(tmp_path))
    with pytest.raises(PictureError, match="damaged"):
        inspect_art(answer.data, 640, 360)


def _received(tmp_path: Path, wide: Path, words: list[str], prompt: str) -> list[bytes]:
    """What came through in the places of `words`."""
    record = tmp_path / "argv"
    gen("argv", *words, f"--record={record}", f"--picture={wide}").generate(a_request(prompt=prompt), call_in(tmp_path))
    return record.read_bytes().split(b"\0")[: len(words)]
