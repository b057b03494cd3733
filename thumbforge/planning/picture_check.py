"""Items' own pictures and logos, decoded before anything is paid for."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from pathlib import Path

from thumbforge.durable import read_regular
from thumbforge.errors import PictureError, Problem
from thumbforge.pixels.limits import MAX_BYTES
from thumbforge.planning.pictures import picture_problem
from thumbforge.planning.series import Series
from thumbforge.planning.spec_lines import in_series
from thumbforge.planning.wanted import Wanted


def picture_problems(series: Series, drawn: Iterable[Wanted]) -> Collection[Problem]:
    """Decode every picture and logo that is going to be drawn; those that are unusable, each with its place."""
    wrong = lru_cache(maxsize=None)(_complaint)
    problems: dict[Problem, None] = {}
    logo = series.identity.logo if series.identity and series.template.layout.logo else None
    if logo and (message := wrong(logo.path)):
        problems[in_series(series.root, series.name, ("brand", "logo"), f"{logo.path.name}: {message}")] = None
    for wanted in drawn:
        own = wanted.drawing.picture
        if own and (message := wrong(own.path)):
            problems[picture_problem(series, wanted.position, f"{wanted.item.picture}: {message}")] = None
    return problems


def _complaint(path: Path) -> str:
    from thumbforge.pixels.picture import inspect_own

    try:
        inspect_own(read_regular(path, MAX_BYTES))
    except PictureError as error:
        return error.message
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return ""
