"""`batch --locked`: exactly what the lock file says, byte for byte, and never a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from thumbforge.errors import Exit, UsageError

if TYPE_CHECKING:
    from thumbforge.commands.verbs import Arguments
    from thumbforge.planning.decide import PlannedSeries
    from thumbforge.planning.plan import Row
    from thumbforge.tasks.session import Session


def make_locked(session: Session, planned: PlannedSeries, rows: Sequence[Row], arguments: Arguments) -> int:
    """0 where every file equals the lock's, 1 where one cannot be had so; LockDiffers where the specs say otherwise."""
    from thumbforge.commands.telling.results import print_plan, print_result
    from thumbforge.commands.telling.running import make_and_tell
    from thumbforge.making.bringing import locked_with_shared
    from thumbforge.making.quiet import conclude
    from thumbforge.making.rollup import ItemResult, Result, as_locked, foreseen, roll_up
    from thumbforge.planning import locked

    options, project = arguments.options, session.project
    if options["retake"]:
        raise UsageError("--locked makes what the lock file says: a new take is none of it", hint="leave out retake=")
    lock = locked.require_agreement(planned, rows, whole=options["only"] is None)
    if options["dry-run"]:
        rows = locked.as_locked(planned, rows, lock, project.store)
    else:
        planned, rows = locked_with_shared(project, planned, rows, lock, session.sharing)
    planned = replace(planned, rows=tuple({**_by_key(planned.rows), **_by_key(rows)}.values()))
    if options["dry-run"]:
        exit_code = as_locked(foreseen(rows))
        print_plan(planned, rows, as_json=arguments.as_json, exit_code=exit_code)
        return exit_code
    session.locked = True
    if not all(row.idle for row in rows):
        return make_and_tell(session, planned, rows, arguments)
    summary, exit_code = roll_up(items := tuple(ItemResult(row, row, None) for row in rows))
    result = Result(planned, None, items, summary, Exit(as_locked(exit_code)))
    print_result(result, project, conclude(project, planned, keeps_lock=False), as_json=arguments.as_json)
    return result.exit_code


def _by_key(rows: Sequence[Row]) -> dict[str, Row]:
    return {row.wanted.item_key: row for row in rows}
