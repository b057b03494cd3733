"""The provider `comfyui`: the user's own workflow on a ComfyUI server. https://docs.comfy.org

Upload the reference, queue the workflow, ask until it is done, fetch the picture. The web socket is not used: it goes
silent while work ends well, and asking is what decides anyway.
"""

from __future__ import annotations

import secrets
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from thumbforge.cancel import Cancel
from thumbforge.errors import Interrupted, OutputUnusable, ProviderError, ProviderTimeout, ProviderTransient
from thumbforge.pixels.kinds import described
from thumbforge.providers.base import Answer, Call, Capabilities, Request
from thumbforge.providers.comfyui import errors as comfyui_errors
from thumbforge.providers.comfyui.workflow import Workflow, problems
from thumbforge.providers.download import fetch
from thumbforge.providers.health import TIMEOUT_S, Auth, Health
from thumbforge.providers.params import Param, Table, Text, Whole, checked, needs_profile
from thumbforge.providers.pictures import picture, prepared
from thumbforge.providers.prompts import clean, seed_of
from thumbforge.providers.service import Service, address
from thumbforge.web.answers import at, list_at, parsed, quoted, text_at
from thumbforge.web.http import Part, Reply

DEFAULT = "http://127.0.0.1:8188"
EXAMPLE = "{workflow: {…}}"
ASK_S = 1.0
ANSWER_S = 30.0
"""Time for each question; none of them waits for the drawing."""
GONE_S = 30.0
"""How long a server that went away may take to come back."""
PARAMS: dict[str, Param] = {
    "workflow": Table(),
    "inputs": Table(),
    "output": Text("", r"[^\x00-\x1f]{0,100}", "a node's id or title"),
    "size": Text("1344x768", r"[1-9]\d{2,3}x[1-9]\d{2,3}", "pixels such as 1344x768"),
    "reference_px": Whole(1536, 256, 4096),
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
        self._lock = threading.Lock()
        self._sent: dict[str, str] = {}

    def generate(self, request: Request, call: Call) -> Answer:
        """A retry of an attempt whose job is still known to the server takes that job up instead of a new one."""
        call.cancel.check()
        try:
            job_id = self._known(call) or self._queued(request, call)
            job = self._awaited(job_id, call)
        except Interrupted:
            self._abort(self._sent.get(call.attempt_id, ""))
            raise
        self._forget(call.attempt_id)
        if error := comfyui_errors.ended(job, self.workflow, self._key()):
            self._free_memory(error, call.cancel)
            raise error
        return self._fetched(request, job, job_id, call)

    def auth_state(self) -> Auth:
        return self.service.auth_state()

    def check(self, cancel: Cancel) -> Health:
        """Is the server there, and does it have every node of the workflow?"""
        system = self._json(self._ask("GET", "system_stats", cancel))
        missing = [name for name in self.workflow.classes() if not self._has(name, cancel)]
        version = quoted(text_at(system, "system", "comfyui_version"), limit=40)
        devices = [quoted(text_at(each, "name"), limit=80) for each in list_at(system, "devices")]
        notes = tuple(filter(None, (version and f"ComfyUI {version}", *devices)))
        if missing:
            hint = "install these custom nodes on the server, or take them out of the workflow"
            return Health("ok", f"the server has no node {', '.join(missing)}", hint, notes)
        return Health("ok", notes=notes)

    def models(self, cancel: Cancel) -> tuple[str, ...]:
        """The checkpoint files that the server has."""
        shown = self._json(self._ask("GET", "object_info/CheckpointLoaderSimple", cancel))
        names = at(shown, "CheckpointLoaderSimple", "input", "required", "ckpt_name", 0)
        return tuple(quoted(name, limit=200) for name in names if isinstance(name, str)) if names else ()

    def _key(self) -> str:
        return self.service.key()

    def _has(self, name: str, cancel: Cancel) -> bool:
        reply = self._ask("GET", f"object_info/{name}", cancel)
        return reply.status == 200 and at(parsed(reply.body), name) is not None

    def _ask(
        self,
        method: str,
        path: str,
        cancel: Cancel,
        *,
        timeout_s: float = ANSWER_S,
        json: Any = None,
        form: Mapping[str, str] | None = None,
        files: list[Part] | None = None,
    ) -> Reply:
        return self.service.exchange(
            method, path, self._key(), cancel=cancel, timeout_s=timeout_s, headers=self._headers(), json=json,
            form=form, files=files,
        )  # fmt: skip

    def _headers(self) -> dict[str, str]:
        key = self._key()
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _json(self, reply: Reply) -> dict[str, Any]:
        """The answer's object; the error that it is instead."""
        if reply.status != 200:
            raise comfyui_errors.failure(reply, self.workflow, self._key())
        document = parsed(reply.body)
        if not isinstance(document, dict):
            raise OutputUnusable(f"{self.key}: the server answered with {described(reply.body)} instead of JSON")
        return document

    def _queued(self, request: Request, call: Call) -> str:
        """Queue the filled-in workflow under the attempt's id; old servers give an id of their own."""
        graph = self.workflow.filled(self._values(request, call))
        sent = {"prompt": graph, "client_id": uuid.uuid4().hex, "prompt_id": self._job_id(call.attempt_id)}
        document = self._json(self._ask("POST", "prompt", call.cancel, json=sent))
        job_id = text_at(document, "prompt_id")
        if not _is_job_id(job_id):
            words = text_at(document, "error") or text_at(document, "error", "message")
            raise ProviderError(f"{self.key}: the server queued nothing: {quoted(words) or 'no words'}")
        with self._lock:
            self._sent[call.attempt_id] = job_id
        if error := comfyui_errors.dropped(document, self.workflow, self._key()):
            self._abort(job_id)
            raise error
        return job_id

    def _job_id(self, attempt_id: str) -> str:
        """The attempt's id, so that a job whose answer was lost can be found; a second job gets an id of its own."""
        with self._lock:
            again = attempt_id in self._sent
            job_id = str(uuid.uuid4()) if again or not _is_uuid(attempt_id) else attempt_id
            self._sent[attempt_id] = job_id
        return job_id

    def _forget(self, attempt_id: str) -> None:
        with self._lock:
            self._sent[attempt_id] = ""

    def _known(self, call: Call) -> str:
        """The job that an earlier call of this attempt may have left on the server, "" where there is none."""
        with self._lock:
            job_id = self._sent.get(call.attempt_id, "")
        if not job_id:
            return ""
        job = at(self._json(self._ask("GET", f"history/{job_id}", call.cancel)), job_id)
        if job is not None:
            return "" if comfyui_errors.ended(job, self.workflow, self._key()) else job_id
        return job_id if self._place(job_id, call.cancel) else ""

    def _values(self, request: Request, call: Call) -> dict[str, Any]:
        width, height = self.own["size"].split("x")
        return {
            "prompt": clean(request.prompt),
            "negative_prompt": clean(request.negative_prompt or ""),
            "reference": self._uploaded(request, call) if "reference" in self.workflow.reads else "",
            "seed": seed_of(request, bits=48),
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
        document = self._json(
            self._ask(
                "POST", "upload/image", call.cancel, form={"type": "input", "overwrite": "true"},
                files=[("image", (name, sent.data, sent.media_type))],
            )
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
                job = at(self._json(self._ask("GET", f"history/{job_id}", call.cancel)), job_id)
                if job is not None:
                    return job
                place = self._place(job_id, call.cancel)
                if place == "" and (job := self._late(job_id, call.cancel)) is not None:
                    return job
                last_seen = time.monotonic()
            except ProviderTransient:
                if time.monotonic() - last_seen > GONE_S:
                    raise
                place = "?"
            if place == "":
                raise ProviderTransient(f"{self.key}: the server lost the job (was it restarted?)")
            started = started or (time.monotonic() if place == "running" else None)
            self._require_time(job_id, queued, started, call.timeout_s)
            call.cancel.wait(ASK_S)

    def _late(self, job_id: str, cancel: Cancel) -> Any:
        """It may have ended between the two questions."""
        return at(self._json(self._ask("GET", f"history/{job_id}", cancel)), job_id)

    def _require_time(self, job_id: str, queued: float, started: float | None, timeout_s: float) -> None:
        now = time.monotonic()
        if started is not None and now - started > timeout_s:
            self._abort(job_id)
            raise ProviderTimeout(f"{self.key}: not drawn in {timeout_s:g} s", hint="raise timeout_s in the profile")
        if started is None and now - queued > self.own["queue_limit_s"]:
            self._abort(job_id)
            raise ProviderTimeout(
                f"{self.key}: still in the server's queue after {self.own['queue_limit_s']} s",
                hint="raise queue_limit_s in the profile, or wait until the server is free",
            )

    def _place(self, job_id: str, cancel: Cancel) -> str:
        """Where the job is: "running", "pending", or "" where the server does not know it."""
        queue = self._json(self._ask("GET", "queue", cancel))
        for place in ("running", "pending"):
            if any(at(entry, 1) == job_id for entry in list_at(queue, f"queue_{place}")):
                return place
        return ""

    def _fetched(self, request: Request, job: Any, job_id: str, call: Call) -> Answer:
        """The first picture that the wanted node saved; previews are of type temp and do not count."""
        saved = [
            each
            for each in list_at(job, "outputs", self.workflow.output or "", "images")
            if text_at(each, "type") == "output" and text_at(each, "filename")
        ]
        if not saved:
            raise comfyui_errors.no_picture(job)
        query = {name: text_at(saved[0], name) for name in ("filename", "subfolder", "type")}
        data = fetch(
            self.service.http, self.service.url("view"), call, timeout_s=call.timeout_s,
            headers={"Accept": "image/*", **self._headers()}, query=query, trusted=self.service.base_url,
        )  # fmt: skip
        data, media_type = picture(self.key, data)
        notes = {"prompt_id": job_id} | ({"pictures": len(saved)} if len(saved) > 1 else {})
        ignored = request.reference is not None and "reference" not in self.workflow.reads
        return Answer(data, media_type, reference_ignored=ignored, notes=notes)

    def _abort(self, job_id: str) -> None:
        """Take the job off the server, which has 0.4 s for each of two answers. Only ours: others share it, and an
        old server's interrupt stops whatever runs, so it is sent only while ours does."""
        if not job_id:
            return
        try:
            place = self._place_quickly(job_id)
            if place == "pending":
                self._ask("POST", "queue", Cancel(), timeout_s=0.4, json={"delete": [job_id]})
            if place == "running":
                self._ask("POST", "interrupt", Cancel(), timeout_s=0.4, json={"prompt_id": job_id})
        except ProviderError:
            return

    def _place_quickly(self, job_id: str) -> str:
        queue = self._json(self._ask("GET", "queue", Cancel(), timeout_s=0.4))
        running = any(at(entry, 1) == job_id for entry in list_at(queue, "queue_running"))
        return "running" if running else "pending"

    def _free_memory(self, error: ProviderError, cancel: Cancel) -> None:
        """Before the one more try of a job that ran out of memory."""
        if not error.retryable or not error.once_more:
            return
        try:
            self._ask("POST", "free", cancel, timeout_s=TIMEOUT_S, json={"unload_models": True, "free_memory": True})
        except ProviderError:
            return


def _also(own: Mapping[str, Any]) -> Iterator[str]:
    yield from problems(own["workflow"], own["inputs"], own["output"])
    width, height = (int(side) for side in own["size"].split("x"))
    if width % 8 or height % 8 or not 1.6 < width / height < 2.0:
        yield f"size {own['size']} is not about 16:9 with both sides by 8, such as 1344x768 or 1280x720"


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


def _is_job_id(text: str) -> bool:
    return 0 < len(text) <= 100 and all(char.isalnum() or char in "-_" for char in text) and text.isascii()
