"""Providers through the real command line: limits across processes, waits, refusals, Ctrl-C, and where a key is not."""

from __future__ import annotations

import base64
import json
import signal
import stat
import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.project import Project, finish, make_project, wait_until
from tests.recorded_server import Play, RecordedServer, Seen, answer, in_turn, message, painted, raw, stalled

STUB = Path(__file__).parent / "stubs" / "agy.py"
KEY = "sk-test-SECRETSECRET-0123456789abcdef"
GEMINI_KEY = "AIzaTESTTESTTEST-0123456789abcdefghi"


# agy


@pytest.fixture
def with_agy(tmp_path: Path) -> Project:
    """Four items to be made by a stand-in for agy, which takes a third of a second for each."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "wide.jpg").write_bytes(painted("wide", size=(1376, 768), kind="JPEG"))
    program = home / "agy"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "{STUB}" "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    project = make_project(
        tmp_path / "project", 4, HOME=str(home), STUB_AGY_LOG=str(home / "log"), STUB_AGY_PICTURES=str(home),
        STUB_AGY_DELAY="0.3",
    )  # fmt: skip
    project.profile("agy", provider="antigravity", params={"binary": str(program)})
    return project


def intervals(project: Project) -> list[tuple[float, float]]:
    lines = (project.root.parent / "home" / "log").read_text().splitlines()
    return sorted((call["start_ms"], call["end_ms"]) for call in map(json.loads, lines))


def overlaps(found: list[tuple[float, float]]) -> int:
    return sum(later[0] < earlier[1] for earlier, later in pairwise(found))


def test_agy_runs_alone_also_with_two_batches(with_agy: Project) -> None:
    """-n 4 twice at once: its own log shows one call after the other."""
    with_agy.playlist([{"video": f"other-{n:05d}", "title": f"Other {n}", "part": n} for n in range(1, 4)], "other")
    with_agy.series("other", playlist="other", provider="agy")
    with_agy.series("show", provider="agy")
    batches = [with_agy.start("batch", f"series={name}", "-n", "4") for name in ("show", "other")]
    told = [finish(batch) for batch in batches]
    assert [each.code for each in told] == [0, 0], [each.err for each in told]
    found = intervals(with_agy)
    assert len(found) == 7
    assert overlaps(found) == 0


def test_agy_runs_twice_where_the_profile_says_so(with_agy: Project) -> None:
    """With max_concurrency 2 calls overlap."""
    binary = str(with_agy.root.parent / "home" / "agy")
    with_agy.profile("agy", provider="antigravity", params={"binary": binary}, max_concurrency=2)
    with_agy.series("show", provider="agy")
    assert with_agy.batch("-n", "4").code == 0
    assert overlaps(intervals(with_agy)) > 0


# HTTP


def over(tmp_path: Path, server: RecordedServer, name: str, count: int = 12) -> Project:
    path = {"openai": "/v1", "gemini": "/v1beta"}[name]
    keys = {"THUMBFORGE_OPENAI_API_KEY": KEY, "THUMBFORGE_GEMINI_API_KEY": GEMINI_KEY}
    project = make_project(tmp_path / f"{name}-project", count, **keys)
    project.profile("paid", provider=name, params={"base_url": f"{server.url}{path}"}, price={"amount": "0.04"})
    project.series("show", provider="paid")
    return project


class Service:
    """Draws for whoever asks; `first` is what it says to the first request whose prompt ends with these words."""

    def __init__(self, name: str, first: dict[str, Play]) -> None:
        self.name, self.first = name, dict(first)
        self.lock = threading.Lock()

    def __call__(self, seen: Seen) -> Play:
        with self.lock:
            for words in list(self.first):
                if f"about {words}.".encode() in seen.body:
                    return self.first.pop(words)
        data = base64.b64encode(painted(seen.body[-2000:])).decode()
        if self.name == "openai":
            return answer({"data": [{"b64_json": data}], "usage": {"total_tokens": 100}})
        return answer(
            {"candidates": [{"content": {"parts": [{"inlineData": {"mimeType": "image/png", "data": data}}]}}]}
        )


BUSY = answer({"error": {"message": f"slow down {KEY} {GEMINI_KEY}", "code": 429}}, 429, Retry_After="0")


@pytest.mark.parametrize("name", ["openai", "gemini"])
def test_a_wait_that_is_asked_for_is_kept_and_the_key_is_nowhere(tmp_path: Path, name: str) -> None:
    """429 on items 3 and 7 is waited for and all twelve are made; no file and no line holds the key."""
    with RecordedServer(Service(name, {"Lesson 3": BUSY, "Lesson 7": BUSY})) as server:
        project = over(tmp_path, server, name)
        told = project.batch("-n", "4", "--json")
        assert told.code == 0, told.err
        assert len(server.requests) == 14
    again = [project.run(*words) for words in (("runs", "list", "--json"), ("batch", "series=show", "--dry-run"))]
    said = "".join(each.out + each.err for each in [told, *again])
    files = b"".join(path.read_bytes() for path in project.root.rglob("*") if path.is_file())
    for key in (KEY, GEMINI_KEY):
        assert key not in said
        assert key.encode() not in files


def test_a_refusal_fails_its_item_alone_and_is_not_tried_again(tmp_path: Path) -> None:
    """The other items are made; exit 6."""
    refused: Any = {"error": {"message": "no", "code": "moderation_blocked"}}
    with RecordedServer(Service("openai", {"Lesson 2": answer(refused, 400)})) as server:
        project = over(tmp_path, server, "openai", count=4)
        told = project.batch("--json")
        assert len(server.requests) == 4
    assert told.code == 6
    failed = [item for item in told.document["items"] if item["status"] == "failed"]
    assert [item["part"] for item in failed] == [2]
    assert failed[0]["error"].startswith("provider_refused: ")


def test_a_picture_that_is_cut_is_not_stored(tmp_path: Path) -> None:
    """It looked like one until it was decoded in full."""
    half = base64.b64encode(painted("x")[:-3000]).decode()
    with RecordedServer(in_turn(answer({"data": [{"b64_json": half}]}))) as server:
        project = over(tmp_path, server, "openai", count=1)
        told = project.batch("--json")
    assert told.code == 4
    assert told.document["items"][0]["error"].startswith("output_unusable: ")
    assert project.out() == []


@pytest.mark.parametrize("play", [stalled(), raw(message(200, b"x" * 10)[:-5])])
def test_an_unclear_call_is_tried_at_most_once_more(tmp_path: Path, play: Play) -> None:
    """A time-out or a broken answer of a paid call: two calls, both perhaps billed."""
    with RecordedServer(in_turn(play)) as server:
        project = over(tmp_path, server, "openai", count=1)
        params = {"base_url": f"{server.url}/v1"}
        project.profile("paid", provider="openai", params=params, timeout_s=1, price={"amount": "0.04"})
        assert project.batch().code == 4
        assert len(server.requests) == 2
    assert [tuple(row) for row in project.query("SELECT calls, perhaps_billed FROM attempt WHERE calls > 0")] == [
        (2, 2)
    ]


def test_ctrl_c_ends_four_calls_in_flight(tmp_path: Path) -> None:
    """The run is paused, exit 130, and no connection is left."""
    with RecordedServer(in_turn(stalled())) as server:
        project = over(tmp_path, server, "openai", count=8)
        batch = project.start("batch", "series=show", "-n", "4")
        wait_until(lambda: len(server.requests) >= 4)
        batch.send_signal(signal.SIGINT)
        told = finish(batch, 20)
        assert told.code == 130, told.err
        wait_until(lambda: server.open == 0)
        assert len(server.requests) == 4
    assert [row["status"] for row in project.query("SELECT status FROM run WHERE kind = 'batch'")] == ["paused"]
