"""The provider `openai`: what is sent, where a key goes and where not, what a check asks, any answer at all."""

from __future__ import annotations

import base64
import io
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.recorded_server import (
    RecordedServer,
    Seen,
    answer,
    in_turn,
    stalled,
)
from tests.stubs.openai_kit import KEY, PNG, failed, generated, picture, provider_at
from thumbforge import ids
from thumbforge.cancel import Cancel
from thumbforge.errors import (
    Interrupted,
    ProviderAuth,
    ProviderError,
    ProviderSetup,
    UsageError,
)
from thumbforge.providers import download
from thumbforge.providers.health import health_of
from thumbforge.providers.openai.adapter import OpenAIProvider
from thumbforge.testing import ATTEMPT, a_call, a_reference, a_request
from thumbforge.web.http import Reply


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "PAUSE_S", 0)
    monkeypatch.setenv("THUMBFORGE_OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


# What is sent


def sent(tmp_path: Path, request: Any = None, **params: Any) -> Seen:
    with RecordedServer(in_turn(picture())) as server:
        provider_at(server.url, **params).generate(request or a_request(), a_call(tmp_path))
        return server.requests[0]


def test_a_generation_is_json(tmp_path: Path) -> None:
    """The fields that every GPT image model takes and no others; key and attempt in headers."""
    seen = sent(tmp_path, a_request(negative_prompt="rain", seed=7))
    assert (seen.method, seen.path) == ("POST", "/v1/images/generations")
    assert seen.json == {
        "model": "gpt-image-2", "prompt": "a calm picture\n\nAvoid: rain", "n": 1, "size": "1536x864",
        "quality": "auto", "output_format": "png",
    }  # fmt: skip
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.headers["idempotency-key"] == ATTEMPT
    assert seen.headers["content-type"] == "application/json"


def test_an_edit_is_a_form_with_a_named_and_typed_picture(tmp_path: Path) -> None:
    """The reference is RGB in JPEG with a file name and a real type; nothing else changes."""
    seen = sent(tmp_path, a_request(a_reference(tmp_path / "hero.png")))
    assert seen.path == "/v1/images/edits"
    assert b'name="image[]"; filename="reference.jpg"\r\nContent-Type: image/jpeg' in seen.body
    assert b'name="size"\r\n\r\n1536x864' in seen.body
    start = seen.body.index(b"\xff\xd8\xff")
    with Image.open(io.BytesIO(seen.body[start:])) as shown:
        assert (shown.mode, shown.format) == ("RGB", "JPEG")
    assert b"input_fidelity" not in seen.body


def test_a_reference_can_be_kept_at_home(tmp_path: Path) -> None:
    """`reference: ignore` sends no picture, says so, and never repaints for another hero."""
    with RecordedServer(in_turn(picture())) as server:
        provider = provider_at(server.url, reference="ignore")
        found = provider.generate(a_request(a_reference(tmp_path / "hero.png")), a_call(tmp_path))
        assert server.paths() == ["/v1/images/generations"]
    assert found.reference_ignored
    assert not provider.capabilities.takes_reference


def test_fields_can_be_added_and_left_out(tmp_path: Path) -> None:
    """For servers that want `response_format` and do not know `quality`."""
    seen = sent(tmp_path, extra={"response_format": "b64_json", "step": 20}, omit=["quality", "output_format"])
    assert seen.json["response_format"] == "b64_json"
    assert not seen.json.keys() & {"quality", "output_format"}


@pytest.mark.parametrize(
    ("model", "size"),
    [("gpt-image-2", "1536x864"), ("gpt-image-2.6-flare", "1536x864"), ("gpt-image-1-mini", "1536x1024"),
     ("gpt-image-1.5", "1536x1024"), ("chatgpt-image-latest", "1536x1024"), ("gpt-image-10", "1536x864")],
)  # fmt: skip
def test_size_auto_is_the_models_nearest_to_16_to_9(tmp_path: Path, model: str, size: str) -> None:
    """The service's own auto gives squares; old models have no 16:9 and their widest is cropped."""
    assert sent(tmp_path, model=model).json["size"] == size


@pytest.mark.parametrize(
    ("model", "size", "right"),
    [
        ("gpt-image-2", "1920x1080", False), ("gpt-image-2", "1024x576", False), ("gpt-image-2", "3840x2160", True),
        ("gpt-image-2", "4096x2304", False), ("gpt-image-2", "2560x640", False), ("gpt-image-2", "1280x720", True),
        ("gpt-image-1", "1536x864", False), ("gpt-image-1", "1536x1024", True), ("my-own", "512x288", True),
    ],
)  # fmt: skip
def test_a_size_that_cannot_be_is_refused_before_the_first_call(model: str, size: str, right: bool) -> None:
    """The rules of the known models are checked when the profile is read; nobody knows those of other servers."""
    if right:
        OpenAIProvider({"model": model, "size": size})
        return
    with pytest.raises(UsageError, match=f"size {size} is none that {model} can"):
        OpenAIProvider({"model": model, "size": size})


def test_what_is_ours_cannot_be_set_from_outside() -> None:
    """`extra` cannot ask for ten pictures."""
    with pytest.raises(UsageError, match="extra cannot set n, prompt"):
        OpenAIProvider({"extra": {"n": 10, "prompt": "x"}})


def test_a_prompt_of_broken_text_is_sent_whole(tmp_path: Path) -> None:
    """What has no place in UTF-8 is replaced, and NUL is taken out."""
    assert sent(tmp_path, a_request(prompt="a\0b\ud800c")).json["prompt"] == "ab?c"


# The key


def test_without_a_key_nobody_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The official service needs one, and the message names the variables that may hold it."""
    monkeypatch.delenv("THUMBFORGE_OPENAI_API_KEY")
    provider = OpenAIProvider({})
    assert provider.auth_state() == "missing"
    with pytest.raises(ProviderAuth, match="there is no API key") as caught:
        provider.generate(a_request(), a_call(tmp_path))
    assert caught.value.hint == "set THUMBFORGE_OPENAI_API_KEY or OPENAI_API_KEY"


def test_the_usual_key_is_for_the_official_address_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A spec that names another server cannot carry OPENAI_API_KEY there; this machine needs none."""
    monkeypatch.delenv("THUMBFORGE_OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert "authorization" not in sent(tmp_path).headers
    elsewhere = OpenAIProvider({"base_url": "https://elsewhere.invalid/v1"})
    assert (elsewhere.auth_state(), elsewhere.service.key()) == ("ok", "")
    assert OpenAIProvider({}).auth_state() == "unknown"
    assert OpenAIProvider({}).service.key() == KEY


@pytest.mark.parametrize("value", ["sk-XYZT words", "sk-XYZT\nbreak", "sk-XYZTünicode"])
def test_what_cannot_be_a_key_is_told_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """A pasted line break is a common mistake; the message names the variable only."""
    monkeypatch.setenv("THUMBFORGE_OPENAI_API_KEY", value)
    with pytest.raises(ProviderAuth, match="THUMBFORGE_OPENAI_API_KEY is no key") as caught:
        OpenAIProvider({}).generate(a_request(), a_call(tmp_path))
    assert "XYZT" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("place", ["message", "code", "type"])
def test_a_key_that_the_service_repeats_is_blanked(tmp_path: Path, place: str) -> None:
    """Whatever a service echoes, the key is in no message."""
    error = {"message": "wrong", "type": "x", "code": None, place: f"bad {KEY} given"}
    for status in (200, 400, 403, 404, 429, 500):
        found = failed(in_turn(answer({"error": error}, status, x_request_id=KEY)), tmp_path)
        assert KEY not in repr((found, found.__dict__))


def test_a_key_in_a_good_answer_is_blanked(tmp_path: Path) -> None:
    """Notes are kept in the ledger."""
    body = {"data": [{"b64_json": base64.b64encode(PNG).decode(), "revised_prompt": f"with {KEY}"}]}
    assert KEY not in repr(generated(in_turn(answer(body)), tmp_path))


# Cost, health, the end


def test_tokens_are_told_where_the_service_tells_them(tmp_path: Path) -> None:
    """A count of 0 is no count."""
    assert generated(in_turn(picture(usage={"total_tokens": 4200})), tmp_path).tokens == 4200
    for usage in ({"total_tokens": 0}, {"total_tokens": "7"}, {}, None, []):
        assert generated(in_turn(picture(usage=usage)), tmp_path).tokens is None


def test_a_call_of_the_official_service_is_paid() -> None:
    """So is one of anybody's gateway, unless the profile's price is 0; a server on this machine is not."""
    assert OpenAIProvider({}).capabilities.paid
    assert not OpenAIProvider({"base_url": "http://127.0.0.1:1234/v1"}).capabilities.paid
    assert OpenAIProvider({"base_url": "https://gateway.invalid/v1"}).capabilities.paid


def test_a_check_asks_for_the_model_and_pays_nothing() -> None:
    """It tells a model that is about to be shut down."""
    described = {"id": "gpt-image-2", "shutdown_date": "2026-12-01"}
    with RecordedServer(in_turn(answer(described))) as server:
        health = provider_at(server.url).check(Cancel())
        assert (server.requests[0].method, server.requests[0].path) == ("GET", "/v1/models/gpt-image-2")
    assert health.ok
    assert health.notes == ("gpt-image-2 is shut down on 2026-12-01",)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"error": {"message": "The project is gone.", "code": "gone"}}, "The project is gone."),
        ({"error": {"message": "no", "code": "invalid_api_key"}}, "the key is refused"),
        ({}, "not with the model"),
        ({"status": "ok"}, "not with the model"),
    ],
)
def test_a_check_believes_the_body_and_not_the_status(document: Any, says: str) -> None:
    """A 200 that holds an error, or no model, is no health."""
    with RecordedServer(in_turn(answer(document))) as server:
        health = health_of(provider_at(server.url), Cancel())
    assert not health.ok
    assert says in health.problem


