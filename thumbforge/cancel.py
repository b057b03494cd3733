"""How a run is told to stop, and how whatever waits hears of it."""

from __future__ import annotations

import threading

from thumbforge.errors import Interrupted


class Cancel:
    """Says that the run is to stop. Every wait of a provider goes through it: Ctrl-C is felt within a second."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        self._event.set()

    def is_set(self) -> bool:
        return self._event.is_set()

    def wait(self, seconds: float) -> None:
        """Sleep; raise `Interrupted` as soon as the run is cancelled."""
        if self._event.wait(max(seconds, 0)):
            raise Interrupted("interrupted")

    def check(self) -> None:
        if self._event.is_set():
            raise Interrupted("interrupted")
