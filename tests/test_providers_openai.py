"""The provider `openai`: the contract, every recorded answer and its right outcome, what is sent, what stays secret."""

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
    RESPONSES,
    RecordedServer,
    answer,
    asking,
    in_turn,
    message,
    names,
    raw,
    recorded,
    reset,
    routed,
)
from tests.stubs.openai_kit import KEY, PNG, failed, generated, painter, provider_at
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
from thumbforge.providers import download
from thumbforge.testing import ProviderContract, a_call, a_request


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "PAUSE_S", 0)
    monkeypatch.setenv("THUMBFORGE_OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


class TestContract(ProviderContract):
    wrong_params: ClassVar = {"model": "no model!", "size": "huge", "qualty": "high", "extra": [1]}
    tells_videos_apart = False
    cancelled_at = -1

    @pytest.fixture(autouse=True)
    def service(self) -> Iterator[None]:
        with RecordedServer(painter) as server:
            params = {"base_url": f"{server.url}/v1", "model": "gpt-image-2"}
            type(self).profile = models.Profile(name="openai", provider="openai", params=params)
            yield


# Every recorded answer


@dataclass(frozen=True)
class Right:
    """What index.json says is right, as an error's class and marks; `says` is in its message or hint."""

    error: type[ProviderError]
    says: str
    wait_s: float | None = None
    unclear: bool = False


TRANSIENT, RATE = ProviderTransient, ProviderRateLimited


RIGHT = {
    "openai_200_html.http": Right(OutputUnusable, "HTML"),
    "openai_200_error_inside.http": Right(TRANSIENT, "Upstream refused"),
    "openai_302_to_login.http": Right(ProviderSetup, "login.invalid"),
    "openai_400_moderation_blocked.http": Right(ProviderRefused, "req_test2"),
    "openai_400_content_policy_violation.http": Right(ProviderRefused, "not allowed"),
    "openai_400_unknown_parameter.http": Right(ProviderSetup, "response_format"),
    "openai_400_invalid_size.http": Right(ProviderSetup, "1536x864"),
    "openai_400_prompt_too_long.http": Right(ProviderBadRequest, "too long"),
    "openai_400_invalid_image_mode.http": Right(ProviderSetup, "another hero"),
    "openai_400_unsupported_mime.http": Right(ProviderSetup, "Unsupported mimetype"),
    "openai_400_billing_hard_limit.http": Right(ProviderQuota, "Spending limit"),
    "openai_401_invalid_key.http": Right(ProviderAuth, "the key is refused"),
    "openai_403_org_unverified.http": Right(ProviderSetup, "verify the organization"),
    "openai_404_model.http": Right(ProviderSetup, "set `model` in the profile"),
    "openai_413_nginx.http": Right(ProviderSetup, "HTTP 413"),
    "openai_429_rate_limit.http": Right(RATE, "Rate limit", 12),
    "openai_429_no_header.http": Right(RATE, "Slow down", 51.815),
    "openai_429_retry_after_date.http": Right(RATE, "Slow down", 20),
    "openai_429_insufficient_quota.http": Right(ProviderQuota, "no money"),
    "openai_500.http": Right(TRANSIENT, "had an error"),
    "openai_502_cloudflare.http": Right(TRANSIENT, "HTTP 502: an HTML page"),
    "openai_503_overloaded.http": Right(RATE, "Overloaded", 3),
    "openai_504.http": Right(ProviderTimeout, "HTTP 504", None, True),
    "openai_reset_after_request.http": Right(TRANSIENT, "broke", None, True),
}


GOOD = {"openai_200_b64.http", "openai_200_url.http", "openai_200_two_images.http"}
RETRIED = (ProviderTransient,)
PAUSES = (ProviderAuth, ProviderQuota, ProviderSetup)


def test_every_recorded_answer_is_here() -> None:
    """No file is left out, and index.json knows each of them."""
    assert set(names("openai_")) == GOOD | RIGHT.keys()
    index = json.loads((RESPONSES / "index.json").read_text())
    assert index.keys() >= GOOD | RIGHT.keys()


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_a_recorded_failure_is_what_it_is(tmp_path: Path, name: str) -> None:
    """Each recorded failure becomes the one class of error that its index entry asks for, and nothing is stored."""
    right = RIGHT[name]
    play = reset if name == "openai_reset_after_request.http" else recorded(name)
    error = failed(in_turn(play), tmp_path)
    assert type(error) is right.error
    assert right.says in error.message + error.hint
    assert error.retryable is isinstance(error, RETRIED)
    assert error.meets_every_item is isinstance(error, PAUSES)
    assert error.unclear is right.unclear
    assert getattr(error, "retry_after_s", None) == right.wait_s


def test_a_picture_is_kept_with_its_request_id(tmp_path: Path) -> None:
    """Bytes, kind by content, and the id that the service gave the request."""
    found = generated(in_turn(recorded("openai_200_b64.http")), tmp_path)
    assert Image.open(io.BytesIO(found.data)).size == (96, 64)
    assert (found.media_type, found.notes["request_id"]) == ("image/png", "req_test1")
    assert found.cost is None


def test_of_two_pictures_the_first_is_taken(tmp_path: Path) -> None:
    """More than was asked for is written down."""
    found = generated(in_turn(recorded("openai_200_two_images.http")), tmp_path)
    assert found.notes["pictures"] == 2
    assert found.media_type == "image/png"


def test_a_picture_by_address_is_fetched_at_once_without_the_key(tmp_path: Path) -> None:
    """It runs out within the hour; its signature is in nothing that is kept, and the key goes to nobody else."""
    document = (RESPONSES / "openai_200_url.http").read_bytes()
    body = json.loads(document.partition(b"\r\n\r\n")[2])
    url = body["data"][0]["url"].replace("https://files.invalid", "{url}")
    routes = {
        "/v1": asking(lambda _: answer(_with_url(body, url, server.url))),
        "/img.png": raw(message(200, PNG)),
    }
    with RecordedServer(routed(routes)) as server:
        found = provider_at(server.url).generate(a_request(), a_call(tmp_path))
    assert found.data == PNG
    assert "SECRETSIG" not in repr(found.notes)
    assert [seen.path for seen in server.requests] == ["/v1/images/generations", "/img.png"]
    assert "authorization" not in server.requests[1].headers
    assert server.requests[1].query["sig"] == "SECRETSIG"


def _with_url(body: Any, url: str, base: str) -> Any:
    return {**body, "data": [{"url": url.replace("{url}", base)}]}


def test_an_address_that_fails_is_fetched_again_never_drawn_again(tmp_path: Path) -> None:
    """The picture is paid for: a broken download is repeated alone, and its last failure counts as perhaps billed."""
    plays = iter([raw(message(503, b"")), raw(message(200, PNG)[:-9]), raw(message(200, PNG))])
    routes = {"/v1": asking(lambda _: answer({"data": [{"url": f"{server.url}/img.png"}]})),
              "/img.png": asking(lambda _: next(plays))}  # fmt: skip
    with RecordedServer(routed(routes)) as server:
        assert provider_at(server.url).generate(a_request(), a_call(tmp_path)).data == PNG
    assert server.paths().count("/v1/images/generations") == 1
    with RecordedServer(routed({**routes, "/img.png": raw(message(503, b""))})) as server:
        error = _raised(server, tmp_path)
    assert type(error) is ProviderTransient
    assert error.unclear


def _raised(server: RecordedServer, tmp_path: Path) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        provider_at(server.url).generate(a_request(), a_call(tmp_path))
    return caught.value


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest", "file:///etc/passwd", "http://[", "gopher://x/", "//x/y"]
)
def test_an_address_that_is_not_https_is_not_asked(tmp_path: Path, url: str) -> None:
    """A service cannot send us to places in our own network."""
    error = failed(in_turn(answer({"data": [{"url": url}]})), tmp_path)
    assert type(error) is OutputMissing
    assert "https" in error.message


