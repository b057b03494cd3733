"""A batch: a series planned once, then its items made by any number of threads under one run, then rolled up."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from decimal import Decimal
from itertools import chain

from thumbforge import ids, log
from thumbforge.cancel import Cancel
from thumbforge.cores import usable_cores
from thumbforge.errors import (
    AssetDamaged,
    Exit,
    ExportBlocked,
    Interrupted,
    LeaseLost,
    LedgerError,
    LockUnmet,
    StoreError,
    ThumbforgeError,
)
from thumbforge.making.brake import Brake, Budget
from thumbforge.making.consistency import judged
from thumbforge.making.ending import ending_of, stopped
from thumbforge.making.executor import Placement
from thumbforge.making.export import Exporter
from thumbforge.making.exports.manifest import keep_manifest
from thumbforge.making.heartbeat import Heartbeat
from thumbforge.making.lock import keep_lock
from thumbforge.making.make import Outcome, Workshop, make, write_manifest
from thumbforge.making.record import planned_item, record_file_hero, remember_world, run_params
from thumbforge.making.resume import Resumption
from thumbforge.making.rollup import ItemResult, Result, Summary, as_locked, roll_up, tally
from thumbforge.making.sharing import Sharing
from thumbforge.making.threads import Executor
from thumbforge.planning.decide import PlannedSeries, check_limits, settled
from thumbforge.planning.drawable import check_drawable
from thumbforge.planning.plan import Row
from thumbforge.planning.prices import price_of
from thumbforge.planning.project import Project
from thumbforge.planning.reference import check_hero, keep_hero
from thumbforge.playlists.ingest import ingest
from thumbforge.providers.base import Reference
from thumbforge.providers.health import note_of
from thumbforge.providers.registry import max_concurrency
from thumbforge.store.ledger import Fence
from thumbforge.store.looks import Fresh, remember
from thumbforge.store.plans import iterations_of
from thumbforge.store.runs import NewRun
from thumbforge.store.spending import Allowance
from thumbforge.store.work import Busy, Work


def threads_for(planned: PlannedSeries, rows: Sequence[Row], concurrency: int, placement: Placement) -> int:
    """Threads for `concurrency` items. While a provider elsewhere paints, the cores draw what has come back, and as
    many threads again are ready for the next calls: answers that come all at once keep no slot waiting for their
    drawing. What is painted and not drawn yet is never more than that, and open are only the executor's few."""
    if planned.capabilities.cpu_bound or not any(row.calls for row in rows):
        return concurrency + placement.processes_for(pictures_in(rows))
    calls = min(concurrency, max_concurrency(planned.series.profile, planned.capabilities))
    return calls + max(usable_cores(), calls)


def pictures_in(rows: Iterable[Row]) -> int:
    """How many are to be drawn, whether from new art or from old."""
    return sum(row.action != "skip" for row in rows)


