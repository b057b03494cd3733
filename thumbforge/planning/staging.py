"""What a series says about its hero: where the subject is, which mask cuts it out, which look it wants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thumbforge.errors import UsageError
from thumbforge.imaging.userfiles import picture_file
from thumbforge.models import SeriesSpec
from thumbforge.named import inside
from thumbforge.pixels.scene import File, Shares
from thumbforge.planning.hero_files import MASK_SUFFIX
from thumbforge.planning.reference import Hero


@dataclass(frozen=True, slots=True)
class Staging:
    """The series' own words on its hero; None where it says nothing, so that the profile's or the default hold.
    `second` is the hero beside it."""

    mask: File | None = None
    subject: Shares | None = None
    face: Shares | None = None
    look: str | None = None
    palette: str | tuple[str, ...] | None = None
    hues: str | None = None
    second: File | None = None

    def recorded(self) -> dict[str, Any]:
        """JSON for a run's row."""
        mask = self.mask and {"path": str(self.mask.path), "sha256": self.mask.sha256}
        own = {name: getattr(self, name) for name in ("subject", "face", "look", "palette", "hues")}
        second = self.second and {"path": str(self.second.path), "sha256": self.second.sha256}
        found = {"mask": mask, **own, "second": second}
        return {name: value for name, value in found.items() if value is not None}

    @classmethod
    def replayed(cls, recorded: Mapping[str, Any]) -> Staging:
        """What `recorded` gave."""
        own: dict[str, Any] = {n: tuple(value) if isinstance(value, list) else value for n, value in recorded.items()}
        files = {name: own.pop(name, None) for name in ("mask", "second")}
        found = {n: File(Path(file["path"]), file["sha256"]) if file else None for n, file in files.items()}
        return cls(mask=found["mask"], second=found["second"], **own)


UNSAID = Staging()


def mask_beside(path: Path) -> Path:
    """Where a hero's mask is kept: `me.mask.png` beside `me.jpg`."""
    return path.with_name(path.stem + MASK_SUFFIX)


def staging(spec: SeriesSpec, hero: Hero, root: Path) -> Staging:
    """The series' words, and the mask that it names or that lies beside the hero. UsageError for a named mask that
    cannot be read."""
    return Staging(
        mask=_mask(spec.mask, hero, root),
        subject=None if spec.subject == "auto" else spec.subject,
        face=spec.face,
        look=spec.look,
        palette=spec.palette,
        hues=spec.hues,
    )


def beside(hero: Hero) -> Staging:
    """What is known of a hero of which no series says anything: its mask, if one lies beside it."""
    return Staging(mask=_mask(None, hero, Path()))


def second_hero(spec: SeriesSpec, root: Path) -> File | None:
    """The picture beside the hero, which a template may show. UsageError for one that cannot be read."""
    if spec.second_hero is None:
        return None
    found = picture_file(inside(root, spec.second_hero))
    return File(found.path, found.sha256)


def _mask(named: str | None, hero: Hero, root: Path) -> File | None:
    path = root / named if named else mask_beside(hero.path) if hero.from_file else None
    if path is None or (named is None and not path.is_file()):
        return None
    is_theirs = named is not None or hero.path.is_relative_to(root)
    try:
        found = picture_file(inside(root, named or str(path)) if is_theirs else path)
    except UsageError as error:
        error.hint = "thumbforge hero cutout FILE makes a mask; mask: names it, counted from the project's directory"
        raise
    return File(found.path, found.sha256)
