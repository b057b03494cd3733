"""Pictures that the commands of one test process draw once. The same request, or the same art, layout, words and
output, give the same bytes in every process: the tests of the finaliser and of `fake` hold them to that, and no other
test need draw the same letters over again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from unittest import mock

from thumbforge import ids, models
from thumbforge.imaging import contact
from thumbforge.imaging.finalise import Drawing, finalise
from thumbforge.imaging.rules import Report
from thumbforge.imaging.type import fonts
from thumbforge.making import threads
from thumbforge.making.sheets import previews
from thumbforge.providers import fake
from thumbforge.providers.base import READABLE, Request

_T = TypeVar("_T")
MOST = 200  # of 30 to 300 kB
_drawn: dict[tuple[object, ...], tuple[bytes, Report]] = {}
_art: dict[str, bytes] = {}
_paint = fake._painted


def _finalise(art: Path, layout: models.Layout, drawing: Drawing, output: models.Output, target: Path) -> Report:
    if drawing.files or fonts._OWN:  # what somebody else may change
        return finalise(art, layout, drawing, output, target)
    key = (hashlib.sha256(art.read_bytes()).digest(), layout.model_dump_json(), drawing, output.model_dump_json())
    if key not in _drawn:
        report = finalise(art, layout, drawing, output, target)
        if len(_drawn) >= MOST:
            del _drawn[next(iter(_drawn))]
        _drawn[key] = (target.read_bytes(), report)
        return report
    data, report = _drawn[key]
    target.write_bytes(data)
    return report


def _painted(request: Request) -> bytes:
    key = ids.digest("fake", request.art_fields("", READABLE))
    if key not in _art:
        _art[key] = _paint(request)
        if len(_art) > MOST:
            del _art[next(iter(_art))]
    return _art[key]


def _once(small: Callable[[Path], _T]) -> Callable[[Path], _T]:
    """What is made of a file for a sheet, by the file's bytes."""
    known: dict[bytes, _T] = {}

    def made(path: Path) -> _T:
        if not path.is_file():
            return small(path)
        key = hashlib.sha256(path.read_bytes()).digest()
        if key not in known:
            known[key] = small(path)
            if len(known) > MOST:
                del known[next(iter(known))]
        return known[key]

    return made


_preview, _in_both_sizes = _once(previews._made), _once(contact._in_both_sizes)


@contextmanager
def drawn_once() -> Iterator[None]:
    """What is painted by `fake`, drawn in threads or made small for a sheet meanwhile is taken from what was before."""
    with (
        mock.patch.object(threads, "finalise", _finalise),
        mock.patch.object(fake, "_painted", _painted),
        mock.patch.object(previews, "_made", _preview),
        mock.patch.object(contact, "_in_both_sizes", _in_both_sizes),
    ):
        yield
