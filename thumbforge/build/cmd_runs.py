"""`doit runs list | show`: what the ledger knows of past and present runs."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from thumbforge.build.command import JSON_OPTION, Arguments, ThumbCommand, print_json
from thumbforge.errors import Exit, NotFound, UsageError

KINDS = ("hero", "iterate", "batch", "ingest", "audit", "repair")
STATUSES = ("pending", "running", "paused", "completed", "failed", "cancelled")


def _choice(name: str, values: tuple[str, ...]) -> dict[str, Any]:
    return {"name": name, "short": "", "long": name, "type": str, "default": None, "help": " | ".join(values)}


class Runs(ThumbCommand):
    name = "runs"
    doc_purpose = "list the runs, or show one with its items and attempts"
    doc_usage = "list [--kind K] [--status S] [--limit N] | show RUN"
    doc_description = "RUN is a run's id or the start of it. The newest runs are listed first."
    cmd_options = (
        _choice("kind", KINDS),
        _choice("status", STATUSES),
        {"name": "limit", "short": "", "long": "limit", "type": int, "default": 50, "help": "runs to list"},
        JSON_OPTION,
    )

    def run(self, arguments: Arguments) -> int:
        verb, *words = arguments.words or ("list",)
        if verb == "list" and not words:
            return self._list(arguments)
        if verb == "show" and len(words) == 1:
            return self._show(words[0], arguments)
        raise UsageError(f"runs does not know {' '.join([verb, *words])!r}", hint=f"thumbforge runs {self.doc_usage}")

    def _list(self, arguments: Arguments) -> int:
        from thumbforge.build.view import print_table, write
        from thumbforge.store.views import list_runs

        options = arguments.options
        for name, values in (("kind", KINDS), ("status", STATUSES)):
            if options[name] not in {None, *values}:
                raise UsageError(f"--{name} {options[name]}: expected {', '.join(values)}")
        database = self.project().read_ledger()
        runs = []
        if database:
            with closing(database):
                runs = list_runs(database, kind=options["kind"], status=options["status"], limit=options["limit"])
        if options["json"]:
            print_json({"runs": runs})
        elif not runs:
            write("No runs yet.")
        else:
            columns = ("run", "kind", "status", "series", "template", "provider", "done", "failed", "started", "exit")
            print_table(columns, [_listed(run) for run in runs])
        return Exit.DONE

    def _show(self, prefix: str, arguments: Arguments) -> int:
        from thumbforge.store.views import show_run

        project = self.project()
        database = project.read_ledger()
        if database is None:
            raise NotFound(f"there is no run {prefix}", hint="this project has no ledger yet")
        with closing(database):
            shown = show_run(database, prefix)
        for iteration in shown["iterations"]:
            if found := iteration["final_asset"]:
                path = project.store.path(found["sha256"], found.pop("suffix"))
                found["path"] = (
                    path.relative_to(project.root).as_posix() if path.is_relative_to(project.root) else str(path)
                )
        if arguments.options["json"]:
            print_json(shown)
        else:
            _print_run(shown)
        return Exit.DONE


def _listed(run: dict[str, Any]) -> tuple[str, ...]:
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


def when(seconds: float | None) -> str:
    return "" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%SZ}"


def _print_run(shown: dict[str, Any]) -> None:
    from thumbforge.build.view import print_table, write

    run, summary = shown["run"], shown["summary"]
    done = ", ".join(f"{summary[state]} {state}" for state in ("completed", "failed", "pending"))
    calls = sum(attempt["calls"] for attempt in shown["attempts"])
    for name, value in (
        ("run", run["id"]),
        ("kind", run["kind"]),
        ("status", run["status"] if run["error"] is None else f"{run['status']}: {run['error']}"),
        ("series", run["series"]),
        ("playlist", run["playlist"]),
        ("template", run["template"]),
        ("provider", run["provider"]),
        ("reference", run["reference"] and run["reference"][:12]),
        ("parent run", run["parent_run_id"]),
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
