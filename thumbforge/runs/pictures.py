"""Items' own pictures, `picture:` in a playlist's YAML: found for a plan, decoded before anything is paid for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from thumbforge.errors import PictureError, Problem, SpecError, UsageError
from thumbforge.imaging.userfiles import PictureFile, picture_file
from thumbforge.models import Item
from thumbforge.runs.series import Series
from thumbforge.specs.yaml_file import Problems

if TYPE_CHECKING:
    from thumbforge.runs.plan import Row

_HINT = "give the item another picture, or take `picture:` away"
_opened = lru_cache(maxsize=None)(picture_file)
"""Read and hashed once, however many items show it."""


def picture_of(series: Series, item: Item, position: int) -> PictureFile | None:
    """The item's own picture, where the template shows one. SpecError with the place in the playlist's file where it
    cannot be read."""
    if item.picture is None or series.template.layout.picture is None:
        return None
    try:
        return _opened(series.root / item.picture)
    except UsageError as error:
        reason = error.__cause__.strerror if isinstance(error.__cause__, OSError) else None
        message = f"{item.picture} cannot be read: {reason or 'not a file'}"
        raise SpecError(
            [_problem(series, position, message)], hint="paths count from the project's directory"
        ) from error


def check_pictures(rows: Iterable[Row]) -> None:
    """Decode every picture and logo that is going to be drawn. SpecError names all that are unusable, each with its
    place."""
    wrong = lru_cache(maxsize=None)(_complaint)
    problems: dict[Problem, None] = {}
    for wanted in (row.wanted for row in rows if not row.idle):
        series, own = wanted.series, wanted.drawing.picture
        logo = series.identity.logo if series.identity and series.template.layout.logo else None
        if own and (message := wrong(own.path)):
            problems[_problem(series, wanted.position, f"{wanted.item.picture}: {message}")] = None
        if logo and (message := wrong(logo.path)):
            problems[Problem(f"series {series.name}", 0, "brand.logo", f"{logo.path.name}: {message}")] = None
    if problems:
        raise SpecError(problems, hint=_HINT)


def _complaint(path: Path) -> str:
    from thumbforge.imaging.picture import inspect_own

    try:
        inspect_own(path.read_bytes())
    except PictureError as error:
        return error.message
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return ""


def _problem(series: Series, position: int, message: str) -> Problem:
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
