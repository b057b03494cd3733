"""The provider `gemini`: quotas and waits, what is sent, where a key goes, what a check asks, any answer at all."""

from __future__ import annotations

import base64
import io
import json
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.recorded_server import (
    Play,
    RecordedServer,
    Seen,
    answer,
    in_turn,
    painted,
    recorded,
    stalled,
)
from tests.stubs.gemini_kit import KEY, NOW, candidate, failed, generated, inline, provider_at
from thumbforge import ids
from thumbforge.cancel import Cancel
from thumbforge.errors import (
    Interrupted,
    ProviderError,
    ProviderQuota,
    ProviderRateLimited,
    UsageError,
)
from thumbforge.providers.gemini import errors as gemini_errors
from thumbforge.providers.gemini.adapter import GeminiProvider
from thumbforge.testing import ATTEMPT, a_call, a_reference, a_request
from thumbforge.web.http import Reply


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THUMBFORGE_GEMINI_API_KEY", KEY)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)


# Quotas


def quota_answer(*violations: dict[str, str], words: str = "Quota exceeded.", delay: str = "5s") -> Play:
    details = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": list(violations)},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
    ]
    return answer({"error": {"code": 429, "message": words, "status": "RESOURCE_EXHAUSTED", "details": details}}, 429)


MINUTE = {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel", "quotaValue": "10"}
DAY = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "100"}
FREE = {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}


@pytest.mark.parametrize(
    ("play", "error", "hint"),
    [
        (quota_answer(MINUTE), ProviderRateLimited, ""),
        (quota_answer(MINUTE, DAY), ProviderQuota, "midnight"),
        (quota_answer(DAY, MINUTE), ProviderQuota, "midnight"),
        (quota_answer(FREE), ProviderQuota, "billing"),
        (quota_answer(MINUTE, words="Quota exceeded, limit: 0, model: x"), ProviderQuota, "billing"),
        (quota_answer(MINUTE, words="Quota exceeded, limit: 01"), ProviderRateLimited, ""),
    ],
)
def test_the_longest_quota_counts(tmp_path: Path, play: Play, error: type[ProviderError], hint: str) -> None:
    """A minute is waited for; a day, or a key without any quota, stops the run though a short delay is told too."""
    found = failed(in_turn(play), tmp_path)
    assert type(found) is error
    assert hint in found.hint


