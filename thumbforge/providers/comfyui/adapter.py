"""The provider `comfyui`: the user's own workflow on a ComfyUI server. https://docs.comfy.org

Upload the reference, queue the workflow, ask until it is done, fetch the picture. The web socket is not used: it goes
silent while work ends well, and asking is what decides anyway.
"""

from __future__ import annotations

import secrets
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from thumbforge.cancel import Cancel
from thumbforge.errors import (
    Interrupted,
    OutputMissing,
    OutputUnusable,
    ProviderError,
    ProviderTimeout,
    ProviderTransient,
)
from thumbforge.providers.base import Answer, Call, Capabilities, Request
from thumbforge.providers.comfyui import errors as comfyui_errors
from thumbforge.providers.comfyui import server as asked
from thumbforge.providers.comfyui.errors import SHOWN
from thumbforge.providers.comfyui.server import Server, choices
from thumbforge.providers.comfyui.workflow import Workflow, problems
from thumbforge.providers.download import fetch
from thumbforge.providers.health import Auth, Health
from thumbforge.providers.params import Param, Table, Text, Whole, checked, needs_profile
from thumbforge.providers.pictures import picture, prepared
from thumbforge.providers.prompts import clean, seed_of
from thumbforge.providers.retry import MAX_CALLS
from thumbforge.providers.service import Service, address
from thumbforge.web.answers import list_at, quoted, text_at
from thumbforge.web.http import host_of

DEFAULT = "http://127.0.0.1:8188"
LOADERS = {"UNETLoader": "unet_name", "UnetLoaderGGUF": "unet_name", "DiffusionModelLoader": "model_name"}
"""Nodes that load a model beside CheckpointLoaderSimple, each with the input that names its file."""
EXAMPLE = "{workflow: {…}}"
PARAMS: dict[str, Param] = {
    "workflow": Table(),
    "inputs": Table(),
    "output": Text("", r"[^\x00-\x1f]{0,100}", "a node's id or title"),
    "size": Text("1344x768", r"[1-9]\d{2,3}x[1-9]\d{2,3}", "pixels such as 1344x768"),
    "reference_px": Whole(1536, 256, 4096),
    "seed_bits": Whole(48, 8, 63),
    "queue_limit_s": Whole(1800, 1, 86_400),
    "base_url": address(DEFAULT),
}


