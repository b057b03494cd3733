"""Providers through the real command line: limits across processes, waits, refusals, Ctrl-C, and where a key is not."""

from __future__ import annotations

import base64
import json
import signal
import threading
from itertools import pairwise
from pathlib import Path

import pytest

from tests.project import Project, finish, make_project, wait_until
from tests.recorded_server import (
    Play,
    RecordedServer,
    Seen,
    answer,
    asking,
    in_turn,
    message,
    painted,
    raw,
    routed,
    stalled,
)
from tests.stubs.batch_kit import CALLS, KEYS, Service, over, over_agy
from tests.stubs.comfyui_kit import Comfy
from tests.tiers import soak
from thumbforge.providers import download

BUSY = answer({"error": {"message": f"slow down {' '.join(KEYS.values())}", "code": 429}}, 429, Retry_After="1")


# agy


@pytest.fixture
def with_agy(tmp_path: Path) -> Project:
    """Four items to be made by a stand-in for agy, which takes a third of a second for each."""
    return over_agy(tmp_path, 4, STUB_AGY_DELAY="0.3")


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


@pytest.mark.parametrize("name", ["openai", *soak("gemini", "comfyui")])
def test_a_wait_that_is_asked_for_is_kept_and_the_key_is_nowhere(tmp_path: Path, name: str) -> None:
    """429 on items 3 and 7 is waited for and all twelve are made; no file and no line holds the key."""
    with RecordedServer(Service(name, {"Lesson 3": BUSY, "Lesson 7": BUSY})) as server:
        project = over(tmp_path, server, name)
        told = project.batch("-n", "4", "--json")
        assert told.code == 0, told.err
        assert sum(seen.path.startswith(CALLS[name]) for seen in server.requests) == 14
    assert told.err.count("wait_s=1.0 ") == 2
    again = [project.run(*words) for words in (("runs", "list", "--json"), ("batch", "series=show", "--dry-run"))]
    said = "".join(each.out + each.err for each in [told, *again])
    files = b"".join(path.read_bytes() for path in project.root.rglob("*") if path.is_file())
    for key in KEYS.values():
        assert key not in said
        assert key.encode() not in files


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


@pytest.mark.parametrize("status", [403, 404])
def test_a_drawn_picture_that_is_not_handed_out_costs_its_tries_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """The item fails, the others are made; the next run draws it a last time, and then nothing is drawn any more."""
    monkeypatch.setattr(download, "PAUSE_S", 0)

    def drawn(seen: Seen) -> Play:
        name = "gone" if b"Lesson 2" in seen.body else "there"
        return answer({"data": [{"url": f"{server.url}/{name}.png"}]})

    routes = {"/v1": asking(drawn), "/gone.png": raw(message(status, b"expired")),
              "/there.png": asking(lambda _: raw(message(200, painted(len(server.requests)))))}  # fmt: skip
    with RecordedServer(routed(routes)) as server:
        project = over(tmp_path, server, "openai", count=3)
        first = project.batch("--json")
        assert first.document["summary"] == {"total": 3, "completed": 2, "failed": 1, "pending": 0}
        assert first.document["items"][1]["error"].startswith(f"output_missing: openai: HTTP {status}")
        assert [project.batch().code for _ in range(3)] == [6, 6, 6]
        assert server.paths().count("/v1/images/edits") == 4


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