def test_a_model_that_was_shut_down_is_told_before_a_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the official service alone: others have models of such names. What was drawn with it stays as it is."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    provider = OpenAIProvider({"model": "dall-e-3"})
    with pytest.raises(ProviderSetup, match="was shut down on 2026-05-12"):
        provider.generate(a_request(), a_call(tmp_path))
    assert "was shut down" in health_of(provider, Cancel()).problem
    with RecordedServer(in_turn(answer({"id": "dall-e-3"}))) as server:
        assert provider_at(server.url, model="dall-e-3").check(Cancel()).ok


def test_models_are_those_that_make_images() -> None:
    """Where none speaks of images, all are told."""
    with RecordedServer(in_turn(answer({"data": [{"id": "gpt-5"}, {"id": "gpt-image-2"}, {"id": 3}]}))) as server:
        assert provider_at(server.url).models(Cancel()) == ("gpt-image-2",)
    with RecordedServer(in_turn(answer({"data": [{"id": "sd-cpp-local"}]}))) as server:
        assert provider_at(server.url).models(Cancel()) == ("sd-cpp-local",)


def test_four_calls_in_flight_end_with_ctrl_c(tmp_path: Path) -> None:
    """Within a second all four are over and their sockets closed."""
    cancel, raised = Cancel(), []
    with RecordedServer(in_turn(stalled())) as server:
        provider = provider_at(server.url)

        def run() -> None:
            try:
                provider.generate(a_request(), a_call(tmp_path, cancel))
            except BaseException as error:
                raised.append(type(error))

        workers = [threading.Thread(target=run, daemon=True) for _ in range(4)]
        for worker in workers:
            worker.start()
        while len(server.requests) < 4:
            workers[0].join(0.01)
        cancel.set()
        for worker in workers:
            worker.join(1)
    assert raised == [Interrupted] * 4
    assert server.open == 0


