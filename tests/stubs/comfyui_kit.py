"""A ComfyUI server in small, and what the tests of the provider `comfyui` share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.recorded_server import (
    Play,
    RecordedServer,
    Seen,
    answer,
    message,
    painted,
    raw,
    recorded,
    routed,
)
from thumbforge import ids
from thumbforge.errors import ProviderError
from thumbforge.providers.base import Answer
from thumbforge.providers.comfyui.adapter import ComfyUIProvider
from thumbforge.testing import a_call, a_request

RECORDED = Path(__file__).parents[1] / "data" / "recorded" / "comfyui"
JOB = "11111111-2222-3333-4444-555555555555"


"""The job of the recorded answers."""


WORKFLOW: dict[str, Any] = {
    "3": {"class_type": "KSampler", "inputs": {"seed": "{seed}", "positive": ["6", 0]}, "_meta": {"title": "Sampler"}},
    "4": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "a.safetensors"}, "_meta": {"title": "Load"}},
    "5": {"class_type": "EmptyLatentImage", "inputs": {"width": "{width}", "height": 768}},
    "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "{prompt}, film grain"}},
    "7": {"class_type": "CLIPTextEncode", "inputs": {"text": "text, {negative_prompt}"}},
    "9": {"class_type": "SaveImage", "inputs": {"images": ["3", 0], "filename_prefix": "mine"}},
    "57:10": {"class_type": "LoadImage", "inputs": {"image": "example.png"}, "_meta": {"title": "Hero"}},
    "12": {"class_type": "PreviewImage", "inputs": {"images": ["3", 0]}},
}


PARAMS = {"workflow": WORKFLOW, "inputs": {"height": "5.height", "reference": "Hero.image"}}


@cache
def recorded_json(story: str, note: str) -> Any:
    """What the real server said at this step of a recorded story."""
    steps = json.loads((RECORDED / f"{story}.json").read_text())["exchanges"]
    return next(step["response"]["json"] for step in steps if step.get("note") == note)


@dataclass
class Comfy:
    """A ComfyUI server in small: it queues, draws what the graph decides, and knows its jobs. It speaks in the shapes
    of version 0.3.64, from tests/data/recorded/comfyui."""

    looks: int = 1
    """Questions until a job is done."""
    jobs: dict[str, Any] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)
    uploads: dict[str, bytes] = field(default_factory=dict)

    def __call__(self, seen: Seen) -> Play:
        routes = {
            "/upload/image": self._upload,
            "/prompt": self._prompt,
            "/history/": self._history,
            "/queue": self._queue,
            "/view": self._view,
            "/system_stats": lambda _: answer({"system": {"comfyui_version": "0.3.64"}, "devices": [{"name": "cpu"}]}),
            "/object_info/": self._object_info,
        }
        start = next(start for start in routes if seen.path.startswith(start))
        return routes[start](seen)

    def _upload(self, seen: Seen) -> Play:
        name = seen.body.partition(b'filename="')[2].partition(b'"')[0].decode()
        self.uploads[name] = seen.body[seen.body.index(b"\xff\xd8\xff") :]
        return answer({"name": name, "subfolder": "sent", "type": "input"})

    def _prompt(self, seen: Seen) -> Play:
        graph = seen.json["prompt"]
        if any(node["class_type"] == "NoSuchNode" for node in graph.values()):
            return answer(recorded_json("validation", "a node that is not installed"), 400)
        if any(node["inputs"].get("color", 0) > 0xFFFFFF for node in graph.values()):
            return answer(recorded_json("validation", "a 48 bit seed in a 24 bit input"), 400)
        job = seen.json["prompt_id"]
        self.jobs[job], self.left[job] = seen.json, self.looks
        return answer({"prompt_id": job, "number": 1, "node_errors": {}})

    def _history(self, seen: Seen) -> Play:
        job = seen.path.rpartition("/")[2]
        if job not in self.jobs:
            return answer({})
        self.left[job] -= 1
        if self.left[job] > 0:
            return answer({})
        saved = {"filename": f"{job}.png", "subfolder": "", "type": "output"}
        [record] = deepcopy(recorded_json("save", "after")).values()
        record["prompt"][1:3] = job, self.jobs[job]["prompt"]
        return answer({job: {**record, "outputs": {"9": {"images": [saved]}}}})

    def _object_info(self, seen: Seen) -> Play:
        name = seen.path.rpartition("/")[2]
        return answer({} if name == "NoSuchNode" else {name: {}})

    def _queue(self, seen: Seen) -> Play:
        return answer({"queue_running": [[1, job, {}, {}, []] for job in self.jobs], "queue_pending": []})

    def _view(self, seen: Seen) -> Play:
        graph = deepcopy(self.jobs[seen.query["filename"].removesuffix(".png")]["prompt"])
        graph["9"]["inputs"].pop("filename_prefix")
        [size] = [(n["inputs"]["width"], n["inputs"]["height"]) for n in graph.values() if "width" in n["inputs"]]
        return raw(message(200, painted(ids.canonical_json(graph), size=size), Content_Type="image/png"))


def provider_at(url: str, **params: Any) -> ComfyUIProvider:
    return ComfyUIProvider({**PARAMS, "base_url": url, **params})


HISTORY = recorded("comfy_history_success.http")
ROUTES: dict[str, Any] = {
    "/upload/image": answer({"name": "hero.png", "subfolder": "", "type": "input"}),
    "/prompt": recorded("comfy_prompt_200.http"),
    "/history": HISTORY,
    "/queue": recorded("comfy_queue_running.http"),
    "/view": recorded("comfy_view_200_png.http"),
    "/interrupt": answer({}),
    "/free": answer({}),
}


def generated(routes: Mapping[str, Any], tmp_path: Path, request: Any = None, **params: Any) -> Answer:
    with RecordedServer(routed({**ROUTES, **routes})) as server:
        return provider_at(server.url, **params).generate(request or a_request(), a_call(tmp_path))


def failed(routes: Mapping[str, Any], tmp_path: Path, **params: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        generated(routes, tmp_path, **params)
    assert "\n" not in caught.value.message
    return caught.value
