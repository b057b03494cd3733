"""The provider `local`: composes a background from the hero on this machine. No network, no key, no cost.

It never reads the prompt, so a new wording repaints nothing. Pillow is imported with the first picture.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from thumbforge.cores import usable_cores
from thumbforge.errors import PictureError, ProviderBadRequest
from thumbforge.models import LookName
from thumbforge.pixels.scene import PAINTER, File, Scene
from thumbforge.pixels.sides import LEFT, RIGHT
from thumbforge.providers.base import Answer, Call, Capabilities, Request
from thumbforge.providers.params import Choice, Palette, Param, checked

PARAMS: dict[str, Param] = {
    "look": Choice("auto", get_args(LookName)),
    "subject": Choice("auto", ("auto", "right", "left", "center")),
    "palette": Palette(("hero", "brand")),
    "hues": Choice("", ("one", "near", "wheel")),
}
EDGE = (64, 7680)
"""Smallest and largest side of a picture, in pixels."""


@dataclass(frozen=True, slots=True)
class LocalParams:
    """A profile's params. `subject` is where the subject goes, `auto` the layout's free side; `palette` and `hues` are
    "" where the profile is silent."""

    look: str
    subject: str
    palette: str | tuple[str, ...]
    hues: str

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> LocalParams:
        """UsageError naming every parameter that is wrong."""
        own = checked("local", PARAMS, params)
        palette = own["palette"]
        return cls(own["look"], own["subject"], palette if isinstance(palette, str) else tuple(palette), own["hues"])


class LocalProvider:
    """One picture per video and take from its hero, in a hue that the video's id decides."""

    key = "local"

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.params = LocalParams.of(params)
        self.capabilities = Capabilities(
            reads=frozenset({"width", "height", "reference"}),
            max_concurrency=usable_cores(),
            hard_limit=64,
            cpu_bound=True,
            stateless=True,
        )

    def generate(self, request: Request, call: Call) -> Answer:
        """JPEG, quality 95, 4:4:4: the same bytes for the same hero, scene, size, video and take on one platform."""
        from thumbforge.providers.looks.series import paint

        size = (request.width, request.height)
        if not all(EDGE[0] <= side <= EDGE[1] for side in size):
            raise ProviderBadRequest(f"local draws {EDGE[0]} to {EDGE[1]} pixels a side, not {size[0]}x{size[1]}")
        call.cancel.check()
        try:
            picture, placed, ink = paint(self._scene(request), size, request.video, request.take, call.cancel.check)
        except PictureError as error:
            raise ProviderBadRequest(error.message, hint=error.hint) from error
        call.cancel.check()
        encoded = io.BytesIO()
        picture.save(encoded, "JPEG", quality=95, subsampling=0)
        notes = {"painter": PAINTER, "look": placed.look, "hue": round(ink.hue, 1), "subject": placed.subject.kind}
        return Answer(encoded.getvalue(), "image/jpeg", notes=notes)

    def _scene(self, request: Request) -> Scene:
        """The request's scene with the stored hero; a request without one is drawn by the profile alone."""
        reference, own = request.reference, self.params
        hero = File(reference.path, reference.sha256) if reference else None
        if request.scene:
            return replace(request.scene, hero=hero)
        free = LEFT if own.subject == "left" else RIGHT
        return Scene(hero, look=own.look, free=free, hues=own.hues or "wheel")
