"""What the commands that make pictures share: the series that is meant, where the log goes, and doit's runner."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from thumbforge import log
from thumbforge.errors import ThumbforgeError

if TYPE_CHECKING:
    from thumbforge.commands.verbs import Arguments
    from thumbforge.making.rollup import Result
    from thumbforge.planning.decide import PlannedSeries
    from thumbforge.planning.plan import Row
    from thumbforge.planning.project import Project
    from thumbforge.planning.series import Series, SeriesRequest
    from thumbforge.planning.standing import Standing
    from thumbforge.tasks.session import Session


def find_series(project: Project, request: SeriesRequest) -> Series:
    from thumbforge.planning.series import resolve

    with project.reading() as database:
        return resolve(project.lookup(database), request)


def standing_of(project: Project, name: str) -> Standing:
    """Where a series of specs/series stands, by its plan; nothing is made or written."""
    from thumbforge.planning.decide import plan_series
    from thumbforge.planning.lock import is_stale
    from thumbforge.planning.series import SeriesRequest
    from thumbforge.planning.standing import Standing

    planned = plan_series(project, find_series(project, SeriesRequest(series=name)))
    stale = is_stale(planned.series, planned.rows, planned.lock, project.store)
    return Standing(planned, "stale" if stale and planned.lock else "current" if planned.lock else "none")


def configure_logging(project: Project, *, as_json: bool) -> None:
    """On a terminal the bar tells what happens, so that only warnings are lines; elsewhere each item is one."""
    level = project.settings.text("log.level")
    if level == "auto":
        level = "warning" if sys.stderr.isatty() or as_json else "info"
    log.configure(level=level, file=project.home / "logs" / "thumbforge.jsonl")


def make_and_tell(session: Session, planned: PlannedSeries, rows: Sequence[Row], arguments: Arguments) -> int:
    """Make these rows of a series, print how it ended; the exit code. The one way for batch, resume and takes."""
    from thumbforge.commands.telling.results import print_result
    from thumbforge.tasks.session import tell_look
    from thumbforge.tasks.tasks import add

    if not arguments.as_json:
        tell_look(planned, rows)
    result = run_tasks(session, add(session, planned, rows), arguments.options.get("concurrency"))
    print_result(result, session.project, session.sheets.get(planned.series.name, ""), as_json=arguments.as_json)
    return int(result.exit_code)


def run_tasks(session: Session, names: Sequence[str], concurrency: int | None) -> Result:
    """Run the tasks with doit's runner, in threads; returns the batch's Result.

    doit gets those with something to do. That the others are up to date the plan has found out.
    """
    from doit.control import TaskControl
    from doit.dependency import Dependency
    from doit.globals import Globals
    from doit.runner import MThreadRunner
    from doit.task import Stream, dict_to_task

    from thumbforge.making.batch import threads_for
    from thumbforge.making.executor import Placement
    from thumbforge.tasks.backend import LedgerBackend
    from thumbforge.tasks.checker import ContentChecker
    from thumbforge.tasks.reporter import BatchReporter
    from thumbforge.tasks.tasks import thumb_task

    # What failed before comes last, so that it cannot hold up the rest.
    todo = sorted((n for n in names if not session.rows[n].is_done), key=lambda n: session.rows[n].status == "failed")
    control = TaskControl([dict_to_task(thumb_task(session, name)) for name in todo])
    control.process(todo)
    manager = Dependency(LedgerBackend, str(session.project.root / ".doit.db"), checker_cls=ContentChecker)
    Globals.dep_manager = manager
    reporter = BatchReporter(sys.stdout, {})
    session.concurrency = concurrency or session.project.settings.integer("batch.concurrency")
    [planned] = session.planned.values()
    placement = session.placement or Placement.of(session.project.settings)
    threads = threads_for(planned, [session.rows[name] for name in todo], session.concurrency, placement)
    if session.resumption:
        session.take_up()
    runner = MThreadRunner(manager, reporter, True, False, Stream(2), threads)
    with contextlib.chdir(session.project.root):  # doit's paths count from there, so that a project can be moved
        runner.run_all(control.task_dispatcher())
    for fault in session.faults.values():  # the run could not even be opened
        raise fault
    if reporter.runtime_errors:
        raise ThumbforgeError("; ".join(reporter.runtime_errors))
    [result] = session.results
    return result
