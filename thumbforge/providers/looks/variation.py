"""How one video's picture differs from its neighbours': drawn from its id, so the same on every machine.

Nothing here depends on the place in the playlist: an item keeps its colours when others are added or moved.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

PATTERNS = ("dots", "rays", "rings", "stripes", "waves")
LIGHTS = ((0.60, 0.12), (0.80, 0.10), (0.90, 0.34), (0.66, 0.62))
"""Where the light comes from, as shares of width and height of a picture whose subject is on the right."""


@dataclass(frozen=True, slots=True)
class Variation:
    """`number` chooses among a series' hues, `scene` among the abstract heroes; `take` counts from 1."""

    number: int
    take: int
    pattern: str
    light: tuple[float, float]
    scene: int


def variation(video: str, take: int) -> Variation:
    """The variation of a video's take."""
    base = hashlib.sha256(video.encode()).digest()
    own = hashlib.sha256(f"{video}/{take}".encode()).digest()
    return Variation(
        number=int.from_bytes(base[:4]),
        take=take,
        pattern=PATTERNS[own[4] % len(PATTERNS)],
        light=LIGHTS[own[5] % len(LIGHTS)],
        scene=own[10] % 4,
    )
