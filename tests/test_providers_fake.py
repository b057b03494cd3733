"""The provider `fake`: the contract, its failures on request, its log."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from thumbforge import models
from thumbforge.errors import Interrupted, ProviderBadRequest, ProviderTransient, UsageError
from thumbforge.providers.base import READABLE
from thumbforge.providers.fake import LOG, FakeProvider
from thumbforge.testing import (
    CancelledAfter,
    ProviderContract,
    a_call,
    a_reference,
    a_request,
    same_in_another_process,
    stops_in_flight,
)


class TestFake(ProviderContract):
    profile = models.Profile(name="fake", provider="fake")
    wrong_params: ClassVar = {"delay_ms": "10", "price": "0.04", "colour": "red"}


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "fake.jsonl"
    monkeypatch.setenv(LOG, str(path))
    return path


def events(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_it_reads_everything() -> None:
    """fake depends on every field a request has, so a test with it notices each needless or missing repaint."""
    assert FakeProvider({}).capabilities.reads == READABLE


@pytest.mark.parametrize(
    ("marker", "error", "retryable"),
    [("[[FAIL_TRANSIENT]]", ProviderTransient, True), ("[[FAIL_PERMANENT]]", ProviderBadRequest, False)],
)
def test_a_marker_makes_it_fail(tmp_path: Path, marker: str, error: type[Exception], retryable: bool) -> None:
    """A marker anywhere in the prompt makes the call fail, in a way that is retried or in one that is not."""
    with pytest.raises(error, match="the prompt says") as caught:
        FakeProvider({}).generate(a_request(prompt=f"a calm {marker} picture"), a_call(tmp_path))
    assert getattr(caught.value, "retryable") is retryable  # noqa: B009


def test_it_fails_after_its_delay(tmp_path: Path) -> None:
    """A failure takes as long as a picture: the delay is waited for first, and a cancel during it wins."""
    call = a_call(tmp_path, CancelledAfter(0))
    with pytest.raises(Interrupted):
        FakeProvider({"delay_ms": 1}).generate(a_request(prompt="[[FAIL_PERMANENT]]"), call)


def test_its_delay_ends_with_the_run(tmp_path: Path) -> None:
    """A delay of ten minutes ends with Ctrl-C."""
    provider = FakeProvider({"delay_ms": 600_000})
    assert stops_in_flight(provider, a_request(), a_call(tmp_path))


@pytest.mark.parametrize("delay", [-1, 600_001, True, 1.0, None, "5"])
def test_a_delay_is_a_whole_number_in_bounds(delay: Any) -> None:
    """delay_ms takes 0 to 600000 and nothing else, not even true."""
    with pytest.raises(UsageError, match="delay_ms must be a whole number from 0 to 600000"):
        FakeProvider({"delay_ms": delay})


def test_the_log_has_a_start_and_an_end(tmp_path: Path, log: Path) -> None:
    """Each call appends one line when it begins and one when it ends, with time, process and key."""
    FakeProvider({}).generate(a_request(), a_call(tmp_path))
    start, end = events(log)
    assert [start["event"], end["event"]] == ["start", "end"]
    assert start["at"] <= end["at"]
    assert (start["pid"], start["key"]) == (os.getpid(), "k" * 32)
    assert set(start) == {"event", "at", "pid", "key"}


def test_the_log_ends_a_call_that_failed_or_was_interrupted(tmp_path: Path, log: Path) -> None:
    """The end is logged however the call ends."""
    with pytest.raises(ProviderBadRequest):
        FakeProvider({}).generate(a_request(prompt="[[FAIL_PERMANENT]]"), a_call(tmp_path))
    with pytest.raises(Interrupted):
        FakeProvider({}).generate(a_request(), a_call(tmp_path, CancelledAfter(0)))
    assert [event["event"] for event in events(log)] == ["start", "end"] * 2


def test_no_log_is_written_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the variable nothing is written."""
    monkeypatch.delenv(LOG, raising=False)
    FakeProvider({}).generate(a_request(), a_call(tmp_path))
    assert list(tmp_path.iterdir()) == []


@given(prompt=st.text(), seed=st.none() | st.integers(), video=st.from_regex(r"[A-Za-z0-9_-]{11}", fullmatch=True))
def test_no_picture_is_black(tmp_path_factory: pytest.TempPathFactory, prompt: str, seed: int, video: str) -> None:
    """Whatever it is asked for, the picture is bright enough to be told from a broken one."""
    import io

    request = a_request(prompt=prompt.replace("[[FAIL", ""), seed=seed, video=video, width=160, height=90)
    data = FakeProvider({}).generate(request, a_call(tmp_path_factory.getbasetemp())).data
    with Image.open(io.BytesIO(data)) as picture:
        assert picture.convert("L").resize((1, 1), Image.Resampling.BOX).tobytes()[0] > 40


def test_another_process_paints_the_same(tmp_path: Path) -> None:
    """The bytes do not depend on the process, its hash seed or its time zone."""
    profile = TestFake.profile
    request = a_request(a_reference(tmp_path / "hero.png"))
    answer = FakeProvider(profile.params).generate(request, a_call(tmp_path))
    assert same_in_another_process(profile, request, answer)
