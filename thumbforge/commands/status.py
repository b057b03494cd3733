"""`thumbforge status`, and `thumbforge` alone: where each series stands, what is left, and what to type for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thumbforge.commands.command import ThumbCommand, fail, print_json
from thumbforge.commands.operands import SERIES
from thumbforge.commands.telling.running import standing_of
from thumbforge.commands.telling.together import together
from thumbforge.commands.verbs import Arguments, Verb
from thumbforge.errors import Exit, ThumbforgeError
from thumbforge.text import counted

if TYPE_CHECKING:
    from thumbforge.planning.prices import DayBudget
    from thumbforge.planning.project import Project
    from thumbforge.planning.standing import Standing


def _status(project: Project, arguments: Arguments) -> int:
    """A series that cannot be read is told on stderr, and leaves the others as they are."""
    names = list(dict.fromkeys(arguments.words)) or sorted(project.catalog.series_names())
    found: list[Standing] = []
    faults: dict[str, ThumbforgeError] = {}
    for name in names:
        try:
            found.append(standing_of(project, name))
        except ThumbforgeError as error:
            faults[f"series {name}"] = error
    fault = together(faults) if faults else None
    exit_code = fault.exit_code if fault else Exit.DONE
    if arguments.as_json:
        series, budget = [standing.as_dict() for standing in found], [each.as_dict() for each in _budgets(found)]
        from thumbforge.making.exports.orphans import left_by

        left = [one.path for one in left_by(project, [standing.planned for standing in found])]
        told = {"series": series, "orphans": left, "budget": budget, "unsent": _unsent(project)}
        print_json({**told, "exit_code": exit_code})
    else:
        _print(project, found, is_empty=not names)
    return fail(fault, as_json=arguments.as_json) if fault else Exit.DONE


def _print(project: Project, found: Sequence[Standing], *, is_empty: bool) -> None:
    from thumbforge.commands.telling.view import print_table, write

    if is_empty:
        write("No series yet.")
        _print_out(project, ())
        write(f"Next: {_first_step(project)}")
        return
    if not found:
        return
    print_table(
        ("series", "items", "done", "redraw", "retry", "make", "failed", "locked", "cost"),
        [_line(standing) for standing in found],
    )
    for budget in _budgets(found):
        write(f"Budget: {budget}.")
    if unsent := _unsent(project):
        waits = "waits" if unsent == 1 else "wait"
        write(
            f"{counted(unsent, 'picture')} {waits} for the shared store: the next batch sends them, or thumbforge push."
        )
    for standing in found:
        if standing.lock == "stale" or (standing.lock == "none" and standing.done):
            state = "is out of date" if standing.lock == "stale" else "is not there yet"
            write(f"The lock file of {standing.name} {state}.")
    _print_out(project, found)
    for command in [standing.next for standing in found if standing.next]:
        write(f"Next: {command}")
    for standing in found:
        if standing.waits:
            has = "has" if standing.waits == 1 else "have"
            write(f"{counted(standing.waits, 'picture')} of {standing.name} {has} no room in today's budget.")
    if not any(standing.next or standing.waits for standing in found):
        write("Everything is up to date.")


def _print_out(project: Project, found: Sequence[Standing]) -> None:
    """What lies in out/ besides what the specs want."""
    from thumbforge.commands.telling.view import write
    from thumbforge.making.exports import mixture, orphans
    from thumbforge.making.exports.orphans import left_by

    for standing in found:
        if mixed := mixture.told(standing.name, standing.rows):
            write(f"{mixed}.")
        if names := mixture.renamed(standing.rows):
            have, them = ("has its old name", "it") if names == 1 else ("have their old names", "them")
            write(f"{counted(names, 'file')} in out/{standing.name}/ {have}: the next batch renames {them}.")
    for line in orphans.told(project, left_by(project, [standing.planned for standing in found])):
        write(f"{line}.")


def _unsent(project: Project) -> int:
    """How many pictures wait in the outbox. The shared store is not asked."""
    if not project.settings.text("store.remote"):
        return 0
    from thumbforge.store.shared import outbox

    with project.reading() as database:
        return len(outbox.waiting(database)) if database else 0


def _budgets(found: Sequence[Standing]) -> list[DayBudget]:
    """What is left of today, once for each currency that these series pay in."""
    return list(dict.fromkeys(standing.planned.budget for standing in found if standing.planned.budget))


def _line(standing: Standing) -> tuple[str, ...]:
    found = standing.as_dict()
    numbers = (len(standing.rows), standing.done, found["refinish"], found["retry"], found["create"])
    return (standing.name, *map(str, (*numbers, standing.used_up, standing.locked)), _cost(standing))


def _cost(standing: Standing) -> str:
    if not standing.calls:
        return "none"
    told = counted(standing.calls, "call")
    return f"{told}, {standing.price['amount']} {standing.price['currency']}" if standing.price else told


def _first_step(project: Project) -> str:
    """What brings a first series, from what is there."""
    lists = project.catalog.playlist_names()
    if lists:
        return f"thumbforge batch {sorted(lists)[0]} --hero PICTURE"
    if (project.root / "dodo.py").is_file():
        return "thumbforge series new 'https://www.youtube.com/playlist?list=…' --hero PICTURE"
    return "thumbforge init my-thumbnails"


class Status(ThumbCommand):
    name = "status"
    doc_purpose = "where each series stands, what is left, and what to type for it"
    doc_description = "Makes no call and writes nothing. thumbforge alone is the same."
    example = "status; status pandas-30 --json"
    verbs = (Verb("", (SERIES,), _status, "of these series, or of all"),)
