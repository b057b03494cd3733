"""What a provider is: a request in, picture bytes out. Everything else (retries, limits, storing) is ours, not its.

A provider is registered by entry point in the group `thumbforge.providers`: a class that is called with the profile's
`params` and has the attributes of `Provider`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

from thumbforge.cancel import Cancel
from thumbforge.pixels.scene import Scene


@dataclass(frozen=True, slots=True)
class Reference:
    """The hero's file: `sha256` of its bytes, an absolute path to read it from, and its type by content."""

    sha256: str
    path: Path
    media_type: str


@dataclass(frozen=True, slots=True)
class Request:
    """One picture to make. `width` and `height` are the pixels wanted; `seed` is None where none was set. `scene` is
    what is known of the reference's subject, set for a provider that places it itself."""

    prompt: str
    negative_prompt: str | None
    width: int
    height: int
    seed: int | None
    reference: Reference | None
    video: str
    take: int = 1
    scene: Scene | None = None

    @property
    def files(self) -> dict[str, Path]:
        """The files that it is painted from, by the sha256 of their bytes."""
        own = {self.reference.sha256: self.reference.path} if self.reference else {}
        return own | {file.sha256: file.path for file in (self.scene.files if self.scene else ())}

    def moved(self, places: Mapping[str, Path]) -> Request:
        """The same with its files elsewhere."""
        reference = self.reference
        if reference:
            reference = replace(reference, path=places.get(reference.sha256, reference.path))
        return replace(self, reference=reference, scene=self.scene and self.scene.moved(places))

    def art_fields(self, profile_id: str, reads: frozenset[str]) -> dict[str, Any]:
        """What the art key is made of: the identity of the item and take, and the fields that the provider reads."""
        own = {
            "prompt": self.prompt,
            "negative_prompt": self.negative_prompt,
            "width": self.width,
            "height": self.height,
            "seed": self.seed,
            "reference": self.reference and self.reference.sha256,
        }
        read = {name: own[name] for name in sorted(reads)}
        if self.scene:
            read |= self.scene.painting()
        return {"profile": profile_id, "video": self.video, "take": self.take, "reads": read}


READABLE = frozenset({"prompt", "negative_prompt", "width", "height", "seed", "reference"})


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a provider can do, declared once.

    `reads` names the request's fields that can change the picture (a subset of READABLE); a field that is not named
    never causes a repaint. `max_concurrency` calls run at once unless the profile says otherwise, never more than
    `hard_limit`. `paid`: a call costs money, so an unclear outcome is tried at most once more. `cpu_bound`: work is
    done in this process, so more calls than cores are of no use. `stateless`: an answer depends on the request alone
    and nothing is kept between calls, so they may be made in other processes of this machine.
    """

    reads: frozenset[str]
    max_concurrency: int
    hard_limit: int
    paid: bool = False
    cpu_bound: bool = False
    stateless: bool = False

    @property
    def takes_reference(self) -> bool:
        return "reference" in self.reads


def _nobody() -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class Call:
    """The surroundings of one provider call: how to be stopped, how long it may take (seconds), and its names."""

    cancel: Cancel
    timeout_s: float
    key: str
    attempt_id: str
    scratch: Path
    """A private directory for what the call writes beside the picture; it exists."""
    sent: Callable[[], None] = _nobody
    """To be told when the request goes out: from then on the service may refuse it."""
    earlier: tuple[str, ...] = ()
    """The newest attempts at the same request that were cut short, by id: what they began may have come to its end."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a provider made. `cost` is None where the service does not tell, never 0 for unknown."""

    data: bytes
    media_type: str
    cost: Decimal | None = None
    currency: str = "USD"
    tokens: int | None = None
    reference_ignored: bool = False
    notes: Mapping[str, Any] = field(default_factory=dict)


class Provider(Protocol):
    """`generate` blocks until the picture is there or raises a ProviderError or Interrupted. It must be safe to call
    from several threads at once and must not retry by itself."""

    key: str
    capabilities: Capabilities

    def generate(self, request: Request, call: Call) -> Answer: ...


ProviderFactory = Callable[[Mapping[str, Any]], Provider]
"""Called with the profile's params; raises UsageError naming every parameter that is wrong."""