# Fuzz


BODIES = st.binary(max_size=300) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["data", "b64_json", "url", "error", "message", "code", "type", "param"]), inner
        )
    ),
    max_leaves=12,
).map(lambda value: json.dumps(value).encode())


STATUSES = st.sampled_from([200, 200, 200, 204, 301, 400, 401, 403, 404, 429, 500, 503, 504, 599])
HEADERS = st.dictionaries(
    st.sampled_from(["retry-after", "retry-after-ms", "date", "x-should-retry", "location", "x-request-id"]),
    st.text(max_size=30),
)


class Parrot:
    """Says this to every request."""

    provider = "openai"

    def __init__(self, reply: Reply) -> None:
        self.reply = reply

    def exchange(self, *_: Any, **__: Any) -> Reply:
        return self.reply


def _anything(tmp_path: Path, status: int, headers: dict[str, str], body: bytes) -> None:
    provider = OpenAIProvider({"base_url": "http://127.0.0.1:9/v1"})
    provider.service.http = Parrot(Reply(status, headers, body))  # type: ignore[assignment]
    try:
        found = provider.generate(a_request(), a_call(tmp_path))
        told = ids.canonical_json(dict(found.notes)).encode()
        assert found.media_type.startswith("image/")
    except ProviderError as error:
        told = (error.message + error.hint).encode()
    assert b"\n" not in told


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(status=STATUSES, headers=HEADERS, body=BODIES)
def test_any_answer_is_a_picture_or_an_error(tmp_path: Path, status: int, headers: dict[str, str], body: bytes) -> None:
    """No bytes and no headers make a traceback or a stored thing that is no picture."""
    _anything(tmp_path, status, headers, body)


@pytest.mark.soak
@settings(max_examples=5000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(status=STATUSES, headers=HEADERS, body=BODIES)
def test_any_answer_for_long(tmp_path: Path, status: int, headers: dict[str, str], body: bytes) -> None:
    """The same, many times."""
    _anything(tmp_path, status, headers, body)
