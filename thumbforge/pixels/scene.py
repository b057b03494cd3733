"""What `local` paints by beside the hero's bytes, as data: named by hashes, so it can stand in keys and be sent.

Pure, and made for every plan: no picture is opened here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from thumbforge.pixels.sides import RIGHT, Free

PAINTER = 2
"""Number of the painter, raised when the same scene gives other pictures: `local` is free, so its art is made anew.
Art without a number is painter 1's."""

Shares = tuple[float, float, float, float]
"""x, y, width and height of a box, as shares of the upright picture."""


@dataclass(frozen=True, slots=True)
class File:
    """A picture file by its bytes."""

    path: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class Scene:
    """`hero` is None where there is none. `mask` says what of the hero is subject, `subject` where it is (None: it is
    found), `face` where its face is. `look` may be "auto". `free` is where the subject goes. `palette` is "hero", or
    the colours (`#RRGGBB`) whose hues the grounds have; `hues` is one, near or wheel."""

    hero: File | None
    mask: File | None = None
    subject: Shares | None = None
    face: Shares | None = None
    look: str = "auto"
    free: Free = RIGHT
    palette: tuple[str, ...] = ()
    hues: str = "wheel"

    @property
    def files(self) -> tuple[File, ...]:
        return tuple(file for file in (self.hero, self.mask) if file)

    def moved(self, places: Mapping[str, Path]) -> Scene:
        """The same with its files elsewhere; `places` are paths by sha256."""
        hero = self.hero and File(places.get(self.hero.sha256, self.hero.path), self.hero.sha256)
        mask = self.mask and File(places.get(self.mask.sha256, self.mask.path), self.mask.sha256)
        return replace(self, hero=hero, mask=mask)

    def placing(self) -> dict[str, Any]:
        """JSON of everything that decides where the subject stands, without colours: what a final that looks at the
        subject is made of. What is not set is left out."""
        found = {
            "hero": self.hero and self.hero.sha256,
            "mask": self.mask and self.mask.sha256,
            "subject": self.subject and list(self.subject),
            "face": self.face and list(self.face),
            "look": self.look,
            "side": str(self.free),
            "painter": PAINTER,
        }
        return {name: value for name, value in found.items() if value is not None}

    def painting(self) -> dict[str, Any]:
        """JSON of everything that `local` reads but the hero's bytes and the size."""
        own = {name: value for name, value in self.placing().items() if name != "hero"}
        colours = {"palette": list(self.palette) or None, "hues": None if self.hues == "wheel" else self.hues}
        return {**own, **{name: value for name, value in colours.items() if value is not None}}
