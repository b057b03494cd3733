"""Answers that the official clients read, as recorded, and what each is to us: never less told apart than by them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.recorded_server import RecordedServer, in_turn, message, raw
from tests.stubs import gemini_kit, openai_kit
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
    ProviderTransient,
)

RECORDED = Path(__file__).parent / "data" / "recorded"
KITS: dict[str, Any] = {"openai": openai_kit, "gemini": gemini_kit}
RIGHT: dict[tuple[str, str], type[ProviderError]] = {
    ("openai", "400 moderation"): ProviderRefused,
    ("openai", "400 bad value"): ProviderSetup,
    ("openai", "401"): ProviderAuth,
    ("openai", "403"): ProviderSetup,
    ("openai", "404"): ProviderSetup,
    ("openai", "409"): ProviderTransient,
    ("openai", "422"): ProviderBadRequest,
    ("openai", "429 rate"): ProviderRateLimited,
    ("openai", "429 no money"): ProviderQuota,
    ("openai", "500"): ProviderTransient,
    ("openai", "503"): ProviderTransient,
    ("openai", "503 that is no JSON"): ProviderTransient,
    ("openai", "200 that is no JSON"): OutputUnusable,
    ("openai", "200 without data"): OutputMissing,
    ("openai", "500, 429 (retry-after-ms 10), then 200, with the client's own two retries"): ProviderRateLimited,
    ("openai", "429 with x-should-retry: false, with the client's own retries"): ProviderQuota,
    ("gemini", "400 wrong key"): ProviderAuth,
    ("gemini", "403"): ProviderAuth,
    ("gemini", "404"): ProviderSetup,
    ("gemini", "429"): ProviderQuota,
    ("gemini", "500"): ProviderTransient,
    ("gemini", "503"): ProviderTransient,
    ("gemini", "503 that is no JSON"): ProviderTransient,
    ("gemini", "an error in a list"): ProviderBadRequest,
    ("gemini", "prompt blocked"): ProviderRefused,
    ("gemini", "IMAGE_SAFETY"): ProviderRefused,
    ("gemini", "NO_IMAGE, no content"): OutputMissing,
    ("gemini", "a reason that the client does not know"): OutputMissing,
    ("gemini", "no candidates"): OutputMissing,
    ("gemini", "503, 429, then 200, with retry_options attempts=3"): ProviderTransient,
}


def answers(client: str) -> dict[str, dict[str, Any]]:
    told = json.loads((RECORDED / client / "errors.json").read_text())["answers"]
    return {each["what"]: each for each in told}


def test_every_recorded_answer_is_here() -> None:
    """No answer is left out."""
    assert {(client, what) for client in KITS for what in answers(client)} == set(RIGHT)


@pytest.mark.parametrize(("client", "what"), RIGHT)
def test_a_recorded_answer_is_told_for_what_it_is(
    client: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the socket, as the client got it."""
    monkeypatch.setenv(f"THUMBFORGE_{client.upper()}_API_KEY", KITS[client].KEY)
    told = answers(client)[what]
    body = told["body"] if isinstance(told["body"], str) else json.dumps(told["body"])
    headers = {name.replace("-", "_"): str(value) for name, value in told["headers"].items()}
    play = raw(message(told["status"], body.encode(), **headers))
    with RecordedServer(in_turn(play)) as server, pytest.raises(ProviderError) as caught:
        KITS[client].provider_at(server.url).generate(KITS[client].a_request(), KITS[client].a_call(tmp_path))
    assert type(caught.value) is RIGHT[client, what], caught.value
    assert "\n" not in caught.value.message
