"""What is known of Gemini's image models and of the reasons why an answer ends, from the service's pages and the types
of its client on 2026-12-01. What is not here is taken as it comes."""

from __future__ import annotations

SIZES: dict[str, tuple[str, ...]] = {
    "gemini-2.5": (),
    "gemini-3.1-flash-lite": (),
    "gemini-3-pro": ("1K", "2K", "4K"),
    "gemini-3.1-pro": ("1K", "2K", "4K"),
    "gemini-3.1-flash": ("512", "1K", "2K", "4K"),
}
"""By the beginning of a model's name, the longest that fits: its sizes; () where it has one and refuses the field."""
SHUT_DOWN = {
    "gemini-2.5-flash-image": "2026-10-02",
    "gemini-2.5-flash-image-preview": "2026-01-15",
    "gemini-3-pro-image-preview": "2026-06-25",
    "gemini-3.1-flash-image-preview": "2026-06-25",
}
"""Model: the day from which it answers no more."""

REFUSED = frozenset(
    {
        "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII",
        "RECITATION", "IMAGE_RECITATION", "MODEL_ARMOR", "JAILBREAK", "ESCALATION", "LANGUAGE",
    }
)  # fmt: skip
ONCE_MORE = frozenset(
    {"STOP", "NO_IMAGE", "IMAGE_OTHER", "OTHER", "", "FINISH_REASON_UNSPECIFIED", "MALFORMED_RESPONSE"}
)
"""Without a picture these are the model's mood: the same request may well give one."""
CUT_OFF = frozenset({"MAX_TOKENS", "CONTINUATION"})
TOOLS = frozenset(
    {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE"}
)
"""The model talks to tools instead of drawing: it is none for pictures."""
ACCOUNT = frozenset({"PUP_LIMITED_DISABLED"})


def sizes_of(model: str) -> tuple[str, ...] | None:
    """The sizes that a model knows, None where nobody knows."""
    known = [start for start in SIZES if model.startswith(start)]
    return SIZES[max(known, key=len)] if known else None
