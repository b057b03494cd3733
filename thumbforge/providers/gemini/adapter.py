"""The provider `gemini`: pictures by `:generateContent`. https://ai.google.dev/gemini-api/docs/image-generation

The reference goes inline before the text. The service has no seed and no negative prompt.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from thumbforge.cancel import Cancel
from thumbforge.errors import OutputUnusable, ProviderSetup
from thumbforge.providers.base import Answer, Call, Capabilities, Request
from thumbforge.providers.gemini.errors import failure, no_picture, said
from thumbforge.providers.gemini.models import SHUT_DOWN, sizes_of
from thumbforge.providers.health import TIMEOUT_S, Auth, Health
from thumbforge.providers.params import Choice, Param, Text, Whole, checked
from thumbforge.providers.pictures import decoded_base64, picture, prepared
from thumbforge.providers.prompts import whole_prompt
from thumbforge.providers.service import Service, address
from thumbforge.web.answers import at, count_at, list_at, parsed, quoted, text_at
from thumbforge.web.http import Reply

OFFICIAL = "https://generativelanguage.googleapis.com/v1beta"
RATIOS = ("16:9", "3:2", "4:3", "21:9", "1:1")
MODEL_HINT = "set `model` in the profile; `thumbforge provider models` lists what there is"
PARAMS: dict[str, Param] = {
    "model": Text("gemini-3.1-flash-image", r"[a-z0-9][a-z0-9.-]{0,99}", "the id of a model"),
    "image_size": Choice("1K", ("512", "1K", "2K", "4K")),
    "aspect_ratio": Choice("16:9", RATIOS),
    "reference": Choice("send", ("send", "ignore")),
    "reference_px": Whole(2048, 256, 4096),
    "base_url": address(OFFICIAL),
}


class GeminiProvider:
    """One picture by `model`, 1376x768 at `image_size: 1K` and `aspect_ratio: 16:9`."""

    key = "gemini"

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.own = checked(self.key, PARAMS, params, _also)
        usual = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
        hint = "check the network and the profile's base_url"
        self.service = Service(self.key, self.own["base_url"], OFFICIAL, usual, hint)
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
        reply = self.service.exchange(
            "POST", f"models/{self.own['model']}:generateContent", key, cancel=call.cancel, sent=call.sent,
            timeout_s=call.timeout_s, headers={**_headers(key), "Idempotency-Key": call.attempt_id},
            json=self._body(request),
        )  # fmt: skip
        if reply.status != 200:
            raise failure(self.key, reply, key, self.own["model"])
        return self._answered(request, reply, key)

    def auth_state(self) -> Auth:
        return self.service.auth_state()

    def check(self, cancel: Cancel) -> Health:
        """Asks for the model's description, which costs nothing; what is left of the quota is not told anywhere."""
        if gone := self._shut_down():
            return Health(self.auth_state(), gone, MODEL_HINT)
        document = self._get(f"models/{self.own['model']}", cancel)
        methods = list_at(document, "supportedGenerationMethods")
        if methods and "generateContent" not in methods:
            return Health("ok", f"{self.own['model']} makes no pictures by generateContent", "set another `model`")
        return Health("ok")

    def models(self, cancel: Cancel) -> tuple[str, ...]:
        """The ids that can be asked by generateContent, those that speak of images first: which of the others draw,
        the service does not say."""
        listed = list_at(self._get("models", cancel, {"pageSize": "1000"}), "models")
        found = [text_at(entry, "name").removeprefix("models/") for entry in listed if _generates(entry)]
        named = (quoted(name, limit=100) for name in found if name)
        return tuple(sorted(named, key=lambda name: ("image" not in name, name)))

    def _shut_down(self) -> str:
        """That the maker's own service has the model no more, "" where it may have it."""
        day = SHUT_DOWN.get(self.own["model"], "") if self.service.is_official else ""
        return f"{self.own['model']} was shut down on {day}" if day and day <= date.today().isoformat() else ""

    def _get(self, path: str, cancel: Cancel, query: Mapping[str, str] | None = None) -> Any:
        key = self.service.key()
        reply = self.service.exchange(
            "GET", path, key, cancel=cancel, timeout_s=TIMEOUT_S, headers=_headers(key), query=query
        )
        document = parsed(reply.body)
        if error := said(self.key, document, reply, key, self.own["model"]):
            raise error
        if reply.status != 200:
            raise failure(self.key, reply, key, self.own["model"])
        if not isinstance(document, dict):
            raise no_picture(self.key, document, reply.body)
        return document

    def _body(self, request: Request) -> dict[str, Any]:
        parts: list[dict[str, Any]] = []
        if request.reference and self.own["reference"] == "send":
            sent = prepared(request.reference, self.own["reference_px"])
            data = base64.b64encode(sent.data).decode()
            parts.append({"inlineData": {"mimeType": sent.media_type, "data": data}})
        parts.append({"text": whole_prompt(request)})
        shape = {"aspectRatio": self.own["aspect_ratio"]}
        if sizes_of(self.own["model"]) != ():
            shape["imageSize"] = self.own["image_size"]
        config = {"responseModalities": ["IMAGE"], "imageConfig": shape}
        return {"contents": [{"role": "user", "parts": parts}], "generationConfig": config}

    def _answered(self, request: Request, reply: Reply, key: str) -> Answer:
        document = parsed(reply.body)
        if error := said(self.key, document, reply, key, self.own["model"]):
            raise error
        found = _pictures(document)
        if not found:
            raise no_picture(self.key, document, reply.body)
        try:
            decoded = decoded_base64(found[-1])
        except ValueError as error:
            raise OutputUnusable(f"{self.key}: the picture is not whole: its base64 is damaged") from error
        data, media_type = picture(self.key, decoded)
        notes = {
            "model": quoted(text_at(document, "modelVersion"), limit=100) or self.own["model"],
            "response_id": quoted(text_at(document, "responseId"), limit=100),
        }
        if len(found) > 1:
            notes["pictures"] = str(len(found))
        ignored = request.reference is not None and self.own["reference"] == "ignore"
        tokens = count_at(document, "usageMetadata", "totalTokenCount")
        return Answer(data, media_type, tokens=tokens, reference_ignored=ignored, notes=notes)


def _pictures(document: Any) -> list[str]:
    """The base64 of every part that is a picture and no thought of the model, in order; proxies write snake_case."""
    found = []
    parts = [part for each in list_at(document, "candidates") for part in list_at(each, "content", "parts")]
    for part in parts:
        inline = at(part, "inlineData") or at(part, "inline_data")
        named = text_at(inline, "mimeType") or text_at(inline, "mime_type") or "image/"
        if at(part, "thought") is not True and named.lower().startswith("image/") and (data := text_at(inline, "data")):
            found.append(data)
    return found


def _generates(entry: Any) -> bool:
    """Whether a listed model answers generateContent; one that does not say may."""
    methods = list_at(entry, "supportedGenerationMethods")
    return not methods or "generateContent" in methods


def _also(own: Mapping[str, Any]) -> Iterator[str]:
    known = sizes_of(own["model"])
    if known and own["image_size"] not in known:
        yield f"image_size {own['image_size']} is none that {own['model']} can: {', '.join(known)}"


def _headers(key: str) -> dict[str, str]:
    """Never `?key=`: addresses end in logs."""
    return {"x-goog-api-key": key} if key else {}
