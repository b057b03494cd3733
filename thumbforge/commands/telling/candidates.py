"""A hero run's candidates: made, resumed, and shown."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thumbforge.commands.command import print_json
from thumbforge.errors import Exit, UsageError
from thumbforge.settings import variable

if TYPE_CHECKING:
    from thumbforge.commands.verbs import Arguments
    from thumbforge.making.resume import Resumption
    from thumbforge.planning.decide import PlannedSeries
    from thumbforge.planning.plan import Row
    from thumbforge.planning.project import Project
    from thumbforge.store.heroes import Candidate


def make(project: Project, planned: PlannedSeries, arguments: Arguments, resumption: Resumption | None = None) -> int:
    """Make what is missing of the candidates, then show them."""
    from thumbforge.cancel import Cancel
    from thumbforge.commands.telling.running import configure_logging
    from thumbforge.making.batch import Batch, threads_for
    from thumbforge.making.executor import Placement
    from thumbforge.making.hero import make_heroes
    from thumbforge.making.rollup import foreseen
    from thumbforge.planning.decide import check_limits
    from thumbforge.store.heroes import run_of
    from thumbforge.tasks.progress import Progress, candidate_name, interruptible
    from thumbforge.tasks.session import tell_cost

    configure_logging(project, as_json=arguments.as_json)
    is_done, is_dry = all(row.status == "completed" for row in planned.rows), arguments.options.get("dry-run")
    if resumption is None and all(row.idle for row in planned.rows) and (is_done or not is_dry):
        with project.reading() as database:
            assert database is not None
            run_id = run_of(database, planned.kind, [wanted.key for wanted in planned.wanted])
        if run_id:
            said = "Nothing to do: these candidates are made." if is_done else ""
            return tell(project, run_id, foreseen(planned.rows), arguments, said, _no_more(planned, planned.rows))
    if is_dry:
        return _foretell(planned, arguments)
    if resumption is None:
        check_limits(planned, planned.rows)
    if not arguments.as_json:
        tell_cost(planned, planned.rows)
    placement = Placement.of(project.settings, arguments.options["executor"], arguments.options["scheduler"])
    cancel = Cancel()
    concurrency = arguments.options["concurrency"] or project.settings.integer("batch.concurrency")
    with interruptible(cancel), Progress(planned.rows, candidate_name) as progress:
        batch = Batch(
            project,
            planned,
            planned.rows,
            cancel=cancel,
            concurrency=concurrency,
            resumption=resumption,
            placement=placement,
            ended=progress.ended,
        )
        result = make_heroes(batch, threads_for(planned, planned.rows, concurrency, placement))
    if result.run_id is None:
        raise UsageError("nothing can be tried again: " + "; ".join(i.error or "" for i in result.items if i.error))
    left = [item.after for item in result.items if item.status != "completed"]
    return tell(project, result.run_id, result.exit_code, arguments, result.stop or "", _no_more(planned, left))


def _no_more(planned: PlannedSeries, rows: Sequence[Row]) -> str:
    """What to know where going on would try none of these; "" where it would."""
    left = [row for row in rows if row.status != "completed"]
    if not left or not all(row.is_stuck for row in left):
        return ""
    more = f"{variable('batch.max_retries')}={planned.limits.max_retries + 1}"
    return f"Nothing is tried again until prompt, video or profile changes; more tries: the same command with {more}"


def _foretell(planned: PlannedSeries, arguments: Arguments) -> int:
    """The plan, with what it would cost; refused as the run itself would be."""
    from thumbforge.commands.telling.results import print_plan
    from thumbforge.making.rollup import foreseen
    from thumbforge.planning.decide import check_limits
    from thumbforge.planning.drawable import check_drawable

    check_limits(planned, planned.rows)
    check_drawable(planned.series, planned.rows)
    exit_code = foreseen(planned.rows)
    print_plan(planned, planned.rows, as_json=arguments.as_json, exit_code=exit_code)
    return exit_code


def tell(project: Project, run_id: str, exit_code: Exit, arguments: Arguments, said: str, no_more: str = "") -> int:
    """`no_more` says why going on would try nothing, "" where it would."""
    from thumbforge.commands.telling.view import write
    from thumbforge.store.heroes import candidates
    from thumbforge.store.views import find_run

    with project.reading() as database:
        assert database is not None
        run = find_run(database, run_id)
        found = candidates(database, run)
    sheet = _sheet(project, run, found)
    if arguments.as_json:
        print_json({**_document(project, run, found, sheet), "exit_code": exit_code})
        return exit_code
    if said:
        write(said)
    _print_candidates(project, run, found, sheet)
    if exit_code in {Exit.PARTIAL, Exit.INTERRUPTED, Exit.NOTHING_COMPLETED}:
        write(no_more or f"Go on with: thumbforge runs resume {run_id[:8]}")
    elif any(c.status == "completed" for c in found) and not any(c.picked for c in found):
        write(f"Next: thumbforge hero pick {run_id[:8]} N")
    return exit_code


def _sheet(project: Project, run: sqlite3.Row, found: list[Candidate]) -> Path | None:
    """The contact sheet of the candidates, made anew whenever it is asked for; a page of the same lies beside it."""
    from thumbforge.making.sheets.candidates import hero_sheet
    from thumbforge.making.sheets.kept import write_sheet

    if not any(candidate.final for candidate in found):
        return None
    name = f"hero-{run['id'][:8]}"
    names = (f"{name}.html", f"{name}.png")
    page = write_sheet(project, hero_sheet(project, run, found), project.home / "sheets", names)
    return page.with_suffix(".png")


def _document(project: Project, run: sqlite3.Row, found: list[Candidate], sheet: Path | None) -> dict[str, Any]:
    from thumbforge.planning.project import relative

    def shown(picture: tuple[str, str] | None) -> dict[str, str] | None:
        if picture is None:
            return None
        return {"sha256": picture[0], "path": relative(project.store.path(*picture), project.root)}

    return {
        "run": run["id"],
        "kind": run["kind"],
        "status": run["status"],
        "parent_run_id": run["parent_run_id"],
        "candidates": [
            {
                "ordinal": c.ordinal,
                "iteration_id": c.iteration_id,
                "status": c.status,
                "picked": c.picked,
                "compliant": c.compliant,
                "error": c.error,
                "hint": c.hint or None,
                "art": shown(c.art),
                "final": shown(c.final),
            }
            for c in found
        ],
        "sheet": relative(sheet, project.root) if sheet else None,
    }


def _print_candidates(project: Project, run: sqlite3.Row, found: list[Candidate], sheet: Path | None) -> None:
    from thumbforge.commands.telling.view import print_hints, print_table, write
    from thumbforge.planning.project import relative

    write(f"{run['kind']} run {run['id'][:8]} ({run['status']})")
    print_table(
        ("pick", "candidate", "status", "compliant", "iteration", "picture", "error"),
        [
            (
                "★" if c.picked else "",
                str(c.ordinal),
                c.status,
                {True: "yes", False: "no", None: ""}[c.compliant],
                c.iteration_id[:8],
                relative(project.store.path(*c.final), project.root) if c.final else "",
                c.error or "",
            )
            for c in found
        ],
    )
    print_hints("candidate", ((str(c.ordinal), c.hint) for c in found))
    if sheet:
        write(f"Contact sheet: {relative(sheet, project.root)}")
