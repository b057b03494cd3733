"""How one video's picture differs from its neighbours': drawn from its id, so the same on every machine.

Nothing here depends on the place in the playlist: an item keeps its colours when others are added or moved.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from thumbforge.providers.looks.palette import HUES

PATTERNS = ("dots", "rays", "rings", "stripes", "waves")
LIGHTS = ((0.60, 0.12), (0.80, 0.10), (0.90, 0.34), (0.66, 0.62))
"""Where the light comes from, as shares of width and height of a picture whose subject is on the right."""

TAKE_STEP = 5
"""Hues between one take and the next: coprime to 12, so twelve takes show twelve hues."""


@dataclass(frozen=True, slots=True)
class Variation:
    """`hue` in degrees, `zoom` from 1.0; shifts and `slant` from -1 to 1; `scene` chooses among the abstract heroes."""

    hue: float
    pattern: str
    light: tuple[float, float]
    zoom: float
    shift_x: float
    shift_y: float
    slant: float
    scene: int


def variation(video: str, take: int) -> Variation:
    """The variation of a video's take; the next take always has another hue."""
    base = hashlib.sha256(video.encode()).digest()
    own = hashlib.sha256(f"{video}/{take}".encode()).digest()
    return Variation(
        hue=HUES[(int.from_bytes(base[:4]) + TAKE_STEP * (take - 1)) % len(HUES)],
        pattern=PATTERNS[own[4] % len(PATTERNS)],
        light=LIGHTS[own[5] % len(LIGHTS)],
        zoom=1.02 + 0.14 * own[6] / 255,
        shift_x=own[7] / 127.5 - 1,
        shift_y=own[8] / 127.5 - 1,
        slant=(own[9] % 3) - 1.0,
        scene=own[10] % 4,
    )


def calmer(v: Variation) -> Variation:
    """Less zoom, for looks that show a narrow part of the hero: more would cut into the subject."""
    return replace(v, zoom=1 + (v.zoom - 1) * 0.5)
