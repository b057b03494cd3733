"""The provider `comfyui`: the contract, recorded answers, lost and shared jobs, workflows that cannot be."""

from __future__ import annotations

import io
import json
import threading
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from PIL import Image

from tests.recorded_server import (
    RESPONSES,
    Play,
    RecordedServer,
    Seen,
    answer,
    asking,
    closed,
    in_turn,
    message,
    names,
    painted,
    raw,
    recorded,
    routed,
    stalled,
)
from tests.stubs.comfyui_kit import HISTORY, JOB, PARAMS, ROUTES, Comfy, failed, generated, provider_at
from thumbforge import models
from thumbforge.cancel import Cancel
from thumbforge.errors import (
    Interrupted,
    OutputMissing,
    ProviderAuth,
    ProviderError,
    ProviderSetup,
    ProviderTimeout,
    ProviderTransient,
)
from thumbforge.providers import download
from thumbforge.providers.base import Answer
from thumbforge.providers.comfyui import server as comfyui
from thumbforge.providers.retry import generate_with_retries
from thumbforge.testing import ATTEMPT, ProviderContract, a_call, a_request


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comfyui, "ASK_S", 0.005)
    monkeypatch.setattr(download, "PAUSE_S", 0)


class TestContract(ProviderContract):
    wrong_params: ClassVar = {"workflow": [1], "size": "1920x1080p", "sise": "x", "queue_limit_s": 0}
    cancelled_at = -1

    @pytest.fixture(autouse=True)
    def service(self) -> Iterator[None]:
        with RecordedServer(Comfy()) as server:
            params = {**PARAMS, "base_url": server.url}
            type(self).profile = models.Profile(name="comfyui", provider="comfyui", params=params)
            yield


# Every recorded answer


@dataclass(frozen=True)
class Right:
    """Where a recorded answer is served, and the error that index.json asks for; None where there is a picture."""

    at: str
    error: type[ProviderError] | None = None
    says: str = ""
    once_more: bool = False


RIGHT = {
    "comfy_prompt_200.http": Right("/prompt"),
    "comfy_prompt_200_partial_errors.http": Right("/prompt", ProviderSetup, "node 25"),
    "comfy_prompt_400_validation.http": Right("/prompt", ProviderSetup, "Load (node 4): ckpt_name: Value not in list"),
    "comfy_prompt_400_missing_node.http": Right("/prompt", ProviderSetup, "SomeCustomNode"),
    "comfy_prompt_400_ui_format.http": Right("/prompt", ProviderSetup, "Export (API)"),
    "comfy_history_success.http": Right("/history"),
    "comfy_history_success_many.http": Right("/history"),
    "comfy_history_cached_empty.http": Right("/history", OutputMissing, "in its cache", once_more=True),
    "comfy_history_error.http": Right("/history", ProviderError, "Sampler (node 3): torch.OutOfMemoryError", True),
    "comfy_history_interrupted.http": Right("/history", ProviderTransient, "interrupted"),
    "comfy_view_200_png.http": Right("/view"),
    "comfy_401_proxy.http": Right("/prompt", ProviderAuth, "HTTP 401"),
    "comfy_upload_200_renamed.http": Right("/upload/image"),
}


ELSEWHERE = {"comfy_queue_running.http", "comfy_view_200_cut.http", "comfy_ws_frames.jsonl"}


"""Those have tests of their own below."""


def test_every_recorded_answer_is_here() -> None:
    """No file is left out."""
    assert set(names("comfy_", (".http", ".jsonl"))) == RIGHT.keys() | ELSEWHERE


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_a_recorded_answer_has_its_right_outcome(tmp_path: Path, name: str) -> None:
    """A picture, or the one class of error that the index entry asks for."""
    right = RIGHT[name]
    if right.error is None:
        found = generated({right.at: recorded(name)}, tmp_path)
        assert Image.open(io.BytesIO(found.data)).size == (96, 54)
        return
    error = failed({right.at: recorded(name)}, tmp_path)
    assert type(error) is right.error
    assert right.says in error.message + error.hint
    assert error.once_more is right.once_more
    assert error.meets_every_item is isinstance(error, (ProviderAuth, ProviderSetup))


def test_a_running_job_is_waited_for(tmp_path: Path) -> None:
    """While the queue knows the job, an empty history is no end."""
    history = in_turn(answer({}), answer({}), answer({}), HISTORY)
    assert generated({"/history": asking(history)}, tmp_path).data


