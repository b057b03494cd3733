"""Going on with a run from its frozen plan: what it was about is read from the ledger, not from the specs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from thumbforge.errors import LedgerError, NotFound, ReplayDivergence, UsageError
from thumbforge.making.record import planned_item
from thumbforge.models import Brand, Item, Output, Playlist, PlaylistHead, Price, Profile
from thumbforge.planning.decide import PlannedSeries, decide
from thumbforge.planning.lock import find_lock
from thumbforge.planning.plan import Limits
from thumbforge.planning.prices import check_budget, check_max_cost, spent_of
from thumbforge.planning.project import Project
from thumbforge.planning.reference import NO_HERO, Hero
from thumbforge.planning.series import Series, look
from thumbforge.planning.staging import Staging
from thumbforge.planning.wanted import Place, Wanted, wanted_heroes, wanted_items
from thumbforge.providers.registry import capabilities_of
from thumbforge.specs.layered import template_of
from thumbforge.store import names, world
from thumbforge.store.database import Database, mapping
from thumbforge.store.pictures import suffix_of
from thumbforge.store.plans import PlannedItem, items_of
from thumbforge.store.views import attempts_by, find_run

KINDS = ("batch", "hero", "iterate")


@dataclass(frozen=True, slots=True)
class Resumption:
    """A run to go on with: its plan as it stands now, and the items whose variables were overridden."""

    run_id: str
    planned: PlannedSeries
    replanned: tuple[PlannedItem, ...]
    params: Mapping[str, Any]


def plan_resume(
    project: Project, prefix: str, overrides: Mapping[str, Any], max_cost: Decimal | None = None
) -> Resumption:
    """Plan the rest of a run. `overrides` are variables that items not completed are planned anew with; `max_cost`
    takes the place of the run's own.

    Raises NotFound for an unknown run, UsageError for one that cannot be resumed, LimitReached where what it has spent
    and what is left are more than it may cost.
    """
    with project.reading() as database:
        if database is None:
            raise NotFound(f"there is no run {prefix}", hint="this project has no ledger yet")
        run = find_run(database, prefix)
        _refuse(prefix, run, overrides)
        planned = frozen(project, database, run)
        anew: tuple[PlannedItem, ...] = ()
        if overrides:
            planned, anew = _override(project, database, planned, overrides)
        params = mapping(run["params_json"])
        if max_cost is not None:
            planned = replace(planned, series=replace(planned.series, max_cost=max_cost))
            params["max_cost"] = str(max_cost)
        planned = replace(planned, spent=spent_of(attempts_by(database, run["id"]), planned.series.profile))
        _require_within(run["id"], planned)
        return Resumption(run["id"], planned, anew, params)


def _require_within(run_id: str, planned: PlannedSeries) -> None:
    series, calls = planned.series, sum(row.calls for row in planned.rows)
    check_max_cost(series.profile, calls, series.max_cost, spent=planned.spent, run_id=run_id)
    check_budget(series.profile, calls, planned.budget)


def _refuse(prefix: str, run: sqlite3.Row, overrides: Mapping[str, Any]) -> None:
    if run["kind"] not in KINDS:
        raise UsageError(f"run {prefix} is a {run['kind']} run: it starts over with its own command")
    if run["status"] in {"completed", "cancelled"}:
        raise UsageError(f"run {prefix} is {run['status']}: only a paused or failed one can be resumed")
    if run["kind"] != "batch" and overrides:
        raise UsageError("var.… goes with resuming a batch", hint="generate heroes anew with other variables")


def frozen(project: Project, database: Database, run: sqlite3.Row) -> PlannedSeries:
    """What a run was about, as it was recorded, with rows for what is to do now.

    Every key has to follow again from what was recorded, or it is a ReplayDivergence. Items that a `var.…` was for
    carry it in their plan.
    """
    with _as_recorded(run["id"]):
        return _frozen(project, database, run)


@contextmanager
def _as_recorded(run_id: str) -> Iterator[None]:
    """What was recorded lacks something, or has another form than it must: the ledger may have come from anywhere."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise LedgerError(f"what is recorded of run {run_id[:8]} cannot be read: {type(error).__name__}") from error


def _frozen(project: Project, database: Database, run: sqlite3.Row) -> PlannedSeries:
    items = items_of(database, run["id"])
    params, plans = mapping(run["params_json"]), [item.plan for item in items]
    series = _series(project, database, run, params, plans)
    limits = Limits.of(project.settings, params["max_retries"])
    capabilities = capabilities_of(series.profile)
    lock = find_lock(project.root, series.name) if run["kind"] == "batch" else None
    parent, seed = run["parent_run_id"], params["seed"]
    planned = PlannedSeries(series, capabilities, limits, (), (), run["kind"], parent, seed, lock=lock)
    wanted = _wanted(planned, plans)
    for item, found in zip(items, wanted, strict=True):
        if found.key != item.idempotency_key:
            text = f"the plan of {found.item_key} does not give key {item.idempotency_key[:8]} again"
            raise ReplayDivergence(text)
    return decide(project, replace(planned, wanted=wanted), database)


