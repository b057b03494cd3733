"""Items' own pictures, `picture:` in a playlist's YAML: found for a plan."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from thumbforge.errors import Problem, SpecError, UsageError
from thumbforge.imaging.userfiles import PictureFile, picture_file
from thumbforge.models import Item, Layout
from thumbforge.named import inside
from thumbforge.planning.series import Series
from thumbforge.specs.yaml_file import Problems

if TYPE_CHECKING:
    from thumbforge.layers import AnyLayout

_opened = lru_cache(maxsize=None)(picture_file)
"""Read and hashed once, however many items show it."""


def picture_of(series: Series, item: Item, position: int) -> PictureFile | None:
    """The item's own picture, where the template shows one. SpecError with the place in the playlist's file where it
    cannot be read."""
    if item.picture is None or not shows_pictures(series.template.layout):
        return None
    try:
        return _opened(inside(series.root, item.picture))
    except UsageError as error:
        reason = error.__cause__.strerror if isinstance(error.__cause__, OSError) else None
        message = f"{item.picture} cannot be read: {reason}" if reason else error.message
        raise SpecError(
            [picture_problem(series, position, message)], hint="paths count from the project's directory"
        ) from error


def shows_pictures(layout: AnyLayout) -> bool:
    """Whether a layout has a place for an item's own picture."""
    return layout.picture is not None if isinstance(layout, Layout) else layout.shows("picture")


def images_of(series: Series) -> tuple[tuple[str, PictureFile], ...]:
    """Name and file of every image that a layout in version 2 shows of the template's, the brand's or the series' own.
    SpecError, with the place in the template, for files that cannot be read."""
    layout = series.template.layout
    if isinstance(layout, Layout):
        return ()
    found: list[tuple[str, PictureFile]] = []
    problems = []
    for name, path in layout.files():
        try:
            found.append((name, _opened(inside(series.root, path))))
        except UsageError as error:
            where = f"layout.images.{name}.file"
            problems.append(Problem(f"template {series.template.name}", 0, where, f"{path}: {error.message}"))
    if problems:
        raise SpecError(problems, hint="paths count from the project's directory")
    logo, second = series.identity and series.identity.logo, series.staging.second
    own = {"logo": logo, "second": second and PictureFile(second.path, second.sha256)}
    for name in layout.drawn:
        if name in layout.images and (file := own.get(layout.images[name].source or "")):
            found.append((name, file))
    return tuple(found)


def picture_problem(series: Series, position: int, message: str) -> Problem:
    """The place is looked for only now that there is something to tell."""
    where = f"items[{position}].picture"
    for path in _files(series):
        document = Problems(series.root).read(path)
        if document:
            place = document.place(("items", position - 1, "picture"))
            return Problem(document.file, place.line, place.where, message)
    return Problem(f"playlist {series.playlist_name}", 0, where, message)


def _files(series: Series) -> Iterator[Path]:
    folder = series.root / "specs" / "playlists"
    yield from (
        path for path in (folder / f"{series.playlist_name}{end}" for end in (".yaml", ".yml")) if path.is_file()
    )
