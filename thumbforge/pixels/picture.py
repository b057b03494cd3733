"""Bytes to pixels. Pictures come from services, commands and users, so nothing is believed before it is decoded.

What a file is follows from its content, never from its name. Limits hold before any pixel is decoded; of an animation
only the first frame is ever read.
"""

from __future__ import annotations

import struct
import warnings
import zlib
from dataclasses import dataclass
from functools import lru_cache
from io import SEEK_END, BytesIO
from pathlib import Path

from PIL import Image, ImageCms, ImageOps, ImageStat

from thumbforge.durable import read_regular
from thumbforge.errors import PictureError
from thumbforge.pixels import kinds
from thumbforge.pixels.limits import MAX_BYTES, MAX_PIXELS

MIN_SIDE = 320
"""A picture narrower than this is an icon, not a background."""
LEAST_KEPT = 0.25
"""A crop to the wanted shape keeps at least this share; a 9:16 picture keeps 0.32 of itself in 16:9."""
BACKDROP = (255, 255, 255)
"""What shows through a transparent picture, as in a browser."""
_BLACK, _FLAT = 14, 2
_CLEAR = 8

_FORMATS = {
    "JPEG": ("image/jpeg", ".jpg"),
    "MPO": ("image/jpeg", ".jpg"),
    "PNG": ("image/png", ".png"),
    "WEBP": ("image/webp", ".webp"),
    "GIF": ("image/gif", ".gif"),
    "AVIF": ("image/avif", ".avif"),
    "BMP": ("image/bmp", ".bmp"),
}
_OPENED = tuple(name for name in _FORMATS if name != "MPO")  # a phone's MPO is opened as the JPEG that it begins with
_ENDS = {"JPEG": b"\xff\xd9", "PNG": b"IEND\xaeB`\x82"}
# What Pillow's decoders raise on damaged data.
_DAMAGE = (
    OSError,
    ValueError,
    SyntaxError,
    EOFError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    struct.error,
    zlib.error,
)
_BOMB = (Image.DecompressionBombError, Image.DecompressionBombWarning)
# Our own limit is checked right after the header; Pillow's warning would only be noise on stderr.
warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)


@dataclass(frozen=True, slots=True)
class PictureInfo:
    """A picture by its content: `width` and `height` are pixels of the upright picture, `suffix` has its dot."""

    media_type: str
    width: int
    height: int
    suffix: str


@dataclass(frozen=True, slots=True)
class Probe:
    """A written file, opened again."""

    format: str
    media_type: str
    width: int
    height: int
    mode: str
    srgb: bool


def inspect(data: bytes) -> PictureInfo:
    """Decode the first frame in full. Raises PictureError that names what the bytes are instead, or what is wrong."""
    return _info(_decode(data))


def inspect_own(data: bytes) -> PictureInfo:
    """`inspect` for a picture that a user brings along, a hero or an item's. Raises PictureError, too, for one that is
    black or fully transparent."""
    image = _decode(data)
    _require_content(image, [])
    return _info(image)