def _wanted(planned: PlannedSeries, plans: Sequence[Mapping[str, Any]]) -> tuple[Wanted, ...]:
    series, reference = planned.series, planned.series.hero.as_reference()
    if planned.kind == "batch":
        places = zip(series.playlist.items, plans, strict=True)
        at = [Place(item, plan["position"], plan["occurrence"], plan["export"]) for item, plan in places]
        return wanted_items(series, planned.capabilities, reference, at)
    ordinals = [plan["position"] for plan in plans]
    return wanted_heroes(series, planned.capabilities, reference, planned.seed, ordinals)


def _override(
    project: Project, database: Database, planned: PlannedSeries, overrides: Mapping[str, Any]
) -> tuple[PlannedSeries, tuple[PlannedItem, ...]]:
    """Items that are not completed, planned with other variables; these go into their own, for the next resume."""
    open_places = [
        Place(
            item=wanted.item.model_copy(update={"vars": {**wanted.item.vars, **overrides}}),
            position=wanted.position,
            occurrence=wanted.occurrence,
            export_name=wanted.export_name,
        )
        for wanted, row in zip(planned.wanted, planned.rows, strict=True)
        if row.status != "completed" and not row.cure
    ]
    series = replace(planned.series, overrides={**planned.series.overrides, **overrides})
    wanted = wanted_items(series, planned.capabilities, series.hero.as_reference(), open_places)
    replanned = decide(project, replace(planned, wanted=wanted), database)
    anew = {row.wanted.item_key: row for row in replanned.rows}
    rows = tuple(anew.get(row.wanted.item_key, row) for row in planned.rows)
    items = tuple(planned_item(row, is_work=True) for row in anew.values())
    return replace(planned, rows=rows, wanted=tuple(row.wanted for row in rows)), items


def _series(
    project: Project,
    database: Database,
    run: sqlite3.Row,
    params: Mapping[str, Any],
    plans: Sequence[Mapping[str, Any]],
) -> Series:
    """The series as it was when the run was planned. AssetDamaged where its name, or that of an export, is no name."""
    if run["kind"] == "batch":
        for name in (params["series"], *(plan["export"] for plan in plans)):
            names.required(names.is_plain(name), name)
    template = world.template(database, run["spec_hash"])
    items = [Item.model_validate(plan["item"]) for plan in plans]
    if run["kind"] != "batch":
        items = items[:1]  # every candidate is for the same video
    brand = Brand.model_validate(params["brand"]) if params.get("brand") else None
    return Series(
        name=params["series"],
        playlist_name=params["playlist"],
        playlist=Playlist(playlist=PlaylistHead.model_validate(params["playlist_head"]), items=tuple(items)),
        hero=_hero(project, database, run, params),
        template=template_of({"name": template.name, "version": template.version, **template.content}),
        profile=_profile(project, database, run["profile_id"], params.get("price")),
        reference=params["reference"],
        vars=params["vars"],
        overrides=params["overrides"],
        max_images=params["max_images"],
        max_cost=Decimal(params["max_cost"]) if params.get("max_cost") else None,
        output=Output.model_validate(params["output"]),
        prompt_append=params["prompt_append"],
        brand=brand,
        staging=Staging.replayed(params.get("staging") or {}),
        sizes=tuple((name, int(size)) for name, size in params["sizes"].items()) if "sizes" in params else None,
        **look(brand, project.root, project.settings),
    )


def _hero(project: Project, database: Database, run: sqlite3.Row, params: Mapping[str, Any]) -> Hero:
    if run["reference_sha256"] is None:
        return NO_HERO
    sha256 = run["reference_sha256"]
    path = project.store.path(sha256, suffix_of(database, sha256))
    return Hero(path, sha256, run["parent_run_id"], params["hero"], from_file=False)


def _profile(project: Project, database: Database, profile_id: str, price: Mapping[str, Any] | None) -> Profile:
    """Today's spec of the profile where it still is the same one, for its limits and prices; else what was recorded."""
    recorded = world.profile(database, profile_id)
    if recorded.name in project.catalog.profile_names():
        profile = project.catalog.profile(recorded.name)
        if profile.id == profile_id:
            return profile
    return Profile(
        name=recorded.name,
        provider=recorded.provider,
        version=recorded.version,
        params=dict(recorded.params),
        price=Price.model_validate(price) if price else None,
    )
