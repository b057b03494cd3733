"""The provider `local`: composes a background from the hero on this machine. No network, no key, no cost.

It never reads the prompt, so a new wording repaints nothing. Pillow is imported with the first picture.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thumbforge.cores import usable_cores
from thumbforge.errors import ProviderBadRequest
from thumbforge.providers.base import Answer, Call, Capabilities, Request
from thumbforge.providers.params import Choice, checked

PARAMS = {
    "look": Choice("duotone", ("duotone", "split", "card")),
    "subject": Choice("right", ("right", "left", "center")),
}
EDGE = (64, 7680)
"""Smallest and largest side of a picture, in pixels."""


@dataclass(frozen=True, slots=True)
class LocalParams:
    """A profile's params; `subject` is where the subject goes, `auto` the layout's free side."""

    look: str
    subject: str
    palette: str | tuple[str, ...] | None
    hues: str | None

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> LocalParams:
        """UsageError naming every parameter that is wrong."""
        own = checked("local", PARAMS, params)
        palette = own.get("palette")
        return cls(
            own["look"], own["subject"], tuple(palette) if isinstance(palette, list) else palette, own.get("hues")
        )


class LocalProvider:
    """One picture per video and take from its hero: a hue, a pattern, a light and a crop that its id decides."""

    key = "local"

    def __init__(self, params: Mapping[str, Any]) -> None:
        own = checked(self.key, PARAMS, params)
        self.look: str = own["look"]
        self.subject: str = own["subject"]
        self.capabilities = Capabilities(
            reads=frozenset({"width", "height", "reference"}),
            max_concurrency=usable_cores(),
            hard_limit=64,
            cpu_bound=True,
            stateless=True,
        )

    def generate(self, request: Request, call: Call) -> Answer:
        """JPEG, quality 95, 4:4:4: the same bytes for the same hero, size, video and take on one platform."""
        from thumbforge.providers.looks.compose import LOOKS, canvas_for
        from thumbforge.providers.looks.hero import hero_of
        from thumbforge.providers.looks.scene import abstract_hero
        from thumbforge.providers.looks.variation import variation

        size = (request.width, request.height)
        if not all(EDGE[0] <= side <= EDGE[1] for side in size):
            raise ProviderBadRequest(f"local draws {EDGE[0]} to {EDGE[1]} pixels a side, not {size[0]}x{size[1]}")
        call.cancel.check()
        v = variation(request.video, request.take)
        hero = (
            hero_of(request.reference, size, self.subject)
            if request.reference
            else abstract_hero(size, v.scene, self.subject)
        )
        call.cancel.check()
        picture = LOOKS[self.look](canvas_for(size, hero, self.subject), hero, v, call.cancel.check)
        call.cancel.check()
        encoded = io.BytesIO()
        picture.save(encoded, "JPEG", quality=95, subsampling=0)
        return Answer(encoded.getvalue(), "image/jpeg", notes={"look": self.look, "hue": v.hue, "pattern": v.pattern})
