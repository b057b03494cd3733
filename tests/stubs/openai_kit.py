"""What the tests of the provider `openai` share."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from tests.recorded_server import (
    Play,
    RecordedServer,
    Respond,
    Seen,
    answer,
    painted,
)
from thumbforge.errors import ProviderError
from thumbforge.providers.base import Answer
from thumbforge.providers.openai.adapter import OpenAIProvider
from thumbforge.testing import a_call, a_request

KEY = "sk-test-SECRETSECRET-0123456789abcdef"
PNG = painted("a picture")


def picture(data: bytes = PNG, **more: Any) -> Play:
    return answer({"created": 1, "data": [{"b64_json": base64.b64encode(data).decode()}], **more}, x_request_id="req_1")


def provider_at(url: str, **params: Any) -> OpenAIProvider:
    return OpenAIProvider({"base_url": f"{url}/v1", **params})


def generated(respond: Respond, tmp_path: Path, **params: Any) -> Answer:
    with RecordedServer(respond) as server:
        return provider_at(server.url, **params).generate(a_request(), a_call(tmp_path))


def failed(respond: Respond, tmp_path: Path) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        generated(respond, tmp_path)
    assert KEY not in caught.value.message + caught.value.hint
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 500
    return caught.value


def painter(seen: Seen) -> Play:
    """The picture that the request decides; a form's boundary and the names in it are no part of what is asked."""
    boundary = seen.headers.get("content-type", "").rpartition("boundary=")[2].encode()
    body = seen.body.replace(boundary, b"") if boundary else seen.body
    return picture(painted(seen.path, body))
