"""The provider `sdwebui`: Stable Diffusion WebUI, Forge, and servers with their API, such as stable-diffusion.cpp.
https://github.com/AUTOMATIC1111/stable-diffusion-webui/wiki/API

One question a picture, which is answered when it is drawn: text to image, and image to image with a reference.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from thumbforge.cancel import Cancel
from thumbforge.errors import Interrupted, OutputMissing, OutputUnusable, ProviderError, ProviderTimeout
from thumbforge.pixels.kinds import described
from thumbforge.providers.base import Answer, Call, Capabilities, Request
from thumbforge.providers.health import TIMEOUT_S, Auth, Health
from thumbforge.providers.params import Choice, Number, Param, Table, Text, Whole, checked
from thumbforge.providers.pictures import decoded_base64, picture, prepared
from thumbforge.providers.prompts import clean, seed_of
from thumbforge.providers.sdwebui.errors import failure
from thumbforge.providers.service import Service, address
from thumbforge.web.answers import at, list_at, parsed, quoted, text_at
from thumbforge.web.http import Reply, host_of

DEFAULT = "http://127.0.0.1:7860"
LAST_WORD_S = 0.4
"""Time for each question that a run which is being stopped still asks."""
PARAMS: dict[str, Param] = {
    "checkpoint": Text("", r"[^\x00-\x1f]{0,300}", "the name of a checkpoint"),
    "size": Text("1344x768", r"[1-9]\d{2,3}x[1-9]\d{2,3}", "pixels such as 1344x768"),
    "steps": Whole(30, 1, 150),
    "cfg_scale": Number(7.0, 0, 30),
    "sampler": Text("", r"[^\x00-\x1f]{0,100}", "the name of a sampler"),
    "reference": Choice("send", ("send", "ignore")),
    "reference_px": Whole(1536, 256, 4096),
    "denoising_strength": Number(0.75, 0, 1),
    "base_url": address(DEFAULT),
    "extra": Table(),
}
_OURS = frozenset(
    {
        "prompt", "negative_prompt", "width", "height", "seed", "steps", "cfg_scale", "sampler_name", "batch_size",
        "n_iter", "init_images", "denoising_strength", "send_images", "force_task_id",
    }
)  # fmt: skip


class SDWebUIProvider:
    """One picture by the server's checkpoint, or by `checkpoint`. `extra` adds fields to every request: hires fix, a
    scheduler, scripts such as ControlNet."""

    key = "sdwebui"

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.own = checked(self.key, PARAMS, params, _also)
        hint = "start the web UI with --api, or set the profile's base_url to where it runs"
        self.service = Service(self.key, self.own["base_url"], DEFAULT, (), hint, needs_key=False)
        reads = {"prompt", "negative_prompt", "seed"} | ({"reference"} if self.own["reference"] == "send" else set())
        self.capabilities = Capabilities(reads=frozenset(reads), max_concurrency=1, hard_limit=16)

    def generate(self, request: Request, call: Call) -> Answer:
        """The server draws on when nobody listens any more: a call that is stopped stops its own picture there, and an
        Interrupted says where it may still be drawn."""
        call.cancel.check()
        sends = request.reference is not None and self.own["reference"] == "send"
        path, fields = ("img2img" if sends else "txt2img"), self._fields(request, call)
        key = self.service.key()
        try:
            reply = self.service.exchange(
                "POST", f"sdapi/v1/{path}", key, cancel=call.cancel, sent=call.sent, timeout_s=call.timeout_s,
                headers=_headers(key), json=fields,
            )  # fmt: skip
        except Interrupted as error:
            if not self._stopped(call.attempt_id):
                error.left_behind = f"the server at {host_of(self.service.base_url)}"
            raise
        except ProviderTimeout as error:
            self._stopped(call.attempt_id)
            error.hint = "raise timeout_s in the profile; the wait behind other pictures counts"
            raise
        if reply.status != 200:
            raise failure(reply, key)
        return self._answered(request, reply, key)

    def auth_state(self) -> Auth:
        return self.service.auth_state()

    def check(self, cancel: Cancel) -> Health:
        """Asks which checkpoints and samplers there are, and which checkpoint is loaded."""
        known = self._checkpoints(cancel)
        wanted, sampler = self.own["checkpoint"], self.own["sampler"]
        if wanted and not any(wanted in names for names in known):
            hint = "set `checkpoint` to a name that `thumbforge provider models` lists"
            return Health("ok", f"the server has no checkpoint {wanted}", hint)
        samplers = [text_at(each, "name") for each in self._get("samplers", list, cancel)] if sampler else []
        if sampler and sampler not in samplers:
            told = quoted(", ".join(filter(None, samplers)))
            return Health("ok", f"the server has no sampler {sampler}", f"it has {told}" if told else "")
        loaded = quoted(text_at(self._get("options", dict, cancel), "sd_model_checkpoint"), limit=100)
        return Health("ok", notes=tuple(filter(None, [loaded and f"loaded: {loaded}"])))

    def models(self, cancel: Cancel) -> tuple[str, ...]:
        """The titles of the server's checkpoints."""
        return tuple(quoted(names[0], limit=200) for names in self._checkpoints(cancel))

    def _checkpoints(self, cancel: Cancel) -> list[list[str]]:
        """Of each the names by which it may be asked for, its title first."""
        fields = ("title", "model_name")
        found = [
            [text_at(each, name) for name in fields if text_at(each, name)]
            for each in self._get("sd-models", list, cancel)
        ]
        return [names for names in found if names]

    def _get(self, path: str, kind: type, cancel: Cancel, timeout_s: float = TIMEOUT_S) -> Any:
        key = self.service.key()
        reply = self.service.exchange(
            "GET", f"sdapi/v1/{path}", key, cancel=cancel, timeout_s=timeout_s, headers=_headers(key)
        )
        if reply.status != 200:
            raise failure(reply, key)
        document = parsed(reply.body)
        if not isinstance(document, kind):
            raise OutputUnusable(f"{self.key}: the server answered with {described(reply.body)} instead of JSON")
        return document

    def _fields(self, request: Request, call: Call) -> dict[str, Any]:
        width, height = self.own["size"].split("x")
        fields: dict[str, Any] = {
            **self.own["extra"],
            "prompt": clean(request.prompt),
            "negative_prompt": clean(request.negative_prompt or ""),
            "width": int(width),
            "height": int(height),
            "seed": seed_of(request),
            "steps": self.own["steps"],
            "cfg_scale": self.own["cfg_scale"],
            "batch_size": 1,
            "n_iter": 1,
            "force_task_id": call.attempt_id,
        }
        if self.own["sampler"]:
            fields["sampler_name"] = self.own["sampler"]
        if self.own["checkpoint"]:
            given = fields.get("override_settings")
            fields["override_settings"] = {
                **(given if isinstance(given, Mapping) else {}),
                "sd_model_checkpoint": self.own["checkpoint"],
            }
        if request.reference and self.own["reference"] == "send":
            sent = prepared(request.reference, self.own["reference_px"])
            fields["init_images"] = [base64.b64encode(sent.data).decode()]
            fields["denoising_strength"] = self.own["denoising_strength"]
            fields.setdefault("resize_mode", 1)  # crop and resize: the hero keeps its shape
        return fields

    def _answered(self, request: Request, reply: Reply, key: str) -> Answer:
        """Pictures of scripts, such as ControlNet's maps, come after the one that was asked for."""
        document = parsed(reply.body)
        if not isinstance(document, dict):
            raise OutputUnusable(f"{self.key}: the server answered with {described(reply.body)} instead of JSON")
        encoded = at(document, "images", 0)
        if not isinstance(encoded, str) or not encoded:
            if text_at(document, "error"):
                raise failure(Reply(500, reply.headers, reply.body), key)
            raise OutputMissing(f"{self.key}: the server says that all went well, but there is no picture")
        try:
            data, media_type = picture(self.key, decoded_base64(encoded))
        except ValueError as error:
            raise OutputUnusable(f"{self.key}: the picture is not whole: its base64 is damaged") from error
        info = _info(document)
        notes = {"model": quoted(text_at(info, "sd_model_name"), key, limit=100), "pictures": _count(document)}
        ignored = request.reference is not None and self.own["reference"] == "ignore"
        told = {name: value for name, value in notes.items() if value}
        return Answer(data, media_type, reference_ignored=ignored, notes=told)

    def _stopped(self, attempt_id: str) -> bool:
        """Whether our picture is no more drawn. The server stops whatever it draws, and others share it: it is asked
        to only while it says that it draws ours."""
        try:
            progress = self._get("progress?skip_current_image=true", dict, Cancel(), LAST_WORD_S)
            if text_at(progress, "current_task") != attempt_id:
                return False
            key = self.service.key()
            asked = self.service.exchange(
                "POST", "sdapi/v1/interrupt", key, cancel=Cancel(), timeout_s=LAST_WORD_S, headers=_headers(key)
            )
            return asked.status == 200
        except ProviderError:
            return False


def _also(own: Mapping[str, Any]) -> Iterator[str]:
    width, height = (int(side) for side in own["size"].split("x"))
    if width % 8 or height % 8 or not 1.6 < width / height < 2.0:
        yield f"size {own['size']} is not about 16:9 with both sides by 8, such as 1344x768 or 1280x720"
    if taken := sorted(_OURS & own["extra"].keys()):
        yield f"extra cannot set {', '.join(taken)}"


def _headers(key: str) -> dict[str, str]:
    """`--api-auth` wants `user:password`; a proxy in front of a server wants a token."""
    if not key:
        return {}
    if ":" in key:
        return {"Authorization": f"Basic {base64.b64encode(key.encode()).decode()}"}
    return {"Authorization": f"Bearer {key}"}


def _info(document: Any) -> Any:
    """What is told of the picture, which is JSON in a text, or nothing."""
    try:
        return json.loads(text_at(document, "info") or "null")
    except (ValueError, RecursionError):
        return None


def _count(document: Any) -> int:
    """Of the pictures, 0 for the one that was asked for."""
    found = len(list_at(document, "images"))
    return found if found > 1 else 0
