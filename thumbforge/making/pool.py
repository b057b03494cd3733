"""Painting and finishing in processes of this machine, so that the interpreter lock holds no core up."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from thumbforge import log, models
from thumbforge.cancel import Cancel
from thumbforge.imaging.finalise import Drawing, finalise
from thumbforge.imaging.rules import Report
from thumbforge.making.threads import Painter, inspect
from thumbforge.pixels.picture import PictureInfo
from thumbforge.providers.base import Answer, Call, Provider, Request
from thumbforge.providers.registry import kept_provider, load_provider

if TYPE_CHECKING:
    from thumbforge.layers import AnyLayout

P = ParamSpec("P")
T = TypeVar("T")

_UNFELT = {signal.SIGINT, signal.SIGTERM}
"""Sent to a whole process group; what becomes of the run is for its own process to say."""


class InProcesses:
    """`processes` of them, started at once. One that dies costs nothing but time: the rest is drawn in this process."""

    def __init__(self, processes: int) -> None:
        # Not forked: a copy of a process with threads may hang on a lock that one of them held.
        self._pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_watch_parent)
        self._is_whole, self._lock = True, threading.Lock()
        self._room = threading.BoundedSemaphore(processes)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _UNFELT)  # a new process begins with the mask of its maker
        try:
            for _ in range(processes):
                self._pool.submit(_warm_up)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def painter(self, profile: models.Profile) -> Provider:
        provider = load_provider(profile)
        if not provider.capabilities.stateless:
            return provider
        return Painter(
            provider,
            lambda request, call: self.run(
                _paint, profile, request, call.timeout_s, call.key, call.attempt_id, call.scratch
            ),
        )

    def inspect(self, data: bytes, width: int, height: int) -> tuple[PictureInfo, tuple[str, ...]]:
        return self.run(inspect, data, width, height)

    def finalise(self, art: Path, layout: AnyLayout, drawing: Drawing, output: models.Output, target: Path) -> Report:
        return self.run(finalise, art, layout, drawing, output, target)

    def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call it in one of the processes; what it raises is raised here."""
        if self._is_whole:
            try:
                return self._pool.submit(function, *args, **kwargs).result()
            except BrokenProcessPool:
                self._give_up()
        with self._room:
            return function(*args, **kwargs)

    def _give_up(self) -> None:
        with self._lock:
            first, self._is_whole = self._is_whole, False
        if first:
            log.warning("a process that draws was killed; the rest is drawn in this one, more slowly")

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def _paint(
    profile: models.Profile, request: Request, timeout_s: float, key: str, attempt_id: str, scratch: Path
) -> Answer:
    return kept_provider(profile).generate(request, Call(Cancel(), timeout_s, key, attempt_id, scratch))


def _watch_parent() -> None:
    """A process must not outlive the one that wanted it: after a kill -9 nobody would tell it to end."""

    def end_with_parent() -> None:
        parent = parent_process()
        assert parent is not None
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def _warm_up() -> None:
    """The imports that the first picture would wait for."""
    from thumbforge.imaging import compose, encode, rules  # noqa: F401
    from thumbforge.pixels import picture  # noqa: F401
