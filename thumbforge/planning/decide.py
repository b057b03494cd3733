"""From a series and what the ledger has now to what there is to do. Reads; writes nothing, calls nobody."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from thumbforge.models import Profile
from thumbforge.planning.lock import find_lock, place_of
from thumbforge.planning.plan import Limits, Row, check_max_images, plan
from thumbforge.planning.prices import BUDGET, DayBudget, check_budget, check_max_cost, costs_money
from thumbforge.planning.project import Project
from thumbforge.planning.scenes import look_taken
from thumbforge.planning.series import Series
from thumbforge.planning.snapshot import read_snapshot, with_recorded
from thumbforge.planning.spec_lines import at_template_lines
from thumbforge.planning.wanted import Wanted, wanted_items
from thumbforge.providers.base import Capabilities
from thumbforge.providers.registry import capabilities_of
from thumbforge.settings import Settings
from thumbforge.specs.locks import Lock
from thumbforge.store.database import Database
from thumbforge.store.exports import Export
from thumbforge.store.looks import Fresh
from thumbforge.store.spending import day_of, spent_on

if TYPE_CHECKING:
    from thumbforge.pixels.placed import Chosen


@dataclass(frozen=True, slots=True)
class PlannedSeries:
    """A series with a row for every item, in playlist order; for a hero run, with one for every candidate.

    `parent_run_id` is the hero run that a batch or a refinement stands on; `seed` is that of a hero run's first
    candidate; `spent` is what a run that is resumed has spent, as its `max_cost` counts it, `budget` what all runs of
    today may, where that is set and concerns the profile. `fresh` is what had to be read of the store and out/ to know
    how things stand. `lock` is the lock file, which goes before what the ledger has chosen.
    `left` is what was put into out/ for items that it no longer has.
    """

    series: Series
    capabilities: Capabilities
    limits: Limits
    wanted: tuple[Wanted, ...]
    rows: tuple[Row, ...]
    kind: Literal["batch", "hero", "iterate"] = "batch"
    parent_run_id: str | None = None
    seed: int | None = None
    spent: Decimal = Decimal(0)
    budget: DayBudget | None = None
    fresh: tuple[Fresh, ...] = ()
    lock: Lock | None = None
    left: Mapping[str, Export] = field(default_factory=dict)

    def look_of(self, rows: Iterable[Row]) -> Chosen | None:
        """What `look: auto` takes, where one of these rows is painted: a hero is not opened for nothing."""
        return look_taken(self.series) if any(row.calls for row in rows) else None


def plan_series(project: Project, series: Series, max_retries: int | None = None) -> PlannedSeries:
    """Decide for every item what there is to do. Reads the ledger once; writes nothing, calls nobody."""
    capabilities = capabilities_of(series.profile)
    with at_template_lines(series.root, series.template.name):
        wanted = wanted_items(series, capabilities, series.hero.as_reference())
    limits, lock = Limits.of(project.settings, max_retries), find_lock(project.root, series.name)
    parent = series.hero.run_id
    return decided(project, PlannedSeries(series, capabilities, limits, wanted, (), parent_run_id=parent, lock=lock))


def decided(project: Project, planned: PlannedSeries) -> PlannedSeries:
    """The same with rows: what there is to do now."""
    with project.reading() as database:
        return decide(project, planned, database)


def settled(project: Project, planned: PlannedSeries, rows: Mapping[str, Row], database: Database) -> PlannedSeries:
    """The series with every item as it stands now. `rows` are those of a run, which go before the plan's.

    What was done when it was planned is not decided again: nothing of the run has touched it.
    """
    before = {**{row.wanted.item_key: row for row in planned.rows}, **rows}
    again = tuple(row.wanted for row in before.values() if not row.is_done)
    if not again:
        return replace(planned, rows=tuple(before.values()))
    now = decide(project, replace(apart_from(planned, rows), wanted=again, fresh=()), database)
    after = {**before, **{row.wanted.item_key: row for row in now.rows}}
    return replace(planned, rows=tuple(after.values()), fresh=(*planned.fresh, *now.fresh))


def apart_from(planned: PlannedSeries, rows: Mapping[str, Row]) -> PlannedSeries:
    """The same without what the lock says of items of which these rows want another take than it has."""
    if planned.lock is None:
        return planned
    named = ((row, planned.lock.of(*place_of(row.wanted), row.wanted.art_key)) for row in rows.values())
    others = [place_of(row.wanted) for row, entry in named if entry and entry.take != row.take]
    return replace(planned, lock=planned.lock.without(others)) if others else planned


def without_choice(planned: PlannedSeries, wanted: Wanted) -> PlannedSeries:
    """The same for somebody who chooses a take of an item now: whatever the lock says of it."""
    return replace(planned, lock=planned.lock.without([place_of(wanted)])) if planned.lock else planned


def decide(project: Project, planned: PlannedSeries, database: Database | None) -> PlannedSeries:
    """The same with rows for what it wants, as the ledger and the disk have it."""
    series, wanted = planned.series.name, planned.wanted
    snapshot = read_snapshot(database, project.store, project.out, series, wanted, planned.lock)
    snapshot = with_recorded(snapshot, project.store, planned.wanted)
    rows = plan(planned.wanted, snapshot, planned.limits)
    budget = day_budget(project.settings, planned.series.profile, database)
    return replace(planned, rows=rows, budget=budget, fresh=snapshot.fresh, left=snapshot.left)


def day_budget(settings: Settings, profile: Profile, database: Database | None) -> DayBudget | None:
    """None where no budget is set, or the profile costs nothing."""
    most = settings.text(BUDGET)
    if not most or not costs_money(profile):
        return None
    currency = profile.price.currency if profile.price else ""
    spent = spent_on(database, day_of(time.time()), currency) if database else Decimal(0)
    return DayBudget(Decimal(most), spent, currency)


def check_limits(planned: PlannedSeries, rows: Sequence[Row]) -> None:
    """Raises LimitReached where the rows want more pictures, or more money, than allowed; nothing is written yet."""
    series, calls = planned.series, sum(row.calls for row in rows)
    check_max_images(rows, series.max_images)
    check_max_cost(series.profile, calls, series.max_cost)
    check_budget(series.profile, calls, planned.budget)
