"""The provider `antigravity`: its command line, how many at once, the end of its children, what a check asks."""

from __future__ import annotations

import json
import stat
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.recorded_server import painted
from tests.stubs.antigravity_kit import STUB, Agy, call_in, require_gone
from thumbforge import models
from thumbforge.cancel import Cancel
from thumbforge.errors import (
    Interrupted,
    ProviderError,
    UsageError,
)
from thumbforge.providers.antigravity import adapter as antigravity
from thumbforge.providers.antigravity.outcome import outcome
from thumbforge.providers.base import Answer
from thumbforge.providers.process import Finished
from thumbforge.providers.registry import capabilities_of, max_concurrency
from thumbforge.testing import a_call, a_reference, a_request


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    sizes = {"wide": (1376, 768), "square": (1024, 1024), "odd": (1264, 848), "other": (1376, 768)}
    for name, size in sizes.items():
        (folder / f"{name}.jpg").write_bytes(painted(name, size=size, kind="JPEG"))
    (folder / "wide.png").write_bytes(painted("wide", size=(1376, 768)))
    return folder


@pytest.fixture
def agy(tmp_path: Path, pictures: Path, monkeypatch: pytest.MonkeyPatch) -> Agy:
    home = tmp_path / "home"
    home.mkdir()
    program = home / "agy"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "{STUB}" "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("STUB_AGY_LOG", str(home / "agy.jsonl"))
    monkeypatch.setenv("STUB_AGY_PICTURES", str(pictures))
    monkeypatch.setattr(antigravity, "GRACE_S", 1.0)
    return Agy(home, pictures, str(program), monkeypatch.setenv)


# What is asked


def test_the_command_line_is_as_measured(agy: Agy, tmp_path: Path) -> None:
    """The prompt right after -p, absolute directories, its own time, stdin closed, never an old conversation."""
    agy.provider(model="gemini-3.1-pro", effort="low").generate(
        a_request(negative_prompt="rain"), call_in(tmp_path, timeout_s=170.5)
    )
    (call,) = agy.calls()
    argv = call["argv"]
    work = str(tmp_path / "scratch" / "work")
    assert argv[0] == "-p"
    assert argv[1].startswith("Call your image generation tool exactly once")
    assert "16:9" in argv[1]
    assert argv[1].endswith("The picture: a calm picture\n\nAvoid: rain")
    assert argv[2:] == [
        "--output-format", "json", "--add-dir", work, "--print-timeout", "170s", "--model", "gemini-3.1-pro",
        "--effort", "low",
    ]  # fmt: skip
    assert call["cwd"] == work
    assert call["stdin_closed"]
    assert call["no_update"] == "true"
    assert call["ours"] == []


def test_permissions_are_skipped_on_demand_alone(agy: Agy, tmp_path: Path) -> None:
    """The picture needs none."""
    agy.provider(skip_permissions=True).generate(a_request(), call_in(tmp_path))
    assert agy.calls()[0]["argv"][-1] == "--dangerously-skip-permissions"


@pytest.mark.parametrize(
    ("version", "ignored"), [("1.2.6", True), ("1.2.14", False), ("1.2.20", False), ("1.3.0", True), ("dev", True)]
)
def test_a_reference_counts_where_the_version_is_known_to_send_it(
    agy: Agy, tmp_path: Path, version: str, ignored: bool
) -> None:
    """Others let the agent describe it in words, which is told as ignored; the agent gets a copy in a directory."""
    agy.setenv("STUB_AGY_VERSION", version)
    hero = a_reference(tmp_path / "hero.png")
    found = agy.provider().generate(a_request(hero), call_in(tmp_path))
    assert found.reference_ignored is ignored
    argv = agy.calls()[0]["argv"]
    folders = [argv[n + 1] for n, word in enumerate(argv) if word == "--add-dir"]
    assert folders == [str(tmp_path / "scratch" / "work"), str(tmp_path / "scratch" / "refs")]
    assert argv[1].endswith(str(tmp_path / "scratch" / "refs" / "reference.jpg"))
    assert str(hero.path) not in argv[1]


def test_a_reference_can_be_kept_at_home(agy: Agy, tmp_path: Path) -> None:
    """Then another hero repaints nothing."""
    provider = agy.provider(reference="ignore")
    found = provider.generate(a_request(a_reference(tmp_path / "hero.png")), call_in(tmp_path))
    assert found.reference_ignored
    assert "reference" not in agy.calls()[0]["argv"][1]
    assert not provider.capabilities.takes_reference


def test_what_was_said_is_kept(agy: Agy, tmp_path: Path) -> None:
    """stdout and stderr of the call lie in its scratch directory."""
    agy.plays("ok_noise")
    agy.provider().generate(a_request(), call_in(tmp_path))
    assert "Saved to /tmp/elsewhere.png" in (tmp_path / "scratch" / "stdout.txt").read_text()
    assert "MCP server" in (tmp_path / "scratch" / "stderr.txt").read_text()


