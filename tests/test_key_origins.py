"""A key goes where the user's environment says, and nowhere that only a spec names."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.project import Project, make_project
from tests.recorded_server import RecordedServer, Seen, answer, in_turn
from tests.stubs.batch_kit import KEYS, PATHS
from tests.stubs.comfyui_kit import PARAMS
from thumbforge.errors import ProviderSetup
from thumbforge.providers.openai.adapter import OpenAIProvider
from thumbforge.web.keys import named_origins, origin_of

KEY = KEYS["THUMBFORGE_OPENAI_API_KEY"]


def carried(seen: Seen) -> str:
    """All of a request in which a key could travel."""
    return f"{seen.path} {dict(seen.headers)} {seen.body!r}"


def pointing_at(server: RecordedServer, tmp_path: Path, name: str, **environment: str) -> Project:
    project = make_project(tmp_path / "project", 2, **KEYS, OPENAI_API_KEY=KEY, GEMINI_API_KEY=KEY, **environment)
    params = {"base_url": f"{server.url}{PATHS[name]}", **(PARAMS if name == "comfyui" else {})}
    project.profile("theirs", provider=name, params=params)
    project.series("show", provider="theirs")
    return project


@pytest.mark.parametrize("name", list(PATHS))
@pytest.mark.parametrize(
    "words", [["provider", "check", "theirs"], ["provider", "models", "theirs"], ["batch", "series=show"]]
)
def test_an_address_of_a_spec_gets_no_key(tmp_path: Path, name: str, words: list[str]) -> None:
    """Whatever asks it; and where it wants one, the variables are named."""
    with RecordedServer(in_turn(answer({"error": {"message": "who are you?"}}, 401)), listed=False) as server:
        told = pointing_at(server, tmp_path, name).run(*words)
        assert server.requests
        assert not [seen for seen in server.requests if any(key in carried(seen) for key in KEYS.values())]
    assert told.code == 4
    said = told.out + told.err
    assert "wants a key" in said
    assert f"THUMBFORGE_{name.upper()}_ORIGINS={server.url}" in said
    assert not [key for key in KEYS.values() if key in said]


def test_a_line_says_that_the_key_stays_here(tmp_path: Path) -> None:
    """At the check and at the batch, once; without a key that is set there is nothing to say."""
    with RecordedServer(in_turn(answer({"id": "gpt-image-2"})), listed=False) as server:
        project = pointing_at(server, tmp_path, "openai")
        line = f"{server.url[7:]} is asked without a key: THUMBFORGE_OPENAI_ORIGINS does not list it"
        assert line in project.run("provider", "check", "theirs").out
        assert project.run("batch", "series=show").err.count(line) == 1
        without = project.with_environment(THUMBFORGE_OPENAI_API_KEY="")
        assert "without a key" not in without.run("provider", "check", "theirs").out


def test_a_listed_origin_gets_the_key(tmp_path: Path) -> None:
    """Its path does not matter, nor what else is listed; the variables of other programs stay with their service."""
    with RecordedServer(in_turn(answer({"id": "gpt-image-2"})), listed=False) as server:
        listed = f"https://gateway.test, {server.url}/any/path ,"
        project = pointing_at(server, tmp_path, "openai", THUMBFORGE_OPENAI_ORIGINS=listed)
        assert project.run("provider", "check", "theirs").code == 0
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        usual = project.with_environment(THUMBFORGE_OPENAI_API_KEY="")
        assert usual.run("provider", "check", "theirs").code == 0
        assert "authorization" not in server.requests[1].headers


@pytest.mark.parametrize(
    "near",
    [
        "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1",
        "https://api.openai.com.evil.test/v1",
        "https://evil.test/api.openai.com",
        "https://api.openai.com\\.evil.test/v1",
        "https://xapi.openai.com/v1",
        "https://api.openai.com./v1",
    ],
)
def test_what_looks_like_the_service_is_not_it(monkeypatch: pytest.MonkeyPatch, near: str) -> None:
    """Scheme, host and port are all of an origin."""
    monkeypatch.setenv("THUMBFORGE_OPENAI_API_KEY", KEY)
    assert OpenAIProvider({"base_url": near}).service.key() == ""


@pytest.mark.parametrize("same", ["https://api.openai.com/v2", "https://API.OpenAI.com:443/v1"])
def test_the_service_is_its_origin(monkeypatch: pytest.MonkeyPatch, same: str) -> None:
    """However it is spelled."""
    monkeypatch.setenv("THUMBFORGE_OPENAI_API_KEY", KEY)
    assert OpenAIProvider({"base_url": same}).service.key() == KEY


@pytest.mark.parametrize("host", ["elsewhere.invalid", "127.evil.invalid", "localhost.invalid"])
def test_a_key_never_travels_unencrypted(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    """Plain http with a key is refused before a connection, except to this machine, which a name cannot pretend."""
    monkeypatch.setenv("THUMBFORGE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("THUMBFORGE_OPENAI_ORIGINS", f"http://{host}")
    provider = OpenAIProvider({"base_url": f"http://{host}/v1"})
    assert provider.capabilities.paid
    with pytest.raises(ProviderSetup, match=f"unencrypted to {host}"):
        provider.service.key()


@given(st.text(max_size=40))
def test_any_text_is_an_origin_or_none(text: str) -> None:
    """A list that somebody mistyped names fewer places and never more; an origin is its own origin."""
    found = origin_of(text)
    assert found == "" or origin_of(found) == found
    assert found == "" or text.strip().lower().startswith(("http://", "https://"))


def test_nothing_listed_is_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty entries and what is no address count for nothing."""
    monkeypatch.setenv("THUMBFORGE_OPENAI_ORIGINS", " ,gateway.test,https://,ftp://x,*,http://[broken,https://a:x")
    assert named_origins("openai") == frozenset()
