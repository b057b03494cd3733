"""ComfyUI's own answers, as version 0.3.64 gave them: what each means to the adapter."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.recorded_server import Play, RecordedServer, Respond, Seen, answer, routed
from tests.stubs.comfyui_kit import ROUTES, provider_at
from thumbforge.cancel import Cancel
from thumbforge.errors import OutputMissing, ProviderError, ProviderSetup, ProviderTransient, UsageError
from thumbforge.pixels.kinds import media_type
from thumbforge.providers.comfyui import errors
from thumbforge.providers.comfyui.adapter import ComfyUIProvider
from thumbforge.providers.comfyui.server import Server
from thumbforge.providers.comfyui.workflow import Workflow
from thumbforge.providers.service import Service
from thumbforge.testing import a_call, a_reference, a_request
from thumbforge.web.http import Reply

NO_GRAPH = Workflow({}, {}, "")
STORIES = Path(__file__).parent / "data" / "recorded" / "comfyui"


def steps(story: str) -> list[dict[str, Any]]:
    """Its exchanges, in order."""
    return [each for each in json.loads((STORIES / f"{story}.json").read_text())["exchanges"] if "request" in each]


def step(story: str, note: str) -> dict[str, Any]:
    return next(each for each in steps(story) if each["note"] == note)


def jobs(story: str) -> Iterator[tuple[str, dict[str, Any], Workflow]]:
    """(note of the step before, record, workflow) of each job whose history was asked for."""
    before = ""
    for each in steps(story):
        document = each["response"].get("json")
        for record in document.values() if isinstance(document, dict) else ():
            if isinstance(record, dict) and "outputs" in record:
                yield before, record, Workflow(record["prompt"][2], {}, "9")
        before = each.get("note", "")


def test_a_picture_that_was_saved_is_found_also_where_the_graph_was_cached() -> None:
    """A server that has seen the graph draws nothing and tells the outputs all the same."""
    for story in ("save", "batch", "cached"):
        for note, record, workflow in jobs(story):
            assert errors.ended(record, workflow, "") is None, note
            assert workflow.saved(record)[0]["filename"].startswith("tf_"), note
    picture = next(each["response"] for each in steps("save") if each["request"]["path"].startswith("/view"))
    assert media_type(base64.b64decode(picture["base64"])) == "image/png"


@pytest.mark.parametrize("story", ["websocket_save", "preview"])
def test_every_job_tells_of_its_cache_and_none_of_these_is_told_as_cached(story: str) -> None:
    """`execution_cached` is always there; a job whose node keeps nothing is never worth another drawing."""
    found = list(jobs(story))
    assert found
    for note, record, workflow in found:
        assert errors.ended(record, workflow, "") is None
        assert not workflow.saved(record)
        error = errors.no_picture(record, workflow)
        assert type(error) is OutputMissing
        if "9" not in str(record["status"]["messages"][1][1]["nodes"]):
            assert "cache" not in error.message, note
            assert not error.retryable, note


@pytest.mark.parametrize("story", ["websocket_save", "preview"])
@pytest.mark.parametrize("output", ["9", ""])
def test_a_node_that_keeps_nothing_is_refused_when_the_profile_is_read(story: str, output: str) -> None:
    """Named as `output`, or the only one: no picture could ever be fetched."""
    graph = steps(story)[0]["request"]["json"]["prompt"]
    graph["1"]["inputs"] |= {"color": "{seed}", "words": "{prompt}"}
    with pytest.raises(UsageError) as caught:
        ComfyUIProvider({"workflow": graph, **({"output": output} if output else {})})
    assert graph["9"]["class_type"] in caught.value.message


def refused(note: str) -> ProviderError:
    told = step("validation", note)
    body = json.dumps(told["response"]["json"]).encode()
    workflow = Workflow(told["request"]["json"]["prompt"], {"seed": "1.color"}, "") if "seed" in note else NO_GRAPH
    return errors.failure(Reply(told["response"]["status"], {}, body), workflow, "")


@pytest.mark.parametrize(
    ("note", "says", "hint"),
    [
        ("a node that is not installed", "NoSuchNode", "install that custom node"),
        ("the export of the page, not of the API", "class_type", "Export (API)"),
        ("no class_type", "class_type", "Export (API)"),
        ("a 48 bit seed in a 24 bit input", "16777215", "seed_bits: 24"),
        ("a value above its max", "width: Value 99999", "run the workflow"),
        ("a model that is not there, and a link of the wrong type", "nosuch.safetensors", "models folder"),
        ("no output node", "no outputs", "add a node"),
    ],
)
def test_a_refused_workflow_says_what_is_wrong_and_what_helps(note: str, says: str, hint: str) -> None:
    """It would be refused for every item."""
    error = refused(note)
    assert type(error) is ProviderSetup
    assert says in error.message
    assert hint in error.hint


def test_every_refusal_of_a_workflow_meets_every_item() -> None:
    """All 400 of the validation."""
    told = [each for each in steps("validation") if each["response"]["status"] == 400]
    assert len(told) == 17
    for each in told:
        assert type(refused(each["note"])) is ProviderSetup, each["note"]


def test_a_job_that_broke_names_its_node_unless_the_picture_is_there() -> None:
    """Another branch may break after the wanted one has saved."""
    found = [(record, workflow) for _, record, workflow in jobs("node_error")]
    outcomes = [(bool(workflow.saved(record)), errors.ended(record, workflow, "")) for record, workflow in found]
    assert [saved for saved, _ in outcomes] == [False, False, True]
    assert [error is None for _, error in outcomes] == [False, False, True]
    assert all("node 1" in str(error) or "node 2" in str(error) for _, error in outcomes if error)


def test_an_interrupted_job_is_no_failure_of_the_workflow() -> None:
    """Its status says "error"; only a message tells it from one."""
    ended = [errors.ended(record, workflow, "") for _, record, workflow in jobs("interrupt")]
    assert ProviderTransient in [type(error) for error in ended]
    assert {type(error) for error in ended} <= {ProviderTransient, type(None)}


def served(story: str) -> Respond:
    """What was said to this method and path, each time the next, and the last for ever."""
    told: dict[tuple[str, str], list[Any]] = {}
    for each in steps(story):
        request, response = each["request"], each["response"]
        if "json" in response and response["json"] is not None:
            told.setdefault((request["method"], request["path"].partition("?")[0]), []).append(response)

    def respond(seen: Seen) -> Play:
        left = told.get((seen.method, seen.path), [{"status": 200, "json": {}}])
        said = left.pop(0) if len(left) > 1 else left[0]
        return answer(said["json"], said["status"])

    return respond


def server_of(recorded: RecordedServer) -> Server:
    return Server(Service("comfyui", recorded.url, recorded.url, (), "", needs_key=False), NO_GRAPH)


def test_where_a_job_is_follows_the_queue_that_is_told() -> None:
    """Waiting ones stand in any order; a running one that is interrupted goes on running for a while; one that was
    taken out looks like one that was never known."""
    queued = [
        each for each in steps("queue") if (each["request"]["method"], each["request"]["path"]) == ("POST", "/prompt")
    ]
    running, waiting, _, front = [each["response"]["json"]["prompt_id"] for each in queued]
    with RecordedServer(served("queue")) as recorded:
        server = server_of(recorded)
        assert server.place(running, Cancel()) == "running"
        assert [server.place(job, Cancel()) for job in (waiting, front)] == ["", "pending"]
        assert server.job(waiting, Cancel()) is None
        assert not server.has(waiting, Cancel())


def test_a_job_that_the_history_forgot_is_not_known() -> None:
    """And memory that is freed answers nothing, which is no fault."""
    with RecordedServer(served("history")) as recorded:
        server = server_of(recorded)
        [job] = step("history", "the newest")["response"]["json"]
        assert server.job(job, Cancel()) is None
        server.free_memory(Cancel())
        assert recorded.paths()[-1] == "/free"


@pytest.mark.parametrize(
    ("note", "name"),
    [
        ("the same name, other bytes: another name comes back", "tf_hero_2c67a8b6 (1).png"),
        ("into a subfolder", "tf/tf_hero_2c67a8b6.png"),
    ],
)
def test_a_reference_is_named_as_the_server_kept_it(note: str, name: str, tmp_path: Path) -> None:
    """From the upload story: in the workflow stands what came back."""
    kept = answer(step("upload", note)["response"]["json"])
    with RecordedServer(routed({**ROUTES, "/upload/image": kept, "/history": answer({})})) as recorded:
        provider = provider_at(recorded.url)
        sent = provider._values(a_request(a_reference(tmp_path / "hero.png")), a_call(tmp_path))
    assert sent["reference"] == name


def test_a_check_reads_what_the_server_tells() -> None:
    """From the server story: its version, its nodes, and the values that an input may have."""
    graph = {
        "1": {"class_type": "EmptyImage", "inputs": {"color": "{seed}", "words": "{prompt}"}},
        "2": {"class_type": "ImageScale", "inputs": {"image": ["1", 0], "upscale_method": "bislerp"}},
        "9": {"class_type": "SaveImage", "inputs": {"images": ["2", 0], "filename_prefix": "x"}},
    }
    with RecordedServer(served("server")) as recorded:
        health = ComfyUIProvider({"workflow": graph, "base_url": recorded.url}).check(Cancel())
        assert health.notes[0] == "ComfyUI 0.3.64"
        assert health.problem == "the server lacks bislerp for upscale_method of ImageScale (node 2)"
        graph["3"] = {"class_type": "NoSuchNode", "inputs": {}}
        health = ComfyUIProvider({"workflow": graph, "base_url": recorded.url}).check(Cancel())
        assert health.problem == "the server has no node NoSuchNode"


def test_text_is_no_picture_and_an_animation_is_one() -> None:
    """From the story other_outputs."""
    found = [
        (workflow.saved(record), errors.no_picture(record, workflow)) for _, record, workflow in jobs("other_outputs")
    ]
    assert [bool(saved) for saved, _ in found] == [False, True]
    assert type(found[0][1]) is OutputMissing
