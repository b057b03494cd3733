"""Picture bytes, told by content; and the reference as a service takes it."""

from __future__ import annotations

import base64
import binascii
import io
import re
import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from thumbforge.errors import OutputMissing, OutputUnusable, ProviderBadRequest
from thumbforge.pixels.limits import MAX_PIXELS
from thumbforge.providers.base import Reference

_HEADS = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_SUFFIXES = {"image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif", "image/webp": ".webp"}


def kind_of(data: bytes) -> str:
    """The media type of picture bytes by their content, "" where they are of no kind that we can use."""
    for head, media_type in _HEADS:
        if data.startswith(head):
            return media_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:8] == b"ftyp" and data[8:12] in (b"avif", b"avis"):
        return "image/avif"
    return "image/bmp" if data[:2] == b"BM" and data[6:10] == b"\0\0\0\0" else ""


def described(data: bytes) -> str:
    """What bytes that are no picture look like."""
    head = data[:2048].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not head:
        return "nothing"
    if b"<svg" in head:
        return "an SVG drawing"
    if head.startswith((b"<!doctype html", b"<html")) or b"<body" in head or b"<title" in head:
        return "an HTML page"
    if head.startswith(b"<"):
        return "XML"
    if head[:1] in (b"{", b"["):
        return "JSON"
    if head.startswith((b"data:", b"event:")):
        return "an event stream"
    if any(kind in data[:65536] for kind in (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")):
        return "a picture with something else before it"
    return "text" if all(byte > 8 for byte in head[:512]) else "unknown data"


def picture(provider: str, data: bytes, hint: str = "") -> tuple[bytes, str]:
    """The bytes and their media type. OutputMissing where there are none, OutputUnusable where they are no picture."""
    if not data:
        raise OutputMissing(f"{provider} answered without a picture", hint=hint)
    media_type = kind_of(data)
    if not media_type:
        raise OutputUnusable(f"{provider} answered with {described(data)} instead of a picture", hint=hint)
    return data, media_type


def decoded_base64(text: str) -> bytes:
    """Plain or URL-safe base64, with or without padding, line breaks and a `data:` prefix. ValueError for others."""
    if text.startswith("data:"):
        text = text.partition(",")[2]
    plain = re.sub(r"\s+", "", text).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error


@dataclass(frozen=True, slots=True)
class Prepared:
    """A reference as it is sent: 8-bit RGB in JPEG, or RGBA in PNG where something shows through."""

    data: bytes
    media_type: str

    @property
    def name(self) -> str:
        return f"reference{_SUFFIXES[self.media_type]}"


_preparing = threading.Lock()


def prepared(reference: Reference, longest: int) -> Prepared:
    """The reference upright, at most `longest` pixels a side. Many threads that ask at once prepare it once.

    ProviderBadRequest where it cannot be read as a picture.
    """
    with _preparing:
        return _prepared(reference.sha256, reference.path, longest)


@lru_cache(maxsize=4)
def _prepared(sha256: str, path: Path, longest: int) -> Prepared:
    from PIL import Image, ImageOps

    hint = "pick the hero again, or put its file back"
    try:
        with Image.open(io.BytesIO(path.read_bytes())) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                raise ProviderBadRequest(f"reference {path.name} has more than {MAX_PIXELS // 1_000_000} megapixels")
            clear = opened.has_transparency_data
            profile = opened.info.get("icc_profile")
            upright = ImageOps.exif_transpose(opened)
            own = upright.convert("RGBA" if clear else "RGB")
            own.thumbnail((longest, longest), Image.Resampling.LANCZOS)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise ProviderBadRequest(f"reference {path.name} is no picture: {error}", hint=hint) from error
    kept = profile if upright.mode in ("RGB", "RGBA") else None
    own.info = {}  # a text chunk or an EXIF place of the hero is nobody else's business
    encoded = io.BytesIO()
    if clear:
        own.save(encoded, "PNG", icc_profile=kept)
        return Prepared(encoded.getvalue(), "image/png")
    own.save(encoded, "JPEG", quality=92, subsampling=0, icc_profile=kept)
    return Prepared(encoded.getvalue(), "image/jpeg")