class ComfyUIProvider:
    """One run of `workflow` per picture. A profile's `timeout_s` counts from the start of the drawing; before it a
    job may wait `queue_limit_s` behind others."""

    key = "comfyui"

    def __init__(self, params: Mapping[str, Any]) -> None:
        hint = "" if params.get("workflow") else needs_profile(self.key, EXAMPLE)
        self.own = checked(self.key, PARAMS, params, _also, hint)
        self.workflow = Workflow(self.own["workflow"], self.own["inputs"], self.own["output"])
        hint = "start ComfyUI, or set the profile's base_url to where it runs"
        self.service = Service(self.key, self.own["base_url"], DEFAULT, (), hint, needs_key=False)
        self.capabilities = Capabilities(reads=self.workflow.reads, max_concurrency=1, hard_limit=64)
        self.server = Server(self.service, self.workflow)
        self._lock = threading.Lock()
        self._jobs: dict[str, str] = {}
        self._queued_before: Counter[str] = Counter()
        self._spoilt: set[str] = set()

    def generate(self, request: Request, call: Call) -> Answer:
        """A job that an earlier call left on the server, of this attempt or of one that was cut short, is taken up
        instead of a new one. An Interrupted says what it leaves there."""
        call.cancel.check()
        self.server.wait_until_awake(call.cancel)
        try:
            left = self._left(call)
            job_id = left or self._queued(request, call)
            job = self._awaited(job_id, call)
        except Interrupted as error:
            sent = self._job(call.attempt_id)
            if sent and not self.server.withdraw(sent):
                error.left_behind = f"the server at {host_of(self.service.base_url)}"
            raise
        self._keep(call.attempt_id, "")
        if failure := comfyui_errors.ended(job, self.workflow, self._key()):
            if failure.retryable and failure.once_more:
                self.server.free_memory(call.cancel)
            raise failure
        try:
            return self._fetched(request, job, job_id, call)
        except (OutputMissing, OutputUnusable):
            if not left:
                raise
        self._spoilt.add(left)
        return self.generate(request, call)

    def auth_state(self) -> Auth:
        return self.service.auth_state()

    def check(self, cancel: Cancel) -> Health:
        """Is the server there, and does it have every node, model file and sampler of the workflow?"""
        system = self.server.told("GET", "system_stats", cancel)
        shown = {name: self.server.shown(name, cancel) for name in self.workflow.classes()}
        missing = [name for name, node in shown.items() if node is None]
        version = quoted(text_at(system, "system", "comfyui_version"), limit=40)
        devices = [quoted(text_at(each, "name"), limit=80) for each in list_at(system, "devices")]
        notes = tuple(filter(None, (version and f"ComfyUI {version}", *devices)))
        if missing:
            hint = "install these custom nodes on the server, or take them out of the workflow"
            return Health("ok", f"the server has no node {', '.join(missing)}", hint, notes)
        if lacks := list(self._lacks(shown)):
            hint = "put such files into the server's models folder, or name what `thumbforge provider models` lists"
            return Health("ok", f"the server lacks {'; '.join(lacks[:SHOWN])}", hint, notes)
        return Health("ok", notes=notes)

    def models(self, cancel: Cancel) -> tuple[str, ...]:
        """The model files that the server has for checkpoints and, where the workflow loads one, for its other loaders
        of models."""
        loaders = {"CheckpointLoaderSimple": "ckpt_name"} | {
            name: field for name, field in LOADERS.items() if name in self.workflow.classes()
        }
        found = [choices(self.server.shown(name, cancel), field) for name, field in loaders.items()]
        return tuple(dict.fromkeys(quoted(name, limit=200) for names in found for name in names or ()))

    def _lacks(self, shown: Mapping[str, Any]) -> Iterator[str]:
        """What the workflow names and the server does not have."""
        for node, name, text in self.workflow.fixed_texts():
            known = choices(shown.get(self.workflow.class_of(node)), name)
            if known is not None and text not in known:
                yield f"{quoted(text, limit=100)} for {name} of {self.workflow.title(node)}"

    def _key(self) -> str:
        return self.service.key()

    def _queued(self, request: Request, call: Call) -> str:
        """Queue the filled-in workflow under the attempt's id; old servers give an id of their own."""
        graph = self.workflow.filled(self._values(request, call))
        sent = {"prompt": graph, "client_id": uuid.uuid4().hex, "prompt_id": self._job_id(call.attempt_id)}
        document = self.server.told("POST", "prompt", call.cancel, json=sent)
        job_id = text_at(document, "prompt_id")
        if not _is_job_id(job_id):
            words = text_at(document, "error") or text_at(document, "error", "message")
            raise ProviderError(f"{self.key}: the server queued nothing: {quoted(words) or 'no words'}")
        self._keep(call.attempt_id, job_id)
        if error := comfyui_errors.dropped(document, self.workflow, self._key()):
            self.server.withdraw(job_id)
            raise error
        return job_id

    def _job_id(self, attempt_id: str) -> str:
        """By the attempt and by how many it has queued before, so that a job whose answer was lost can be found."""
        with self._lock:
            self._queued_before[attempt_id] += 1
            self._jobs[attempt_id] = job_id_of(attempt_id, self._queued_before[attempt_id])
            return self._jobs[attempt_id]

    def _job(self, attempt_id: str) -> str:
        """The job that this attempt has, or may have, on the server; "" where there is none."""
        with self._lock:
            return self._jobs.get(attempt_id, "")

    def _keep(self, attempt_id: str, job_id: str) -> str:
        with self._lock:
            self._jobs[attempt_id] = job_id
        return job_id

    def _left(self, call: Call) -> str:
        """A job that an earlier call may have left on the server, "" where there is none: a retry of this attempt, or
        an attempt of a run that was stopped or killed."""
        earlier = [job_id_of(attempt, n) for attempt in call.earlier for n in range(1, MAX_CALLS + 1)]
        for job_id in filter(None, [self._job(call.attempt_id), *earlier]):
            if job_id not in self._spoilt and self.server.has(job_id, call.cancel):
                return self._keep(call.attempt_id, job_id)
        return ""

    def _values(self, request: Request, call: Call) -> dict[str, Any]:
        width, height = self.own["size"].split("x")
        return {
            "prompt": clean(request.prompt),
            "negative_prompt": clean(request.negative_prompt or ""),
            "reference": self._uploaded(request, call) if "reference" in self.workflow.reads else "",
            "seed": seed_of(request, bits=self.own["seed_bits"]),
            "width": int(width),
            "height": int(height),
            "prefix": f"thumbforge_{request.video}_{secrets.token_hex(4)}",
        }

    def _uploaded(self, request: Request, call: Call) -> str:
        """The name under which the server keeps the reference, which is not always the one that was asked for."""
        if request.reference is None:
            return ""
        sent = prepared(request.reference, self.own["reference_px"])
        name = (
            f"thumbforge-{request.reference.sha256[:16]}-{self.own['reference_px']}{sent.name[sent.name.rfind('.') :]}"
        )
        document = self.server.told(
            "POST", "upload/image", call.cancel, form={"type": "input", "overwrite": "true"},
            files=[("image", (name, sent.data, sent.media_type))],
        )  # fmt: skip
        kept, folder = text_at(document, "name"), text_at(document, "subfolder")
        if not kept:
            raise ProviderError(f"{self.key}: the server did not keep the reference")
        return f"{folder}/{kept}" if folder else kept

    def _awaited(self, job_id: str, call: Call) -> Any:
        """The finished job's record. Its time runs while it is drawn; the wait in the queue has a limit of its own."""
        queued = last_seen = time.monotonic()
        started: float | None = None
        while True:
            try:
                if (job := self.server.job(job_id, call.cancel)) is not None:
                    return job
                place = self.server.place(job_id, call.cancel)
                if place == "" and (job := self.server.job(job_id, call.cancel)) is not None:
                    return job  # it ended between the two questions
                last_seen = time.monotonic()
            except ProviderTransient:
                if time.monotonic() - last_seen > asked.GONE_S:
                    raise
                place = "?"
            if place == "":
                raise ProviderTransient(f"{self.key}: the server lost the job (was it restarted?)")
            started = started or (time.monotonic() if place == "running" else None)
            self._require_time(job_id, queued, started, call.timeout_s)
            call.cancel.wait(asked.ASK_S)

    def _require_time(self, job_id: str, queued: float, started: float | None, timeout_s: float) -> None:
        now = time.monotonic()
        if started is not None and now - started > timeout_s:
            self.server.withdraw(job_id)
            raise ProviderTimeout(f"{self.key}: not drawn in {timeout_s:g} s", hint="raise timeout_s in the profile")
        if started is None and now - queued > self.own["queue_limit_s"]:
            self.server.withdraw(job_id)
            raise ProviderTimeout(
                f"{self.key}: still in the server's queue after {self.own['queue_limit_s']} s",
                hint="raise queue_limit_s in the profile, or wait until the server is free",
            )

    def _fetched(self, request: Request, job: Any, job_id: str, call: Call) -> Answer:
        """The first picture that the wanted node saved."""
        saved = self.workflow.saved(job)
        if not saved:
            raise comfyui_errors.no_picture(job, self.workflow)
        query = {name: text_at(saved[0], name) for name in ("filename", "subfolder", "type")}
        data = fetch(
            self.service.http, self.service.url("view"), call, timeout_s=call.timeout_s,
            headers={"Accept": "image/*", **self.server.headers()}, query=query, trusted=self.service.base_url,
        )  # fmt: skip
        data, media_type = picture(self.key, data)
        notes = {"prompt_id": job_id} | ({"pictures": len(saved)} if len(saved) > 1 else {})
        ignored = request.reference is not None and "reference" not in self.workflow.reads
        return Answer(data, media_type, reference_ignored=ignored, notes=notes)


def _also(own: Mapping[str, Any]) -> Iterator[str]:
    yield from problems(own["workflow"], own["inputs"], own["output"])
    width, height = (int(side) for side in own["size"].split("x"))
    if width % 8 or height % 8 or not 1.6 < width / height < 2.0:
        yield f"size {own['size']} is not about 16:9 with both sides by 8, such as 1344x768 or 1280x720"


def job_id_of(attempt_id: str, n: int) -> str:
    """The id of the n-th job that an attempt queues: its own id, then ids that follow from it."""
    try:
        attempt = uuid.UUID(attempt_id)
    except ValueError:
        return str(uuid.uuid4())
    return attempt_id if n == 1 else str(uuid.uuid5(attempt, str(n)))


def _is_job_id(text: str) -> bool:
    return 0 < len(text) <= 100 and all(char.isalnum() or char in "-_" for char in text) and text.isascii()
