"""The looks' colours in OKLCH, where equal numbers look equally light and equally strong whatever the hue."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from thumbforge.pixels.colour import Rgb, from_oklch

Ramp = tuple[bytes, bytes, bytes]
"""Three tables of 256: what a tone becomes in red, green and blue."""

HUES = (8.0, 28.0, 48.0, 146.0, 168.0, 196.0, 226.0, 254.0, 281.0, 308.0, 338.0)
"""Degrees. Dark yellows between 60 and 130 are mud: none stands there."""

MUD = (40.0, 130.0)
YELLOW, BLUE = 96.0, 264.0
STEPS = 33
"""Colours computed along a ramp; between them straight lines in RGB are within half a level of the true curve."""


@dataclass(frozen=True, slots=True)
class Stop:
    """One colour of a ramp: a tone from 0 to 1, its OKLCH lightness and chroma, and its distance from the hue in
    degrees, positive towards yellow, negative towards blue."""

    tone: float
    light: float
    chroma: float
    turn: float


DUOTONE = (
    Stop(0.00, 0.120, 0.060, -26),
    Stop(0.22, 0.290, 0.120, -14),
    Stop(0.50, 0.560, 0.190, 0),
    Stop(0.78, 0.830, 0.130, 24),
    Stop(1.00, 0.975, 0.035, 40),
)
GROUND = (
    Stop(0.00, 0.130, 0.060, 0),
    Stop(0.30, 0.270, 0.130, 0),
    Stop(0.50, 0.393, 0.178, 0),
    Stop(0.55, 0.420, 0.190, 1),
    Stop(0.82, 0.600, 0.240, 8),
    Stop(1.00, 0.800, 0.200, 12),
)
"""Words stand on tones up to 0.55, on which white has a contrast of 8 or more in every hue."""


def lift(hue: float) -> float:
    """Lightness to add: nothing outside the mud band, 0.1 in its middle."""
    low, high = MUD
    share = (hue % 360 - low) / (high - low)
    return 0.1 * math.sin(math.pi * share) if 0 < share < 1 else 0.0


@lru_cache(maxsize=128)
def ramp(stops: Sequence[Stop], hue: float) -> Ramp:
    """What colours a grey picture: as in daylight, its dark tones lean towards blue and its light ones to yellow."""
    colours = [_colour(stops, hue, step / (STEPS - 1)) for step in range(STEPS)]
    red, green, blue = (bytes(_between(channel, tone) for tone in range(256)) for channel in zip(*colours, strict=True))
    return red, green, blue


def _colour(stops: Sequence[Stop], hue: float, tone: float) -> Rgb:
    after = next(index for index, stop in enumerate(stops) if tone <= stop.tone + 1e-9)
    low, high = stops[max(after - 1, 0)], stops[max(after, 1)]
    share = (tone - low.tone) / (high.tone - low.tone)
    light, chroma, turn = (
        a + (b - a) * share for a, b in ((low.light, high.light), (low.chroma, high.chroma), (low.turn, high.turn))
    )
    warm = lift(hue) if stops is DUOTONE else 0.0
    towards_yellow = -1 if YELLOW < hue < BLUE else 1
    lean = turn * (1 + 5 * warm) if turn < 0 else turn * (1 - 6 * warm)
    return from_oklch(light + warm * math.sin(math.pi * tone), chroma, hue + towards_yellow * lean)


def _between(channel: Sequence[int], tone: int) -> int:
    place = tone / 255 * (STEPS - 1)
    index = min(int(place), STEPS - 2)
    return round(channel[index] + (channel[index + 1] - channel[index]) * (place - index))