def test_a_redirect_of_the_picture_is_followed_without_a_key(tmp_path: Path) -> None:
    """File stores redirect; there is nothing to give away. A circle ends."""
    routes = {"/v1": asking(lambda _: answer({"data": [{"url": f"{server.url}/a.png"}]})),
              "/a.png": raw(message(302, b"", Location="/b.png")), "/b.png": raw(message(200, PNG))}  # fmt: skip
    with RecordedServer(routed(routes)) as server:
        assert provider_at(server.url).generate(a_request(), a_call(tmp_path)).data == PNG
    with RecordedServer(routed({**routes, "/b.png": raw(message(302, b"", Location="/a.png"))})) as server:
        error = _raised(server, tmp_path)
    assert "without an end" in error.message


# Answers that no file has


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({"data": []}, OutputMissing),
        ({"data": None}, OutputMissing),
        ({"data": [{}]}, OutputMissing),
        ({"data": ["x"]}, OutputMissing),
        ({}, OutputMissing),
        ([], OutputUnusable),
        ({"data": [{"b64_json": "%%%"}]}, OutputUnusable),
        ({"data": [{"b64_json": 7}]}, OutputUnusable),
        ({"data": [{"b64_json": base64.b64encode(b"<html>").decode()}]}, OutputUnusable),
        ({"error": "plain words"}, ProviderTransient),
        ({"error": "server_error", "message": "no memory"}, ProviderTransient),
        ({"error": {"message": "slow", "type": "rate_limit_error"}}, ProviderRateLimited),
        ({"error": {"code": "invalid_api_key"}}, ProviderAuth),
        ({"error": {"code": "content_policy_violation"}}, ProviderRefused),
        ({"error": {"code": "model_not_found"}}, ProviderSetup),
    ],
)
def test_a_200_without_a_picture_is_never_success(tmp_path: Path, document: Any, error: type[ProviderError]) -> None:
    """Look-alike servers put errors into a 200, as text or object, and leave fields out."""
    assert type(failed(in_turn(answer(document)), tmp_path)) is error


