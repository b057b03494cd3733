"""What services complain of: the words decide before the status, whatever form they are packed in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thumbforge.errors import (
    OutputMissing,
    ProviderAuth,
    ProviderBadRequest,
    ProviderError,
    ProviderQuota,
    ProviderRateLimited,
    ProviderRefused,
    ProviderSetup,
    ProviderTransient,
)
from thumbforge.providers.gemini import errors as gemini
from thumbforge.providers.openai import errors as openai
from thumbforge.web.complaints import complaint
from thumbforge.web.http import Reply

KEY = "sk-test-SECRETSECRET-0123456789abcdef"


def told(service: Any, status: int, document: Any, **headers: str) -> ProviderError:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    error: ProviderError = service.failure("x", Reply(status, headers, body), KEY, "some-model")
    assert "\n" not in error.message
    assert KEY not in error.message
    return error


WHY = "Your request was rejected by our safety system."
PACKED = json.dumps({"error": {"code": "content_policy_violation", "message": WHY}})
REFUSALS: list[Any] = [
    WHY.encode(),
    {"error": WHY},
    {"error": {"message": WHY}},
    {"detail": WHY},
    {"message": WHY},
    {"error": {"message": f"upstream: {PACKED} (request id: 7)", "type": "upstream_error"}},
    {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": PACKED}}},
    {"error": {"code": "BadRequest", "message": "x", "inner_error": {"code": "ResponsibleAIPolicyViolation"}}},
    {"error": {"message": "no", "code": "contentFilter"}},
    {"errors": [{"message": WHY}]},
]


@pytest.mark.parametrize("service", [openai, gemini])
@pytest.mark.parametrize("status", [400, 401, 403, 422, 429, 451, 500, 502])
def test_a_refusal_is_one_with_any_status_and_in_any_form(service: Any, status: int) -> None:
    """It fails its item: the run goes on, the key is not blamed, and nothing is called again for it."""
    for document in REFUSALS:
        error = told(service, status, document)
        assert type(error) is ProviderRefused, document
        assert not error.retryable
        if "safety system" in json.dumps(str(document)):
            assert WHY in error.message


@pytest.mark.parametrize("service", [openai, gemini])
@pytest.mark.parametrize(
    ("status", "document", "kind"),
    [
        (400, {"error": {"message": "Unknown parameter: 'quality'."}}, ProviderSetup),
        (400, {"error": {"message": "Unsupported value: 'xhigh'."}}, ProviderSetup),
        (400, {"error": {"message": "The model `x` does not exist."}}, ProviderSetup),
        (400, b"size is not supported by this model", ProviderSetup),
        (422, {"detail": [{"loc": ["body", "size"], "msg": "Extra inputs are not permitted"}]}, ProviderSetup),
        (400, {"error": {"message": "Unable to process input image."}}, ProviderSetup),
        (400, {"error": {"message": "The prompt is too long: 40000 characters."}}, ProviderBadRequest),
        (400, {"error": {"message": "The input token count (9) exceeds the maximum."}}, ProviderBadRequest),
        (429, {"error": {"message": "Rate limit reached (Limit: 0/1min.)"}}, ProviderQuota),
        (429, {"error": {"message": "Limit: 0 / 1 min"}}, ProviderQuota),
        (429, {"error": {"message": "Quota exceeded, limit: 0, model: x"}}, ProviderQuota),
        (429, {"error": {"message": "Request too large: Limit 1,000, Requested 2,500."}}, ProviderQuota),
        (429, {"error": {"message": "Limit 5, Used 5, Requested 1. Please try again in 12s."}}, ProviderRateLimited),
        (429, {"error": {"message": "limit: 0.5 per second"}}, ProviderRateLimited),
        (403, {"error": {"message": "Insufficient credits. Add more."}}, ProviderQuota),
        (400, {"error": {"message": "Your credit balance is too low."}}, ProviderQuota),
        (403, {"error": {"message": "Requests from referer <empty> are blocked."}}, ProviderAuth),
        (403, {"error": {"message": "Consumer 'p:1' has been suspended."}}, ProviderAuth),
        (503, {"error": {"message": "The model is not available right now."}}, ProviderTransient),
        (500, {"error": {"message": "unsupported state"}}, ProviderTransient),
    ],
)
def test_the_reason_tells_what_meets_every_item(service: Any, status: int, document: Any, kind: Any) -> None:
    """A setting, an empty account, a limit that no wait lifts pause the run; a prompt fails its item; a busy service is
    asked again, whatever it says of its model."""
    error = told(service, status, document)
    assert type(error) is kind, error
    assert error.meets_every_item is issubclass(kind, (ProviderAuth, ProviderQuota, ProviderSetup))


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("MALFORMED_RESPONSE", OutputMissing),
        ("CONTINUATION", OutputMissing),
        ("LANGUAGE", ProviderRefused),
        ("ESCALATION", ProviderRefused),
        ("UNEXPECTED_TOOL_CALL", ProviderSetup),
        ("MISSING_THOUGHT_SIGNATURE", ProviderSetup),
        ("PUP_LIMITED_DISABLED", ProviderAuth),
        ("A_NEW_ONE", OutputMissing),
    ],
)
def test_the_reasons_of_gemini_are_known(reason: str, kind: Any) -> None:
    """All that its client names; only the model's mood is worth one more call."""
    error = gemini.no_picture("gemini", {"candidates": [{"finishReason": reason}]}, b"{}")
    assert type(error) is kind
    assert error.once_more is (reason == "MALFORMED_RESPONSE")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["error", "message", "detail", "code", "raw", "errors", "x"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(JSON | st.binary(max_size=60))
def test_any_answer_is_a_complaint_of_one_line(document: Any) -> None:
    """Nested, packed, cut, of any type."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    found = complaint(body)
    assert "\n" not in found.inner()
    assert all(isinstance(text, str) for text in (*found.codes, *found.texts))
    for status in (200, 400, 403, 429, 500):
        assert isinstance(openai.failure("x", Reply(status, {}, body), KEY, "m"), ProviderError)