def test_a_cut_download_is_fetched_again_not_drawn_again(tmp_path: Path) -> None:
    """The picture exists; only its way here broke."""
    views = in_turn(recorded("comfy_view_200_cut.http"), recorded("comfy_view_200_png.http"))
    with RecordedServer(routed({**ROUTES, "/view": asking(views)})) as server:
        assert provider_at(server.url).generate(a_request(), a_call(tmp_path)).media_type == "image/png"
        assert server.paths().count("/prompt") == 1
        assert server.paths().count("/view") == 2
    error = failed({"/view": recorded("comfy_view_200_cut.http")}, tmp_path)
    assert type(error) is ProviderTransient


def test_the_web_socket_is_not_needed(tmp_path: Path) -> None:
    """Its frames may be another prompt's or stop coming; asking finds the end, so it is never opened."""
    frames = [json.loads(line) for line in (RESPONSES / "comfy_ws_frames.jsonl").read_text().splitlines()]
    assert any(frame.get("data", {}).get("prompt_id", "").startswith("9999") for frame in frames)
    history = in_turn(answer({}), answer({}), HISTORY)
    with RecordedServer(routed({**ROUTES, "/history": asking(history)})) as server:
        assert provider_at(server.url).generate(a_request(), a_call(tmp_path)).data
        assert not any(path.startswith("/ws") for path in server.paths())


def test_the_wanted_nodes_picture_is_taken_and_no_preview(tmp_path: Path) -> None:
    """Of several it is the first, and that there were more is written down."""
    with RecordedServer(routed({**ROUTES, "/history": recorded("comfy_history_success_many.http")})) as server:
        found = provider_at(server.url).generate(a_request(), a_call(tmp_path))
        view = next(seen for seen in server.requests if seen.path == "/view")
    assert dict(view.query) == {"filename": "thumbforge_00001_.png", "type": "output"}
    assert found.notes == {"prompt_id": JOB, "pictures": 2}
    another = failed({"/history": recorded("comfy_history_success_many.http")}, tmp_path, output="57:10")
    assert type(another) is OutputMissing


# Lost, shared and late jobs


def test_a_job_that_nobody_knows_is_lost(tmp_path: Path) -> None:
    """After a restart the history is empty: that is no success, and the same request may work again."""
    error = failed({"/history": answer({}), "/queue": answer({"queue_running": [], "queue_pending": []})}, tmp_path)
    assert type(error) is ProviderTransient
    assert "lost the job" in error.message


def test_a_job_that_ends_between_two_questions_is_not_lost(tmp_path: Path) -> None:
    """Neither in the history yet, nor in the queue any more: it is asked once more."""
    history = in_turn(answer({}), HISTORY)
    found = generated({"/history": asking(history), "/queue": answer({"queue_running": []})}, tmp_path)
    assert found.data


def test_a_server_that_comes_back_is_waited_for(tmp_path: Path) -> None:
    """A few questions without an answer are no end of a job."""
    history = in_turn(closed, raw(message(502, b"<html>")), closed, HISTORY)
    assert generated({"/history": asking(history)}, tmp_path).data


def test_a_server_that_stays_away_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for ever."""
    monkeypatch.setattr(comfyui, "GONE_S", 0.05)
    assert type(failed({"/history": closed}, tmp_path)) is ProviderTransient


def test_a_lost_answer_does_not_draw_twice(tmp_path: Path) -> None:
    """The job is queued under the attempt's id; a retry after a broken answer finds it and takes it up."""
    comfy = Comfy()

    def respond(seen: Seen) -> Play:
        play = comfy(seen)
        return closed if seen.path == "/prompt" else play

    with RecordedServer(respond) as server:
        outcome = generate_with_retries(
            provider_at(server.url), a_request(), a_call(tmp_path), base_s=0, on_try=lambda _: None
        )
    assert outcome.calls == 2
    assert list(comfy.jobs) == [ATTEMPT]
    assert server.paths().count("/prompt") == 1


