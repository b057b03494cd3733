"""What the tests of the provider `gemini` share."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
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
from thumbforge.providers.gemini.adapter import GeminiProvider
from thumbforge.testing import a_call, a_request

KEY = "AIzaTESTTESTTEST-0123456789abcdefghi"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()


def candidate(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **more}]}


def inline(data: bytes, kind: str = "image/png", **more: Any) -> dict[str, Any]:
    return {"inlineData": {"mimeType": kind, "data": base64.b64encode(data).decode()}, **more}


def provider_at(url: str, **params: Any) -> GeminiProvider:
    return GeminiProvider({"base_url": f"{url}/v1beta", **params})


def generated(respond: Respond, tmp_path: Path, **params: Any) -> Answer:
    with RecordedServer(respond) as server:
        return provider_at(server.url, **params).generate(a_request(), a_call(tmp_path))


def failed(respond: Respond, tmp_path: Path) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        generated(respond, tmp_path)
    assert KEY not in repr((caught.value, caught.value.__dict__))
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 600
    return caught.value


def painter(seen: Seen) -> Play:
    return answer(candidate(inline(painted(seen.path, seen.body))))
