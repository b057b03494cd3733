"""What paints and finishes pictures, and the one that does it in the threads of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from thumbforge import models
from thumbforge.cores import usable_cores
from thumbforge.imaging.finalise import Drawing, finalise
from thumbforge.providers.base import Answer, Call, Provider, Request
from thumbforge.providers.registry import load_provider

if TYPE_CHECKING:
    from thumbforge.imaging.rules import Report
    from thumbforge.layers import AnyLayout
    from thumbforge.pixels.picture import PictureInfo


class Executor(Protocol):
    def painter(self, profile: models.Profile) -> Provider:
        """The profile's provider; its calls may be made elsewhere. The same errors as `load_provider`."""
        ...

    def inspect(self, data: bytes, width: int, height: int) -> tuple[PictureInfo, tuple[str, ...]]:
        """As `imaging.picture.inspect_art`."""
        ...

    def finalise(self, art: Path, layout: AnyLayout, drawing: Drawing, output: models.Output, target: Path) -> Report:
        """As `imaging.finalise.finalise`."""
        ...

    def close(self) -> None:
        """Give everything back; nothing is under way any more, or it is not wanted."""
        ...


class Painter:
    """A provider whose calls are made elsewhere, by `make`."""

    def __init__(self, provider: Provider, make: Callable[[Request, Call], Answer]) -> None:
        self.key, self.capabilities = provider.key, provider.capabilities
        self._make = make

    def generate(self, request: Request, call: Call) -> Answer:
        call.cancel.check()
        return self._make(request, call)


class InThreads:
    """Everything in the thread that asks. Pillow gives up the interpreter lock for most of a drawing.

    Only as many pictures as there are cores are open at once: more of them are drawn no sooner and take 20 MB each, and
    64 answers may come in the same second.
    """

    def __init__(self) -> None:
        self._room = threading.BoundedSemaphore(usable_cores())

    def painter(self, profile: models.Profile) -> Provider:
        return load_provider(profile)

    def inspect(self, data: bytes, width: int, height: int) -> tuple[PictureInfo, tuple[str, ...]]:
        with self._room:
            return inspect(data, width, height)

    def finalise(self, art: Path, layout: AnyLayout, drawing: Drawing, output: models.Output, target: Path) -> Report:
        with self._room:
            return finalise(art, layout, drawing, output, target)

    def close(self) -> None:
        """Nothing was opened."""


def inspect(data: bytes, width: int, height: int) -> tuple[PictureInfo, tuple[str, ...]]:
    """`inspect_art`, with Pillow imported when it is called: a run with nothing to do goes without."""
    from thumbforge.pixels.picture import inspect_art

    return inspect_art(data, width, height)
