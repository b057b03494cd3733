"""One invocation of doit: the series it is about, their plans, and the batches that its tasks open.

The first task of a series that has something to do opens the series' batch; the reporter's end closes it. The backend
and the up-to-date objects ask the same session, so that a command plans each series once.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from thumbforge import log
from thumbforge.cores import collect_rarely
from thumbforge.errors import Exit
from thumbforge.spoken import spoken
from thumbforge.tasks.checker import ContentChecker
from thumbforge.text import counted

if TYPE_CHECKING:
    from thumbforge.cancel import Cancel
    from thumbforge.errors import ThumbforgeError
    from thumbforge.making.batch import Batch
    from thumbforge.making.executor import Placement
    from thumbforge.making.make import Outcome
    from thumbforge.making.resume import Resumption
    from thumbforge.making.rollup import Result
    from thumbforge.making.sharing import Sharing
    from thumbforge.planning.decide import PlannedSeries
    from thumbforge.planning.plan import Row
    from thumbforge.planning.project import Project

_current: Session | None = None


@dataclass
class Session:
    """What the tasks of one process share. `names` maps a task's name to its series and item key, `targets`
    a series to its folder in out/."""

    project: Project
    cancel: Cancel
    wait: bool = True
    concurrency: int | None = None
    resumption: Resumption | None = None
    placement: Placement | None = None
    locked: bool = False
    planned: dict[str, PlannedSeries] = field(default_factory=dict)
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)
    file_deps: dict[str, list[str]] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    selected: list[str] = field(default_factory=list)
    batches: dict[tuple[str, bool], Batch] = field(default_factory=dict)
    ignored: set[str] = field(default_factory=set)
    retaken: set[str] = field(default_factory=set)
    sheets: dict[str, str] = field(default_factory=dict)
    faults: dict[str, Exception] = field(default_factory=dict)
    lost: Mapping[str, ThumbforgeError] = field(default_factory=dict)
    """Series that name something that is not here, with what that is."""
    ended: Callable[[Row, Outcome], None] = lambda row, outcome: None
    """Hears of each item that has ended, from the thread that made it."""
    results: list[Result] = field(default_factory=list)
    exit_code: Exit | None = None
    is_doits: bool = False
    """Whether what a batch is expected to cost, and which wishes have no effect, is told when it is opened; commands of
    ours tell it themselves."""
    checker: ContentChecker = field(default_factory=ContentChecker)
    lock: threading.RLock = field(default_factory=threading.RLock)
    process: int = field(default_factory=os.getpid)

    def select(self, task_names: Iterable[str]) -> None:
        """The tasks that this invocation is about; a batch that is opened plans for these alone."""
        self.selected = [name for name in task_names if name in self.names]

    def make(self, task_name: str, *, retake: bool = False) -> Outcome:
        """Make the item of a task; with `retake` anew although it is up to date (`doit -a`), at the price of a call.

        Raises LimitReached, before anything is written, where its series wants more calls than max_images.
        """
        series, item_key = self.names[task_name]
        with self.lock:
            if retake:
                self.retaken.add(task_name)
            if series in self.faults:
                raise self.faults[series]
            try:
                batch = self.batches.get((series, retake)) or self._open(series, retake)
            except Exception as error:
                self.faults[series] = error
                raise
        return batch.outcome(item_key)

    def take_up(self) -> None:
        """Open the run that is resumed, also where nothing of it is left to make: then it is only rolled up."""
        [series] = self.planned
        self._open(series, retake=False)

    def _open(self, series: str, retake: bool) -> Batch:
        """One run for everything that is to be made of a series, and one for its new takes."""
        from thumbforge.errors import UsageError
        from thumbforge.making.batch import Batch
        from thumbforge.planning.wishes import without_effect

        if os.getpid() != self.process:  # a run is closed by the process that opened it, and this one is doit's
            hint = "doit -n N -P thread: what is drawn has processes of its own"
            raise UsageError("thumbnails are not made in processes of doit (-P process)", hint=hint)
        if not self.batches:
            atexit.register(self._abandon)
        names = self.selected or list(self.names)
        rows: Sequence[Row] = [self.rows[name] for name in names if self.names[name][0] == series]
        if retake:
            rows = [row.retaken() for row in rows if row.is_done]
        planned = self.planned[series]
        if self.is_doits:
            planned, rows = self._with_shared(planned, rows)
            tell_cost(planned, rows)
            tell_look(planned, rows)
            for wish in without_effect(planned.series):
                log.warning(wish)
        batch = Batch(
            self.project,
            planned,
            rows,
            cancel=self.cancel,
            wait=self.wait,
            concurrency=self.concurrency,
            resumption=self.resumption,
            placement=self.placement,
            locked=self.locked,
            sharing=self.sharing,
            ended=lambda row, outcome: self.ended(row, outcome),  # a run may be taken up before the bar is drawn
        )
        self.batches[series, retake] = batch
        return batch

    @cached_property
    def sharing(self) -> Sharing:
        """The shared store, of which a command that finds it away says so once."""
        from thumbforge.making.sharing import Sharing
        from thumbforge.tasks.progress import counting

        return Sharing(self.project, self.cancel, counting)

    def _with_shared(self, planned: PlannedSeries, rows: Sequence[Row]) -> tuple[PlannedSeries, Sequence[Row]]:
        """Planned again with what others have shared of what would be called for; commands of ours do it themselves."""
        from thumbforge.making.bringing import with_shared

        now, brought = with_shared(self.project, planned, rows, self.sharing)
        tell_shared(rows, brought)
        self.planned[now.series.name] = now
        return now, brought

    def _abandon(self) -> None:
        """Close what nobody has closed: another reporter than ours was chosen, or doit ended in the middle."""
        if os.getpid() != self.process:
            return
        for batch in self.batches.values():
            with contextlib.suppress(Exception):
                batch.close({})
        self.batches.clear()

    def now(self, series: str) -> PlannedSeries:
        """The series as it stands now: planned again once something may have been made."""
        from thumbforge.planning.decide import apart_from, decided

        planned, opened = self.planned[series], [batch for (name, _), batch in self.batches.items() if name == series]
        made = {key: row for batch in opened for key, row in batch.rows.items()}
        return decided(self.project, apart_from(planned, made)) if opened else planned

    def close(self) -> list[Result]:
        """Roll up and close every batch that was opened, in the order they were; the results stay with the session."""
        ignored = {self.names[name][1]: name for name in self.ignored if name in self.names}
        results = [batch.close(ignored) for batch in self.batches.values()]
        self.batches.clear()
        atexit.unregister(self._abandon)
        self._record_the_rest({result.planned.series.name: result for result in results})
        for result in results:
            self.sheets[result.planned.series.name] = self._write_sheet(result)
        self.results = results
        refused = (getattr(fault, "exit_code", Exit.UNEXPECTED) for fault in self.faults.values())
        self.exit_code = worst((*(result.exit_code for result in results), *refused))
        return results

    def _record_the_rest(self, results: Mapping[str, Result]) -> None:
        """What the series without a run have to tell the ledger, as they stand now; those with one have told it as they
        began."""
        from thumbforge.making.quiet import record

        for series in dict.fromkeys(self.names[name][0] for name in self.selected):
            result, planned = results.get(series), self.planned[series]
            if result is None or result.run_id is None:
                now = replace(planned, rows=result.rows) if result else planned
                record(self.project, now, keeps_lock=not self.locked)

    def _write_sheet(self, result: Result) -> str:
        """Whatever became of the items: the sheet shows it. A sheet that cannot be written fails no batch."""
        from thumbforge import log
        from thumbforge.errors import ThumbforgeError
        from thumbforge.making.sheets.kept import keep_sheet
        from thumbforge.planning.project import relative

        try:
            page = keep_sheet(self.project, result.planned, result.rows)
        except ThumbforgeError as error:
            log.warning("the sheet could not be written", error=str(error))
            return ""
        return relative(page, self.project.root)

    def rebuilt_record(self, task_name: str) -> dict[str, Any] | None:
        """doit's record of a task that the ledger says is done, as if doit had just made it."""
        row = self.rows.get(task_name)
        if row is None or not row.is_done:
            return None
        deps = self.file_deps[task_name]
        states = {dep: self.checker.get_state(dep, None) for dep in deps}
        return {"_values_:": {}, "checker:": type(self.checker).__name__, **states, "deps:": deps}


