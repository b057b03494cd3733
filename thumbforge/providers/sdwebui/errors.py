"""What Stable Diffusion WebUI, Forge and servers with their API say when there is no picture."""

from __future__ import annotations

from typing import Any

from thumbforge.errors import ProviderBadRequest, ProviderError, ProviderSetup
from thumbforge.pixels.kinds import described
from thumbforge.web.answers import at, list_at, parsed, quoted, text_at
from thumbforge.web.http import Reply, host_of
from thumbforge.web.statuses import by_status, redirected
from thumbforge.web.waits import header_wait

PROVIDER = "sdwebui"
NO_API = "start the web UI with --api, and check base_url: by itself it listens on http://127.0.0.1:7860"
_MEMORY = "make the pictures smaller (`size`), or free memory on the server"
_SETTINGS: tuple[tuple[str, str], ...] = (
    ("sampler", "set `sampler` to a name that the server has"),
    ("checkpoint", "set `checkpoint` to a name that `thumbforge provider models` lists"),
    ("script", "install that extension on the server, or take it out of `extra`"),
    ("upscaler", "name an upscaler that the server has in `extra`"),
    ("scheduler", "name a scheduler that the server has in `extra`"),
)
"""Words of an error that would meet every item, and what to do."""


def failure(reply: Reply, key: str) -> ProviderError:
    """The error of an answer that is not 200."""
    if 300 <= reply.status < 400:
        return redirected(PROVIDER, host_of(reply.headers.get("location", "")))
    document = parsed(reply.body)
    kind, words = text_at(document, "error"), _words(document)
    says = quoted(f"{kind}: {words}" if kind and words else kind or words, key)
    if reply.status == 404 and words in ("", "Not Found"):
        return ProviderSetup(f"{PROVIDER}: HTTP 404: there is no such API at this address", hint=NO_API)
    if "OutOfMemory" in kind or "out of memory" in says.lower():
        return _once_more(ProviderError(f"{PROVIDER}: the server has not enough memory: {says}", hint=_MEMORY))
    if "NansException" in kind:
        hint = "start the web UI with --no-half-vae, or take another checkpoint"
        return _once_more(ProviderError(f"{PROVIDER}: the model computed no picture: {says}", hint=hint))
    if "encoded image" in words:
        return ProviderBadRequest(f"{PROVIDER}: {says}", hint="use another hero, or set `reference: ignore`")
    if reply.status in (400, 404, 422, 500) and (hint := _setting(says)):
        return ProviderSetup(f"{PROVIDER}: the server does not take the profile's settings: {says}", hint=hint)
    if reply.status == 422:
        hint = "check the parameters in the profile, and what `extra` adds"
        return ProviderSetup(f"{PROVIDER}: the server does not take the profile's settings: {says}", hint=hint)
    says = says or (described(reply.body) if reply.body else "")
    return by_status(PROVIDER, reply.status, says, wait_s=header_wait(reply.headers))


def _once_more(error: ProviderError) -> ProviderError:
    error.retryable = error.once_more = True
    return error


def _setting(says: str) -> str:
    """What to do about an error that names a setting as unknown, "" for any other."""
    lower = says.lower()
    if not any(word in lower for word in ("not found", "unknown", "does not exist", "no such", "invalid")):
        return ""
    return next((hint for word, hint in _SETTINGS if word in lower), "")


def _words(document: Any) -> str:
    """The words of `detail`, a text or a list of faults by place, or of `errors`."""
    faults = list_at(document, "detail")
    if faults:
        told = [f"{'.'.join(map(str, list_at(each, 'loc')[1:]))}: {text_at(each, 'msg')}" for each in faults[:3]]
        return "; ".join(told)
    return text_at(document, "detail") or text_at(document, "errors") or text_at(at(document, "error"), "message")
