"""Where a key is not: ledger, manifests, logs, errors, documents and what a crash leaves, whatever provider has it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.project import Project, make_project
from tests.recorded_server import Play, RecordedServer, answer, in_turn, message, raw
from tests.stubs.batch_kit import KEYS, over, over_agy
from tests.stubs.command_kit import GEN
from thumbforge.providers.registry import BUILT_IN

SECRETS = {**KEYS, "REMOTE_API_KEY": "hunter3-hunter3-hunter3", "ANTIGRAVITY_TOKEN": "hunter4-hunter4-hunter4"}
HELD = " ".join(SECRETS.values())
SAYS = {
    "an error": answer({"error": {"message": f"no: {HELD}", "code": "x"}, "node_errors": {}}, 400),
    "a refused key": answer({"error": {"message": f"no: {HELD}", "code": "invalid_api_key"}}, 401),
    "a page": raw(message(500, f"<html>{HELD}</html>".encode(), X_Request_Id=HELD)),
    "its address": raw(message(302, b"", Location=f"https://elsewhere.example/?key={HELD}")),
    "a success": answer({"data": HELD, "candidates": [{"finishMessage": HELD}], "error": HELD, "prompt_id": HELD}),
}
CRASH = """
import importlib, os, sys
module, name, where = sys.argv[1:4]
del sys.argv[1:4]
def crash(*_, **__):
    raise RuntimeError("a bug with " + os.environ["HELD"])
setattr(getattr(importlib.import_module(module), name), where, crash)
from thumbforge.commands.main import main
sys.exit(main())
"""
"""thumbforge with a bug in a provider that has the keys in hand."""


def project_of(tmp_path: Path, server: RecordedServer, name: str) -> Project:
    if name == "antigravity":
        return over_agy(tmp_path, 2, **SECRETS)
    if name == "command":
        return command_in(tmp_path)
    return over(tmp_path, server, name, 2).with_environment(**SECRETS)


def command_in(tmp_path: Path) -> Project:
    project = make_project(tmp_path / "project", 2, **SECRETS)
    argv = [sys.executable, "-S", "-E", str(GEN), "environment", f"--record={tmp_path / 'seen'}", "--out={output}"]
    project.profile("paid", provider="command", params={"argv": argv, "env_pass": ["REMOTE_API_KEY"]})
    project.series("show", provider="paid")
    return project


def told_by(project: Project) -> str:
    """What a batch and a check say."""
    profile = "agy" if (project.root / "specs/providers/agy.yaml").exists() else "paid"
    words = (("batch", "series=show"), ("provider", "check", profile))
    return "".join(told.out + told.err for told in (project.run(*each, "--json") for each in words))


def require_nowhere(project: Project, told: str) -> None:
    files = {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()}
    for secret in SECRETS.values():
        assert secret not in told
        assert [path for path, data in files.items() if secret.encode() in data] == []


SPOKEN = [(name, says) for name in ("openai", "gemini", "comfyui") for says in SAYS]
QUICK = [(name, says) for name, says in SPOKEN if name == "openai" or says == next(iter(SAYS))]


@pytest.mark.parametrize(
    ("name", "says"), [pytest.param(*each, marks=[pytest.mark.soak] * (each not in QUICK)) for each in SPOKEN]
)
def test_a_service_that_repeats_the_key_is_not_quoted(tmp_path: Path, name: str, says: str) -> None:
    """In whatever it says it: no line, no document and no file has the key."""
    play: Play = SAYS[says]
    with RecordedServer(in_turn(play)) as server:
        project = project_of(tmp_path, server, name)
        told = told_by(project)
        assert server.requests
    require_nowhere(project, told)


@pytest.mark.parametrize(
    ("where", "name"),
    [
        pytest.param(where, name, marks=[pytest.mark.soak] * (where != "generate" and name != "openai"))
        for where in ("generate", "__init__", "check")
        for name in ("openai", "gemini", "comfyui", "command", "antigravity")
    ],
)
def test_a_crash_does_not_show_the_key(tmp_path: Path, name: str, where: str) -> None:
    """A bug in a provider whose traceback holds every key, of whatever shape: screen, log and ledger have none."""
    module, _, provider = BUILT_IN[name].partition(":")
    with RecordedServer(in_turn(SAYS["an error"])) as server:
        project = project_of(tmp_path, server, name)
        words = (
            ("provider", "check", "agy" if name == "antigravity" else "paid")
            if where == "check"
            else ("batch", "series=show")
        )
        done = subprocess.run(
            [sys.executable, "-c", CRASH, module, provider, where, *words],
            cwd=project.root, env={**project.environment(), "HELD": HELD}, capture_output=True, text=True,
        )  # fmt: skip
    assert done.returncode in {1, 4}
    assert "a bug with [redacted]" in done.stdout + done.stderr
    require_nowhere(project, done.stdout + done.stderr)


@pytest.mark.parametrize("words", [("list", "--all"), ("run",), ("info", "thumb:show:video-00001")], ids=" ".join)
def test_a_crash_under_doits_own_commands_does_not_show_the_key(tmp_path: Path, words: tuple[str, ...]) -> None:
    """They would print an exception as it is."""
    project = over_agy(tmp_path, 1, **SECRETS)
    module, _, provider = BUILT_IN["antigravity"].partition(":")
    done = subprocess.run(
        [sys.executable, "-c", CRASH, module, provider, "__init__", *words],
        cwd=project.root, env={**project.environment(), "HELD": HELD}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, "a bug with [redacted]" in done.stderr) == (1, True)
    require_nowhere(project, done.stdout + done.stderr)


def test_a_program_that_says_a_secret_is_not_quoted(tmp_path: Path) -> None:
    """The key that it was handed by `env_pass`, and tells on stderr."""
    project = command_in(tmp_path)
    told = told_by(project)
    assert "the key is [redacted]" in told
    require_nowhere(project, told)
