"""Identities: what makes two pictures the same picture.

Four kinds, each answering another question (docs/adr/0001-identities.md):

    world     natural key                 which thing in the world?
    job       `derive(seed, name)`        which record did this run write for this item?
    work      `idempotency_key(parts)`    has any run already made this?
    content   `sha256_hex(bytes)`         are these the same bytes?

Everything here is persisted state: the golden values in tests/test_ids.py change only on purpose.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

WORLD = uuid.UUID("6f1d0c52-7c5b-5d0e-9a50-6a7de2f7a1c4")
"""Seed of derived ids that are the same on every machine. Never changes."""

NEGATIVE_MARK = "\n\nNegative: "


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
_text = json.encoder.encode_basestring


def sha256_hex(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def canonical_json(value: Any) -> str:
    """One text per value: sorted keys, no spaces, no escapes. NaN and infinities are refused (ValueError)."""
    return _encode(value)


class Shared(dict[str, Any]):
    """A mapping that thousands of digests have in common. Never changed once made: its JSON is kept."""

    @cached_property
    def json(self) -> str:
        return canonical_json(self)


def digest(tag: str, fields: Mapping[str, Any]) -> str:
    """sha256 (64 hex digits) of a tagged structure; unlike glued text, no two structures share an encoding.

    It is that of `canonical_json([tag, fields])`, put together so that what is Shared is not encoded for each item.
    """
    members = ",".join(f"{_text(name)}:{_member(value)}" for name, value in sorted(fields.items()))
    return sha256_hex(f"[{_text(tag)},{{{members}}}]".encode())


def _member(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    return value.json if isinstance(value, Shared) else _encode(value)


def prompt_text(prompt: str, negative_prompt: str | None) -> str:
    """Prompt and negative prompt as the one text that keys are made of."""
    return prompt + NEGATIVE_MARK + negative_prompt if negative_prompt else prompt


def spec_hash(prompt_template: str, negative_template: str | None, layout: Mapping[str, Any]) -> str:
    """Identity of a template: sha256(prompt template + canonical JSON of the layout), 64 hex digits."""
    return sha256_hex((prompt_text(prompt_template, negative_template) + canonical_json(layout)).encode())


def profile_id(provider: str, version: int, params: Mapping[str, Any]) -> str:
    """Identity of a provider profile, from its content: the same on every machine, 32 hex digits."""
    return digest("provider-profile", {"provider": provider, "version": version, "params": params})[:32]


@dataclass(frozen=True, slots=True)
class KeyParts:
    """The seven texts whose concatenation is hashed to the idempotency key. Absent values are ""."""

    spec_hash: str
    provider_profile: str
    video: str
    part: str
    prompt: str
    seed: str
    reference: str

    def as_dict(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__}  # asdict() copies deeply: ten times the time


def idempotency_key(parts: KeyParts) -> str:
    """sha256(spec hash + profile + video + part + prompt + seed + reference)[:32].

    The joined text is ambiguous ("1" + "2 tips" is "12" + " tips"), so the parts are stored beside the key and
    compared on every hit.
    """
    return sha256_hex("".join(parts.as_dict().values()).encode())[:32]


def art_key(fields: Mapping[str, Any]) -> str:
    """Identity of what a provider would be asked for: two requests with one art key share one picture."""
    return digest("art", fields)


def final_key(fields: Mapping[str, Any]) -> str:
    """Identity of a finished picture: the art's sha256 and everything that the finaliser reads."""
    return digest("final", fields)


def derive(seed: uuid.UUID | str, name: str) -> str:
    """Id of the record `name` under `seed`: SHA-256 over 16 raw bytes + UTF-8 name, shaped as a version 5 UUID.

    The same seed and name give the same id in every process, so a redo lands on the record it already wrote. It is
    not RFC 4122 version 5, which uses SHA-1.
    """
    raw = bytearray(hashlib.sha256(_raw(str(seed)) + name.encode()).digest()[:16])
    raw[6] = (raw[6] & 0x0F) | 0x50
    raw[8] = (raw[8] & 0x3F) | 0x80
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


@lru_cache(maxsize=64)
def _raw(seed: str) -> bytes:
    """A run is the seed of thousands of ids."""
    return uuid.UUID(seed).bytes


def new_run_id() -> str:
    """A run's id, the only random one."""
    return str(uuid.uuid4())


def item_key(video: str, occurrence: int) -> str:
    """Name of a playlist item that no renumbering or reordering moves. `occurrence` counts from 1."""
    return f"video:{video}:{occurrence}"


def run_item_id(run_id: str, item: str) -> str:
    return derive(run_id, f"run-item:{item}")


def iteration_id(run_id: str, item: str, key: str) -> str:
    return derive(run_id, f"iteration:{item}:{key}")


def attempt_id(iteration: str, n: int) -> str:
    """`n` counts from 1 within the iteration."""
    return derive(iteration, f"attempt:{n}")
