"""A run that works on the ledger itself (audit, repair): with a lease, can be cancelled, keeps only its result."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Literal, TypeVar

from thumbforge import ids
from thumbforge.cancel import Cancel
from thumbforge.errors import Exit, Interrupted, LedgerError
from thumbforge.making.heartbeat import Heartbeat
from thumbforge.settings import Settings
from thumbforge.store.ledger import Ledger
from thumbforge.store.restore import Restored, write_back
from thumbforge.store.runs import NewRun

T = TypeVar("T")


class Job:
    """As a context: opens the run, and closes it as failed or cancelled unless `finish` was called. It keeps no
    checkpoint: a job that was cut short starts over."""

    def __init__(self, ledger: Ledger, settings: Settings, kind: Literal["audit", "repair"], cancel: Cancel) -> None:
        self._ledger, self.cancel = ledger, cancel
        self.database = ledger.database
        self.now = ledger.now()
        self.grace_s, self._beat_s = settings.number("repair.grace_s"), settings.number("lease.beat_s")
        self.run_id = ids.new_run_id()
        self._run = NewRun(self.run_id, kind)
        self._finished = False

    def __enter__(self) -> Job:
        self._fence = self._ledger.open_run(self._run, ())
        self._heartbeat = Heartbeat(self._ledger, self._fence, self._ledger.slots(), self._beat_s, self.cancel)
        return self

    def check_stop(self) -> None:
        """Raises Interrupted once the job is to stop."""
        self.cancel.check()

    def stoppable(self, things: Iterable[T]) -> Iterator[T]:
        """The same things, ending early (with Interrupted) once the job is to stop."""
        for thing in things:
            yield thing
            self.check_stop()

    def restore(self, found: Sequence[Restored]) -> None:
        """Write rows back, behind this job's fence."""
        write_back(self.database, self._fence, found, self._ledger.now())

    def finish(self, result: dict[str, Any], exit_code: Exit) -> None:
        self._heartbeat.stop()
        self._ledger.finish_job(self._fence, result, exit_code)
        self._finished = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._heartbeat.stop()
        if self._finished or self._heartbeat.lost:
            return
        stopped = isinstance(error, Interrupted)
        event: Literal["cancel", "fail"] = "cancel" if stopped else "fail"
        code = Exit.INTERRUPTED if stopped else Exit.UNEXPECTED
        with contextlib.suppress(LedgerError):  # what ended the job is what is told
            self._ledger.close_run(self._fence, event, code, str(error) if error else "not finished")
