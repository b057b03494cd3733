"""The provider `fake`: cheap pictures that obey every rule of a real provider, for tests and for trying things out.

Markers in the prompt make a call fail: `[[FAIL_TRANSIENT]]` in a way that is retried, `[[FAIL_PERMANENT]]` in one that
is not. The environment variable THUMBFORGE_FAKE_LOG names a file that gets one JSON line when a call begins and one
when it ends, however it ends: {"event": "start" | "end", "at": Unix seconds, "pid": …, "key": the call's key}.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from thumbforge import ids
from thumbforge.errors import ProviderBadRequest, ProviderTransient
from thumbforge.providers.base import READABLE, Answer, Call, Capabilities, Request
from thumbforge.providers.params import Param, Whole, checked

if TYPE_CHECKING:
    from PIL import Image

PARAMS: dict[str, Param] = {"delay_ms": Whole(0, 0, 600_000)}
LOG = "THUMBFORGE_FAKE_LOG"
TRANSIENT, PERMANENT = "[[FAIL_TRANSIENT]]", "[[FAIL_PERMANENT]]"

MAX_SIDE = 16_384
DARKEST, LIGHTEST = 64, 224
"""Range of every channel of the ground: no picture is taken for a black one."""


class FakeProvider:
    """Paints what the whole request decides to the byte. `delay_ms` is how long it takes."""

    key = "fake"

    def __init__(self, params: Mapping[str, Any]) -> None:
        own = checked(self.key, PARAMS, params)
        self.delay_s: float = own["delay_ms"] / 1000
        self.capabilities = Capabilities(reads=READABLE, max_concurrency=4, hard_limit=64)

    def generate(self, request: Request, call: Call) -> Answer:
        with _logged(call):
            call.cancel.wait(self.delay_s)
            _fail_if_asked(request.prompt)
            return Answer(_painted(request), "image/jpeg")


def _fail_if_asked(prompt: str) -> None:
    if TRANSIENT in prompt:
        raise ProviderTransient(f"fake: the prompt says {TRANSIENT}", hint="take the marker out of the prompt")
    if PERMANENT in prompt:
        raise ProviderBadRequest(f"fake: the prompt says {PERMANENT}", hint="take the marker out of the prompt")


def _painted(request: Request) -> bytes:
    """JPEG bytes; the same on one platform for the same request."""
    width, height = request.width, request.height
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
        raise ProviderBadRequest(f"fake paints 1 to {MAX_SIDE} pixels a side, not {width}x{height}")
    seed = ids.digest("fake", request.art_fields("", READABLE))
    encoded = io.BytesIO()
    _picture(hashlib.shake_256(seed.encode()).digest(96), width, height).save(encoded, "JPEG", quality=85)
    return encoded.getvalue()


def _picture(seed: bytes, width: int, height: int) -> Image.Image:
    """A ground of soft colours and a few discs; 92 bytes of the seed are used."""
    from PIL import Image, ImageDraw

    ground = bytes(DARKEST + byte * (LIGHTEST - DARKEST) // 255 for byte in seed[:60])
    picture = Image.frombytes("RGB", (5, 4), ground).resize((width, height), Image.Resampling.BILINEAR)
    draw = ImageDraw.Draw(picture)
    for start in range(60, 92, 8):
        x, y, size, red, green, blue, *_ = seed[start : start + 8]
        centre, radius = (x / 255 * width, y / 255 * height), (0.06 + size / 2550) * height
        box = (centre[0] - radius, centre[1] - radius, centre[0] + radius, centre[1] + radius)
        draw.ellipse(box, fill=(red, green, blue))
    return picture


@contextmanager
def _logged(call: Call) -> Iterator[None]:
    _log("start", call)
    try:
        yield
    finally:
        _log("end", call)


def _log(event: str, call: Call) -> None:
    """One write to a file opened for appending, so lines of several processes do not mix."""
    path = os.environ.get(LOG)
    if not path:
        return
    line = json.dumps({"event": event, "at": time.time(), "pid": os.getpid(), "key": call.key}) + "\n"
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, line.encode())
    finally:
        os.close(handle)