class Batch:
    """One execution of the selected rows of a planned series.

    `rows` are by item key. `outcome` may be called from many threads, once per item and in any order. `close` must be
    called in the end. `ended` hears of each item that was not idle once it has ended, from the thread that made it.
    `locked`: the rows are what the lock file says, and nothing of the run changes that.
    """

    def __init__(
        self,
        project: Project,
        planned: PlannedSeries,
        rows: Sequence[Row],
        *,
        cancel: Cancel,
        wait: bool = True,
        concurrency: int | None = None,
        resumption: Resumption | None = None,
        placement: Placement | None = None,
        ended: Callable[[Row, Outcome], None] | None = None,
        locked: bool = False,
        sharing: Sharing | None = None,
    ) -> None:
        self._sharing = sharing or Sharing(project, cancel)
        self._ended = ended or (lambda row, outcome: None)
        self.project, self.planned, self.cancel = project, planned, cancel
        self.rows = {row.wanted.item_key: row for row in rows}
        self._wait, self._concurrency, self._resumption, self._locked = wait, concurrency, resumption, locked
        self._lock = threading.Lock()
        self._todo = {key: row for key, row in self.rows.items() if self._is_work(row)}
        self._doing: set[str] = set()
        self._done: dict[str, Outcome] = {}
        self._failed: dict[str, Outcome] = {}
        self._fault: ThumbforgeError | None = None
        self.run_id: str | None = None
        if resumption is None and not locked:  # a run that is resumed was allowed its pictures when it was planned
            check_limits(planned, rows)
        check_drawable(planned.series, self._todo.values())
        hero = planned.series.hero
        self._hero = check_hero(hero) if hero.exists and (self._todo or resumption) else None
        with ExitStack() as opened:
            executor = None
            if self._todo or resumption:  # before anything is written: a cluster may not be there
                executor = (placement or Placement.of(project.settings)).executor(pictures_in(self._todo.values()))
                opened.callback(executor.close)
            self._ledger = opened.enter_context(project.ledger())
            self._database = self._ledger.database
            self._exporter = Exporter(project.out, self._database, project.store)
            if executor:
                self._open(executor)
            self._opened = opened.pop_all()

    def _is_work(self, row: Row) -> bool:
        return row.action != "skip" or (self._wait and row.busy_in is not None)

    def _open(self, executor: Executor) -> None:
        """Record the run with its frozen plan, or take up an old one; take its lease and keep it alive."""
        project, series, settings = self.project, self.planned.series, self.project.settings
        for run_id in self._ledger.sweep(settings.integer("batch.max_lost")):
            log.info("a run whose process died was marked paused", run=run_id)
        reference = self._reference()
        provider = executor.painter(series.profile)
        limit = max_concurrency(series.profile, self.planned.capabilities)
        self._fence = self._take_up(self._resumption) if self._resumption else self._begin()
        self.run_id = self._fence.run_id
        slots = self._ledger.slots()
        self._heartbeat = Heartbeat(self._ledger, self._fence, slots, settings.number("lease.beat_s"), self.cancel)
        self._iterations = iterations_of(self._database, self.run_id)
        calls = sum(row.calls for row in self.rows.values())
        if calls and (note := note_of(provider)):
            log.warning(note)
        budget = Budget(self.run_id, price_of(series.profile), series.max_cost, self.planned.spent, calls)
        self._shop = Workshop(
            root=project.root,
            database=self._database,
            store=project.store,
            work=Work(self._database, self._fence, shares=self._sharing.shares(series.profile)),
            slots=slots,
            provider=provider,
            executor=executor,
            profile=series.profile,
            max_concurrency=limit,
            concurrency=min(limit, self._concurrency or limit),
            reference=reference,
            exporter=self._exporter,
            cancel=self.cancel,
            brake=Brake(self.cancel, budget, paid=provider.capabilities.paid),
            sharing=self._sharing,
            retry_base_s=settings.number("retry.base_s"),
            allowance=self._allowance(),
        )

    def _allowance(self) -> Allowance | None:
        price, budget = self.planned.series.profile.price, self.planned.budget
        return Allowance(Decimal(price.amount), price.currency, budget.most if budget else None) if price else None

    def _reference(self) -> Reference | None:
        """The hero, stored, and recorded in the lineage."""
        hero, info = self.planned.series.hero, self._hero
        if info is None:
            return None
        path = keep_hero(hero, info, self.project.store)
        if hero.from_file:
            record_file_hero(self._ledger, hero, info)
        return Reference(hero.sha256, path.absolute(), info.media_type)

    def _begin(self) -> Fence:
        planned, series = self.planned, self.planned.series
        remember_world(self._ledger, series)
        if planned.kind == "batch":
            ingest(self._ledger, self.project.store, series.playlist, "edit")
        new = NewRun(
            id=ids.new_run_id(),
            kind=planned.kind,
            series=series.name or None,
            playlist_id=series.playlist.playlist.id,
            spec_hash=series.template.spec_hash,
            profile_id=series.profile.id,
            parent_run_id=planned.parent_run_id,
            reference_sha256=series.hero.sha256 or None,
            params=run_params(planned),
        )
        return self._ledger.open_run(new, [planned_item(row, self._is_work(row)) for row in self.rows.values()])

    def _take_up(self, resumption: Resumption) -> Fence:
        return self._ledger.resume_run(resumption.run_id, resumption.replanned, resumption.params)

    def outcome(self, item_key: str) -> Outcome:
        """Make this item, if it is to be made; wait for it where another run is at it.

        A thread whose item is being made elsewhere makes other items of the run meanwhile, so that it waits only when
        nothing else is left.
        """
        row = self.rows[item_key]
        if not self._is_work(row):
            self._done[item_key] = standing = self._standing(row)
            if not row.idle:
                self._ended(row, standing)
            return standing
        passed: set[str] = set()
        while (done := self._done.get(item_key)) is None:
            if self._stopped():
                return self._unbegun()
            key = self._next(item_key, passed)
            if key is None:
                passed.clear()
                if not self._pause():
                    return self._unbegun()
            elif not self._make(key):
                if not self._wait:
                    self._settle(key, Outcome("pending", error="running in another run"))
                passed.add(key)
        return done

    def _standing(self, row: Row) -> Outcome:
        """An item without work: put back what is missing, or say again why it failed."""
        if row.busy_in:
            return Outcome("pending", error=row.reason)
        if row.status != "completed" or row.final is None:
            return Outcome("failed", error=row.reason)
        if row.restore and (fault := self._restore(row)):
            return Outcome("failed", row.final.picture, row.final.final_key, True, f"{fault.code}: {fault}")
        return Outcome("completed", row.final.picture, row.final.final_key, True)

    def _restore(self, row: Row) -> ThumbforgeError | None:
        """Put back what is missing; what kept it from that. What met this item alone fails it alone."""
        assert row.final is not None
        try:
            if "manifest" in row.restore:
                assert row.art is not None
                write_manifest(self.project.store, row, row.art, row.final.picture)
            if "copy" in row.restore:
                self._exporter.lay(row.wanted, row.final.picture)
            if "export" in row.restore:
                self._exporter.export(row.wanted, row.final.final_key, row.final.picture)
        except (AssetDamaged, ExportBlocked) as error:
            return error
        except (StoreError, LedgerError) as error:
            self._stop(error)
            return error
        except OSError as error:
            self._stop(fault := StoreError(f"the store cannot be used: {error.strerror or error}"))
            return fault
        return None

    def _next(self, item_key: str, passed: set[str]) -> str | None:
        """Reserve an item: the wanted one if it is free, else the first free one that is not known to be busy. Two
        places of a video are one iteration and made one after the other."""
        with self._lock:
            free = (k for k in chain((item_key,), self._todo) if k in self._todo)
            key = next((k for k in free if k not in passed and self._iterations[k] not in self._doing), None)
            if key is not None:
                self._doing.add(self._iterations[key])
            return key

    def _make(self, key: str) -> bool:
        """Make a reserved item; False where a live run is at it."""
        try:
            return self._made(key)
        finally:
            with self._lock:
                self._doing.discard(self._iterations[key])

    def _made(self, key: str) -> bool:
        row, iteration_id = self._todo[key], self._iterations[key]
        if iteration_id in self._failed:  # another place of the same video: the same picture, the same try
            self._settle(key, self._failed[iteration_id])
            return True
        try:
            with log.bound(run=self.run_id, iteration=iteration_id, provider=self.planned.series.profile.provider):
                outcome = make(row, iteration_id, self._shop)
                if isinstance(outcome, Busy):
                    return False
                self._tell(row, outcome)
        except (AssetDamaged, ExportBlocked, LockUnmet) as error:
            outcome = Outcome("failed", error=f"{error.code}: {error}")
        except OSError as error:
            self._stop(StoreError(f"the store cannot be used: {error.strerror or error}"))
            outcome = Outcome("pending", error=str(error))
        except (LeaseLost, LedgerError, StoreError) as error:
            self._stop(error)
            outcome = Outcome("pending", error=f"{error.code}: {error}")
        except Exception as error:  # noqa: BLE001 - a bug in one item must not leave the run without an end
            log.error("unexpected", exc_info=error)
            fault = ThumbforgeError(
                f"{type(error).__name__}: {error}", hint="this is a bug; the log file has the details"
            )
            self._stop(fault)
            outcome = Outcome("pending", error=f"{fault.code}: {fault}")
        if outcome.status == "failed":
            self._failed[iteration_id] = outcome
        self._settle(key, outcome)
        return True

    def _settle(self, key: str, outcome: Outcome) -> None:
        with self._lock:
            is_first = key not in self._done
            self._done[key] = outcome
            self._todo.pop(key, None)
        if is_first:
            self._ended(self.rows[key], outcome)

    def _tell(self, row: Row, outcome: Outcome) -> None:
        part, video = row.wanted.item.part, row.wanted.item.video
        if outcome.status == "completed":
            log.info("item completed", part=part, video=video, action=row.action)
        elif outcome.status == "failed":
            hint = {"hint": outcome.hint} if outcome.hint else {}
            log.error("item failed", part=part, video=video, error=outcome.error, **hint)
        for warning in outcome.warnings:
            log.warning(warning, part=part, video=video)

    def _stop(self, error: ThumbforgeError) -> None:
        with self._lock:
            self._fault = self._fault or error
        if self.run_id:
            log.error("the run stops", error=f"{error.code}: {error}")
            self.cancel.set()

    def _stopped(self) -> bool:
        return self._shop.brake.is_pulled

    def _unbegun(self) -> Outcome:
        return Outcome("pending", error="interrupted before it began")

    def _pause(self) -> bool:
        try:
            self._shop.brake.wait(0.1)
        except Interrupted:
            return False
        # One that slept past its lease is fenced off before its items are taken over; its staged answers are found.
        self._ledger.sweep(self.project.settings.integer("batch.max_lost"))
        return True

    def close(self, ignored: Mapping[str, str]) -> Result:
        """Roll the run up from what the ledger says now, record its end, and give everything back.

        `ignored` are the item keys that `doit ignore` kept out, with their task names.
        """
        for key in self.rows.keys() & ignored.keys():
            self._done[key] = Outcome("pending", error=f"ignored; doit forget {ignored[key]} takes it back")
        try:
            if self.run_id:
                self._heartbeat.stop()
            found = self._settled()
            after = {row.wanted.item_key: self._after(row) for row in found.rows}
            items = tuple(ItemResult(row, after[key], self._done.get(key)) for key, row in self.rows.items())
            summary, exit_code = roll_up(items, self.planned.kind)
            exit_code = as_locked(exit_code) if self._locked else exit_code
            stop = None
            if self.run_id:
                exit_code, stop = self._end_run(summary, exit_code, tally(items))
            elif self._fault:
                exit_code, stop = Exit.UNEXPECTED, stopped(self._fault, tally(items))
            self._remember(found.fresh)
            unread = not self.planned.capabilities.takes_reference or any(i.after.reference_ignored for i in items)
            cancelled = self.run_id is not None and self._heartbeat.cancel_requested
            reason = self._shop.brake.reason if self.run_id else None
            rows = tuple(after.values())
            if not self._locked:
                keep_lock(self.project, self.planned, rows, whole=self._resumption is None)
            keep_manifest(self.project, self.planned, rows, whole=self._resumption is None)
            if self.run_id:
                self._sharing.flush(self._database)
            unlike = judged(self.project, self.planned, rows) if self.run_id else {}
            return Result(
                self.planned, self.run_id, items, summary, exit_code, stop, unread, cancelled, reason, rows, unlike
            )
        finally:
            self._opened.close()

    def _settled(self) -> PlannedSeries:
        """How everything stands now. A run that cannot be told is closed all the same."""
        try:
            return settled(self.project, self.planned, self.rows, self._database)
        except ThumbforgeError as error:
            if self.run_id and not self._heartbeat.lost:
                self._ledger.close_run(self._fence, "pause", Exit.UNEXPECTED, f"{error.code}: {error}")
            raise

    def _after(self, row: Row) -> Row:
        """What an item is now: one that could not be put where it belongs has failed, whatever the ledger says."""
        outcome, before = self._done.get(row.wanted.item_key), self.rows.get(row.wanted.item_key)
        if before and "copy" in before.restore and outcome and outcome.status == "completed":
            return replace(before, restore=())
        if outcome is None or outcome.status != "failed" or row.status == "failed" or not row.final:
            return row
        return replace(row, status="failed", reason=outcome.error or row.reason)

    def _remember(self, fresh: Sequence[Fresh]) -> None:
        """What was read; a ledger that cannot take it costs another reading."""
        with contextlib.suppress(LedgerError):
            remember(self._database, fresh)

    def _end_run(self, summary: Summary, exit_code: Exit, told: str) -> tuple[Exit, str | None]:
        assert self.run_id is not None
        end = ending_of(
            self.run_id,
            summary,
            exit_code,
            told=told,
            fault=self._fault,
            is_lost=self._heartbeat.lost,
            is_cancelled=self._heartbeat.cancel_requested,
            is_interrupted=self.cancel.is_set(),
            reason=self._shop.brake.reason,
            left_behind=[done.left_behind for done in self._done.values() if done.left_behind],
        )
        if end.event:
            self._ledger.close_run(self._fence, end.event, end.exit_code, end.error)
        return end.exit_code, end.said
