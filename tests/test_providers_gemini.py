"""The provider `gemini`: the contract, every recorded answer and its right outcome, what is sent, what stays secret."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from PIL import Image

from tests.recorded_server import (
    Play,
    RecordedServer,
    answer,
    in_turn,
    message,
    names,
    painted,
    raw,
    recorded,
    redirect,
)
from tests.stubs.gemini_kit import KEY, candidate, failed, generated, inline, painter, provider_at
from thumbforge import models
from thumbforge.errors import (
    OutputMissing,
    OutputUnusable,
    ProviderAuth,
    ProviderBadRequest,
    ProviderError,
    ProviderQuota,
    ProviderRateLimited,
    ProviderRefused,
    ProviderSetup,
    ProviderTimeout,
    ProviderTransient,
)
from thumbforge.providers.retry import generate_with_retries
from thumbforge.testing import ProviderContract, a_call, a_request


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THUMBFORGE_GEMINI_API_KEY", KEY)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)


class TestContract(ProviderContract):
    wrong_params: ClassVar = {"model": "Models/x", "image_size": "2k", "aspect_ratio": "16/9", "seed": 1}
    tells_videos_apart = False
    cancelled_at = -1

    @pytest.fixture(autouse=True)
    def service(self) -> Iterator[None]:
        with RecordedServer(painter) as server:
            type(self).profile = models.Profile(
                name="gemini", provider="gemini", params={"base_url": f"{server.url}/v1beta"}
            )
            yield


# Every recorded answer


@dataclass(frozen=True)
class Right:
    """What index.json says is right, as an error's class and marks; `says` is in its message or hint."""

    error: type[ProviderError]
    says: str
    wait_s: float | None = None
    once_more: bool = False


RIGHT = {
    "gemini_200_text_only.http": Right(OutputMissing, "I can describe a thumbnail", once_more=True),
    "gemini_200_no_image.http": Right(OutputMissing, "NO_IMAGE", once_more=True),
    "gemini_200_image_safety.http": Right(ProviderRefused, "IMAGE_SAFETY, and it says: Could not show the image."),
    "gemini_200_prohibited.http": Right(ProviderRefused, "IMAGE_PROHIBITED_CONTENT"),
    "gemini_200_prompt_blocked.http": Right(ProviderRefused, "the prompt is refused: PROHIBITED_CONTENT"),
    "gemini_200_recitation.http": Right(ProviderRefused, "IMAGE_RECITATION"),
    "gemini_200_max_tokens.http": Right(OutputMissing, "shorter prompt"),
    "gemini_200_sse.http": Right(OutputUnusable, "an event stream"),
    "gemini_200_array_error.http": Right(ProviderTransient, "HTTP 500: x"),
    "gemini_400_api_key_invalid.http": Right(ProviderAuth, "the key is refused"),
    "gemini_400_location.http": Right(ProviderSetup, "Not offered in this place"),
    "gemini_403_leaked_key.http": Right(ProviderAuth, "Key was found in public"),
    "gemini_404_model.http": Right(ProviderSetup, "set `model` in the profile"),
    "gemini_429_retry_delay.http": Right(ProviderRateLimited, "retry in 37.4s", 37.4),
    "gemini_429_per_day.http": Right(ProviderQuota, "midnight Pacific"),
    "gemini_429_no_details.http": Right(ProviderRateLimited, "Exhausted"),
    "gemini_500.http": Right(ProviderTransient, "Something broke"),
    "gemini_503_overloaded.http": Right(ProviderTransient, "HTTP 503: Busy"),
    "gemini_503_capacity.http": Right(ProviderTransient, "No room for this model"),
}


GOOD = {
    "gemini_200_png.http": ("image/png", (96, 54)),
    "gemini_200_jpeg.http": ("image/jpeg", (96, 54)),
    "gemini_200_mime_lies.http": ("image/jpeg", (96, 54)),
    "gemini_200_text_then_image.http": ("image/png", (96, 54)),
    "gemini_200_snake_case.http": ("image/png", (96, 54)),
    "gemini_200_square.http": ("image/png", (64, 64)),
    "gemini_200_two_images.http": ("image/png", (96, 54)),
    "gemini_200_url_unsafe_b64.http": ("image/png", (96, 54)),
}


def test_every_recorded_answer_is_here() -> None:
    """No file is left out."""
    assert set(names("gemini_")) == GOOD.keys() | RIGHT.keys()


