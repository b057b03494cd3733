"""The provider `sdwebui`: the contract, what is sent, what each answer means, Ctrl-C on a server that others share."""

from __future__ import annotations

import base64
import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from PIL import Image

from tests.recorded_server import Play, RecordedServer, Respond, Seen, answer, asking, message, painted, raw, routed
from thumbforge import models
from thumbforge.cancel import Cancel
from thumbforge.errors import (
    Interrupted,
    OutputMissing,
    OutputUnusable,
    ProviderAuth,
    ProviderBadRequest,
    ProviderError,
    ProviderSetup,
    ProviderTransient,
    UsageError,
)
from thumbforge.providers.health import health_of
from thumbforge.providers.sdwebui.adapter import SDWebUIProvider
from thumbforge.testing import ATTEMPT, ProviderContract, a_call, a_reference, a_request

PNG = painted("a picture")
CHECKPOINTS = [{"title": "sd_xl_base_1.0.safetensors [31e35c80fc]", "model_name": "sd_xl_base_1.0"}, {"title": 7}]


def drawn(*pictures: bytes, **more: Any) -> Play:
    """As the web UI answers: `info` is JSON in a text."""
    info = json.dumps({"seed": 7, "sd_model_name": "sd_xl_base_1.0"})
    return answer({"images": [base64.b64encode(each).decode() for each in pictures], "info": info, **more})


def painter(seen: Seen) -> Play:
    """The picture that the request decides, but for the name of the call."""
    fields = {name: value for name, value in seen.json.items() if name != "force_task_id"}
    return drawn(painted(seen.path, sorted(fields.items())))


ROUTES: dict[str, Play | Respond] = {
    "/sdapi/v1/txt2img": asking(painter),
    "/sdapi/v1/img2img": asking(painter),
    "/sdapi/v1/sd-models": answer(CHECKPOINTS),
    "/sdapi/v1/samplers": answer([{"name": "DPM++ 2M"}, {"name": "Euler a"}]),
    "/sdapi/v1/options": answer({"sd_model_checkpoint": "sd_xl_base_1.0.safetensors [31e35c80fc]"}),
}


def provider_at(server: RecordedServer, **params: Any) -> SDWebUIProvider:
    return SDWebUIProvider({"base_url": server.url, **params})


class TestContract(ProviderContract):
    wrong_params: ClassVar = {"size": "1920x1080p", "cfg_scale": "high", "stepps": 3, "extra": [1]}
    cancelled_at = -1

    @pytest.fixture(autouse=True)
    def service(self) -> Iterator[None]:
        with RecordedServer(routed(ROUTES)) as server:
            params = {"base_url": server.url}
            type(self).profile = models.Profile(name="sdwebui", provider="sdwebui", params=params)
            yield


# What is sent


def sent(tmp_path: Path, request: Any = None, **params: Any) -> Seen:
    with RecordedServer(routed(ROUTES)) as server:
        provider_at(server, **params).generate(request or a_request(), a_call(tmp_path))
        return server.requests[0]


def test_words_become_a_picture_of_the_profiles_size(tmp_path: Path) -> None:
    """The fields that every server with this API knows; one picture, named by the attempt."""
    seen = sent(tmp_path, a_request(negative_prompt="rain", seed=7))
    assert (seen.method, seen.path) == ("POST", "/sdapi/v1/txt2img")
    assert seen.json == {
        "prompt": "a calm picture", "negative_prompt": "rain", "width": 1344, "height": 768, "seed": 7, "steps": 30,
        "cfg_scale": 7.0, "batch_size": 1, "n_iter": 1, "force_task_id": ATTEMPT,
    }  # fmt: skip
    assert "authorization" not in seen.headers


def test_what_a_profile_says_goes_along(tmp_path: Path) -> None:
    """The checkpoint beside other overridden settings; scripts such as ControlNet in `extra`."""
    extra = {"scheduler": "Karras", "override_settings": {"CLIP_stop_at_last_layers": 2}}
    seen = sent(tmp_path, checkpoint="sd_xl_base_1.0", sampler="DPM++ 2M", steps=20, cfg_scale=5, extra=extra)
    assert seen.json["override_settings"] == {"CLIP_stop_at_last_layers": 2, "sd_model_checkpoint": "sd_xl_base_1.0"}
    assert [seen.json[name] for name in ("scheduler", "sampler_name", "steps", "cfg_scale")] == [
        "Karras", "DPM++ 2M", 20, 5,
    ]  # fmt: skip


