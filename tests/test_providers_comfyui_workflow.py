"""The provider `comfyui`: workflows filled in and refused, other answers, what a check asks, any answers at all."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.recorded_server import (
    Play,
    RecordedServer,
    Seen,
    answer,
    asking,
    in_turn,
    message,
    raw,
    recorded,
    routed,
)
from tests.stubs.comfyui_kit import JOB, PARAMS, ROUTES, WORKFLOW, Comfy, failed, provider_at
from thumbforge import ids
from thumbforge.cancel import Cancel
from thumbforge.errors import (
    OutputMissing,
    OutputUnusable,
    ProviderError,
    ProviderSetup,
    ProviderTransient,
    UsageError,
)
from thumbforge.providers import download
from thumbforge.providers.comfyui import server as comfyui
from thumbforge.providers.comfyui.adapter import ComfyUIProvider
from thumbforge.testing import ATTEMPT, a_call, a_reference, a_request
from thumbforge.web.http import Reply


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comfyui, "ASK_S", 0.005)
    monkeypatch.setattr(download, "PAUSE_S", 0)


# What is sent


def queued(tmp_path: Path, request: Any = None, **params: Any) -> dict[str, Any]:
    comfy = Comfy()
    with RecordedServer(comfy) as server:
        provider_at(server.url, **params).generate(request or a_request(), a_call(tmp_path))
    (job,) = comfy.jobs.values()
    return dict(job)


def test_the_workflow_is_filled_in(tmp_path: Path) -> None:
    """Placeholders get values, alone in their own type; `inputs` sets what cannot hold a placeholder; links stay."""
    hero = a_reference(tmp_path / "hero.png")
    job = queued(tmp_path, a_request(hero, negative_prompt="rain", seed=7))
    graph = job["prompt"]
    assert graph["6"]["inputs"]["text"] == "a calm picture, film grain"
    assert graph["7"]["inputs"]["text"] == "text, rain"
    assert graph["3"]["inputs"] == {"seed": 7, "positive": ["6", 0]}
    assert graph["5"]["inputs"] == {"width": 1344, "height": 768}
    assert graph["57:10"]["inputs"]["image"] == f"sent/thumbforge-{hero.sha256[:16]}-1536.jpg"
    assert graph["9"]["inputs"]["filename_prefix"].startswith("thumbforge_dQw4w9WgXcQ_")
    assert job["prompt_id"] == ATTEMPT
    assert job["client_id"]


def test_no_two_jobs_are_the_same_graph(tmp_path: Path) -> None:
    """A server answers a graph that it has seen with nothing, so the saved name is always another."""
    one, other = (queued(tmp_path)["prompt"]["9"]["inputs"]["filename_prefix"] for _ in range(2))
    assert one != other


def test_the_name_that_the_server_gives_is_used(tmp_path: Path) -> None:
    """A renamed upload is found."""
    routes = {**ROUTES, "/upload/image": recorded("comfy_upload_200_renamed.http")}
    with RecordedServer(routed(routes)) as server:
        provider_at(server.url).generate(a_request(a_reference(tmp_path / "hero.png")), a_call(tmp_path))
        job = next(seen.json for seen in server.requests if seen.path == "/prompt")
    assert job["prompt"]["57:10"]["inputs"]["image"] == "hero (1).png"


def test_words_are_never_placeholders(tmp_path: Path) -> None:
    """A prompt that says {seed} says just that."""
    job = queued(tmp_path, a_request(prompt="{seed} {prompt} {x}"))
    assert job["prompt"]["6"]["inputs"]["text"] == "{seed} {prompt} {x}, film grain"


def test_it_reads_what_the_workflow_uses() -> None:
    """A workflow without a place for the reference never repaints for another hero, and says that it is ignored."""
    plain = {node: entry for node, entry in WORKFLOW.items() if node not in ("57:10", "7")}
    provider = ComfyUIProvider({"workflow": plain})
    assert provider.capabilities.reads == {"prompt", "seed"}
    assert ComfyUIProvider(PARAMS).capabilities.reads == {"prompt", "negative_prompt", "seed", "reference"}


def test_a_reference_that_is_not_used_is_told(tmp_path: Path) -> None:
    """The answer says so, and nothing is uploaded."""
    plain = {node: entry for node, entry in WORKFLOW.items() if node != "57:10"}
    with RecordedServer(routed(ROUTES)) as server:
        found = provider_at(server.url, workflow=plain, inputs={}).generate(
            a_request(a_reference(tmp_path / "hero.png")), a_call(tmp_path)
        )
        assert "/upload/image" not in server.paths()
    assert found.reference_ignored


def changed(node: str, **inputs: Any) -> dict[str, Any]:
    graph = deepcopy(WORKFLOW)
    graph[node]["inputs"].update(inputs)
    return graph


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({}, "workflow is missing"),
        ({"workflow": {"nodes": [], "links": [], "version": 1}}, "Export (API)"),
        ({"workflow": {"1": {"inputs": {}}}}, "no node with class_type and inputs: 1"),
        ({"workflow": {"1": []}}, "no node with class_type and inputs: 1"),
        ({"workflow": changed("6", text="a cat")}, "no place for the prompt"),
        ({"workflow": changed("3", seed=1)}, "no place for the seed"),
        ({"workflow": changed("6", text="{promt} {prompt}")}, "unknown placeholder {promt}"),
        ({"workflow": WORKFLOW, "inputs": {"seed": "99.seed"}}, "'99.seed' is no input"),
        ({"workflow": WORKFLOW, "inputs": {"seed": "3.sead"}}, "'3.sead' is no input"),
        ({"workflow": WORKFLOW, "inputs": {"prompt": "3.positive"}}, "would cut the wire"),
        ({"workflow": WORKFLOW, "inputs": {"weather": "3.seed"}}, "unknown placeholder {weather}"),
        ({"workflow": WORKFLOW, "output": "99"}, "output '99' is no node"),
        ({"workflow": {k: v for k, v in WORKFLOW.items() if k != "9"}}, "name the wanted one as `output`"),
        ({"workflow": WORKFLOW, "size": "1344x760x"}, "size must be"),
        ({"workflow": WORKFLOW, "size": "1024x1024"}, "not about 16:9"),
    ],
)
def test_a_workflow_that_cannot_be_is_refused_when_the_profile_is_read(params: Any, says: str) -> None:
    """Before anything is sent, with what is wrong and where."""
    with pytest.raises(UsageError) as caught:
        ComfyUIProvider(params)
    assert says in caught.value.message


def test_several_problems_are_told_at_once() -> None:
    """One look is enough."""
    with pytest.raises(UsageError) as caught:
        ComfyUIProvider({"workflow": changed("6", text="{promt}"), "output": "99", "size": "1000x1000"})
    for part in ("{promt}", "no place for the prompt", "output '99'", "size 1000x1000"):
        assert part in caught.value.message


# Other answers


@pytest.mark.parametrize(
    ("routes", "error"),
    [
        ({"/prompt": answer({"error": "an old server's words", "node_errors": []}, 400)}, ProviderSetup),
        ({"/prompt": raw(message(404, b"<html>"))}, ProviderSetup),
        ({"/prompt": raw(message(200, b"<html>"))}, OutputUnusable),
        ({"/prompt": answer({"number": 1})}, ProviderError),
        ({"/prompt": answer({"prompt_id": "../../x"})}, ProviderError),
        ({"/history": answer([1])}, OutputUnusable),
        ({"/history": answer({JOB: {}})}, OutputMissing),
        ({"/history": answer({JOB: {"status": {"status_str": "error"}}})}, ProviderError),
        ({"/view": raw(message(200, b"<html>"))}, OutputUnusable),
        ({"/view": raw(message(404, b""))}, OutputMissing),
        ({"/view": raw(message(200, b""))}, OutputMissing),
    ],
)
def test_other_answers_are_never_success(tmp_path: Path, routes: Any, error: type[ProviderError]) -> None:
    """Pages of proxies, old servers, jobs without a record."""
    assert type(failed(routes, tmp_path)) is error


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    """With what to do about it."""
    with pytest.raises(ProviderTransient) as caught:
        ComfyUIProvider({**PARAMS, "base_url": "http://127.0.0.1:9"}).generate(a_request(), a_call(tmp_path))
    assert caught.value.hint.startswith("start ComfyUI")


def test_a_check_finds_missing_nodes() -> None:
    """Every class of the workflow is asked for; one that is not there would fail for every item."""
    known = {"KSampler", "CheckpointLoaderSimple", "EmptyLatentImage", "CLIPTextEncode", "SaveImage", "LoadImage"}

    def info(seen: Seen) -> Play:
        name = seen.path.rpartition("/")[2]
        return answer({name: {}} if name in known else {})

    stats = answer({"system": {"comfyui_version": "0.9"}, "devices": [{"name": "cuda:0"}]})
    with RecordedServer(routed({"/object_info/": asking(info), "/system_stats": stats})) as server:
        health = provider_at(server.url).check(Cancel())
        assert health.problem == "the server has no node PreviewImage"
        assert health.notes == ("ComfyUI 0.9", "cuda:0")
        known.add("PreviewImage")
        assert provider_at(server.url).check(Cancel()).ok


def loader(*files: str, is_new: bool = False) -> dict[str, Any]:
    """What a server says of a node that loads one of these, in its older or its newer way."""
    told = ["COMBO", {"options": list(files)}] if is_new else [list(files), {"tooltip": "x"}]
    return {"input": {"required": {"ckpt_name": told}}}


@pytest.mark.parametrize("is_new", [False, True])
def test_a_check_finds_missing_model_files(is_new: bool) -> None:
    """What the workflow names of a list that the server tells; a picture is uploaded, and words may be anything."""
    files = ["b.safetensors"]

    def info(seen: Seen) -> Play:
        name = seen.path.rpartition("/")[2]
        picture = {"input": {"required": {"image": [["c.png"], {"image_upload": True}]}}}
        return answer(
            {name: {"LoadImage": picture, "CheckpointLoaderSimple": loader(*files, is_new=is_new)}.get(name, {})}
        )

    stats = answer({"system": {"comfyui_version": "0.9"}})
    with RecordedServer(routed({"/object_info/": asking(info), "/system_stats": stats})) as server:
        health = provider_at(server.url).check(Cancel())
        assert health.problem == "the server lacks a.safetensors for ckpt_name of Load (node 4)"
        assert provider_at(server.url).models(Cancel()) == ("b.safetensors",)
        files.append("a.safetensors")
        assert provider_at(server.url).check(Cancel()).ok


def test_models_are_the_servers_checkpoints() -> None:
    """What `ckpt_name` may be."""
    info = {"CheckpointLoaderSimple": {"input": {"required": {"ckpt_name": [["a.safetensors", "b.safetensors"], {}]}}}}
    with RecordedServer(in_turn(answer(info))) as server:
        assert provider_at(server.url).models(Cancel()) == ("a.safetensors", "b.safetensors")


# Fuzz


FIELDS = st.sampled_from(
    ["prompt_id", "node_errors", "error", "type", "message", "outputs", "9", JOB, "images", "filename", "status",
     "status_str", "messages", "queue_running", "queue_pending", "errors", "dependent_outputs", "name"]
)  # fmt: skip


VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=10) | st.sampled_from([JOB, "success", "output", "execution_error"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=12,
)


BODIES = st.lists(
    st.binary(max_size=100) | VALUES.map(lambda value: json.dumps(value).encode()), min_size=1, max_size=6
)


class Parrot:
    """Says these in turn, then for ever that nothing is known."""

    provider = "comfyui"

    def __init__(self, status: int, bodies: list[bytes]) -> None:
        start = [] if status != 200 else [json.dumps({"prompt_id": JOB}).encode()]
        self.status, self.left = status, [*start, *bodies]

    def exchange(self, *_: Any, **__: Any) -> Reply:
        status, self.status = (200, 200) if self.left[1:] else (self.status, 200)
        return Reply(status, {}, self.left.pop(0) if self.left else b'{"queue_running": []}')


def _anything(tmp_path: Path, status: int, bodies: list[bytes]) -> None:
    provider = ComfyUIProvider(PARAMS)
    provider.service.http = Parrot(status, bodies)  # type: ignore[assignment]
    try:
        told = ids.canonical_json(dict(provider.generate(a_request(), a_call(tmp_path)).notes)).encode()
    except ProviderError as error:
        told = (error.message + error.hint).encode()
    assert b"\n" not in told


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(status=st.sampled_from([200, 400, 500]), bodies=BODIES)
def test_any_answers_are_a_picture_or_an_error(tmp_path: Path, status: int, bodies: list[bytes]) -> None:
    """No bytes make a traceback, an endless wait, or a stored thing that is no picture."""
    _anything(tmp_path, status, bodies)


@pytest.mark.soak
@settings(max_examples=5000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(status=st.sampled_from([200, 400, 500]), bodies=BODIES)
def test_any_answers_for_long(tmp_path: Path, status: int, bodies: list[bytes]) -> None:
    """The same, many times."""
    _anything(tmp_path, status, bodies)
