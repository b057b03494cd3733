"""From a scene to a picture: everything that a series shares is made once and kept by what it is made of."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from PIL import Image

from thumbforge.pixels.heroes import HeroPicture, open_hero
from thumbforge.pixels.placed import Placed, place
from thumbforge.pixels.scene import Scene
from thumbforge.providers.looks.cutout import Cutout
from thumbforge.providers.looks.duotone import Duotone
from thumbforge.providers.looks.ink import Ink, accent_for, ink_for, series_hues
from thumbforge.providers.looks.photo import Photo
from thumbforge.providers.looks.scene import abstract_hero
from thumbforge.providers.looks.stage import Stage, set_up
from thumbforge.providers.looks.variation import variation
from thumbforge.providers.looks.windows import Card, Split

Check = Callable[[], None]
"""Called between steps; raises Interrupted when the run is to stop."""


class Look(Protocol):
    """Made for a series; `item` draws one of its pictures and may be called from several threads at once."""

    def item(self, ink: Ink) -> Image.Image: ...


LOOKS: dict[str, Callable[[Stage], Look]] = {
    "cutout": Cutout,
    "photo": Photo,
    "split": Split,
    "card": Card,
    "duotone": Duotone,
}

_making = threading.Lock()


def paint(scene: Scene, size: tuple[int, int], video: str, take: int, check: Check) -> tuple[Image.Image, Placed, Ink]:
    """The picture of one take of a video, where its subject lies, and its colours. PictureError for a hero or mask
    that is no picture."""
    v = variation(video, take)
    hero = open_hero(scene, *size)
    look = scene.look
    if hero is None:
        look = "duotone" if look == "auto" else look
    shown = hero or abstract_hero(size, v.scene)
    check()
    with _making:  # many threads that ask at once make it once
        placed = place(shown, look, scene.free, *size)
        drawn = _look(shown, placed)
        hues = _hues(hero, scene.palette, scene.hues)
    check()
    ink = ink_for(hues, accent_for(scene.palette), v)
    return drawn.item(ink), placed, ink


@lru_cache(maxsize=2)
def _look(hero: HeroPicture, placed: Placed) -> Look:
    return LOOKS[placed.look](set_up(hero, placed))


@lru_cache(maxsize=8)
def _hues(hero: HeroPicture | None, palette: tuple[str, ...], hues: str) -> tuple[float, ...]:
    return series_hues(hero, palette, hues)
