"""`doit runs …`: what the ledger knows of past and present runs, and what can be done with them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from thumbforge.commands.command import ThumbCommand, print_json
from thumbforge.commands.operands import RUN
from thumbforge.commands.verbs import CONCURRENCY, VAR, Arguments, Verb
from thumbforge.errors import Exit, NotFound, UsageError
from thumbforge.tasks.options import Option, amount, choice, flag, whole
from thumbforge.tasks.variables import RUN_OPTIONS
from thumbforge.text import counted

if TYPE_CHECKING:
    from thumbforge.planning.project import Project
    from thumbforge.store.database import Database
    from thumbforge.store.ledger import Ledger
    from thumbforge.upkeep.cost import Cost

KINDS = ("hero", "iterate", "batch", "ingest", "audit", "repair")
STATUSES = ("pending", "running", "paused", "completed", "failed", "cancelled")


def _list(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import print_table, write
    from thumbforge.store.views import list_runs

    options = arguments.options
    runs = []
    with project.reading() as database:
        if database:
            runs = list_runs(database, kind=options["kind"], status=options["status"], limit=options["limit"])
    if arguments.as_json:
        print_json({"runs": runs})
    elif not runs:
        write("No runs yet.")
    else:
        columns = ("run", "kind", "status", "series", "template", "provider", "done", "failed", "started", "exit")
        print_table(columns, [_listed(run) for run in runs])
    return Exit.DONE


def _resume(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.resuming import resume

    return resume(project, arguments.words[0], arguments)


def _cancel(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import write
    from thumbforge.store.leases import read_owner

    with _ledger(project, arguments) as (ledger, run):
        state, owner = ledger.cancel(run["id"]), read_owner(run["lease_owner"] or "")
        lease_s = ledger.ttl_s
    if arguments.as_json:
        print_json({"run": run["id"], "state": state})
    elif state == "requested":
        write(f"Run {run['id'][:8]} is asked to stop: {owner or 'its process'} does so at its next heartbeat.")
        write(f"If it has not in {lease_s:g} s it beats no more; the same command ends the run then.")
    else:
        write(f"Run {run['id'][:8]} is cancelled.")
    return Exit.DONE


def _delete(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import write
    from thumbforge.store.deletion import delete_run

    with _ledger(project, arguments) as (ledger, run):
        deleted = delete_run(
            ledger.database, project.store, run["id"], ledger.now(), with_assets=arguments.options["assets"]
        )
    if arguments.as_json:
        print_json(
            {"deleted": {"run": deleted.run_id, "iterations": deleted.iterations, "assets": list(deleted.files)}}
        )
    else:
        gone = f"{counted(deleted.iterations, 'iteration')}, {counted(len(deleted.files), 'file')}"
        write(f"Run {run['id'][:8]} is deleted: {gone}.")
        if deleted.iterations:
            does = "makes them anew" if arguments.options["assets"] else "takes them up from the store, without a call"
            write(f"What it made is forgotten: a later batch that wants these pictures {does}.")
    return Exit.DONE


def _cost(project: Project, arguments: Arguments) -> int:
    from thumbforge.store import world
    from thumbforge.store.views import attempts_by
    from thumbforge.upkeep.cost import cost_of

    [prefix], by = arguments.words, arguments.options["by"]
    if prefix is None:
        return _sums(project, by, as_json=arguments.as_json)
    if by:
        raise UsageError("--by goes with all runs", hint=f"thumbforge runs cost --by {by}")
    with _reading(project, arguments) as (database, run):
        provider = world.profile(database, run["profile_id"]).provider if run["profile_id"] else ""
        cost = cost_of(attempts_by(database, run["id"]), provider)
    if arguments.as_json:
        print_json({"run": run["id"], "cost": cost.as_dict()})
    else:
        _print_cost(run["id"], cost)
    return Exit.DONE


def _sums(project: Project, by: str | None, *, as_json: bool) -> int:
    """What all runs have cost, by month, series and profile, or by one of them."""
    from thumbforge.commands.telling.view import print_table, write
    from thumbforge.store.views import paid_attempts
    from thumbforge.upkeep.cost import GROUPS, cost_of, sums

    with project.reading() as database:
        attempts = paid_attempts(database) if database else []
    names = (by,) if by else GROUPS
    found, total = sums(attempts, names), cost_of(attempts)
    if as_json:
        groups = [{name: getattr(group, name) for name in GROUPS} | cost.as_dict() for group, cost in found.items()]
        print_json({"costs": groups, "total": total.as_dict()})
        return Exit.DONE
    if not found:
        write("No calls yet.")
        return Exit.DONE
    columns = (*names, "calls", "money", "without a price", "perhaps billed")
    print_table(
        columns, [(*(getattr(group, name) for name in names), *_counted(cost)) for group, cost in found.items()]
    )
    write(f"All: {counted(total.calls, 'call')}, {_money(total)}.")
    return Exit.DONE


def _counted(cost: Cost) -> tuple[str, ...]:
    return (str(cost.calls), _money(cost), str(cost.unknown or ""), str(cost.perhaps_billed + cost.lost or ""))


def _money(cost: Cost) -> str:
    money = ", ".join(f"{amount} {currency}" for currency, amount in cost.money.items())
    return money or ("no data" if cost.unknown else "0")


@contextmanager
def _reading(project: Project, arguments: Arguments) -> Iterator[tuple[Database, sqlite3.Row]]:
    from thumbforge.store.views import find_run

    prefix = arguments.words[0]
    with project.reading() as database:
        if database is None:
            raise NotFound(f"there is no run {prefix}", hint="this project has no ledger yet")
        yield database, find_run(database, prefix)


@contextmanager
def _ledger(project: Project, arguments: Arguments) -> Iterator[tuple[Ledger, sqlite3.Row]]:
    """For a change: the run is looked up first, so that an unknown one makes no ledger."""
    with _reading(project, arguments) as (_, run):
        pass
    with project.ledger() as ledger:
        yield ledger, run


def _show(project: Project, arguments: Arguments) -> int:
    from thumbforge.store.views import show_run

    with _reading(project, arguments) as (database, run):
        shown = show_run(database, run["id"])
    for iteration in shown["iterations"]:
        if found := iteration["final_asset"]:
            path = project.store.path(found["sha256"], found.pop("suffix"))
            found["path"] = (
                path.relative_to(project.root).as_posix() if path.is_relative_to(project.root) else str(path)
            )
    if arguments.as_json:
        print_json(shown)
    else:
        _print_run(shown)
    return Exit.DONE


def _listed(run: dict[str, Any]) -> tuple[str, ...]:
    from thumbforge.commands.telling.view import when

    counts = run["counts"]
    return (
        run["id"][:8],
        run["kind"],
        run["status"],
        run["series"] or "",
        run["template"] or "",
        run["provider"] or "",
        f"{counts['completed']}/{counts['total']}",
        str(counts["failed"]),
        when(run["started_at"]),
        "" if run["exit_code"] is None else str(run["exit_code"]),
    )


def _print_cost(run_id: str, cost: Cost) -> None:
    from thumbforge.commands.telling.view import write

    for name, value in (
        ("run", run_id),
        ("calls", f"{cost.calls} in {counted(cost.attempts, 'attempt')}, {cost.seconds:.1f} s"),
        ("money", _money(cost)),
        ("tokens", "no data" if cost.tokens is None else cost.tokens),
        ("no data", f"{counted(cost.unknown, 'attempt')} without a price" if cost.unknown else ""),
        ("unclear", f"{cost.perhaps_billed} calls perhaps billed without a picture" if cost.perhaps_billed else ""),
        ("lost", f"{cost.lost} attempts whose process died, perhaps billed" if cost.lost else ""),
    ):
        if value != "":
            write(f"{name:<11} {value}")


def _print_run(shown: dict[str, Any]) -> None:
    from thumbforge.commands.telling.view import print_hints, print_table, when, write

    run, summary = shown["run"], shown["summary"]
    done = ", ".join(f"{summary[state]} {state}" for state in ("completed", "failed", "pending"))
    calls = sum(attempt["calls"] for attempt in shown["attempts"])
    for name, value in (
        ("run", run["id"][:8]),
        ("kind", run["kind"]),
        ("status", run["status"] if run["error"] is None else f"{run['status']}: {run['error']}"),
        ("series", run["series"]),
        ("playlist", run["playlist"]),
        ("template", run["template"]),
        ("provider", run["provider"]),
        ("reference", run["reference"] and run["reference"][:12]),
        ("parent run", (run["parent_run_id"] or "")[:8]),
        ("started", when(run["started_at"])),
        ("finished", when(run["finished_at"])),
        ("exit code", run["exit_code"]),
        ("items", f"{summary['total']}: {done}"),
        ("calls", calls),
    ):
        if value not in {None, ""}:
            write(f"{name:<11} {value}")
    write("")
    print_table(
        ("part", "title", "action", "status", "key", "asset", "error"),
        [
            (
                "" if i["part"] is None else str(i["part"]),
                i["title"] or "",
                i["action"] or "",
                i["status"],
                i["key"][:8],
                i["final_asset"]["sha256"][:12] if i["final_asset"] else "",
                i["error"] or "",
            )
            for i in shown["iterations"]
        ],
    )
    places = (str(i["position"] if i["part"] is None else i["part"]) for i in shown["iterations"])
    print_hints("part", ((place, i["hint"] or "") for place, i in zip(places, shown["iterations"], strict=True)))


class Runs(ThumbCommand):
    name = "runs"
    doc_purpose = "list, show, resume, cancel or delete runs, or add up what they cost"
    doc_description = (
        "RUN is a run's id or the start of it. A run goes on from its own plan, whatever the specs say now."
    )
    example = "runs list --status paused; runs resume 6abc4747 max_cost=1.20"
    default = "list"
    verbs = (
        Verb(
            "list",
            (),
            _list,
            "the newest runs first",
            (
                choice("kind", "runs of this kind only", *KINDS),
                choice("status", "runs in this state only", *STATUSES),
                Option("limit", "runs to list", whole(1), "N", 50),
            ),
        ),
        Verb("show", (RUN,), _show, "one run with its items and tries"),
        Verb(
            "resume",
            (RUN,),
            _resume,
            "go on with a paused or failed run; var.NAME=VALUE plans what is not completed anew",
            (
                VAR,
                Option("max-cost", "what the whole run may cost, from its beginning", amount, "AMOUNT"),
                *RUN_OPTIONS,
                CONCURRENCY,
            ),
        ),
        Verb("cancel", (RUN,), _cancel, "stop a run, a live one in another terminal within a heartbeat"),
        Verb(
            "cost",
            (replace(RUN, is_optional=True),),
            _cost,
            "calls, money and tokens of a run; without one, what all have cost, by month, series and profile",
            (choice("by", "of all runs, the sums by this alone", "month", "series", "profile"),),
        ),
        Verb(
            "delete",
            (RUN,),
            _delete,
            "take a run out of the ledger; refused while another run needs it",
            (flag("assets", "also the stored pictures that nothing else uses"),),
        ),
    )
