"""The adapter against a ComfyUI: the stand-in that speaks as recorded, and, with `-m real`, a server of yours.

THUMBFORGE_REAL_COMFYUI=http://127.0.0.1:8188 pytest -m real tests/test_comfyui_server.py

It needs no model, and draws a few plain pictures into the server's output folder. With THUMBFORGE_RECORD_INTO=folder
what is said is written down there, a test a file, in the form of tests/data/recorded.
"""

from __future__ import annotations

import base64
import io
import json
import os
import uuid
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.recorded_server import RecordedServer
from tests.recorder import Recorder
from tests.stubs.comfyui_kit import Comfy
from thumbforge.cancel import Cancel
from thumbforge.errors import ProviderSetup
from thumbforge.providers.base import Call
from thumbforge.providers.comfyui import server as comfyui
from thumbforge.providers.comfyui.adapter import ComfyUIProvider
from thumbforge.testing import a_call, a_reference, a_request

GRAPH: dict[str, Any] = {
    "1": {
        "class_type": "EmptyImage",
        "inputs": {"width": "{width}", "height": "{height}", "batch_size": 1, "color": "{seed}", "words": "{prompt}"},
    },
    "9": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "mine"}},
}


@pytest.fixture(params=["recorded", pytest.param("real", marks=pytest.mark.real)])
def address(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "real":
        theirs = os.environ.get("THUMBFORGE_REAL_COMFYUI", "http://127.0.0.1:8188")
        if folder := os.environ.get("THUMBFORGE_RECORD_INTO"):
            with Recorder(theirs, Path(folder) / f"{request.node.name}.json") as recorder:
                yield recorder.url
        else:
            yield theirs
        return
    monkeypatch.setattr(comfyui, "ASK_S", 0.005)
    with RecordedServer(Comfy()) as server:
        yield server.url


def provider(address: str, graph: dict[str, Any] = GRAPH, **params: Any) -> ComfyUIProvider:
    return ComfyUIProvider({"workflow": graph, "seed_bits": 24, "base_url": address, **params})


def attempt(tmp_path: Path, **changes: Any) -> Call:
    return replace(a_call(tmp_path), attempt_id=str(uuid.uuid4()), **changes)


def without_a_node() -> dict[str, Any]:
    graph = deepcopy(GRAPH)
    graph["5"] = {"class_type": "NoSuchNode", "inputs": {"images": ["1", 0]}}
    return graph


def test_a_job_becomes_a_picture(address: str, tmp_path: Path) -> None:
    """Of the profile's size, under the attempt's id; the same request again is drawn again, though it is cached."""
    for _ in range(2):
        call = attempt(tmp_path)
        found = provider(address).generate(a_request(), call)
        assert found.notes["prompt_id"] == call.attempt_id
        assert found.media_type == "image/png"
        assert Image.open(io.BytesIO(found.data)).size == (1344, 768)


def test_a_job_of_an_earlier_attempt_is_taken_up(address: str, tmp_path: Path) -> None:
    """By another process, from the id alone."""
    first = attempt(tmp_path)
    drawn = provider(address).generate(a_request(), first)
    found = provider(address).generate(a_request(), attempt(tmp_path, earlier=(first.attempt_id,)))
    assert found.notes["prompt_id"] == first.attempt_id
    assert found.data == drawn.data


def test_a_reference_is_uploaded_and_read(address: str, tmp_path: Path) -> None:
    """Under the name that the server gives it."""
    graph = deepcopy(GRAPH)
    graph["2"] = {"class_type": "LoadImage", "inputs": {"image": "{reference}"}}
    graph["3"] = {"class_type": "SaveImage", "inputs": {"images": ["2", 0], "filename_prefix": "other"}}
    hero = a_reference(tmp_path / "hero.png")
    found = provider(address, graph, output="9").generate(a_request(hero), attempt(tmp_path))
    assert not found.reference_ignored


def test_a_check_knows_the_server_and_what_it_lacks(address: str) -> None:
    """Its version, and each node that is not installed."""
    health = provider(address).check(Cancel())
    assert health.ok
    assert any(note.startswith("ComfyUI") for note in health.notes)
    assert "NoSuchNode" in provider(address, without_a_node(), output="9").check(Cancel()).problem


@pytest.mark.parametrize(
    ("graph", "params", "hint"),
    [(without_a_node(), {"output": "9"}, "install that custom node"), (GRAPH, {"seed_bits": 63}, "seed_bits: 24")],
)
def test_a_workflow_that_the_server_refuses_says_what_helps(
    address: str, tmp_path: Path, graph: dict[str, Any], params: dict[str, Any], hint: str
) -> None:
    """In the server's own words for a node that is missing, and for a number that is too large."""
    with pytest.raises(ProviderSetup) as caught:
        provider(address, graph, **params).generate(a_request(seed=2**40), attempt(tmp_path))
    assert hint in caught.value.hint


def test_what_is_recorded_is_what_was_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same picture, and a story with every exchange, without the address and the key."""
    monkeypatch.setattr(comfyui, "ASK_S", 0.005)
    monkeypatch.setenv("THUMBFORGE_COMFYUI_API_KEY", "a-secret-0123456789")
    with RecordedServer(Comfy()) as server, Recorder(server.url, tmp_path / "story.json") as recorder:
        monkeypatch.setenv("THUMBFORGE_COMFYUI_ORIGINS", recorder.url)
        found = provider(recorder.url).generate(a_request(), attempt(tmp_path))
    text = (tmp_path / "story.json").read_text()
    exchanges = json.loads(text)["exchanges"]
    picture = next(each["response"] for each in exchanges if each["request"]["path"].startswith("/view"))
    assert ("POST", "/prompt") in [(each["request"]["method"], each["request"]["path"]) for each in exchanges]
    assert base64.b64decode(picture["base64"]) == found.data
    assert "a-secret" not in text
    assert server.url.removeprefix("http://") not in text