def inspect_art(data: bytes, width: int, height: int) -> tuple[PictureInfo, tuple[str, ...]]:
    """`inspect`, and whether the picture can be the ground of a thumbnail for which `width` x `height` was asked.

    Returns warnings (another shape, smaller, animated, one flat colour). Raises PictureError for a picture that is
    black, fully transparent, tiny, or of a shape of which a crop would keep less than a quarter.
    """
    image = _decode(data)
    info = _info(image)
    found: list[str] = []
    if min(info.width, info.height * 16 // 9) < MIN_SIDE:
        raise PictureError(
            f"the picture is tiny: {info.width}x{info.height}", hint=f"use one of at least {MIN_SIDE} pixels width"
        )
    kept = _kept(info, width, height)
    if kept < LEAST_KEPT:
        raise PictureError(
            f"the picture is {info.width}x{info.height}: a crop to {width}x{height} would keep {kept:.0%} of it",
            hint="use a picture of about 16:9",
        )
    _require_content(image, found)
    if kept < 0.98:
        found.append(f"{info.width}x{info.height} instead of {width}x{height}: cropped, {kept:.0%} is kept")
    if info.width * 3 < width:
        found.append(f"{info.width}x{info.height} is small for {width}x{height}: it will look soft")
    if getattr(image, "is_animated", False):
        found.append("animated: the first frame is used")
    return info, tuple(found)


def open_rgb(source: Path | bytes) -> Image.Image:
    """Upright RGB pixels in sRGB on white, first frame, without metadata. Raises PictureError as `inspect` does."""
    if isinstance(source, bytes):
        return _to_rgb(_decode(source))
    try:
        data = read_regular(source, MAX_BYTES)
    except OSError as error:
        raise PictureError(f"cannot read {source.name}: {error.strerror or error}") from error
    return _to_rgb(_decode(data))


def open_rgba(path: Path) -> Image.Image:
    """Upright RGBA pixels in sRGB, first frame: a logo or a cut-out. Raises PictureError as `inspect` does."""
    try:
        image = _decode(read_regular(path, MAX_BYTES))
    except OSError as error:
        raise PictureError(f"cannot read {path.name}: {error.strerror or error}") from error
    upright, clear = _upright(image)
    upright.putalpha(clear or 255)
    return upright


def open_layers(data: bytes, enough: tuple[int, int]) -> tuple[Image.Image, Image.Image | None]:
    """Upright RGB pixels in sRGB, and what of them is not clear (L; None where all is seen). The colours under what is
    clear are kept. A JPEG may come smaller, not below `enough` pixels a side. Raises PictureError as `inspect` does."""
    return _upright(_decode(data, enough))


def open_mask(data: bytes, chunk: str) -> tuple[Image.Image, str]:
    """An upright grey picture, and the text of its PNG chunk of this name, or "". Raises PictureError as `inspect`."""
    image = _decode(data)
    text = image.info.get(chunk, "")
    upright, _ = _upright(image)
    return upright.convert("L"), text if isinstance(text, str) else ""


def probe(path: Path) -> Probe:
    """What a file that was just written is, by its header; that it is whole is seen by the mark at its end (to decode
    it would cost as much as a twelfth of making it). Raises PictureError where it is neither."""
    try:
        with path.open("rb") as file, Image.open(file) as image:
            width, height, mode, kind = image.width, image.height, image.mode, str(image.format)
            profile = image.info.get("icc_profile")
            end = _ENDS.get(kind, b"")
            file.seek(-len(end), SEEK_END)
            if file.read() != end:
                raise EOFError("its end is missing")
    except _DAMAGE as error:
        raise PictureError(f"the written file cannot be read: {_reason(error)}") from error
    return Probe(kind, _FORMATS.get(kind, ("", ""))[0], width, height, mode, not profile or _is_srgb(profile))


def _decode(data: bytes, enough: tuple[int, int] | None = None) -> Image.Image:
    if len(data) > MAX_BYTES:
        raise PictureError(
            f"the picture has {len(data)} bytes, more than {MAX_BYTES}", hint="use a smaller or more compressed file"
        )
    try:
        image = Image.open(BytesIO(data), formats=_OPENED)
    except _BOMB as error:
        raise _too_large("far too many pixels") from error
    except _DAMAGE as error:
        raise _no_picture(data) from error
    if image.width * image.height > MAX_PIXELS:
        raise _too_large(f"{image.width}x{image.height} pixels")
    if enough:
        image.draft("RGB", enough)
    try:
        image.load()
    except _DAMAGE as error:
        raise PictureError(
            f"a damaged {image.format} picture: {_reason(error)}", hint="get the file again; it is cut or changed"
        ) from error
    return image


def _reason(error: BaseException) -> str:
    """The first line of an error's text, short."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:120]


def _too_large(what: str) -> PictureError:
    return PictureError(f"the picture is too large: {what}, at most {MAX_PIXELS}", hint="use a smaller picture")


def _no_picture(data: bytes) -> PictureError:
    kind, hint = kinds.kind(data)
    return PictureError(f"not a picture we can use: {kind}", hint=hint)


def _info(image: Image.Image) -> PictureInfo:
    media_type, suffix = _FORMATS[str(image.format)]
    width, height = image.size
    if _orientation(image) >= 5:
        width, height = height, width
    return PictureInfo(media_type, width, height, suffix)


def _orientation(image: Image.Image) -> int:
    try:
        found = image.getexif().get(0x0112, 1)
    except _DAMAGE:
        return 1
    return found if isinstance(found, int) and 1 <= found <= 8 else 1


_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def _to_rgb(image: Image.Image) -> Image.Image:
    upright, clear = _upright(image)
    if clear is None or clear.getextrema() == (255, 255):
        return upright
    ground = Image.new("RGB", upright.size, BACKDROP)
    ground.paste(upright, (0, 0), clear)
    return ground


def _upright(image: Image.Image) -> tuple[Image.Image, Image.Image | None]:
    """RGB in sRGB without metadata, and the mask of what is not clear, both upright."""
    profile = image.info.get("icc_profile")
    orientation = _orientation(image)
    clear = image.getchannel("A") if image.mode in ("RGBA", "LA") else None
    if image.mode == "P" or (clear is None and "transparency" in image.info):
        image = image.convert("RGBA")
        clear = image.getchannel("A")
    upright = _in_srgb(_eight_bit(image), profile)
    if orientation > 1:
        upright = upright.transpose(_TURNS[orientation])
        clear = clear and clear.transpose(_TURNS[orientation])
    upright.info = {}  # comments, prompts and profiles stay behind
    return upright, clear


def _eight_bit(image: Image.Image) -> Image.Image:
    """L, RGB or CMYK with 8 bits a channel, without alpha."""
    if image.mode in ("L", "RGB", "CMYK"):
        return image
    if image.mode.startswith("I"):
        wide = image.convert("I")
        return wide.point([min(value >> 8, 255) for value in range(65536)], "L")
    if image.mode == "F":
        return ImageOps.autocontrast(image.convert("L"))
    return image.convert("L" if image.mode in ("LA", "La", "1") else "RGB")


def _in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Through the embedded profile; a profile that is broken or made for another mode is passed over."""
    if profile and not (image.mode == "RGB" and _is_srgb(profile)):
        try:
            opened = ImageCms.ImageCmsProfile(BytesIO(profile))
            converted = ImageCms.profileToProfile(image, opened, _srgb(), outputMode="RGB")
        except (ImageCms.PyCMSError, *_DAMAGE):
            converted = None
        if converted:
            return converted
    return image if image.mode == "RGB" else image.convert("RGB")


@lru_cache(maxsize=1)
def _srgb() -> ImageCms.ImageCmsProfile:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))


@lru_cache(maxsize=32)
def _is_srgb(profile: bytes) -> bool:
    try:
        described = ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(BytesIO(profile)))
    except (ImageCms.PyCMSError, *_DAMAGE):
        return False
    return described.strip().lower().startswith("srgb")


def _kept(info: PictureInfo, width: int, height: int) -> float:
    """The share of the picture that a crop to width:height keeps."""
    one, other = info.width * height, info.height * width
    return min(one, other) / max(one, other)


def _require_content(image: Image.Image, found: list[str]) -> None:
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        most = image.convert("RGBA").getchannel("A").getextrema()[1]
        if isinstance(most, (int, float)) and most < _CLEAR:
            raise PictureError("the picture is fully transparent", hint="export it with its background")
    small = _to_rgb(image).resize((64, 36), Image.Resampling.BOX, reducing_gap=1.0)
    extrema = [channel.getextrema() for channel in small.split()]
    if ImageStat.Stat(small.convert("L")).extrema[0][1] <= _BLACK:
        raise PictureError("the picture is black", hint="the service may have refused the content; try another prompt")
    if all(float(high) - float(low) <= _FLAT for low, high in extrema):  # type: ignore[arg-type]
        found.append("the picture is one flat colour")
