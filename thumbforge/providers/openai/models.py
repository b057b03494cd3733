"""What is known of OpenAI's image models, from the service's pages on 2026-12-01. Names that are not here are nobody's
business: other servers have models of their own."""

from __future__ import annotations

import re

OLD = ("gpt-image-1", "chatgpt-image")
OLD_SIZES = ("1024x1024", "1536x1024", "1024x1536")
SHUT_DOWN = {
    "dall-e-2": "2026-05-12",
    "dall-e-3": "2026-05-12",
    "gpt-image-1": "2026-10-23",
    "gpt-image-1.5": "2026-12-01",
    "gpt-image-1-mini": "2026-12-01",
    "chatgpt-image-latest": "2026-12-01",
}
"""Model: the day from which it answers no more."""


def is_old(model: str) -> bool:
    """Whether it draws three sizes only, none of them 16:9."""
    return re.match(r"(gpt-image-1(?!\d)|chatgpt-image)", model) is not None


def wrong_size(model: str, size: str) -> str:
    """What is wrong with a size by the rules of the models that we know, "" where nothing is or nobody knows."""
    if size == "auto" or not model.startswith(("gpt-image-", *OLD)):
        return ""
    if is_old(model):
        return "" if size in OLD_SIZES else f"is none that {model} can: {', '.join(OLD_SIZES)}"
    width, height = (int(side) for side in size.split("x"))
    right = (
        width % 16 == height % 16 == 0
        and max(width, height) <= 3840
        and max(width, height) <= 3 * min(width, height)
        and 655_360 <= width * height <= 8_294_400
    )
    return "" if right else f"is none that {model} can (edges by 16, 655360 to 8294400 pixels); {SIZES}"


SIZES = "sizes that every gpt-image-2 model takes: 1280x720, 1536x864, 1792x1008, 2048x1152, 2560x1440, 3840x2160"


def sent_size(model: str, size: str) -> str:
    """Neither 1920x1080 nor any 16:9 exists for old models: their widest is cropped."""
    if size != "auto":
        return size
    return "1536x1024" if is_old(model) else "1536x864"
