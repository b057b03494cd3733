"""Many questions to a slow place at once, and none that holds up Ctrl-C.

The threads are daemons: an answer that nobody waits for any more keeps no process alive.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

from thumbforge.cancel import Cancel
from thumbforge.errors import ThumbforgeError

HANDS = 16
SLICE_S = 0.1
T = TypeVar("T")
R = TypeVar("R")
Bar = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
"""Counts things under a title: what it gives is called for each."""


@contextmanager
def unseen(title: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar that nobody sees."""
    yield lambda: None


def at_once(
    work: Callable[[T], R], things: Sequence[T], cancel: Cancel, hands: int = HANDS
) -> Iterator[tuple[T, R | ThumbforgeError]]:
    """Each thing with what came of it, or the error of ours that it met, as they end. Raises Interrupted once the run
    is to stop, and any other exception of `work`. Where nobody listens any more, nothing more is begun."""
    todo, over = queue.SimpleQueue[T](), threading.Event()
    done = queue.SimpleQueue[tuple[T, R | BaseException]]()
    for thing in things:
        todo.put(thing)

    def toil() -> None:
        while not over.is_set():
            try:
                thing = todo.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((thing, work(thing)))
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                done.put((thing, error))

    for _ in range(min(hands, len(things))):
        threading.Thread(target=toil, name="thumbforge-shared", daemon=True).start()
    try:
        for _ in things:
            thing, found = _next(done, cancel)
            if isinstance(found, ThumbforgeError) or not isinstance(found, BaseException):
                yield thing, found
            else:
                raise found
    finally:
        over.set()


def one(work: Callable[[], R], cancel: Cancel) -> R:
    """A single question, asked so that Ctrl-C is felt at once."""
    [(_, found)] = at_once(lambda _: work(), (None,), cancel)
    if isinstance(found, ThumbforgeError):
        raise found
    return found


def _next(done: queue.SimpleQueue[T], cancel: Cancel) -> T:
    while True:
        try:
            return done.get(timeout=SLICE_S)
        except queue.Empty:
            cancel.check()
