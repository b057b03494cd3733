"""A series' YAML in specs/series: named by its list, written once, and from then on the user's."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from thumbforge.durable import fsync_directory, make_folder, read_regular, write_durably
from thumbforge.errors import StoreError, UsageError
from thumbforge.models import SeriesSpec
from thumbforge.named import inside
from thumbforge.pixels.limits import MAX_BYTES
from thumbforge.planning.hero_files import hero_file
from thumbforge.planning.project import relative
from thumbforge.planning.reference import Hero, hero_of_file
from thumbforge.planning.staging import mask_beside
from thumbforge.specs.splice import scalar

MOST = 60
"""Letters of a slug."""
_OWN_LETTERS = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe"})
"""Latin letters that are no letter with a mark."""
_REMARKS = {
    "hero": "the picture that sets the style",
    "template": "thumbforge template list shows the others",
    "provider": "thumbforge provider list shows the others",
}
_FOOT = """\
# max_images: 50        refuse to make more new pictures than this at once
# max_cost: "2.50"      refuse, or pause, before a call that would cross this amount
"""


def slug(title: str) -> str:
    """A title as a name: letters of ASCII, digits and single dashes, at most 60; "" where too little is left of it."""
    plain = unicodedata.normalize("NFKD", title.casefold().translate(_OWN_LETTERS))
    words = re.findall(r"[a-z0-9]+", "".join(char for char in plain if not unicodedata.combining(char)))
    name = ""
    for word in words:
        if name and len(name) + 1 + len(word) > MOST:
            break
        name = f"{name}-{word}" if name else word[:MOST]
    kept = sum(map(len, words))
    letters = sum(char.isalnum() for char in title)
    return name if len(name) > 1 and kept * 2 >= letters else ""


@dataclass(frozen=True, slots=True)
class PlacedHero:
    """The hero's path as a series names it, from the project's directory; `is_copy`: it was put there now."""

    path: str
    is_copy: bool


def place_hero(hero: Path, root: Path, series: str) -> PlacedHero:
    """A picture inside the project stays where it is; one from elsewhere is copied into specs/heroes, its mask too.

    A file that is there is never replaced: where another picture has the name, the copy is called as the series is.
    Raises UsageError where that is taken, too, and StoreError where nothing can be written.
    """
    if hero.resolve().is_relative_to(root.resolve()):
        return PlacedHero(hero.resolve().relative_to(root.resolve()).as_posix(), is_copy=False)
    data = read_regular(hero, MAX_BYTES)
    folder = inside(root, "specs/heroes")
    for target in (folder / hero.name, folder / f"{series}{hero.suffix}"):
        if _holds(target, data):
            return PlacedHero(relative(target, root), is_copy=False)
        if not target.exists():
            write_new(target, data)
            if mask_beside(hero).is_file() and not mask_beside(target).exists():
                write_new(mask_beside(target), read_regular(mask_beside(hero), MAX_BYTES))
            return PlacedHero(relative(target, root), is_copy=True)
    raise UsageError(f"specs/heroes holds another picture called {hero.name}", hint="give the file another name")


def is_same(spec: SeriesSpec, wanted: SeriesSpec, playlists: Collection[str], hero: Hero, root: Path) -> bool:
    """Whether a series that is there makes the pictures that are wanted: of this list (by any of its names), from the
    same picture, in the same way."""
    path = hero_file(spec.hero, root, root)
    return (
        spec.playlist in playlists
        and (hero_of_file(path).sha256 == hero.sha256 if path else spec.hero == wanted.hero)
        and (spec.template, spec.provider) == (wanted.template, wanted.provider)
    )


def series_text(spec: SeriesSpec) -> str:
    """The YAML of a series that has no file yet."""
    return "\n".join(_lines(spec)) + f"\n{_FOOT}"


def write_series(root: Path, name: str, spec: SeriesSpec) -> Path:
    """Write specs/series/<name>.yaml, which is not there yet. UsageError where it is."""
    path = inside(root, f"specs/series/{name}.yaml")
    if path.exists():
        raise UsageError(f"{relative(path, root)} is there already", hint="--name gives the series another name")
    write_new(path, series_text(spec).encode())
    return path


def write_new(path: Path, data: bytes) -> None:
    """A file that was not there, with its folder. StoreError where that cannot be."""
    try:
        make_folder(path.parent)
        write_durably(path, data)
        fsync_directory(path.parent)
    except OSError as error:
        raise StoreError(
            f"{path.name} could not be written: {error.strerror or error}", hint="check free space and permissions"
        ) from error


def _lines(spec: SeriesSpec) -> Iterator[str]:
    said = {name: _written(getattr(spec, name)) for name in ("playlist", "hero", "template", "provider")}
    widest = max(len(f"{name}: {value}") for name, value in said.items())
    for name, value in said.items():
        remark = _REMARKS.get(name, "")
        yield f"{f'{name}: {value}':<{widest}}   # {remark}" if remark else f"{name}: {value}"


def _written(word: str) -> str:
    """Without quotes where YAML reads the same."""
    is_plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9._/-]*", word) and yaml.safe_load(word) == word
    return word if is_plain else scalar(word)


def _holds(path: Path, data: bytes) -> bool:
    try:
        return read_regular(path, len(data)) == data
    except OSError:
        return False