def test_the_hint_of_an_items_error_is_told_wherever_the_error_is(tmp_path: Path) -> None:
    """In the table and under it, in `runs show`, in both JSONs and in the log; a later run that only repeats the
    failure tells it too."""
    refusal = answer({"error": {"message": "Rejected by our safety system.", "code": "moderation_blocked"}}, 400)
    service = Service("openai", {})

    def respond(seen: Seen) -> Play:
        return refusal if b"Lesson 2" in seen.body or b"Lesson 3" in seen.body else service(seen)

    with RecordedServer(respond) as server:
        project = over(tmp_path, server, "openai", count=3)
        told = project.batch()
        again = project.batch()
        stuck = project.batch("--json")
    line = "hint for part 2, 3: change its prompt"
    assert told.out.count(line) == again.out.count(line) == 1
    assert [item["hint"] for item in stuck.document["items"]] == [None, "change its prompt", "change its prompt"]
    assert all("hint" not in (item["error"] or "") for item in stuck.document["items"])
    run = told.out.split("run ", 1)[1].split()[0]
    assert project.run("runs", "show", run).out.count(line) == 1
    shown = project.run("runs", "show", run, "--json").document
    assert [each["hint"] for each in shown["iterations"]] == [None, "change its prompt", "change its prompt"]
    assert "change its prompt" in {each["hint"] for each in shown["attempts"]}
    log = (project.root / ".thumbforge" / "logs" / "thumbforge.jsonl").read_text()
    assert '"hint": "change its prompt"' in log or '"hint":"change its prompt"' in log


def test_a_job_that_a_killed_batch_left_on_the_server_is_taken_up(tmp_path: Path) -> None:
    """The ledger has its id: the server finishes it meanwhile, and the next batch fetches it and queues nothing."""
    comfy = Comfy(looks=10**9)
    with RecordedServer(comfy) as server:
        project = over(tmp_path, server, "comfyui", count=1)
        batch = project.start("batch", "series=show")
        wait_until(lambda: any(path.startswith("/history") for path in server.paths()))
        batch.kill()
        assert finish(batch, 20).code == -signal.SIGKILL
        (job,) = comfy.left
        comfy.left[job] = 0
        told = project.batch()
        assert told.code == 0, told.err
        assert server.paths().count("/prompt") == 1


def test_ctrl_c_counts_the_jobs_that_a_busy_server_may_keep(tmp_path: Path) -> None:
    """And says that the next run takes them up."""
    comfy = Comfy(looks=10**9)
    is_busy = threading.Event()

    def respond(seen: Seen) -> Play:
        return stalled() if is_busy.is_set() else comfy(seen)

    with RecordedServer(respond) as server:
        project = over(tmp_path, server, "comfyui", count=2)
        batch = project.start("batch", "series=show")
        wait_until(lambda: any(path.startswith("/history") for path in server.paths()))
        is_busy.set()
        batch.send_signal(signal.SIGINT)
        told = finish(batch, 20)
    assert told.code == 130
    host = server.url.removeprefix("http://")
    assert f"1 job may still be on the server at {host}; the next run takes it up." in told.out


# One line of a series


def test_one_line_switches_the_provider(tmp_path: Path) -> None:
    """From `local` to `openai` to `gemini`: the plan calls nobody, says what would be painted anew and what that costs,
    in the currency of each price; without a price it says that nobody knows; and back again nothing is to do."""
    with RecordedServer(Service("openai", {})) as server:
        project = over(tmp_path, server, "openai", count=3)
        project.profile(
            "gemini-2k", provider="gemini", params={"image_size": "2K"}, price={"amount": "0.1", "currency": "EUR"}
        )
        ends = {
            "paid": "3 items: 3 create; 3 provider calls, about 0.12 USD. Nothing was changed.",
            "gemini-2k": "3 items: 3 create; 3 provider calls, about 0.3 EUR. Nothing was changed.",
            "gemini": "3 items: 3 create; 3 provider calls of unknown price. Nothing was changed.",
            "local": "3 items: 3 skip; 0 provider calls. Nothing was changed.",
        }
        project.series("show", provider="local")
        assert project.batch().code == 0
        for name, end in ends.items():
            project.series("show", provider=name)
            told = project.batch("--dry-run")
            assert (told.code, told.out.splitlines()[-1]) == (0, end)
            assert name == "local" or told.out.count("provider profile: ") == 3
        assert server.requests == []


def test_a_provider_that_has_no_profile_says_how_to_write_one(tmp_path: Path) -> None:
    """Exit 3: `command` is no profile, and the hint has its lines."""
    told = make_project(tmp_path / "project", 1).batch("provider=command")
    assert (told.code, told.err.splitlines()[0]) == (3, "not_found: no provider profile `command`")
    assert "hint: command needs a profile, such as specs/providers/my-command.yaml with {" in told.err