def test_a_job_that_failed_is_queued_anew_under_another_id(tmp_path: Path) -> None:
    """The one more try after a full memory is a new job, and the server is asked to free memory before it."""
    broken = json.loads((RESPONSES / "comfy_history_error.http").read_bytes().partition(b"\r\n\r\n")[2])[JOB]
    jobs: list[str] = []

    def queue(seen: Seen) -> Play:
        jobs.append(seen.json["prompt_id"])
        return answer({"prompt_id": jobs[-1], "node_errors": {}})

    routes = {**ROUTES, "/prompt": asking(queue), "/history": asking(lambda _: answer({jobs[-1]: broken}))}
    with RecordedServer(routed(routes)) as server:
        with pytest.raises(ProviderError, match="OutOfMemory"):
            generate_with_retries(
                provider_at(server.url), a_request(), a_call(tmp_path), base_s=0, on_try=lambda _: None
            )
        assert server.paths().count("/free") == 2
    assert len(jobs) == len(set(jobs)) == 2
    assert jobs[0] == ATTEMPT
    assert str(uuid.UUID(jobs[1])) == jobs[1]


EARLIER = "99999999-2222-4333-8444-555555555555"


def after(earlier: Mapping[str, Any], tmp_path: Path) -> tuple[Answer, RecordedServer]:
    """What a call comes to that knows of an attempt whose process died; `earlier` is what is said of its job."""
    comfy = Comfy()

    def history(seen: Seen) -> Play:
        return earlier["history"] if EARLIER in seen.path else comfy(seen)

    routes = {"/history": asking(history), "/queue": asking(lambda _: earlier["queue"]), "/": asking(comfy)}
    if "view" in earlier:
        routes["/view"] = asking(lambda seen: earlier["view"] if EARLIER in seen.query["filename"] else comfy(seen))
    with RecordedServer(routed(routes)) as server:
        call = replace(a_call(tmp_path), earlier=(EARLIER,))
        return provider_at(server.url).generate(a_request(), call), server


NOTHING = answer({"queue_running": [], "queue_pending": []})
SAVED = {"filename": f"{EARLIER}.png", "subfolder": "", "type": "output"}
OVER = answer({EARLIER: {"outputs": {"9": {"images": [SAVED]}}, "status": {"status_str": "success"}}})
PICTURE = raw(message(200, painted("earlier"), Content_Type="image/png"))


def test_a_finished_job_of_a_killed_run_is_taken_up(tmp_path: Path) -> None:
    """Its id follows from the attempt, which the ledger has: nothing is queued."""
    found, server = after({"history": OVER, "queue": NOTHING, "view": PICTURE}, tmp_path)
    assert found.notes["prompt_id"] == EARLIER
    assert "/prompt" not in server.paths()


def test_a_job_of_a_killed_run_that_is_still_there_is_waited_for(tmp_path: Path) -> None:
    """Whether it is drawn or waits behind others."""
    for place in ("queue_running", "queue_pending"):
        history = in_turn(answer({}), answer({}), OVER)
        queue = answer({"queue_running": [], "queue_pending": [], place: [[1, EARLIER, {}, {}, []]]})
        routes = {"/history": asking(history), "/queue": queue, "/view": PICTURE}
        with RecordedServer(routed({**ROUTES, **routes})) as server:
            call = replace(a_call(tmp_path), earlier=(EARLIER,))
            assert provider_at(server.url).generate(a_request(), call).notes["prompt_id"] == EARLIER
            assert "/prompt" not in server.paths()


@pytest.mark.parametrize(
    "earlier",
    [
        {"history": answer({}), "queue": NOTHING},
        {"history": recorded("comfy_history_error.http"), "queue": NOTHING},
        {"history": answer({EARLIER: {"status": {"messages": [["execution_interrupted", {}]]}}}), "queue": NOTHING},
        {"history": OVER, "queue": NOTHING, "view": raw(message(404, b""))},
        {"history": OVER, "queue": NOTHING, "view": raw(message(200, b"<html>"))},
    ],
)
def test_a_job_of_a_killed_run_that_gives_no_picture_is_drawn_anew(tmp_path: Path, earlier: dict[str, Any]) -> None:
    """One that was taken off, broke, or whose picture is gone."""
    found, server = after(earlier, tmp_path)
    assert found.notes["prompt_id"] == ATTEMPT
    assert server.paths().count("/prompt") == 1


def test_ctrl_c_says_where_a_job_may_still_be(tmp_path: Path) -> None:
    """A server that is too busy to answer in time keeps it; one that takes it off leaves nothing to say."""
    for queue, is_left in ((stalled(), True), (answer({"queue_running": [[1, JOB]]}), False)):
        cancel = Cancel()
        routes = {"/history": answer({}), "/queue": asking(in_turn(answer({"queue_running": [[1, JOB]]}), queue))}
        with RecordedServer(routed({**ROUTES, **routes})) as server:
            timer = threading.Timer(0.3, cancel.set)
            timer.start()
            with pytest.raises(Interrupted) as caught:
                provider_at(server.url).generate(a_request(), a_call(tmp_path, cancel))
            assert (server.url.removeprefix("http://") in caught.value.left_behind) is is_left


