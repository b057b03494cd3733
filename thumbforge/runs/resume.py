"""Going on with a run from its frozen plan: what it was about is read from the ledger, not from the specs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from thumbforge.errors import NotFound, ReplayDivergence, UsageError
from thumbforge.models import Item, Output, Playlist, PlaylistHead, Profile, Template
from thumbforge.providers.base import Reference
from thumbforge.providers.registry import capabilities_of
from thumbforge.runs.plan import Limits, Row, plan
from thumbforge.runs.project import Project
from thumbforge.runs.record import planned_item
from thumbforge.runs.reference import Hero
from thumbforge.runs.rollup import PlannedSeries
from thumbforge.runs.series import Series
from thumbforge.runs.snapshot import read_snapshot
from thumbforge.runs.wanted import Place, Wanted, wanted_items
from thumbforge.store.database import Database
from thumbforge.store.ledger import PlannedItem
from thumbforge.store.views import find_run


@dataclass(frozen=True, slots=True)
class Resumption:
    """A run to go on with: its plan as it stands now, and the items whose variables were overridden."""

    run_id: str
    planned: PlannedSeries
    replanned: tuple[PlannedItem, ...]
    params: Mapping[str, Any]


def plan_resume(project: Project, prefix: str, overrides: Mapping[str, Any]) -> Resumption:
    """Plan the rest of a run. `overrides` are variables that items not completed are planned anew with.

    Raises NotFound for an unknown run, UsageError for one that cannot be resumed.
    """
    database = project.read_ledger()
    if database is None:
        raise NotFound(f"there is no run {prefix}", hint="this project has no ledger yet")
    with closing(database):
        run = find_run(database, prefix)
        if run["kind"] != "batch":
            raise UsageError(f"run {prefix} is a {run['kind']} run: only a batch can be resumed")
        if run["status"] in {"completed", "cancelled"}:
            raise UsageError(f"run {prefix} is {run['status']}: only a paused or failed one can be resumed")
        params = json.loads(run["params_json"])
        return _plan(project, database, run, params, overrides)


def _plan(
    project: Project, database: Database, run: sqlite3.Row, params: dict[str, Any], overrides: Mapping[str, Any]
) -> Resumption:
    items = database.rows("SELECT * FROM run_item WHERE run_id = ? ORDER BY ordinal", (run["id"],))
    plans = [json.loads(item["plan_json"]) for item in items]
    series = _series(project, database, run, params, plans)
    at = [
        Place(i, p["position"], p["occurrence"], p["export"]) for i, p in zip(series.playlist.items, plans, strict=True)
    ]
    capabilities = capabilities_of(series.profile)
    reference = Reference(series.hero.sha256, series.hero.path, "")
    wanted = wanted_items(series, capabilities, reference, at)
    for item, found in zip(items, wanted, strict=True):
        # Items that a later `var.…` was for carry the overridden variables in their plan, so every key re-derives.
        if found.key != item["idempotency_key"]:
            raise ReplayDivergence(
                f"the plan of {found.item.video} does not give key {item['idempotency_key'][:8]} again"
            )
    planned = PlannedSeries(series, capabilities, Limits.of(project.settings, params["max_retries"]), wanted, ())
    rows = _decide(project, database, planned, wanted)
    if not overrides:
        return Resumption(run["id"], replace(planned, rows=rows), (), params)
    rows, anew = _override(project, database, planned, rows, at, overrides)
    wanted = tuple(row.wanted for row in rows)
    return Resumption(run["id"], replace(planned, rows=rows, wanted=wanted), anew, params)


def _override(
    project: Project,
    database: Database,
    planned: PlannedSeries,
    rows: tuple[Row, ...],
    at: list[Place],
    overrides: Mapping[str, Any],
) -> tuple[tuple[Row, ...], tuple[PlannedItem, ...]]:
    """Items that are not completed, planned with other variables; they go into the items' own, for the next resume."""
    open_places = [
        replace(place, item=place.item.model_copy(update={"vars": {**place.item.vars, **overrides}}))
        for place, row in zip(at, rows, strict=True)
        if row.status != "completed"
    ]
    series = replace(planned.series, overrides={**planned.series.overrides, **overrides})
    reference = Reference(series.hero.sha256, series.hero.path, "")
    wanted = wanted_items(series, planned.capabilities, reference, open_places)
    new_rows = {row.wanted.item_key: row for row in _decide(project, database, planned, wanted)}
    anew = tuple(planned_item(row, is_work=True) for row in new_rows.values())
    return tuple(new_rows.get(row.wanted.item_key, row) for row in rows), anew


def _decide(
    project: Project, database: Database, planned: PlannedSeries, wanted: tuple[Wanted, ...]
) -> tuple[Row, ...]:
    snapshot = read_snapshot(database, project.store, project.out, planned.series.name, wanted)
    return plan(wanted, snapshot, planned.limits)


def _series(
    project: Project, database: Database, run: sqlite3.Row, params: dict[str, Any], plans: list[dict[str, Any]]
) -> Series:
    """The series as it was when the run was planned."""
    template = database.rows("SELECT * FROM template WHERE spec_hash = ?", (run["spec_hash"],))[0]
    content = json.loads(template["content_json"])
    asset = database.rows("SELECT sha256, suffix FROM asset WHERE sha256 = ?", (run["reference_sha256"],))[0]
    hero = Hero(
        path=project.store.path(asset["sha256"], asset["suffix"]),
        sha256=asset["sha256"],
        run_id=run["parent_run_id"],
        iteration_id=params["hero"],
        from_file=False,
    )
    head = {"id": run["playlist_id"], **params["playlist_head"]}
    items = [Item.model_validate(plan["item"]) for plan in plans]
    return Series(
        name=params["series"],
        playlist_name=params["playlist"],
        playlist=Playlist(playlist=PlaylistHead.model_validate(head), items=tuple(items)),
        hero=hero,
        template=Template.model_validate({"name": template["name"], "version": template["version"], **content}),
        profile=_profile(project, database, run["profile_id"]),
        reference=params["reference"],
        vars=params["vars"],
        overrides=params["overrides"],
        max_images=params["max_images"],
        output=Output.model_validate(params["output"]),
    )


def _profile(project: Project, database: Database, profile_id: str) -> Profile:
    """Today's spec of the profile where it still is the same one, for its limits and prices; else what was recorded."""
    row = database.rows("SELECT * FROM provider_profile WHERE id = ?", (profile_id,))[0]
    if row["name"] in project.catalog.profile_names():
        profile = project.catalog.profile(row["name"])
        if profile.id == profile_id:
            return profile
    return Profile(
        name=row["name"], provider=row["provider"], version=row["version"], params=json.loads(row["params_json"])
    )
