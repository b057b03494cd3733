"""The provider `openai`: the OpenAI image API, and servers that speak it. https://developers.openai.com/api/docs

Generations without a reference, edits with it as a multipart part. The service has no seed and no negative prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from thumbforge.cancel import Cancel
from thumbforge.errors import OutputMissing, OutputUnusable, ProviderSetup
from thumbforge.pixels.kinds import described
from thumbforge.providers.base import Answer, Call, Capabilities, Request
from thumbforge.providers.download import fetch
from thumbforge.providers.health import TIMEOUT_S, Auth, Health
from thumbforge.providers.openai.errors import failure, said
from thumbforge.providers.openai.models import SHUT_DOWN, sent_size, wrong_size
from thumbforge.providers.params import Choice, Names, Param, Table, Text, Whole, checked
from thumbforge.providers.pictures import decoded_base64, picture, prepared
from thumbforge.providers.prompts import whole_prompt
from thumbforge.providers.service import Service, address
from thumbforge.web.answers import at, count_at, list_at, parsed, quoted, text_at
from thumbforge.web.http import Reply

MODEL_HINT = "set `model` in the profile; `thumbforge provider models` lists what the key may use"
OFFICIAL = "https://api.openai.com/v1"
MODEL_NAME = r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}"
PARAMS: dict[str, Param] = {
    "model": Text("gpt-image-2", MODEL_NAME, "the id of a model"),
    "quality": Choice("auto", ("auto", "low", "medium", "high", "xhigh", "max")),
    "size": Text("auto", r"auto|[1-9]\d{1,4}x[1-9]\d{1,4}", "auto or pixels such as 1536x864"),
    "output_format": Choice("png", ("png", "jpeg", "webp")),
    "reference": Choice("send", ("send", "ignore")),
    "reference_px": Whole(2048, 256, 4096),
    "base_url": address(OFFICIAL),
    "extra": Table(),
    "omit": Names(),
}


class OpenAIProvider:
    """One picture by `model`. `size: auto` is the model's size nearest to 16:9; `extra` adds fields to every request
    and `omit` leaves fields out, for servers that want or refuse them."""

    key = "openai"

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.own = checked(self.key, PARAMS, params, _also)
        hint = "check the network and the profile's base_url"
        self.service = Service(self.key, self.own["base_url"], OFFICIAL, ("OPENAI_API_KEY",), hint)
        reads = {"prompt", "negative_prompt"} | ({"reference"} if self.own["reference"] == "send" else set())
        self.capabilities = Capabilities(
            reads=frozenset(reads), max_concurrency=4, hard_limit=32, paid=not self.service.is_local
        )

    def generate(self, request: Request, call: Call) -> Answer:
        """One paid call. Its attempt's id goes along as `Idempotency-Key`, for gateways that honour one."""
        call.cancel.check()
        if gone := self._shut_down():
            raise ProviderSetup(f"{self.key}: {gone}", hint=MODEL_HINT)
        key = self.service.key()
        reply = self._asked(request, call, key)
        if reply.status != 200:
            raise failure(self.key, reply, key, self.own["model"])
        return self._answered(request, call, reply, key)

    def auth_state(self) -> Auth:
        return self.service.auth_state()

    def check(self, cancel: Cancel) -> Health:
        """Asks for the model's description, which costs nothing; a listed model may still want a verified account."""
        if gone := self._shut_down():
            return Health(self.auth_state(), gone, MODEL_HINT)
        document = self._get(f"models/{self.own['model']}", cancel)
        if not text_at(document, "id"):
            return Health("unknown", "the service answers, but not with the model", "check the profile's base_url")
        ends = text_at(document, "shutdown_date")
        notes = (f"{self.own['model']} is shut down on {quoted(ends)}",) if ends else ()
        return Health("ok", notes=notes)

    def _shut_down(self) -> str:
        """That the maker's own service has the model no more, "" where it may have it."""
        day = SHUT_DOWN.get(self.own["model"], "") if self.service.is_official else ""
        return f"{self.own['model']} was shut down on {day}" if day and day <= date.today().isoformat() else ""

    def models(self, cancel: Cancel) -> tuple[str, ...]:
        """The ids that speak of images, or all where none does."""
        found = [text_at(entry, "id") for entry in list_at(self._get("models", cancel), "data")]
        named = sorted(quoted(name, limit=100) for name in found if name)
        return tuple(name for name in named if "image" in name) or tuple(named)

    def _get(self, path: str, cancel: Cancel) -> Any:
        key = self.service.key()
        reply = self.service.exchange("GET", path, key, cancel=cancel, timeout_s=TIMEOUT_S, headers=_headers(key))
        document = parsed(reply.body)
        if reply.status != 200:
            raise failure(self.key, reply, key, self.own["model"])
        if error := said(self.key, document, reply, key, self.own["model"]):
            raise error
        if not isinstance(document, dict):
            raise OutputUnusable(f"{self.key}: the service answered with {described(reply.body)} instead of JSON")
        return document

    def _asked(self, request: Request, call: Call, key: str) -> Reply:
        fields = self._fields(request)
        headers = {**_headers(key), "Idempotency-Key": call.attempt_id}
        sends = request.reference is not None and self.own["reference"] == "send"
        if not sends:
            return self.service.exchange(
                "POST", "images/generations", key, cancel=call.cancel, sent=call.sent, timeout_s=call.timeout_s,
                headers=headers, json=fields,
            )  # fmt: skip
        assert request.reference is not None
        sent = prepared(request.reference, self.own["reference_px"])
        return self.service.exchange(
            "POST", "images/edits", key, cancel=call.cancel, sent=call.sent, timeout_s=call.timeout_s, headers=headers,
            form={name: _form(value) for name, value in fields.items()},
            files=[("image[]", (sent.name, sent.data, sent.media_type))],
        )  # fmt: skip

    def _fields(self, request: Request) -> dict[str, Any]:
        fields = {
            "model": self.own["model"],
            "prompt": whole_prompt(request),
            "n": 1,
            "size": sent_size(self.own["model"], self.own["size"]),
            "quality": self.own["quality"],
            "output_format": self.own["output_format"],
            **self.own["extra"],
        }
        return {name: value for name, value in fields.items() if name not in self.own["omit"]}

    def _answered(self, request: Request, call: Call, reply: Reply, key: str) -> Answer:
        document = parsed(reply.body)
        if error := said(self.key, document, reply, key, self.own["model"]):
            raise error
        if not isinstance(document, dict):
            raise OutputUnusable(f"{self.key}: the service answered with {described(reply.body)} instead of JSON")
        found = [entry for entry in list_at(document, "data") if isinstance(entry, dict)]
        if not found:
            raise OutputMissing(f"{self.key}: the service says that all went well, but there is no picture")
        data, media_type = picture(self.key, self._bytes_of(found[0], call))
        notes = {
            "model": self.own["model"],
            "request_id": quoted(reply.headers.get("x-request-id", ""), key, limit=100),
            "revised_prompt": quoted(text_at(found[0], "revised_prompt"), key, limit=1000),
            "pictures": len(found),
        }
        ignored = request.reference is not None and self.own["reference"] == "ignore"
        tokens = count_at(document, "usage", "total_tokens")
        return Answer(data, media_type, tokens=tokens, reference_ignored=ignored, notes=_told(notes))

    def _bytes_of(self, entry: Any, call: Call) -> bytes:
        """The first picture's bytes. An address runs out within the hour, so it is fetched at once, without the key."""
        if encoded := at(entry, "b64_json"):
            try:
                return decoded_base64(encoded)
            except (ValueError, AttributeError, TypeError) as error:
                raise OutputUnusable(f"{self.key}: the picture is not whole: its base64 is damaged") from error
        if url := text_at(entry, "url"):
            return fetch(self.service.http, url, call, timeout_s=call.timeout_s, trusted=self._trusted())
        raise OutputMissing(f"{self.key}: the service says that all went well, but there is no picture")

    def _trusted(self) -> str:
        """A server on this machine, or one that is asked without encryption anyway, may hand out such addresses."""
        return "/".join(self.service.base_url.split("/")[:3]) + "/"


def _also(own: Mapping[str, Any]) -> Iterator[str]:
    if wrong := wrong_size(own["model"], own["size"]):
        yield f"size {own['size']} {wrong}"
    taken = {"prompt", "n", "stream", "image", "image[]", "mask"} & own["extra"].keys()
    if taken:
        yield f"extra cannot set {', '.join(sorted(taken))}"


def _headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _form(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _told(notes: Mapping[str, Any]) -> dict[str, Any]:
    """What there is to tell: one picture is what was asked for."""
    return {name: value for name, value in notes.items() if value and (name, value) != ("pictures", 1)}
