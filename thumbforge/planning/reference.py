"""The hero: which picture sets the style, given as an image file, a run, or an iteration."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from thumbforge import ids
from thumbforge.durable import read_regular
from thumbforge.errors import AssetDamaged, NotFound, PictureError
from thumbforge.pixels.limits import MAX_BYTES
from thumbforge.planning.hero_files import hero_file, other_heroes
from thumbforge.providers.base import Reference
from thumbforge.store.assets import AssetStore
from thumbforge.store.heroes import picked

if TYPE_CHECKING:
    from thumbforge.pixels.picture import PictureInfo
    from thumbforge.store.database import Database

_SOFT_BELOW = (640, 360)
_ABOUT = 0.05
_ID = re.compile(r"^[0-9a-f]{4,8}(-[0-9a-f-]{0,27})?$")


@dataclass(frozen=True, slots=True)
class Hero:
    """A picture with its place in the lineage. `path` is the file to read; `sha256` is that of its original bytes.

    `from_file`: the user's own file, recorded as a hero run of one picked iteration when a batch first runs.
    """

    path: Path
    sha256: str
    run_id: str
    iteration_id: str
    from_file: bool
    lettered: bool = False
    """A final of ours: its text is in the picture, and a provider that copies its style may copy that too."""

    @property
    def exists(self) -> bool:
        return bool(self.sha256)

    def as_reference(self) -> Reference | None:
        """As a request names it before the file is stored: type and place enter no key."""
        return Reference(self.sha256, self.path, "") if self.exists else None


NO_HERO = Hero(Path(), "", "", "", from_file=False)
"""For a run that makes heroes out of nothing but a prompt."""


class Where(Protocol):
    """Where heroes are looked for: the project, its store, and its ledger if there is one."""

    @property
    def root(self) -> Path: ...
    @property
    def home(self) -> Path: ...
    @property
    def database(self) -> Database | None: ...


def find_hero(word: str, base: Path, where: Where, reference: str) -> Hero:
    """The hero that `word` names; a path counts from `base`. `reference`: "final", or "raw" for a pick's art.

    Raises NotFound where there is none, UsageError for a run without a pick or an unfinished iteration, or for a name
    that several files have.
    """
    database = where.database
    if path := hero_file(word, base, where.root):
        return hero_of_file(path)
    if not _ID.match(word):
        raise NotFound(f"there is no hero {word}", hint=other_heroes(word, base, where.root))
    if database is None:
        raise NotFound(f"there is no run or iteration {word} here, nor a ledger", hint=_elsewhere(word))
    try:
        found = picked(database, word)
    except NotFound as error:
        error.hint = f"thumbforge hero list shows what there is; {_elsewhere(word)}"
        raise
    sha256, suffix = found.art if reference == "raw" else found.final
    return Hero(
        path=AssetStore(where.home).path(sha256, suffix),
        sha256=sha256,
        run_id=found.run_id,
        iteration_id=found.iteration_id,
        from_file=False,
        lettered=reference == "final" and found.is_drawn,
    )


def _elsewhere(word: str) -> str:
    """A run is known where it was made, and nowhere else: a series that git carries needs a file."""
    return f"where it was made, thumbforge hero pick {word} N --save specs/heroes/{word} makes it a file for the series"


def hero_of_file(path: Path) -> Hero:
    try:
        sha256 = ids.sha256_hex(read_regular(path, MAX_BYTES))
    except OSError as error:
        raise PictureError(f"hero {path.name} cannot be read: {error.strerror}") from error
    run_id = ids.derive(ids.WORLD, f"hero:{sha256}")
    return Hero(path, sha256, run_id, ids.derive(run_id, "iteration:ordinal:1"), from_file=True)


def check_hero(hero: Hero) -> PictureInfo:
    """Decode the hero in full and re-hash it. Raises PictureError for a file of the user's that is no usable picture,
    AssetDamaged for a stored one that is not, and where it changed meanwhile."""
    from thumbforge.pixels.picture import inspect_own

    try:
        data = read_regular(hero.path, MAX_BYTES)
        info = inspect_own(data)
    except OSError as error:
        raise _unusable(hero.from_file)(f"hero {hero.path.name} cannot be read: {error.strerror}") from error
    except PictureError as error:
        hint = "give a whole JPEG, PNG or WebP picture"
        raise _unusable(hero.from_file)(f"hero {hero.path.name}: {error.message}", hint=hint) from error
    if ids.sha256_hex(data) != hero.sha256:
        hint = "run the command again" if hero.from_file else "thumbforge batch with another hero, or restore the file"
        raise AssetDamaged(f"hero {hero.path.name} holds other bytes than expected", hint=hint)
    return info


def _unusable(from_file: bool) -> type[PictureError] | type[AssetDamaged]:
    """A file of the user's can be another one; what lies in the store is restored."""
    return PictureError if from_file else AssetDamaged


def hero_remark(info: PictureInfo) -> str:
    """One line on a hero that is small or of another shape, with its size and what is done; "" for a good one."""
    said = []
    if info.width < _SOFT_BELOW[0] or info.height < _SOFT_BELOW[1]:
        said.append("below {}x{}, so pictures of it are soft".format(*_SOFT_BELOW))
    if abs(info.width * 9 / (info.height * 16) - 1) > _ABOUT:
        said.append("not about 16:9, what lies around its subject may be cropped, black bars baked into it are cut off")
    return f"the hero is {info.width}x{info.height}: {'; '.join(said)}" if said else ""


def keep_hero(hero: Hero, info: PictureInfo, store: AssetStore) -> Path:
    """The stored, immutable copy of the hero; what providers read while the user may edit the original."""
    sha256 = store.put(read_regular(hero.path, MAX_BYTES), info.suffix, "hero.file") if hero.from_file else hero.sha256
    if sha256 != hero.sha256:
        raise AssetDamaged(f"hero {hero.path.name} changed while it was read", hint="run the command again")
    return store.path(sha256, info.suffix) if hero.from_file else hero.path