@pytest.mark.parametrize("name", sorted(GOOD))
def test_a_recorded_picture_is_found(tmp_path: Path, name: str) -> None:
    """Wherever it is in the answer, however it is spelt, its kind is told by its content."""
    found = generated(in_turn(recorded(name)), tmp_path)
    with Image.open(io.BytesIO(found.data)) as picture:
        picture.load()
        assert (found.media_type, picture.size) == GOOD[name]
        assert Image.MIME[picture.format or ""] == found.media_type
    assert found.tokens == (None if "snake" in name else 1300)


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_a_recorded_failure_is_what_it_is(tmp_path: Path, name: str) -> None:
    """Each recorded failure becomes the one class of error that its index entry asks for, and nothing is stored."""
    right = RIGHT[name]
    error = failed(in_turn(recorded(name)), tmp_path)
    assert type(error) is right.error
    assert right.says in error.message + error.hint
    assert error.once_more is right.once_more
    assert error.retryable is (isinstance(error, ProviderTransient) or right.once_more)
    assert error.meets_every_item is isinstance(error, (ProviderAuth, ProviderQuota, ProviderSetup))
    assert getattr(error, "retry_after_s", None) == right.wait_s


def test_the_last_of_two_pictures_is_taken(tmp_path: Path) -> None:
    """A fixed rule; a thought of the model on the way is no picture."""
    first, last, thought = (painted(name) for name in ("first", "last", "thought"))
    parts = [inline(first), {"text": "better:"}, inline(last), inline(thought, thought=True)]
    found = generated(in_turn(answer(candidate(*parts))), tmp_path)
    assert found.data == last
    assert found.notes["pictures"] == "2"
    only = failed(in_turn(answer(candidate(inline(thought, thought=True), finishReason="STOP"))), tmp_path)
    assert type(only) is OutputMissing


def test_a_mood_of_the_model_is_tried_once_more(tmp_path: Path) -> None:
    """NO_IMAGE is asked a second time, no third; both answers may have been billed."""
    with RecordedServer(in_turn(recorded("gemini_200_no_image.http"))) as server:
        provider = provider_at(server.url)
        with pytest.raises(OutputMissing):
            generate_with_retries(provider, a_request(), a_call(tmp_path), base_s=0, on_try=lambda _: None)
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({}, OutputMissing),
        ({"candidates": []}, OutputMissing),
        ({"candidates": [{}]}, OutputMissing),
        ({"candidates": [None]}, OutputMissing),
        ({"candidates": {"content": 1}}, OutputMissing),
        (candidate(finishReason="SPII"), ProviderRefused),
        (candidate(finishReason="A_NEW_REASON"), OutputMissing),
        (candidate({"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}}), OutputMissing),
        (candidate({"inlineData": {"mimeType": "image/png", "data": "!!"}}), OutputUnusable),
        (candidate(inline(b"<html>")), OutputUnusable),
        ([{"error": {"code": 503, "message": "x"}}], ProviderTransient),
        ({"error": {"code": 429, "message": "x"}}, ProviderRateLimited),
        ({"error": {"code": True, "message": "x"}}, ProviderTransient),
        ([1, 2], OutputUnusable),
        ("text", OutputUnusable),
    ],
)
def test_a_200_without_a_picture_is_never_success(tmp_path: Path, document: Any, error: type[ProviderError]) -> None:
    """Every level of the answer may be absent or of another kind."""
    assert type(failed(in_turn(answer(document)), tmp_path)) is error


@pytest.mark.parametrize(
    ("play", "error", "unclear"),
    [
        (raw(message(502, b"<html><body>bad gateway</body></html>")), ProviderTransient, False),
        (answer({"error": {"message": "late", "status": "DEADLINE_EXCEEDED"}}, 504), ProviderTimeout, True),
        (answer([{"error": {"message": "x", "status": "UNAVAILABLE"}}], 503), ProviderTransient, False),
        (answer({"error": {"message": "bad ratio", "status": "INVALID_ARGUMENT"}}, 400), ProviderBadRequest, False),
        (answer({"error": {"message": "no", "status": "UNAUTHENTICATED"}}, 401), ProviderAuth, False),
        (redirect("https://login.invalid/?key=1"), ProviderSetup, False),
        (raw(message(413, b"<html>")), ProviderSetup, False),
    ],
)
def test_other_statuses(tmp_path: Path, play: Play, error: type[ProviderError], unclear: bool) -> None:
    """HTML of a front server, errors in a list, a time-out that may have been a picture."""
    found = failed(in_turn(play), tmp_path)
    assert (type(found), found.unclear) == (error, unclear)


@pytest.mark.parametrize(
    "document",
    [
        {"candidates": [{"content": {"parts": [{"inlineData": {"mimeType": "IMAGE/PNG", "data": "{png}"}}]}}]},
        {"candidates": [{"finishReason": "STOP"}, {"content": {"parts": [{"inlineData": {"data": "{png}"}}]}}]},
    ],
)
def test_a_picture_counts_however_it_is_labelled(tmp_path: Path, document: Any) -> None:
    """In capitals, or in the second candidate only: it is paid for."""
    text = json.dumps(document).replace("{png}", base64.b64encode(painted("x")).decode())
    with RecordedServer(in_turn(answer(json.loads(text)))) as server:
        found = provider_at(server.url).generate(a_request(), a_call(tmp_path))
        assert len(server.requests) == 1
    assert found.media_type == "image/png"
