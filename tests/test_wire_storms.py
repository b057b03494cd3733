"""Answers that trickle, lie about their length, change their type and break off, over a real socket, for every provider
and the Data API: nothing hangs above its limit, nothing ends in a traceback, nothing is paid for beyond the rule.

`pytest -m soak tests/test_wire_storms.py` draws 5,000 answers for each.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.recorded_server import Connection, Play, RecordedServer, Respond, Seen, answer, asking, painted, raw, routed
from tests.recorded_server import message as told
from tests.stubs.comfyui_kit import PARAMS, ROUTES
from thumbforge.errors import NotFound, ProviderError, SourceError, ThumbforgeError
from thumbforge.models import Profile
from thumbforge.providers import download
from thumbforge.providers.comfyui import server as comfyui
from thumbforge.providers.registry import load_provider
from thumbforge.providers.retry import generate_with_retries, tally_of
from thumbforge.sources import asking as asks
from thumbforge.sources.links import PlaylistLink
from thumbforge.sources.youtube_api import YouTubeApi
from thumbforge.testing import a_call, a_request

CALL_S = 0.15
"""Limit of a call in these tests."""
MOST_S = 10.0
"""All calls of a try with all that each may ask, on a busy machine; a hang would last for ever."""
PNG = painted("x", size=(160, 90))
B64 = base64.b64encode(PNG).decode()
GOOD: Mapping[str, Any] = {
    "openai": {"created": 1, "data": [{"b64_json": B64}]},
    "gemini": {"candidates": [{"content": {"parts": [{"inlineData": {"mimeType": "image/png", "data": B64}}]}}]},
    "sdwebui": {"images": [B64], "info": "{}"},
    "comfyui": {"prompt_id": "11111111-2222-3333-4444-555555555555", "node_errors": {}},
    "youtube": {"kind": "youtube#playlistItemListResponse", "items": [], "nextPageToken": "x"},
}
ASKED = {
    "openai": ("/v1",),
    "gemini": ("/v1beta",),
    "sdwebui": ("/sdapi",),
    "comfyui": ("/prompt", "/history", "/queue", "/view", "/upload"),
    "youtube": ("/",),
}
TYPES = ("application/json", "text/html", "image/png", "text/event-stream", "multipart/x-mixed-replace", "")


@dataclass(frozen=True)
class Storm:
    """An answer that misbehaves; `at` is the path that it is for, all others are good."""

    at: str
    status: int
    head: Mapping[str, str]
    body: bytes
    pieces: int
    pause_s: float
    ends: str

    def __call__(self, connection: Connection) -> None:
        lines = [f"HTTP/1.1 {self.status} X", *(f"{name}: {value}" for name, value in self.head.items() if value)]
        connection.send("\r\n".join([*lines, "", ""]).encode())
        size = max(len(self.body) // self.pieces, 1)
        for start in range(0, len(self.body), size):
            connection.send(self.body[start : start + size])
            if self.pause_s and connection.over.wait(self.pause_s):
                return
        if self.ends == "hold":
            connection.hold()


def bodies(good: bytes) -> st.SearchStrategy[bytes]:
    """The good answer, cut, with something in it, or another thing altogether."""
    places = st.integers(0, len(good))
    return (
        st.just(good)
        | places.map(lambda n: good[:n])
        | st.tuples(places, st.binary(min_size=1, max_size=4)).map(
            lambda each: good[: each[0]] + each[1] + good[each[0] :]
        )
        | st.binary(max_size=60)
        | st.sampled_from(
            [b"", b"null", b"[]", b"{}", b"<html>", b"data: {}\n\n", PNG, b'{"error": {"message": "no"}}']
        )
    )


def storms(name: str) -> st.SearchStrategy[Storm]:
    def heads(body: bytes) -> st.SearchStrategy[dict[str, str]]:
        right = len(body)
        lengths = [str(right), str(right), str(right + 7), str(max(right - 7, 0)), "-1", "x", "9" * 18, ""]
        return st.fixed_dictionaries(
            {"Content-Type": st.sampled_from(TYPES), "Content-Length": st.sampled_from(lengths)},
            optional={
                "Content-Encoding": st.sampled_from(["gzip", "br", "identity", "deflate"]),
                "Transfer-Encoding": st.sampled_from(["chunked", "gzip, chunked", "x"]),
                "Retry-After": st.sampled_from(["0", "-1", "soon"]),
                "Location": st.sampled_from(["/", "//x", "https://login.invalid"]),
            },
        )

    def made(body: bytes) -> st.SearchStrategy[Storm]:
        return st.builds(
            Storm,
            at=st.sampled_from(ASKED[name]),
            status=st.sampled_from([200, 200, 200, 200, 206, 302, 400, 404, 429, 500, 503, 999]),
            head=heads(body),
            body=st.just(body),
            pieces=st.sampled_from([1, 1, 2, 5, 40]),
            pause_s=st.sampled_from([0.0, 0.0, 0.0, 0.0, 0.001, 0.03]),
            ends=st.sampled_from(["close"] * 12 + ["hold"]),
        )

    return bodies(json.dumps(GOOD[name]).encode()).flatmap(made)


def served(name: str, storm: Storm) -> Respond:
    """Everything else is answered as it should be."""
    if name != "comfyui":
        return lambda _: storm
    picture = raw(told(200, PNG, Content_Type="image/png"))
    return routed({**ROUTES, "/history": comfy_history, "/view": picture, storm.at: asking(lambda _: storm)})


@asking
def comfy_history(seen: Seen) -> Play:
    """Every job is done, and saved a picture."""
    job = seen.path.rpartition("/")[2]
    outputs = {"9": {"images": [{"filename": "a.png", "subfolder": "", "type": "output"}]}}
    return answer({job: {"outputs": outputs, "status": {"status_str": "success", "messages": []}}})


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "PAUSE_S", 0)
    for name, value in (("ANSWER_S", CALL_S), ("ASK_S", 0.002), ("GONE_S", 0.2), ("LAST_WORD_S", 0.05)):
        monkeypatch.setattr(comfyui, name, value)
    monkeypatch.setattr(asks, "TIMEOUT_S", CALL_S)
    for name in ("OPENAI", "GEMINI"):
        monkeypatch.setenv(f"THUMBFORGE_{name}_API_KEY", "k" * 32)


def params(name: str, url: str) -> dict[str, Any]:
    own = {"openai": "/v1", "gemini": "/v1beta"}.get(name, "")
    return {"base_url": f"{url}{own}", **(PARAMS if name == "comfyui" else {})}


def is_paid(name: str, seen: Seen) -> bool:
    return seen.method == "POST" and (name != "comfyui" or seen.path.endswith("/prompt"))


def painting(name: str, examples: int, tmp_path: Path) -> None:
    with RecordedServer(lambda _: answer({})) as server:
        turns = count()

        def one(storm: Storm) -> None:
            turn = f"/{next(turns)}"  # a request of the one before may still come in
            respond = served(name, storm)
            server.respond = lambda seen: respond(replace(seen, path=seen.path.removeprefix(turn)))
            provider = load_provider(Profile(name="p", provider=name, params=params(name, server.url + turn)))
            provider.capabilities = replace(provider.capabilities, paid=True)
            begun = time.monotonic()
            try:
                done = generate_with_retries(
                    provider, a_request(), replace(a_call(tmp_path), timeout_s=CALL_S), base_s=0, on_try=lambda _: None
                )
                calls, perhaps_billed = done.calls, done.perhaps_billed
                assert done.answer.media_type.startswith("image/")
            except ProviderError as error:
                calls, perhaps_billed = tally_of(error).calls, tally_of(error).perhaps_billed
                require_plain(error)
            assert time.monotonic() - begun < MOST_S
            mine = [seen for seen in server.requests if seen.path.startswith(f"{turn}/")]
            server.requests.clear()
            assert sum(is_paid(name, seen) for seen in mine) <= calls <= 3
            assert perhaps_billed <= 2

        drawn(name, examples, one)


def fetching(examples: int) -> None:
    with RecordedServer(lambda _: answer({})) as server:

        def one(storm: Storm) -> None:
            server.respond = lambda _: storm
            begun = time.monotonic()
            try:
                assert (
                    YouTubeApi("k" * 32, server.url, retry_base_s=0).fetch(PlaylistLink("PLx0000000000")).playlist.items
                )
            except (SourceError, NotFound) as error:
                require_plain(error)
            assert time.monotonic() - begun < MOST_S

        drawn("youtube", examples, one)


def drawn(name: str, examples: int, one: Callable[[Storm], None]) -> None:
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
    settings(max_examples=examples, deadline=None, database=None, suppress_health_check=quiet)(
        given(storms(name))(one)
    )()


def require_plain(error: ThumbforgeError) -> None:
    """One line that names no bug of ours or of a plugin's."""
    assert "\n" not in error.message + error.hint
    assert "this is a" not in error.hint, error.message


@pytest.mark.parametrize("name", ["openai", "gemini", "sdwebui", "comfyui"])
def test_no_answer_hangs_breaks_or_costs_more_than_the_rule(name: str, tmp_path: Path) -> None:
    """A picture or an error of ours, in time, for as many calls as are counted."""
    painting(name, 25, tmp_path)


def test_no_answer_of_the_data_api_hangs_or_breaks() -> None:
    """A list or an error of ours, in time."""
    fetching(25)


@pytest.mark.soak
@pytest.mark.parametrize("name", ["openai", "gemini", "sdwebui", "comfyui"])
def test_no_answer_hangs_breaks_or_costs_more_for_long(name: str, tmp_path: Path) -> None:
    """The same, 5,000 times."""
    painting(name, 5000, tmp_path)


@pytest.mark.soak
def test_no_answer_of_the_data_api_hangs_or_breaks_for_long() -> None:
    """The same, 5,000 times."""
    fetching(5000)
