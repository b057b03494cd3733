"""What the official clients send, as recorded, is the judge of what we send: field by field, and in what form.

The recordings are of openai 3.57.0 and google-genai 3.6.1; tests/data/recorded/README.md says more. Beside them stand
the profiles that docs/providers/openai.md shows for local servers, each tried against a server that speaks as it does.
"""

from __future__ import annotations

import base64
import json
import re
from email.parser import BytesParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.recorded_server import Play, RecordedServer, Seen, answer, asking, in_turn, message, painted, raw, routed
from tests.stubs import gemini_kit, openai_kit
from thumbforge.cancel import Cancel
from thumbforge.providers.openai.adapter import OpenAIProvider
from thumbforge.testing import a_call, a_reference, a_request

RECORDED = Path(__file__).parent / "data" / "recorded"
PAGE = Path(__file__).parents[1] / "docs" / "providers" / "openai.md"
WORDS = "a cat, Grüße"


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THUMBFORGE_OPENAI_API_KEY", openai_kit.KEY)
    monkeypatch.setenv("THUMBFORGE_GEMINI_API_KEY", gemini_kit.KEY)


def theirs(client: str, call: str) -> dict[str, Any]:
    """The first request of a recorded call."""
    calls = json.loads((RECORDED / client / "requests.json").read_text())["calls"]
    found: dict[str, Any] = next(each for each in calls if each["what"] == call)["requests"][0]
    return found


def headers(request: dict[str, Any], *names: str) -> dict[str, str]:
    told = {name.lower(): value for name, value in request["headers"]}
    return {name: told[name].partition(";")[0] for name in names}


def openai_sent(request: Any, tmp_path: Path) -> Seen:
    with RecordedServer(in_turn(openai_kit.picture())) as server:
        openai_kit.provider_at(server.url).generate(request, a_call(tmp_path))
        return server.requests[0]


def gemini_sent(request: Any, tmp_path: Path) -> Seen:
    with RecordedServer(gemini_kit.painter) as server:
        gemini_kit.provider_at(server.url).generate(request, a_call(tmp_path))
        return server.requests[0]


def form(seen: Seen) -> list[tuple[str, str, Any]]:
    """(name, media type, content) of each part of a form, in order; a picture's content is its type alone."""
    head = f"Content-Type: {seen.headers['content-type']}\r\n\r\n".encode()
    found = []
    for part in BytesParser().parsebytes(head + seen.body).get_payload():
        name = part.get_param("name", header="content-disposition")  # type: ignore[union-attr]
        content = part.get_payload(decode=True)  # type: ignore[union-attr]
        kind = part.get_content_type()  # type: ignore[union-attr]
        is_picture = kind.startswith("image/")
        found.append((str(name), kind if is_picture else "", "" if is_picture else content.decode()))
    return found


def test_a_picture_is_asked_for_as_openais_client_does(tmp_path: Path) -> None:
    """Path, method, type and every field of the body."""
    them, us = theirs("openai", "images.generate"), openai_sent(a_request(prompt=WORDS), tmp_path)
    assert (us.method, us.path, us.json) == (them["method"], them["path"], them["json"])
    assert us.headers["content-type"] == headers(them, "content-type")["content-type"]
    assert us.headers["authorization"].split()[0] == headers(them, "authorization")["authorization"].split()[0]


def test_a_picture_is_edited_as_openais_client_does(tmp_path: Path) -> None:
    """The same parts with the same names and values; the hero as one of a list, which a newer one takes too."""
    them = theirs("openai", "images.edit, a list of one")
    us = openai_sent(a_request(a_reference(tmp_path / "hero.png"), prompt=WORDS), tmp_path)
    assert (us.method, us.path) == (them["method"], them["path"])
    assert us.headers["content-type"].partition(";")[0] == headers(them, "content-type")["content-type"]
    wanted = []
    for part in them["multipart"]:
        name = re.search(r'name="([^"]+)"', part["head"][0])
        assert name
        is_picture = len(part["head"]) > 1
        wanted.append((name[1], is_picture, "" if is_picture else part["content"]))
    assert sorted((name, bool(kind), content) for name, kind, content in form(us)) == sorted(wanted)