def test_a_day_quota_says_when_it_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At midnight in California, by its own clock."""
    monkeypatch.setattr(gemini_errors.time, "time", lambda: NOW)
    found = failed(in_turn(quota_answer(DAY)), tmp_path)
    assert isinstance(found, ProviderQuota)
    assert found.resets_at == datetime(2026, 12, 1, 8, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("delay", "header", "words", "wait_s"),
    [
        ("37.2s", "9", "retry in 5s", 37.2),
        ("", "9", "retry in 5s", 9),
        ("soon", "", "Please retry in 5.5s.", 5.5),
        ("", "", "no idea", None),
    ],
)
def test_the_wait_is_read_in_the_order_of_trust(
    tmp_path: Path, delay: str, header: str, words: str, wait_s: float | None
) -> None:
    """RetryInfo, then the header, then the message, then our own back-off."""
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]
    body = {"error": {"code": 429, "message": words, "details": details}}
    found = failed(in_turn(answer(body, 429, **({"Retry_After": header} if header else {}))), tmp_path)
    assert isinstance(found, ProviderRateLimited)
    assert found.retry_after_s == wait_s


# What is sent


def sent(tmp_path: Path, request: Any = None, **params: Any) -> Seen:
    with RecordedServer(in_turn(recorded("gemini_200_png.http"))) as server:
        provider_at(server.url, **params).generate(request or a_request(), a_call(tmp_path))
        return server.requests[0]


def test_a_request_asks_for_one_wide_picture(tmp_path: Path) -> None:
    """16:9 always, pictures only, the key in a header and never in the address."""
    seen = sent(tmp_path, a_request(negative_prompt="rain", seed=7))
    assert (seen.method, seen.path) == ("POST", "/v1beta/models/gemini-3.1-flash-image:generateContent")
    assert seen.json == {
        "contents": [{"role": "user", "parts": [{"text": "a calm picture\n\nAvoid: rain"}]}],
        "generationConfig": {
            "responseModalities": ["IMAGE"], "imageConfig": {"aspectRatio": "16:9", "imageSize": "1K"},
        },
    }  # fmt: skip
    assert seen.headers["x-goog-api-key"] == KEY
    assert seen.headers["idempotency-key"] == ATTEMPT
    assert seen.query == {}


def test_the_reference_goes_before_the_words(tmp_path: Path) -> None:
    """Inline, upright, RGB, its type by content; `image/jpg` is no type."""
    hero = a_reference(tmp_path / "hero.jpg")
    parts = sent(tmp_path, a_request(hero)).json["contents"][0]["parts"]
    assert [next(iter(part)) for part in parts] == ["inlineData", "text"]
    assert parts[0]["inlineData"]["mimeType"] == "image/jpeg"
    with Image.open(io.BytesIO(base64.b64decode(parts[0]["inlineData"]["data"]))) as shown:
        assert (shown.format, shown.mode, shown.size) == ("JPEG", "RGB", (320, 180))


@pytest.mark.parametrize("model", ["gemini-2.5-flash-image", "gemini-3.1-flash-lite-image"])
def test_models_of_one_size_are_not_asked_for_another(tmp_path: Path, model: str) -> None:
    """They refuse the field."""
    assert sent(tmp_path, model=model).json["generationConfig"]["imageConfig"] == {"aspectRatio": "16:9"}


def test_a_size_that_the_pro_model_has_not_is_refused() -> None:
    """512 pixels are for the flash model alone."""
    with pytest.raises(UsageError, match="image_size 512 is none that gemini-3-pro-image can"):
        GeminiProvider({"model": "gemini-3-pro-image", "image_size": "512"})


def test_a_reference_can_be_kept_at_home(tmp_path: Path) -> None:
    """`reference: ignore` sends no picture, and says so."""
    with RecordedServer(in_turn(recorded("gemini_200_png.http"))) as server:
        found = provider_at(server.url, reference="ignore").generate(
            a_request(a_reference(tmp_path / "hero.png")), a_call(tmp_path)
        )
        assert b"inlineData" not in server.requests[0].body
    assert found.reference_ignored


# The key, health, the end


@pytest.mark.parametrize("name", ["THUMBFORGE_GEMINI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"])
def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """From any of three variables for the official address, ours first."""
    monkeypatch.delenv("THUMBFORGE_GEMINI_API_KEY")
    assert GeminiProvider({}).auth_state() == "missing"
    monkeypatch.setenv("GOOGLE_API_KEY", "other")
    monkeypatch.setenv(name, "mine")
    assert GeminiProvider({}).service.key() == "mine"


def test_a_key_that_the_service_repeats_is_blanked(tmp_path: Path) -> None:
    """In errors, and in what is noted of a picture."""
    for status in (200, 400, 403, 404, 429, 500):
        failed(in_turn(answer({"error": {"code": 400, "message": f"bad {KEY}", "status": KEY}}, status)), tmp_path)
    body = {**candidate(inline(painted("x"))), "modelVersion": KEY, "responseId": f"id {KEY}"}
    assert KEY not in repr(generated(in_turn(answer(body)), tmp_path))


def test_a_check_asks_for_the_model_and_pays_nothing() -> None:
    """A model that makes no pictures this way is told."""
    with RecordedServer(in_turn(answer({"supportedGenerationMethods": ["generateContent"]}))) as server:
        assert provider_at(server.url).check(Cancel()).ok
        assert (server.requests[0].method, server.requests[0].path) == (
            "GET", "/v1beta/models/gemini-3.1-flash-image",
        )  # fmt: skip
    with RecordedServer(in_turn(answer({"supportedGenerationMethods": ["predict"]}))) as server:
        assert "makes no pictures" in provider_at(server.url).check(Cancel()).problem


def test_models_are_those_that_make_images() -> None:
    """By what they can do, those that say so in their name first; without the prefix that the service puts before."""
    can = {"nano-banana": "generateContent", "gemini-3.1-flash-image": "generateContent", "imagen-4.0": "predict"}
    document = {"models": [{"name": f"models/{name}", "supportedGenerationMethods": [can[name]]} for name in can]}
    document["models"] += [{"name": "models/says-nothing"}, {}]
    with RecordedServer(in_turn(answer(document))) as server:
        found = provider_at(server.url).models(Cancel())
    assert found == ("gemini-3.1-flash-image", "nano-banana", "says-nothing")


def test_a_call_in_flight_ends_with_ctrl_c(tmp_path: Path) -> None:
    """Within a second, in the middle of an answer."""
    cancel, raised = Cancel(), []
    with RecordedServer(in_turn(stalled(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n{"))) as server:

        def run() -> None:
            try:
                provider_at(server.url).generate(a_request(), a_call(tmp_path, cancel))
            except BaseException as error:
                raised.append(type(error))

        worker = threading.Thread(target=run, daemon=True)
        worker.start()
        while not server.requests:
            worker.join(0.01)
        cancel.set()
        worker.join(1)
    assert raised == [Interrupted]
    assert server.open == 0


# Fuzz


FIELDS = st.sampled_from(
    ["candidates", "content", "parts", "inlineData", "data", "mimeType", "finishReason", "text", "error", "code",
     "details", "violations", "quotaId", "retryDelay", "promptFeedback", "blockReason", "message", "thought"]
)  # fmt: skip


BODIES = st.binary(max_size=300) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=14,
).map(lambda value: json.dumps(value).encode())


STATUSES = st.sampled_from([200, 200, 200, 204, 302, 400, 401, 403, 404, 429, 429, 500, 503, 504])


class Parrot:
    """Says this to every request."""

    provider = "gemini"

    def __init__(self, reply: Reply) -> None:
        self.reply = reply

    def exchange(self, *_: Any, **__: Any) -> Reply:
        return self.reply


def _anything(tmp_path: Path, status: int, wait: str, body: bytes) -> None:
    provider = GeminiProvider({"base_url": "http://127.0.0.1:9/v1beta"})
    provider.service.http = Parrot(Reply(status, {"retry-after": wait}, body))  # type: ignore[assignment]
    try:
        told = ids.canonical_json(dict(provider.generate(a_request(), a_call(tmp_path)).notes)).encode()
    except ProviderError as error:
        told = (error.message + error.hint).encode()
    assert b"\n" not in told


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(status=STATUSES, wait=st.text(max_size=30), body=BODIES)
def test_any_answer_is_a_picture_or_an_error(tmp_path: Path, status: int, wait: str, body: bytes) -> None:
    """No bytes and no headers make a traceback or a stored thing that is no picture."""
    _anything(tmp_path, status, wait, body)


@pytest.mark.soak
@settings(max_examples=5000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(status=STATUSES, wait=st.text(max_size=30), body=BODIES)
def test_any_answer_for_long(tmp_path: Path, status: int, wait: str, body: bytes) -> None:
    """The same, many times."""
    _anything(tmp_path, status, wait, body)
