"""What a ComfyUI server says when there is no picture: a refused workflow, or a job that ended otherwise."""

from __future__ import annotations

from itertools import chain
from typing import Any

from thumbforge.errors import (
    OutputMissing,
    ProviderError,
    ProviderSetup,
    ProviderTransient,
)
from thumbforge.pixels.kinds import described
from thumbforge.providers.comfyui.workflow import Workflow
from thumbforge.web.answers import at, count_at, list_at, parsed, quoted, text_at
from thumbforge.web.http import Reply, host_of
from thumbforge.web.statuses import by_status, redirected
from thumbforge.web.waits import header_wait

PROVIDER = "comfyui"
_HINTS = {
    "missing_node_type": "install that custom node on the server, or take it out of the workflow",
    "prompt_no_outputs": "add a node that saves the picture",
    "value_not_in_list": "put that file into the server's models folder, or name one that it has",
}
_SAID = {
    "does not exist": _HINTS["missing_node_type"],
    "class_type": "export the workflow again with Export (API)",
}
"""The same by the words of an `invalid_prompt`, the one type that several of these come under."""
SHOWN = 3
"""Nodes named in one message."""


def failure(reply: Reply, workflow: Workflow, key: str) -> ProviderError:
    """The error of an answer that is not 200."""
    if 300 <= reply.status < 400:
        return redirected(PROVIDER, host_of(reply.headers.get("location", "")))
    document = parsed(reply.body)
    if reply.status == 400 and isinstance(document, dict):
        return refused(document, workflow, key)
    says = described(reply.body) if reply.body else ""
    hint = "check base_url: ComfyUI listens on http://127.0.0.1:8188 by itself" if reply.status == 404 else ""
    return by_status(PROVIDER, reply.status, says, wait_s=header_wait(reply.headers), hint=hint)


def refused(document: Any, workflow: Workflow, key: str) -> ProviderSetup:
    """The server does not take the workflow, and would take it for no item."""
    error = at(document, "error")
    kind = text_at(error, "type")
    words = error if isinstance(error, str) else f"{text_at(error, 'message')} {text_at(error, 'details')}"
    nodes = _node_words(at(document, "node_errors"), workflow)
    kinds = [kind, *_node_kinds(at(document, "node_errors"))]
    known = (hint for part, hint in _SAID.items() if kind == "invalid_prompt" and part in words)
    typed = (_HINTS[each] for each in kinds if each in _HINTS)
    hint = next(chain(known, typed), "run the workflow in ComfyUI itself once")
    if bits := _seed_bits(at(document, "node_errors"), workflow):
        hint = f"set `seed_bits: {bits}` in the profile: that input takes no larger seed"
    told = quoted("; ".join(nodes[:SHOWN]) or words or kind or "no words", key, limit=400)
    return ProviderSetup(f"{PROVIDER}: the server does not take the workflow: {told}", hint=hint)


def dropped(document: Any, workflow: Workflow, key: str) -> ProviderSetup | None:
    """The error of a job that was queued without the branch of the wanted node; None where that branch is whole."""
    errors = at(document, "node_errors")
    if not isinstance(errors, dict) or not errors:
        return None
    hit = {str(each) for entry in errors.values() for each in list_at(entry, "dependent_outputs")} | set(errors)
    return refused(document, workflow, key) if workflow.output in hit else None


def _node_words(errors: Any, workflow: Workflow) -> list[str]:
    if not isinstance(errors, dict):
        return []
    return [
        f"{workflow.title(str(node))}: {_input(each)}{text_at(each, 'message')} {text_at(each, 'details')}".strip()
        for node, entry in errors.items()
        for each in list_at(entry, "errors")
    ]


def _input(error: Any) -> str:
    name = text_at(error, "extra_info", "input_name")
    return f"{name}: " if name else ""


def _node_kinds(errors: Any) -> list[str]:
    if not isinstance(errors, dict):
        return []
    return [text_at(each, "type") for entry in errors.values() for each in list_at(entry, "errors")]


def _seed_bits(errors: Any, workflow: Workflow) -> int:
    """The bits that the input for the seed can take, where ours were too many; else 0."""
    for node, entry in (errors if isinstance(errors, dict) else {}).items():
        for each in list_at(entry, "errors"):
            most = count_at(each, "extra_info", "input_config", 1, "max")
            name = text_at(each, "extra_info", "input_name")
            if text_at(each, "type") == "value_bigger_than_max" and most and workflow.is_seed(str(node), name):
                return (most + 1).bit_length() - 1
    return 0


def ended(job: Any, workflow: Workflow, key: str) -> ProviderError | None:
    """The error of a job that is over; None where it went well, or far enough: another branch may break after the
    wanted node has saved its picture."""
    if workflow.saved(job):
        return None
    messages = {text_at(each, 0): at(each, 1) for each in list_at(job, "status", "messages")}
    if "execution_interrupted" in messages:
        return ProviderTransient(f"{PROVIDER}: the job was interrupted on the server")
    if "execution_error" in messages:
        return _broke(messages["execution_error"], workflow, key)
    if text_at(job, "status", "status_str") not in ("success", ""):
        return ProviderError(f"{PROVIDER}: the job ended as {quoted(text_at(job, 'status', 'status_str'))}")
    return None


def _broke(error: Any, workflow: Workflow, key: str) -> ProviderError:
    kind = text_at(error, "exception_type")
    node = workflow.title(text_at(error, "node_id")) if text_at(error, "node_id") else "a node"
    words = quoted(f"{node}: {kind}: {text_at(error, 'exception_message')}", key)
    found = ProviderError(f"{PROVIDER}: the job failed in {words}", hint="run the workflow in ComfyUI itself once")
    if "OutOfMemory" in kind:
        found.hint = "make the pictures smaller (`size`), or free memory on the server"
        found.retryable = found.once_more = True
    return found


def no_picture(job: Any, workflow: Workflow) -> OutputMissing:
    """The error of a job that went well without a picture. A finished job always tells of its cache, mostly with no
    node in it: only where the wanted one is named, the same graph once more under another name may give a picture."""
    cached = any(
        text_at(each, 0) == "execution_cached" and workflow.output in list_at(each, 1, "nodes")
        for each in list_at(job, "status", "messages")
    )
    why = "; the server had it in its cache" if cached else ""
    node = workflow.title(workflow.output or "")
    found = OutputMissing(
        f"{PROVIDER}: the job is done, but {node} saved no picture{why}",
        hint="name a node that saves pictures on the server as `output`, such as SaveImage",
    )
    found.retryable = found.once_more = cached
    return found