def worst(codes: Iterable[Exit]) -> Exit | None:
    """The one code for several series, those included whose run was refused: an interrupt or a fault first, then "some,
    not all"."""
    found = set(codes)
    for code in (Exit.INTERRUPTED, Exit.UNEXPECTED):
        if code in found:
            return code
    if len(found) > 1:
        return Exit.PARTIAL
    return found.pop() if found else None


def start(session: Session) -> Session:
    """Make `session` the one that backend, reporter and tasks of this process ask."""
    global _current
    collect_rarely()
    _current = session
    return session


def current() -> Session | None:
    return _current


def rebuilt_record(task_name: str) -> dict[str, Any] | None:
    return _current.rebuilt_record(task_name) if _current else None


def was_retaken(task_name: str) -> bool:
    """Whether this invocation wanted another picture for an item that was up to date."""
    return _current is not None and task_name in _current.retaken


def tell_look(planned: PlannedSeries, rows: Iterable[Row]) -> None:
    """One line on stderr before `local` paints: the look that `auto` takes for the hero, and why."""
    if not log.is_quiet() and (found := planned.look_of(rows)):
        sys.stderr.write(f"look: {found}\n")


def tell_shared(before: Iterable[Row], after: Iterable[Row]) -> None:
    """One line on stderr where others had painted what would have been called for."""
    came = sum(row.calls for row in before) - sum(row.calls for row in after)
    if came and not log.is_quiet():
        sys.stderr.write(f"{counted(came, 'picture')} from the shared store\n")


def tell_cost(planned: PlannedSeries, rows: Iterable[Row]) -> None:
    """One line on stderr before paid calls: how many, about what they cost, and what was spent before by a run that is
    resumed or, where a budget bounds it, today."""
    from thumbforge.planning.prices import costs_money, estimate

    profile, calls = planned.series.profile, sum(row.calls for row in rows)
    if not calls or log.is_quiet() or not costs_money(profile):
        return
    told = [estimate(profile, calls)]
    told += [f"{planned.spent} spent before"] if planned.spent else []
    told += [str(planned.budget)] if planned.budget else []
    sys.stderr.write(spoken(", ".join(told)) + "\n")
