"""From a series and what the ledger has now to what there is to do. Reads; writes nothing, calls nobody."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace

from thumbforge.providers.registry import capabilities_of, concurrency
from thumbforge.runs.plan import Limits, Row, plan
from thumbforge.runs.project import Project
from thumbforge.runs.rollup import PlannedSeries
from thumbforge.runs.series import Series
from thumbforge.runs.snapshot import read_snapshot
from thumbforge.runs.wanted import wanted_items
from thumbforge.store.database import Database


def plan_series(project: Project, series: Series, max_retries: int | None = None) -> PlannedSeries:
    """Decide for every item what there is to do. Reads the ledger once; writes nothing, calls nobody."""
    capabilities = capabilities_of(series.profile)
    concurrency(series.profile, capabilities)  # a profile above the provider's limit is refused while nothing is paid
    wanted = wanted_items(series, capabilities, series.hero.as_reference())
    limits = Limits.of(project.settings, max_retries)
    return decided(project, PlannedSeries(series, capabilities, limits, wanted, (), parent_run_id=series.hero.run_id))


def decided(project: Project, planned: PlannedSeries) -> PlannedSeries:
    """The same with rows: what there is to do now."""
    database = project.read_ledger()
    if database is None:
        return replace(planned, rows=decide(project, planned, None))
    with closing(database):
        return replace(planned, rows=decide(project, planned, database))


def settled(project: Project, planned: PlannedSeries, rows: Mapping[str, Row], database: Database) -> dict[str, Row]:
    """Every item of the series as it stands now, by item key. `rows` are those of a run, which go before the plan's.

    What was done when it was planned is not decided again: nothing of the run has touched it.
    """
    before = {**{row.wanted.item_key: row for row in planned.rows}, **rows}
    again = tuple(row.wanted for row in before.values() if not row.is_done)
    now = decide(project, replace(planned, wanted=again), database) if again else ()
    return {**before, **{row.wanted.item_key: row for row in now}}


def decide(project: Project, planned: PlannedSeries, database: Database | None) -> tuple[Row, ...]:
    snapshot = read_snapshot(database, project.store, project.out, planned.series.name, planned.wanted)
    return plan(planned.wanted, snapshot, planned.limits)
