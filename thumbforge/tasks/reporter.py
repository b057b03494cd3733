"""How a run is told: doit's lines on stdout, a progress bar on a terminal, and the end of each batch.

Light on purpose: doit imports every reporter for each command.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from doit.exceptions import UnmetDependency
from doit.reporter import ConsoleReporter

from thumbforge.errors import Exit, LimitReached, ThumbforgeError, describe
from thumbforge.tasks import session as sessions

if TYPE_CHECKING:
    from thumbforge.cancel import Cancel
    from thumbforge.making.rollup import Result


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


class Progress:
    """A Rich bar on stderr with a line for each finished item; nothing where stderr is no terminal."""

    def __init__(self, total: int) -> None:
        self._bar: Any = None
        if sys.stderr.isatty() and total:
            self._start(total)

    def _start(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        from thumbforge import log

        console = Console(stderr=True, highlight=False)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task("making thumbnails", total=total)
        self._bar.start()
        self._logs = ExitStack()
        self._logs.enter_context(log.through(lambda line: console.print(line, markup=False, soft_wrap=True)))

    def done(self, line: str) -> None:
        if self._bar:
            self._bar.console.print(line, markup=False, soft_wrap=True)
            self._bar.advance(self._task)

    def close(self) -> None:
        if self._bar:
            self._logs.close()
            self._bar.stop()


class ThumbReporter(ConsoleReporter):  # type: ignore[misc]
    """doit's console reporter, with our ends. A task that is not ours is told as doit tells it."""

    desc = "thumbforge: progress, and how each batch ended"

    def __init__(self, outstream: Any, options: Any) -> None:
        super().__init__(outstream, options)
        self._stack = ExitStack()
        self._progress = Progress(0)
        self._ours_failed = False

    def initialize(self, tasks: Any, selected_tasks: Any) -> None:
        session = sessions.current()
        if session is None:
            return
        names: list[str] = []
        for name in selected_tasks:  # a selected group stands for its sub-tasks
            names += [name] if name in session.names else [dep for dep in tasks[name].task_dep if dep in session.names]
        session.select(dict.fromkeys(names))
        self._stack.enter_context(interruptible(session.cancel))
        self._progress = Progress(sum(not session.rows[name].idle for name in session.selected))

    def add_success(self, task: Any) -> None:
        if not task.has_subtask:
            self._progress.done(f"✔ {task.doc or task.name}")

    def add_failure(self, task: Any, fail: Any) -> None:
        session = sessions.current()
        if isinstance(fail, UnmetDependency) and session is not None:
            return  # a group or a sheet, because its items failed, and they have said so
        if session is None or task.name not in session.names:
            super().add_failure(task, fail)
            return
        text = fail.message.strip() if hasattr(fail, "message") else fail.get_msg().strip()
        self._ours_failed = True
        self._progress.done(f"✘ {task.doc}: {text}")
        self.write(f"failed  {task.name}  {text}\n")

    def skip_ignore(self, task: Any) -> None:
        super().skip_ignore(task)
        session = sessions.current()
        if session is not None:
            session.ignored.add(task.name)

    def skip_uptodate(self, task: Any) -> None:
        if not task.has_subtask:
            super().skip_uptodate(task)
        session = sessions.current()
        if session is not None and task.name in session.rows and (remark := session.rows[task.name].remark):
            self.write(f"   {remark}\n")

    def complete_run(self) -> None:
        session = sessions.current()
        if session is None:
            super().complete_run()
            return
        self._progress.close()
        try:
            results = session.close()
        except ThumbforgeError as error:  # the ledger failed at the very end
            sys.stderr.write(describe(error) + "\n")
            raise SystemExit(int(error.exit_code)) from error
        finally:
            self._stack.close()
        super().complete_run()
        for result in results:
            self.write(ending(result) + "\n")
        if any(result.exit_code == Exit.INTERRUPTED for result in results):
            raise SystemExit(int(Exit.INTERRUPTED))
        if self._ours_failed and not self.failures and not self.runtime_errors:
            raise SystemExit(1)  # doit's code for a failed task; its own would be 2, because the group is unmet too


def ending(result: Result) -> str:
    """One line on how a batch ended, and one on how to go on where something is left."""
    run = f" (run {result.run_id[:8]})" if result.run_id else ""
    line = result.stop or f"{result.planned.series.name}: {tally(result)}{run}"
    hint = how_to_go_on(result)
    return f"{line}\n{hint}" if hint else line


def tally(result: Result) -> str:
    summary = result.summary
    return f"{summary.completed} completed, {summary.failed} failed, {summary.pending} pending"


def how_to_go_on(result: Result) -> str:
    """What to type next where something is left, "" where everything is there."""
    if result.exit_code == Exit.DONE or isinstance(result.reason, LimitReached):  # whose hint is the way
        return ""
    left = [item for item in result.items if item.status != "completed"]
    if left and all(item.cure for item in left):  # the errors name it; the same command alone changes nothing
        return ""
    if result.run_id is None or result.stop_is_final:
        return "Go on with the same command again: what is finished is kept."
    if left and all(item.after.is_stuck for item in left):
        return "Nothing is tried again until it changes: text, label, template or picture; tries with max_retries=…"
    return (
        f"Go on with: thumbforge runs resume {result.run_id[:8]} (or the same command again: what is finished is kept)"
    )


class BatchReporter(ThumbReporter):
    """For `batch`, which prints a table of its own: nothing on stdout, and the results kept."""

    def __init__(self, outstream: Any, options: Any) -> None:
        super().__init__(outstream, options)
        self.results: list[Result] = []

    def initialize(self, tasks: Any, selected_tasks: Any) -> None:
        """doit has the tasks with something to do, the run is about the others too."""
        super().initialize(tasks, selected_tasks)
        session = sessions.current()
        assert session is not None
        session.select(session.names)

    def write(self, text: str) -> None:
        """doit's own lines would stand between the command and its one document."""

    def complete_run(self) -> None:
        session = sessions.current()
        assert session is not None
        self._progress.close()
        self.results = session.close()
        self._stack.close()
