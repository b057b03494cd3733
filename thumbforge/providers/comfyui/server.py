"""A ComfyUI server as the adapter asks it: its jobs and its queue."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from thumbforge.cancel import Cancel
from thumbforge.errors import OutputUnusable, ProviderError, ProviderTransient
from thumbforge.pixels.kinds import described
from thumbforge.providers.comfyui import errors as comfyui_errors
from thumbforge.providers.comfyui.workflow import Workflow
from thumbforge.providers.service import Service
from thumbforge.web.answers import at, list_at, parsed
from thumbforge.web.http import Part, Reply

PROVIDER = "comfyui"
ANSWER_S = 30.0
"""Time for each question; none of them waits for the drawing."""
ASK_S = 1.0
GONE_S = 90.0
"""How long a server that went away may take to come back: a restart with many custom nodes needs 10 to 60."""
LAST_WORD_S = 0.4
"""Time for each of the two questions that a run which is being stopped still asks."""


class Server:
    """The server at the service's address. Errors name nodes as `workflow` does."""

    def __init__(self, service: Service, workflow: Workflow) -> None:
        self.service, self.workflow = service, workflow
        self._is_known = False

    def headers(self) -> dict[str, str]:
        key = self.service.key()
        return {"Authorization": f"Bearer {key}"} if key else {}

    def ask(
        self,
        method: str,
        path: str,
        cancel: Cancel,
        *,
        timeout_s: float | None = None,
        json: Any = None,
        form: Mapping[str, str] | None = None,
        files: list[Part] | None = None,
    ) -> Reply:
        reply = self.service.exchange(
            method, path, self.service.key(), cancel=cancel, timeout_s=timeout_s or ANSWER_S,
            headers=self.headers(), json=json, form=form, files=files,
        )  # fmt: skip
        self._is_known = True
        return reply

    def told(self, method: str, path: str, cancel: Cancel, **sent: Any) -> dict[str, Any]:
        """The answer's object; the error that it is instead."""
        reply = self.ask(method, path, cancel, **sent)
        if reply.status != 200:
            raise comfyui_errors.failure(reply, self.workflow, self.service.key())
        document = parsed(reply.body)
        if not isinstance(document, dict):
            raise OutputUnusable(f"{PROVIDER}: the server answered with {described(reply.body)} instead of JSON")
        return document

    def wait_until_awake(self, cancel: Cancel) -> None:
        """A server that was there and is not now may be restarting, and is waited for. One that never answered, or
        did not come back, is told by whoever asks next, at once."""
        ends = time.monotonic() + GONE_S
        while self._is_known:
            try:
                self.told("GET", "queue", cancel)
                return
            except ProviderTransient:
                self._is_known = time.monotonic() < ends
            cancel.wait(ASK_S)

    def job(self, job_id: str, cancel: Cancel) -> Any:
        """The record of a job that is over, None where it is not, or not known."""
        return at(self.told("GET", f"history/{job_id}", cancel), job_id)

    def shown(self, name: str, cancel: Cancel) -> Any:
        """What the server tells of a kind of node, None where it has none of that name."""
        reply = self.ask("GET", f"object_info/{name}", cancel)
        return at(parsed(reply.body), name) if reply.status == 200 else None

    def place(self, job_id: str, cancel: Cancel, timeout_s: float | None = None) -> str:
        """Where the job is: "running", "pending", or "" where the server does not know it."""
        queue = self.told("GET", "queue", cancel, timeout_s=timeout_s)
        for place in ("running", "pending"):
            if any(at(entry, 1) == job_id for entry in list_at(queue, f"queue_{place}")):
                return place
        return ""

    def has(self, job_id: str, cancel: Cancel) -> bool:
        """Whether it waits, is drawn, or is over and went well."""
        job = self.job(job_id, cancel)
        if job is None:
            return bool(self.place(job_id, cancel))
        return comfyui_errors.ended(job, self.workflow, self.service.key()) is None

    def withdraw(self, job_id: str) -> bool:
        """Take the job off the server, which has 0.4 s for each of two answers; False where it may still be there.
        Only ours: others share it, and an old server's interrupt stops whatever runs, so it is sent only while ours
        does."""
        try:
            if self.place(job_id, Cancel(), LAST_WORD_S) == "running":
                return self._is_taken("interrupt", {"prompt_id": job_id})
            return self._is_taken("queue", {"delete": [job_id]})
        except ProviderError:
            return False

    def _is_taken(self, path: str, json: Any) -> bool:
        return self.ask("POST", path, Cancel(), timeout_s=LAST_WORD_S, json=json).status == 200

    def free_memory(self, cancel: Cancel) -> None:
        """Before the one more try of a job that ran out of it; a server that cannot is asked to draw all the same."""
        try:
            self.ask("POST", "free", cancel, json={"unload_models": True, "free_memory": True})
        except ProviderError:
            return


def choices(node: Any, name: str) -> list[str] | None:
    """What an input of such a node may be, of a fixed list that the server tells in one of two ways; None where it may
    be anything, or a picture, which is uploaded first."""
    for kind in ("required", "optional"):
        told = at(node, "input", kind, name)
        if at(told, 1, "image_upload"):
            return None
        listed = at(told, 0) if isinstance(at(told, 0), list) else at(told, 1, "options")
        if isinstance(listed, list):
            return [each for each in listed if isinstance(each, str)]
    return None
