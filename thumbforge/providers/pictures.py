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

from thumbforge.errors import OutputMissing, OutputUnusable, PictureError, ProviderBadRequest
from thumbforge.pixels import kinds
from thumbforge.providers.base import Reference

_SUFFIXES = {"image/jpeg": ".jpg", "image/png": ".png"}


def picture(provider: str, data: bytes, hint: str = "") -> tuple[bytes, str]:
    """The bytes and their media type. OutputMissing where there are none, OutputUnusable where they are no picture."""
    if not data:
        raise OutputMissing(f"{provider} answered without a picture", hint=hint)
    media_type = kinds.media_type(data)
    if not media_type:
        raise OutputUnusable(f"{provider} answered with {kinds.described(data)} instead of a picture", hint=hint)
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
    """A reference as it is sent: 8-bit sRGB without metadata, a JPEG; what is clear lies on white."""

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
    from PIL import Image

    from thumbforge.pixels.picture import BACKDROP, open_layers

    hint = "pick the hero again, or put its file back"
    try:
        upright, clear = open_layers(path.read_bytes(), (longest, longest))
    except PictureError as error:
        raise ProviderBadRequest(f"reference {path.name}: {error.message}", hint=error.hint or hint) from error
    except OSError as error:
        raise ProviderBadRequest(f"reference {path.name}: {error.strerror or error}", hint=hint) from error
    encoded = io.BytesIO()
    if clear is not None:  # laid on white before it is made smaller: what is clear has colours of no meaning
        ground = Image.new("RGB", upright.size, BACKDROP)
        ground.paste(upright, (0, 0), clear)
        upright = ground
    upright.thumbnail((longest, longest), Image.Resampling.LANCZOS)
    upright.save(encoded, "JPEG", quality=92, subsampling=0)
    return Prepared(encoded.getvalue(), "image/jpeg")
