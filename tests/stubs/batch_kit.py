"""Projects whose batches are made by a stand-in for a service or a program, and what the stand-ins do."""

from __future__ import annotations

import base64
import re
import stat
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from tests.project import Project, make_project
from tests.recorded_server import Play, RecordedServer, Respond, Seen, answer, painted
from tests.stubs.comfyui_kit import PARAMS, Comfy

AGY = Path(__file__).parent / "agy.py"
KEY = "sk-test-SECRETSECRET-0123456789abcdef"
GEMINI_KEY = "AIzaTESTTESTTEST-0123456789abcdefghi"
COMFYUI_KEY = "hunter2-hunter2-hunter2"
KEYS = {
    "THUMBFORGE_OPENAI_API_KEY": KEY,
    "THUMBFORGE_GEMINI_API_KEY": GEMINI_KEY,
    "THUMBFORGE_COMFYUI_API_KEY": COMFYUI_KEY,
}
PATHS = {"openai": "/v1", "gemini": "/v1beta", "comfyui": ""}
CALLS = {"openai": "/v1/images/", "gemini": "/v1beta/models/", "comfyui": "/prompt"}
"""How the path begins of a request that asks for a picture."""


def over(tmp_path: Path, server: RecordedServer, name: str, count: int = 12) -> Project:
    """Items to be made by a provider that finds its service at `server`, at 0.04 USD each."""
    project = make_project(tmp_path / f"{name}-project", count, **KEYS, **server.origins)
    params = {"base_url": f"{server.url}{PATHS[name]}", **(PARAMS if name == "comfyui" else {})}
    project.profile("paid", provider=name, params=params, price={"amount": "0.04"})
    project.series("show", provider="paid")
    return project


def agy_in(home: Path) -> dict[str, str]:
    """A stand-in for agy in `home`, which writes down its calls in home/log; the environment that it wants."""
    home.mkdir()
    (home / "wide.jpg").write_bytes(painted("wide", size=(1376, 768), kind="JPEG"))
    program = home / "agy"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "{AGY}" "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"HOME": str(home), "STUB_AGY_LOG": str(home / "log"), "STUB_AGY_PICTURES": str(home)}


def over_agy(tmp_path: Path, count: int = 12, **environment: str) -> Project:
    """Items to be made by the stand-in for agy, one after the other."""
    home = tmp_path / "home"
    project = make_project(tmp_path / "project", count, **agy_in(home), **environment)
    project.profile("agy", provider="antigravity", params={"binary": str(home / "agy")})
    project.series("show", provider="agy")
    return project


class Service:
    """Draws for whoever asks; `first` is what it says to the first request whose prompt ends with these words."""

    def __init__(self, name: str, first: Mapping[str, Play]) -> None:
        self.name, self.first = name, dict(first)
        self.comfy = Comfy()
        self.lock = threading.Lock()

    def __call__(self, seen: Seen) -> Play:
        with self.lock:
            for words in list(self.first):
                if f"about {words}.".encode() in seen.body:
                    return self.first.pop(words)
        if self.name == "comfyui":
            return self.comfy(seen)
        data = base64.b64encode(painted(seen.body[-2000:])).decode()
        if self.name == "openai":
            return answer({"data": [{"b64_json": data}], "usage": {"total_tokens": 100}})
        return answer(
            {"candidates": [{"content": {"parts": [{"inlineData": {"mimeType": "image/png", "data": data}}]}}]}
        )


class Metered:
    """A service that draws `left` pictures and refuses the rest. `made` has the item of each that it drew."""

    def __init__(self, name: str, draw: Respond, refusal: Play, left: int) -> None:
        self.start, self.draw, self.refusal, self.left = CALLS[name], draw, refusal, left
        self.made: list[int] = []
        self.refused = 0
        self.lock = threading.Lock()

    def __call__(self, seen: Seen) -> Play:
        if not seen.path.startswith(self.start):
            return self.draw(seen)
        with self.lock:
            if self.left <= 0:
                self.refused += 1
                return self.refusal
            self.left -= 1
            self.made.append(item_of(seen.body))
        return self.draw(seen)


def item_of(said: bytes) -> int:
    """The item that a prompt is about."""
    found = re.search(rb"about Lesson (\d+)", said)
    assert found, "it is about no item"
    return int(found[1])
