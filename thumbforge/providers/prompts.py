"""A request's words and numbers as services take them."""

from __future__ import annotations

import hashlib

from thumbforge.providers.base import Request


def clean(text: str) -> str:
    """Text that every service and command can take: no NUL, nothing that has no place in UTF-8."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def whole_prompt(request: Request) -> str:
    """Prompt and negative prompt in one text, for services that know only one."""
    prompt = clean(request.prompt)
    return f"{prompt}\n\nAvoid: {clean(request.negative_prompt)}" if request.negative_prompt else prompt


def seed_of(request: Request, bits: int = 32) -> int:
    """The request's seed, else one that its video and take decide, so that each take is another picture."""
    if request.seed is not None:
        return request.seed % (1 << bits)
    text = f"{request.video}\0{request.take}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> (64 - bits)
