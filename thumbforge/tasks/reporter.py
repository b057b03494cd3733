"""How a run is told: doit's lines on stdout, a progress bar on a terminal, and the end of each batch.

Light on purpose: doit imports every reporter for each command.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from doit.exceptions import UnmetDependency
from doit.reporter import ConsoleReporter

from thumbforge.errors import Exit, LimitReached, ThumbforgeError, describe
from thumbforge.spoken import spoken
from thumbforge.tasks import session as sessions
from thumbforge.tasks.progress import Progress, interruptible, item_name

if TYPE_CHECKING:
    from thumbforge.making.rollup import Result


class ThumbReporter(ConsoleReporter):  # type: ignore[misc]
    """doit's console reporter, with our ends. A task that is not ours is told as doit tells it."""

    desc = "thumbforge: progress, and how each batch ended"

    def __init__(self, outstream: Any, options: Any) -> None:
        super().__init__(outstream, options)
        self._stack = ExitStack()
        self._ours_failed = False

    def write(self, text: str) -> None:
        """Whatever a task, a spec or a service said, the terminal is the user's."""
        super().write(spoken(text))

    def initialize(self, tasks: Any, selected_tasks: Any) -> None:
        session = sessions.current()
        if session is None:
            return
        names: list[str] = []
        for name in selected_tasks:  # a selected group stands for its sub-tasks
            names += [name] if name in session.names else [dep for dep in tasks[name].task_dep if dep in session.names]
        session.select(dict.fromkeys(names))
        self._stack.enter_context(interruptible(session.cancel))
        progress = Progress((session.rows[name] for name in session.selected), item_name)
        session.ended = self._stack.enter_context(progress).ended

    def add_failure(self, task: Any, fail: Any) -> None:
        session = sessions.current()
        if isinstance(fail, UnmetDependency) and session is not None:
            return  # a group or a sheet, because its items failed, and they have said so
        if session is None or not (task.name in session.names or task.name.removeprefix("thumb:") in session.lost):
            super().add_failure(task, fail)
            return
        text = fail.message.strip() if hasattr(fail, "message") else fail.get_msg().strip()
        self._ours_failed = True
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
        try:
            with self._stack:
                results = session.close()
        except ThumbforgeError as error:  # the ledger failed at the very end
            sys.stderr.write(spoken(describe(error)) + "\n")
            raise SystemExit(int(error.exit_code)) from error
        super().complete_run()
        for result in results:
            self.write(ending(result) + "\n")
        if any(result.exit_code == Exit.INTERRUPTED for result in results):
            raise SystemExit(int(Exit.INTERRUPTED))
        if self._ours_failed and not self.failures and not self.runtime_errors:
            raise SystemExit(1)  # doit's code for a failed task; its own would be 2, because the group is unmet too


def ending(result: Result) -> str:
    """One line on how a batch ended, and one on how to go on where something is left."""
    from thumbforge.making.rollup import tally

    run = f" (run {result.run_id[:8]})" if result.run_id else ""
    line = result.stop or f"{result.planned.series.name}: {tally(result.items)}{run}"
    hint = how_to_go_on(result)
    return f"{line}\n{hint}" if hint else line


def how_to_go_on(result: Result) -> str:
    """What to type next where something is left, "" where everything is there."""
    if result.exit_code == Exit.DONE or isinstance(result.reason, LimitReached):  # whose hint is the way
        return ""
    left = [item for item in result.items if item.status != "completed"]
    if left and all(item.cure for item in left):  # the errors name it; the same command alone changes nothing
        return ""
    if left and all(item.after.is_stuck for item in left):
        more = result.planned.limits.max_retries + 1
        return (
            "Nothing is tried again until it changes: text, label, template or picture; more tries: the same command"
            f" with max_retries={more}"
        )
    if result.run_id is None or result.stop_is_final:
        return "Go on with the same command again: what is finished is kept."
    return (
        f"Go on with: thumbforge runs resume {result.run_id[:8]} (or the same command again: what is finished is kept)"
    )


class BatchReporter(ThumbReporter):
    """For `batch`, which prints a table of its own: nothing on stdout. The results are the session's."""

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
        with self._stack:
            session.close()
