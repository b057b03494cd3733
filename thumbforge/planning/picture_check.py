"""Items' own pictures and logos, decoded before anything is paid for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from thumbforge.durable import read_regular
from thumbforge.errors import PictureError, Problem
from thumbforge.models import Layout
from thumbforge.pixels.limits import MAX_BYTES
from thumbforge.planning.pictures import images_of, picture_problem
from thumbforge.planning.series import Series
from thumbforge.planning.spec_lines import in_series, in_template
from thumbforge.planning.wanted import Wanted

if TYPE_CHECKING:
    from thumbforge.layers import Layers


def picture_problems(series: Series, drawn: Iterable[Wanted]) -> Collection[Problem]:
    """Decode every picture and logo that is going to be drawn; those that are unusable, each with its place."""
    wrong = lru_cache(maxsize=None)(_complaint)
    problems: dict[Problem, None] = {}
    layout = series.template.layout
    shows_logo = layout.logo is not None if isinstance(layout, Layout) else layout.shows("logo")
    logo = series.identity.logo if series.identity and shows_logo else None
    if logo and (message := wrong(logo.path)):
        problems[in_series(series.root, series.name, ("brand", "logo"), f"{logo.path.name}: {message}")] = None
    if not isinstance(layout, Layout):
        for problem in _of_layers(series, layout, wrong):
            problems[problem] = None
    for wanted in drawn:
        own = wanted.drawing.picture
        if own and (message := wrong(own.path)):
            problems[picture_problem(series, wanted.position, f"{wanted.item.picture}: {message}")] = None
    return problems


def _of_layers(series: Series, layout: Layers, wrong: Callable[[Path], str]) -> Iterator[Problem]:
    """The second hero and the template's own files."""
    second = series.staging.second if layout.shows("second") else None
    if second and (message := wrong(second.path)):
        yield in_series(series.root, series.name, ("second_hero",), f"{second.path.name}: {message}")
    own = dict(images_of(series))
    for name, path in layout.files():
        if message := wrong(own[name].path):
            where = ("layout", "images", name, "file")
            yield in_template(series.root, series.template.name, where, f"{path}: {message}")


def _complaint(path: Path) -> str:
    from thumbforge.pixels.picture import inspect_own

    try:
        inspect_own(read_regular(path, MAX_BYTES))
    except PictureError as error:
        return error.message
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return ""