def test_a_picture_is_asked_for_as_googles_client_does(tmp_path: Path) -> None:
    """Path, method, key's header and every field of the body."""
    them, us = theirs("gemini", "text to image"), gemini_sent(a_request(prompt=WORDS), tmp_path)
    assert (us.method, us.path, us.json) == (them["method"], them["path"], them["json"])
    assert {"x-goog-api-key", "content-type"} <= us.headers.keys()
    assert us.headers["content-type"] == headers(them, "content-type")["content-type"]


def test_a_picture_is_edited_as_googles_client_does(tmp_path: Path) -> None:
    """The picture before the words. Their `mime_type` is the service's other spelling of `mimeType`, and their base64
    the one for addresses, which the service reads like the plain one."""
    them = theirs("gemini", "image edit")
    us = gemini_sent(a_request(a_reference(tmp_path / "hero.png"), prompt=WORDS), tmp_path)
    assert (us.method, us.path) == (them["method"], them["path"])
    ours, wanted = us.json, them["json"]
    [picture, words] = ours["contents"][0].pop("parts")
    [their_picture, their_words] = wanted["contents"][0].pop("parts")
    assert (ours, words) == (wanted, their_words)
    spelt = {name.replace("mime_type", "mimeType") for name in their_picture["inlineData"]}
    assert picture["inlineData"].keys() == spelt
    assert base64.b64decode(picture["inlineData"]["data"], validate=True)


def test_models_are_asked_for_as_the_clients_do() -> None:
    """A check asks for one, a list for all; both cost nothing."""
    for client, kit, path in (("openai", openai_kit, "/v1"), ("gemini", gemini_kit, "/v1beta")):
        with RecordedServer(in_turn(answer({"id": "x", "models": [], "data": []}))) as server:
            provider = kit.provider_at(server.url)
            provider.models(Cancel())
            provider.check(Cancel())
            asked = [(seen.method, seen.path) for seen in server.requests]
        calls = json.loads((RECORDED / client / "requests.json").read_text())["calls"]
        them = {(each["method"], each["path"]) for call in calls for each in call["requests"]}
        assert asked[0] in them or asked[0] == ("GET", f"{path}/models")
        assert asked[1][1].rpartition("/")[0] == f"{path}/models"


# Local servers that speak OpenAI's API


def profile(name: str) -> dict[str, Any]:
    """The params of a profile that the page shows."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"```yaml\n# specs/providers/{name}\.yaml\n(.*?)```", text, re.DOTALL)
    assert found
    params: dict[str, Any] = yaml.safe_load(found[1])["params"]
    return params


def localai(seen: Seen) -> Play:
    """It has no edits, wants a model, and answers with an address unless it is told otherwise."""
    if seen.path != "/v1/images/generations" or not seen.json.get("model"):
        return answer({"error": {"code": 400, "message": "no such route or model", "type": ""}}, 400)
    if seen.json.keys() - {"model", "prompt", "n", "size", "step", "response_format"}:
        return raw(message(400, b""))
    size = tuple(int(side) for side in seen.json["size"].split("x"))
    data = base64.b64encode(painted(seen.json["prompt"], size=size)).decode()  # type: ignore[arg-type]
    return answer({"created": 1, "id": "x", "data": [{"b64_json": data}], "usage": {"total_tokens": 0}})


def sd_cpp(seen: Seen) -> Play:
    """It takes a form with the hero too, has no usage, and errors of plain text."""
    text = seen.body.decode("latin-1")
    size = re.search(r"1280x720", text)
    if "quality" in text or not size:
        return answer({"error": "bad field"}, 400)
    data = base64.b64encode(painted(text[-50:], size=(1280, 720))).decode()
    return answer({"created": 1, "output_format": "png", "data": [{"b64_json": data}]})


@pytest.mark.parametrize(("name", "speaks"), [("localai", localai), ("sd-cpp", sd_cpp)])
def test_the_profile_for_a_local_server_works(name: str, speaks: Any, tmp_path: Path) -> None:
    """As the page shows it, against a server that speaks as that one does; no call of it counts as paid."""
    hero = a_reference(tmp_path / "hero.png")
    with RecordedServer(routed({"/v1": asking(speaks)})) as server:
        provider = OpenAIProvider({**profile(name), "base_url": f"{server.url}/v1"})
        assert provider.generate(a_request(hero), a_call(tmp_path)).media_type == "image/png"
        assert not provider.capabilities.paid