def test_the_hero_is_what_is_drawn_over(tmp_path: Path) -> None:
    """As the first picture of image to image, RGB in JPEG, in its own shape."""
    seen = sent(tmp_path, a_request(a_reference(tmp_path / "hero.png")), denoising_strength=0.6)
    assert seen.path == "/sdapi/v1/img2img"
    assert (seen.json["denoising_strength"], seen.json["resize_mode"]) == (0.6, 1)
    [encoded] = seen.json["init_images"]
    with Image.open(io.BytesIO(base64.b64decode(encoded))) as shown:
        assert (shown.format, shown.mode, shown.size) == ("JPEG", "RGB", (320, 180))


def test_a_reference_can_be_kept_at_home(tmp_path: Path) -> None:
    """`reference: ignore` sends no picture, says so, and never repaints for another hero."""
    hero = a_reference(tmp_path / "hero.png")
    with RecordedServer(routed(ROUTES)) as server:
        provider = provider_at(server, reference="ignore")
        assert provider.generate(a_request(hero), a_call(tmp_path)).reference_ignored
        assert server.paths() == ["/sdapi/v1/txt2img"]
    assert not provider.capabilities.takes_reference


@pytest.mark.parametrize(
    ("key", "header"), [("user:word", "Basic dXNlcjp3b3Jk"), ("a-token-of-a-proxy", "Bearer a-token-of-a-proxy")]
)
def test_a_key_is_a_user_and_a_word_or_a_token(
    key: str, header: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As --api-auth wants it, or a proxy in front."""
    monkeypatch.setenv("THUMBFORGE_SDWEBUI_API_KEY", key)
    assert sent(tmp_path).headers["authorization"] == header


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"size": "1024x1024"}, "about 16:9"),
        ({"size": "1350x768"}, "by 8"),
        ({"extra": {"seed": 1, "n_iter": 4}}, "extra cannot set n_iter, seed"),
        ({"denoising_strength": 1.5}, "must be a number from 0 to 1"),
    ],
)
def test_a_profile_that_cannot_work_is_refused_when_it_is_read(params: dict[str, Any], says: str) -> None:
    """Before anything is asked."""
    with pytest.raises(UsageError, match=says):
        SDWebUIProvider(params)


# What comes


def test_the_first_picture_is_the_one(tmp_path: Path) -> None:
    """ControlNet appends its maps; some servers write a data address, and nothing of the picture."""
    with RecordedServer(routed({"/sdapi/v1/txt2img": drawn(PNG, painted("a map"))})) as server:
        found = provider_at(server).generate(a_request(), a_call(tmp_path))
    assert (found.data, dict(found.notes)) == (PNG, {"model": "sd_xl_base_1.0", "pictures": 2})
    told = {"images": [f"data:image/png;base64,{base64.b64encode(PNG).decode()}"], "info": ""}
    with RecordedServer(routed({"/sdapi/v1/txt2img": answer(told)})) as server:
        found = provider_at(server).generate(a_request(), a_call(tmp_path))
    assert (found.data, found.media_type, dict(found.notes)) == (PNG, "image/png", {})


@pytest.mark.parametrize(
    ("play", "error", "says"),
    [
        (answer({"detail": "Not Found"}, 404), ProviderSetup, "--api"),
        (raw(message(404, b"<html>")), ProviderSetup, "--api"),
        (answer({"error": "HTTPException", "detail": "Sampler not found", "body": "", "errors": ""}, 404),
         ProviderSetup, "set `sampler`"),
        (answer({"detail": [{"loc": ["body", "steps"], "msg": "value is not a valid integer", "type": "x"}]}, 422),
         ProviderSetup, "steps: value is not a valid integer"),
        (answer({"detail": "Script 'controlnet' not found"}, 422), ProviderSetup, "install that extension"),
        (answer({"error": "RuntimeError", "detail": "", "errors": "Unknown checkpoint: x"}, 500),
         ProviderSetup, "set `checkpoint`"),
        (answer({"error": "OutOfMemoryError", "detail": "", "body": "", "errors": "CUDA out of memory."}, 500),
         ProviderError, "make the pictures smaller"),
        (answer({"error": "NansException", "detail": "", "errors": "A tensor with all NaNs was produced"}, 500),
         ProviderError, "--no-half-vae"),
        (answer({"error": "HTTPException", "detail": "Invalid encoded image"}, 500),
         ProviderBadRequest, "another hero"),
        (answer({"detail": "Incorrect username or password"}, 401), ProviderAuth, "THUMBFORGE_SDWEBUI_API_KEY"),
        (raw(message(502, b"")), ProviderTransient, "HTTP 502"),
        (raw(message(302, b"", Location="https://login.invalid/x")), ProviderSetup, "login.invalid"),
        (answer({"images": [], "info": "{}"}), OutputMissing, "there is no picture"),
        (answer({"images": [None]}), OutputMissing, "there is no picture"),
        (answer({"images": ["!!!"]}), OutputUnusable, "base64 is damaged"),
        (answer({"images": ["aGVsbG8="]}), OutputUnusable, "instead of a picture"),
        (answer({"error": "OutOfMemoryError", "errors": "x"}), ProviderError, "make the pictures smaller"),
        (answer([1]), OutputUnusable, "instead of JSON"),
        (raw(message(200, b"<html>")), OutputUnusable, "HTML"),
    ],
)  # fmt: skip
def test_each_answer_is_what_it_is(tmp_path: Path, play: Play, error: type[ProviderError], says: str) -> None:
    """What meets every item pauses, what concerns one fails it; each with what to do."""
    with RecordedServer(routed({"/sdapi/v1/txt2img": play})) as server, pytest.raises(ProviderError) as caught:
        provider_at(server).generate(a_request(), a_call(tmp_path))
    assert type(caught.value) is error
    assert says in f"{caught.value.message} {caught.value.hint}"
    assert "\n" not in caught.value.message


# Being stopped


@pytest.mark.parametrize("is_ours", [True, False])
def test_ctrl_c_stops_our_picture_and_nobody_elses(tmp_path: Path, is_ours: bool) -> None:
    """The server draws on when nobody listens, and its interrupt stops whatever it draws: what it does not call ours
    is left, and told."""
    cancel, raised = Cancel(), []
    progress = {"progress": 0.4, "current_task": ATTEMPT if is_ours else None, "state": {"job": "x"}}

    def held(connection: Any) -> None:
        cancel.set()
        connection.hold()

    routes: dict[str, Play | Respond] = {
        "/sdapi/v1/txt2img": held,
        "/sdapi/v1/progress": answer(progress),
        "/sdapi/v1/interrupt": answer({}),
    }
    with RecordedServer(routed(routes)) as server:

        def run() -> None:
            try:
                provider_at(server).generate(a_request(), a_call(tmp_path, cancel))
            except Interrupted as error:
                raised.append(error.left_behind)

        worker = threading.Thread(target=run, daemon=True)
        worker.start()
        worker.join(3)
        assert raised == ["" if is_ours else f"the server at {server.url.removeprefix('http://')}"]
        assert ("/sdapi/v1/interrupt" in server.paths()) is is_ours


# Being asked


def test_a_check_tells_what_is_loaded_and_what_is_missing() -> None:
    """The checkpoint by its title or its name, the sampler, and a server without its API."""
    with RecordedServer(routed(ROUTES)) as server:
        assert provider_at(server, checkpoint="sd_xl_base_1.0", sampler="Euler a").check(Cancel()).notes == (
            "loaded: sd_xl_base_1.0.safetensors [31e35c80fc]",
        )
        assert "no checkpoint other" in provider_at(server, checkpoint="other").check(Cancel()).problem
        health = provider_at(server, sampler="DDIM").check(Cancel())
        assert (health.problem, health.hint) == ("the server has no sampler DDIM", "it has DPM++ 2M, Euler a")
        assert provider_at(server).models(Cancel()) == ("sd_xl_base_1.0.safetensors [31e35c80fc]",)
    with RecordedServer(routed({}, default=answer({"detail": "Not Found"}, 404))) as server:
        health = health_of(provider_at(server), Cancel())
        assert not health.ok
        assert "--api" in health.hint