def test_a_server_that_restarts_is_waited_for_before_a_job_is_queued(tmp_path: Path) -> None:
    """It was there before, so it is waited for; one that never answered is told at once."""
    comfy, gone = Comfy(), [closed, raw(message(502, b"")), closed]

    def respond(seen: Seen) -> Play:
        return gone.pop() if gone and len(server.requests) > 6 and seen.path == "/queue" else comfy(seen)

    with RecordedServer(respond) as server:
        provider = provider_at(server.url)
        for n in range(3):
            call = replace(a_call(tmp_path), attempt_id=f"1111111{n}-2222-4333-8444-555555555555")
            assert provider.generate(a_request(), call).data
    assert not gone


def in_flight(routes: Mapping[str, Any], tmp_path: Path, until: str) -> RecordedServer:
    """The server after a call that was cancelled when it had asked for the path `until`."""
    cancel, raised = Cancel(), []
    with RecordedServer(routed({**ROUTES, **routes})) as server:

        def run() -> None:
            try:
                provider_at(server.url).generate(a_request(), a_call(tmp_path, cancel))
            except BaseException as error:
                raised.append(type(error))

        worker = threading.Thread(target=run, daemon=True)
        worker.start()
        while until not in [path[: len(until)] for path in server.paths()]:
            worker.join(0.005)
        cancel.set()
        worker.join(1)
        assert not worker.is_alive()
    assert raised == [Interrupted]
    assert server.open == 0
    return server


@pytest.mark.parametrize(
    ("queue", "path", "body"),
    [
        ({"queue_running": [[1, JOB]], "queue_pending": []}, "/interrupt", {"prompt_id": JOB}),
        ({"queue_running": [[1, "other"]], "queue_pending": [[2, JOB]]}, "/queue", {"delete": [JOB]}),
    ],
)
def test_ctrl_c_takes_our_job_off_the_server(tmp_path: Path, queue: Any, path: str, body: Any) -> None:
    """A running one is interrupted, a waiting one deleted, nobody else's is touched; all within a second."""
    server = in_flight({"/history": answer({}), "/queue": answer(queue)}, tmp_path, "/history")
    told = [(seen.path, seen.json) for seen in server.requests if seen.method == "POST" and seen.path != "/prompt"]
    assert told == [(path, body)]


@pytest.mark.parametrize("routes", [{"/history": stalled()}, {"/prompt": stalled()}, {"/queue": stalled()}])
def test_ctrl_c_ends_a_call_whose_server_is_stuck(tmp_path: Path, routes: dict[str, Any]) -> None:
    """A server that does not answer holds nobody up."""
    in_flight({"/history": answer({}), **routes}, tmp_path, next(iter(routes)))


def test_the_time_runs_from_the_start_of_the_drawing(tmp_path: Path) -> None:
    """A drawing that takes too long is stopped; one that waits behind others is not late by that."""
    routes = {**ROUTES, "/history": answer({})}
    with RecordedServer(routed(routes)) as server:
        call = a_call(tmp_path)
        with pytest.raises(ProviderTimeout, match="not drawn in"):
            provider_at(server.url).generate(a_request(), type(call)(call.cancel, 0.05, "k", ATTEMPT, tmp_path))
        assert server.paths()[-1] == "/interrupt"
    pending = answer({"queue_running": [], "queue_pending": [[1, JOB]]})
    waiting = in_turn(*[pending] * 30, recorded("comfy_queue_running.http"))
    routes = {**ROUTES, "/history": asking(in_turn(*[answer({})] * 32, HISTORY)), "/queue": asking(waiting)}
    with RecordedServer(routed(routes)) as server:
        provider = provider_at(server.url)
        assert provider.generate(a_request(), type(call)(call.cancel, 0.3, "k", ATTEMPT, tmp_path)).data


def test_the_queue_has_a_limit_of_its_own(tmp_path: Path) -> None:
    """A server that is busy for hours is told as that."""
    pending = answer({"queue_running": [], "queue_pending": [[1, JOB]]})
    error = failed({"/history": answer({}), "/queue": pending}, tmp_path, queue_limit_s=1)
    assert type(error) is ProviderTimeout
    assert "queue" in error.message