@pytest.mark.parametrize(
    ("status", "error", "unclear"),
    [
        (402, ProviderQuota, False), (403, ProviderAuth, False), (408, ProviderTransient, False),
        (409, ProviderTransient, False), (418, ProviderBadRequest, False), (500, ProviderTransient, False),
        (524, ProviderTimeout, True), (599, ProviderTransient, False), (204, ProviderError, False),
    ],
)  # fmt: skip
def test_a_status_without_words(tmp_path: Path, status: int, error: type[ProviderError], unclear: bool) -> None:
    """An empty body is judged by its status alone."""
    found = failed(in_turn(raw(message(status, b""))), tmp_path)
    assert (type(found), found.unclear) == (error, unclear)


def test_the_service_may_forbid_a_retry(tmp_path: Path) -> None:
    """`x-should-retry: false` on a 500 is obeyed."""
    found = failed(in_turn(answer({"error": {"message": "no"}}, 500, x_should_retry="false")), tmp_path)
    assert not found.retryable


def test_an_account_without_images_is_no_rate_limit(tmp_path: Path) -> None:
    """ "Limit: 0 / 1 min" never heals by waiting."""
    told = {"error": {"message": "Rate limit reached. Limit: 0 / 1 min.", "type": "rate_limit_error"}}
    assert type(failed(in_turn(answer(told, 429, Retry_After="3")), tmp_path)) is ProviderQuota


def test_a_refusal_tells_its_stage_and_categories(tmp_path: Path) -> None:
    """Whether the prompt or the picture was refused, and for what."""
    details = {"moderation_stage": "output", "categories": ["violence"]}
    told = {"error": {"message": "no", "code": "moderation_blocked", "moderation_details": details}}
    assert "[at the output, violence]" in failed(in_turn(answer(told, 400)), tmp_path).message
