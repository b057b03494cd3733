"""What bytes are, by their content: the kind of a picture, or what they are instead and what to do about it."""

from __future__ import annotations

_SAVE_AS = "save it as PNG or JPEG and use that file"

_MAGIC = (
    (b"\xff\xd8\xff", "a damaged JPEG picture"),
    (b"\x89PNG\r\n\x1a\n", "a damaged PNG picture"),
    (b"GIF8", "a damaged GIF picture"),
    (b"BM", "a damaged BMP picture"),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"%PDF", "a PDF document"),
    (b"8BPS", "a Photoshop file"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x1aE\xdf\xa3", "a Matroska or WebM video"),
)
_PICTURES = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def media_type(data: bytes) -> str:
    """The media type of picture bytes, "" where they are of no kind that we can use. Nothing is decoded."""
    for head, media_type in _PICTURES:
        if data.startswith(head):
            return media_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:8] == b"ftyp" and data[8:12] in (b"avif", b"avis"):
        return "image/avif"
    return "image/bmp" if data[:2] == b"BM" and data[6:10] == b"\0\0\0\0" else ""


def described(data: bytes) -> str:
    """What bytes that are no picture look like, to be put after "answered with"."""
    return kind(data)[0]


def kind(data: bytes) -> tuple[str, str]:
    """What bytes that are no picture look like, and what to do."""
    if not data:
        return "empty (0 bytes)", "get the file again"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "a damaged WEBP picture", "get the file again; it is cut or changed"
    if data[4:8] == b"ftyp":
        return _brand(data[8:12])
    for magic, name in _MAGIC:
        if data.startswith(magic):
            damaged = "damaged" in name
            return name, "get the file again; it is cut or changed" if damaged else _SAVE_AS
    return _text_kind(data)


def _brand(brand: bytes) -> tuple[str, str]:
    if brand in (b"avif", b"avis"):
        return "an AVIF picture that is damaged or that this Pillow cannot read", _SAVE_AS
    if brand in (b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"):
        return "a HEIC picture, which needs a plug-in", _SAVE_AS
    return "an MP4 or QuickTime file", "take a still from it and use that"


def _text_kind(data: bytes) -> tuple[str, str]:
    head = data[:2048].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if b"<svg" in head:
        return "an SVG drawing", f"vector files are not supported; {_SAVE_AS}"
    if head.startswith((b"<!doctype html", b"<html")) or b"<body" in head or b"<title" in head:
        return "an HTML page", "the address or service answered with a page instead of a picture"
    if head.startswith(b"<"):
        return "XML", "the address or service answered with XML instead of a picture"
    if head[:1] in (b"{", b"["):
        return "JSON", "the service answered with a message instead of a picture"
    if head.startswith((b"data:", b"event:")):
        return "an event stream", "the service answered with a message instead of a picture"
    for magic, name in ((b"\x89PNG\r\n\x1a\n", "PNG"), (b"\xff\xd8\xff", "JPEG")):
        if (at := data[:65536].find(magic)) > 0:
            return f"{at} bytes of something else before a {name} picture", "write the picture alone, without log lines"
    if b"\x00" in data[:512] or any(byte < 9 for byte in data[:512]):
        return "unknown binary data", _SAVE_AS
    return "text", "the service or command answered with text instead of a picture"
