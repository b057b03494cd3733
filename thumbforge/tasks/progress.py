"""While items are made: a signal stops the run and not the process, and on a terminal a bar counts what has ended.

Light on purpose: doit's reporter, which is loaded for each command, stands on it.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Self

from thumbforge import log
from thumbforge.text import one_line

if TYPE_CHECKING:
    from thumbforge.cancel import Cancel
    from thumbforge.making.make import Outcome
    from thumbforge.planning.plan import Row

_MARKS = {"completed": "✔", "failed": "✘"}


def item_name(row: Row) -> str:
    """`Part 7 · title`, on one line whatever the title holds."""
    title, part = one_line(row.wanted.item.title), row.wanted.item.part
    return title if part is None else f"Part {part} · {title}"


def candidate_name(row: Row) -> str:
    return f"Candidate {row.wanted.position}"


@contextmanager
def interruptible(cancel: Cancel) -> Iterator[None]:
    """While this lasts, SIGINT and SIGTERM stop the run instead of the process; a second one changes nothing.

    `signal.signal`, because Windows has nothing else. Outside the main thread nothing can be installed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # A handler runs in the middle of anything, also of another handler: were it to take the lock of `cancel`, a second
    # signal within the first would wait for itself. Of Python's queues only this one may be filled from a handler.
    heard: SimpleQueue[bool] = SimpleQueue()
    listener = threading.Thread(target=lambda: cancel.set() if heard.get() else None, daemon=True)
    listener.start()
    before = {number: signal.signal(number, lambda *_: heard.put(True)) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        heard.put(False)
        listener.join()


def is_shown() -> bool:
    """Whether somebody sees a bar: stderr is a terminal, and more than errors is wanted on it."""
    return sys.stderr.isatty() and not log.is_quiet()


@contextmanager
def _bar() -> Iterator[Any]:
    """A Rich bar on stderr; log lines go above it while it lasts."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        Progress(*columns, console=console, transient=True) as bar,
        log.through(lambda line: console.print(line, markup=False, soft_wrap=True)),
    ):
        yield bar


@contextmanager
def counting(title: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar that counts to `total`, once for each call of what it gives; nothing is drawn where nobody sees it."""
    if not (total and is_shown()):
        yield lambda: None
        return
    with _bar() as bar:
        task = bar.add_task(title, total=total)
        yield lambda: bar.advance(task)


class Progress:
    """A Rich bar on stderr with a line for each item that has ended; nothing where stderr is no terminal, or where only
    errors are wanted. As a context it leaves the terminal whole (cursor, log lines), whatever ends it.

    `name` is what a row's line calls it.
    """

    def __init__(self, rows: Iterable[Row], name: Callable[[Row], str]) -> None:
        self._total = sum(not row.idle for row in rows)
        self._name = name
        self._bar: Any = None
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        if self._total and is_shown():
            self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def _start(self) -> None:
        self._bar = self._opened.enter_context(_bar())
        self._task = self._bar.add_task("making thumbnails", total=self._total)

    def ended(self, row: Row, outcome: Outcome) -> None:
        """Count an item, from whichever thread made it."""
        if self._bar is None:
            return
        error = f": {outcome.error}" if outcome.error else ""
        line = one_line(f"{_MARKS.get(outcome.status, '…')} {self._name(row)}{error}")
        self._bar.console.print(line, markup=False, soft_wrap=True)
        self._bar.advance(self._task)