# How many at once, and the end


def test_one_at_a_time_unless_the_profile_raises_it(agy: Agy) -> None:
    """By itself 1, at most 4."""
    profile = models.Profile(name="agy", provider="antigravity", params={"binary": agy.binary})
    assert max_concurrency(profile, capabilities_of(profile)) == 1
    raised = profile.model_copy(update={"max_concurrency": 4})
    assert max_concurrency(raised, capabilities_of(raised)) == 4
    with pytest.raises(UsageError, match="above the limit of provider antigravity, 4"):
        max_concurrency(profile.model_copy(update={"max_concurrency": 5}), capabilities_of(profile))


def test_two_children_in_flight_end_with_ctrl_c(agy: Agy, tmp_path: Path) -> None:
    """Within a second, with what they started."""
    agy.plays("hang")
    cancel, raised = Cancel(), []
    provider = agy.provider()

    def run(n: int) -> None:
        (tmp_path / str(n)).mkdir()
        try:
            provider.generate(a_request(), a_call(tmp_path / str(n), cancel))
        except BaseException as error:
            raised.append(type(error))

    workers = [threading.Thread(target=run, args=(n,), daemon=True) for n in range(2)]
    for worker in workers:
        worker.start()
    while len(agy.calls()) < 2:
        workers[0].join(0.01)
    cancel.set()
    for worker in workers:
        worker.join(1)
    assert raised == [Interrupted, Interrupted]
    for call in agy.calls():
        require_gone(call["pid"])


# Health


def test_a_check_tells_version_and_quota_and_takes_nothing(agy: Agy) -> None:
    """By --version and /usage; plugins are warned of."""
    health = agy.provider().check(Cancel())
    assert (health.ok, health.auth, health.notes) == (True, "ok", ("agy 1.2.6", "5 hours: 75% left"))
    (agy.home / ".gemini" / "config" / "plugins" / "one").mkdir(parents=True)
    assert any("plugins" in note for note in agy.provider().check(Cancel()).notes)
    agy.setenv("STUB_AGY_LEFT", "0")
    assert agy.provider().check(Cancel()).problem == "the quota is used up"
    agy.setenv("STUB_AGY_VERSION", "1.1.7")
    assert "too old" in agy.provider().check(Cancel()).problem
    assert agy.calls() == []


def test_models_are_those_that_agy_lists(agy: Agy) -> None:
    """In its own words."""
    assert agy.provider().models(Cancel()) == ("gemini-3.1-pro", "gemini-3.1-flash")


# Fuzz


FIELDS = st.sampled_from(
    ["conversation_id", "status", "response", "error", "usage", "structured_output", "denied_actions", "total_tokens"]
)


TEXTS = st.text(max_size=20) | st.sampled_from(
    ["SUCCESS", "ERROR", "abc", "../x", "resets in 5s", "AGY_ERROR: {}", "print timeout after x turn in progress"]
)


SAID = TEXTS | st.dictionaries(FIELDS, st.none() | st.integers() | TEXTS | st.lists(TEXTS, max_size=2)).map(json.dumps)


def _anything(tmp_path: Path, code: int | None, stdout: str, stderr: str) -> None:
    folder = tmp_path / "abc"
    folder.mkdir(exist_ok=True)
    (folder / "x_1764496800000.jpg").write_bytes(stderr.encode("utf-8", "replace"))
    try:
        taken, _ = outcome(Finished(code, stdout, stderr), tmp_path, 0)
        told = str(taken.pictures)
    except ProviderError as error:
        told = error.message + error.hint
    assert "\n" not in told.encode().decode()


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(code=st.sampled_from([None, 0, 0, 1, 2, 3, -9]), stdout=SAID, stderr=TEXTS)
def test_any_outcome_is_a_picture_or_an_error(tmp_path: Path, code: int | None, stdout: str, stderr: str) -> None:
    """Whatever agy says, and however it ends."""
    _anything(tmp_path, code, stdout, stderr)


@pytest.mark.soak
@settings(max_examples=5000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(code=st.sampled_from([None, 0, 0, 1, 2, 3, -9]), stdout=SAID, stderr=TEXTS)
def test_any_outcome_for_long(tmp_path: Path, code: int | None, stdout: str, stderr: str) -> None:
    """The same, many times."""
    _anything(tmp_path, code, stdout, stderr)


def test_an_answer_is_an_answer(agy: Agy, tmp_path: Path) -> None:
    """What the rest of thumbforge gets."""
    assert isinstance(agy.provider().generate(a_request(), call_in(tmp_path)), Answer)
