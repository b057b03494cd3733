"""`doit takes …`: "not this one". Go back to an older take without a call, or protect an approved picture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from thumbforge.commands.command import ThumbCommand, print_json
from thumbforge.commands.verbs import Arguments, Verb, Word
from thumbforge.errors import Exit, NotFound, UsageError
from thumbforge.tasks.options import whole
from thumbforge.tasks.variables import SERIES_OPTIONS, Pairs

if TYPE_CHECKING:
    from thumbforge.planning.decide import PlannedSeries
    from thumbforge.planning.plan import Row
    from thumbforge.planning.project import Project
    from thumbforge.store.attempts import Take


def find_item(project: Project, word: str, pairs: Pairs) -> tuple[PlannedSeries, Row]:
    """The row that ITEM means. Raises NotFound where the series has no such item, UsageError where it is not clear."""
    from thumbforge.commands.telling.running import find_series
    from thumbforge.planning.decide import plan_series
    from thumbforge.tasks.tasks import request_of

    series = None
    if match := re.fullmatch(r"thumb:([^:]+):(.+)", word):
        series, word = match[1], match[2]
    if not series and not pairs.values:
        names = project.catalog.series_names()
        if len(names) != 1:
            raise UsageError(
                "which series?", hint="series=" + " or series=".join(sorted(names)) if names else "series=…"
            )
        series = names[0]
    if series:
        pairs = Pairs({**pairs.values, "series": series}, pairs.vars)
    planned = plan_series(project, find_series(project, request_of(pairs)))
    found = [row for row in planned.rows if word in _names(row)]
    if len(found) != 1:
        raise NotFound(f"{planned.series.name} has no item {word}", hint=_what_there_is(planned.rows))
    return planned, found[0]


def _what_there_is(rows: Sequence[Row]) -> str:
    parts = [row.wanted.item.part for row in rows if row.wanted.item.part is not None]
    numbers = f"a part from {min(parts)} to {max(parts)}, or " if parts else ""
    return f"{numbers}a video id, such as {rows[0].wanted.task_name}" if rows else "the playlist is empty"


def _named(row: Row) -> str:
    """The item as a command line names it, whatever series it is of."""
    return f"thumb:{row.wanted.series.name}:{row.wanted.task_name}"


def _names(row: Row) -> set[str]:
    """What an item may be called: its video, its part, or its position as tables show it where there is no part."""
    part = row.wanted.item.part
    return {row.wanted.task_name, f"#{row.wanted.position}" if part is None else str(part)}


def takes_of(project: Project, row: Row) -> list[Take]:
    """The takes that have art; one of them is in use."""
    from thumbforge.store import attempts

    with project.reading() as database:
        if database is None or row.iteration_id is None:
            return []
        return attempts.takes_of(database, row.iteration_id)


def _is_in_use(take: Take, row: Row) -> bool:
    """The lock file goes before what this ledger chose."""
    return take.sha256 == row.art.picture.sha256 if row.art else take.in_use


def _list(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import print_table, when, write
    from thumbforge.planning.project import relative

    _, row = find_item(project, arguments.words[0], arguments.pairs)
    takes = [replace(take, in_use=_is_in_use(take, row)) for take in takes_of(project, row)]
    paths = [relative(project.store.path(take.sha256, take.suffix), project.root) for take in takes]
    if arguments.as_json:
        names = ("take", "in_use", "sha256", "closed_at", "calls", "cost", "currency")
        shown = [
            {**{name: getattr(take, name) for name in names}, "path": path}
            for take, path in zip(takes, paths, strict=True)
        ]
        print_json({"item": row.wanted.task_name, "locked": row.is_locked, "takes": shown})
        return Exit.DONE
    if not takes:
        write("No picture yet.")
        return Exit.DONE
    print_table(
        ("use", "take", "made", "art"),
        [
            ("★" if take.in_use else "", str(take.take), when(take.closed_at), path)
            for take, path in zip(takes, paths, strict=True)
        ],
    )
    if row.is_locked:
        write("Locked: its picture stays as it is.")
    return Exit.DONE


def _use(project: Project, arguments: Arguments) -> int:
    from thumbforge.cancel import Cancel
    from thumbforge.commands.telling.running import configure_logging, make_and_tell
    from thumbforge.making.lock import keep_lock
    from thumbforge.planning.decide import decided, without_choice
    from thumbforge.store.iterations import use_attempt
    from thumbforge.tasks.session import Session, start

    item, number = arguments.words
    planned, row = find_item(project, item, arguments.pairs)
    take = next((t for t in takes_of(project, row) if t.take == number), None)
    if take is None or row.iteration_id is None:
        raise NotFound(f"there is no take {number}", hint=f"thumbforge takes list {_named(row)} shows them")
    if row.is_locked:
        raise UsageError("the item is locked", hint=f"thumbforge takes unlock {_named(row)} first")
    project.store.verify(take.sha256, take.suffix)
    configure_logging(project, as_json=arguments.as_json)
    with project.ledger() as ledger:
        use_attempt(ledger.database, row.iteration_id, take.attempt_id, ledger.now())
    planned = decided(project, without_choice(planned, row.wanted))
    [now] = [r for r in planned.rows if r.wanted.item_key == row.wanted.item_key]
    if now.is_done:
        keep_lock(project, planned, [now], chosen={row.wanted.item_key}, whole=False)
        return _in_use_already(project, planned, now, arguments)
    session = start(Session(project, Cancel()))
    return make_and_tell(session, planned, [now], arguments)


def _in_use_already(project: Project, planned: PlannedSeries, row: Row, arguments: Arguments) -> int:
    from thumbforge.commands.telling.results import print_result
    from thumbforge.commands.telling.view import write
    from thumbforge.making.rollup import ItemResult, Result, roll_up

    if arguments.as_json:
        items = (ItemResult(row, row, None),)
        print_result(Result(planned, None, items, *roll_up(items)), project, "", as_json=True)
    else:
        write(f"Take {arguments.words[1]} is in use already.")
    return Exit.DONE


def _lock(project: Project, arguments: Arguments) -> int:
    planned, row = find_item(project, arguments.words[0], arguments.pairs)
    if row.status != "completed" or row.action != "skip":
        raise UsageError(f"{row.wanted.task_name} is not done: {row.reason}", hint="make it first, then lock it")
    return _set_lock(project, planned, row, True, arguments)


def _unlock(project: Project, arguments: Arguments) -> int:
    planned, row = find_item(project, arguments.words[0], arguments.pairs)
    return _set_lock(project, planned, row, False, arguments)


def _set_lock(project: Project, planned: PlannedSeries, row: Row, locked: bool, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import write
    from thumbforge.making.lock import keep_approval

    keep_approval(project, planned, row, locked)
    if arguments.as_json:
        print_json({"item": row.wanted.task_name, "locked": locked})
    else:
        write(f"{row.wanted.task_name} is {'locked: its picture stays as it is' if locked else 'unlocked'}.")
    return Exit.DONE


_ITEM = Word("ITEM", names="item")


class Takes(ThumbCommand):
    name = "takes"
    doc_purpose = "list the takes of an item, go back to one, or lock an approved picture"
    doc_description = (
        "ITEM is a part number, a video id, or a task's name (thumb:<series>:<video>). A new take is made with batch "
        "only=7 retake=yes. The series may be left out where the project has one."
    )
    example = "takes list 7 series=my-series; takes use 7 1 series=my-series"
    verbs = (
        Verb("list", (_ITEM,), _list, "the takes that have art, and which one is in use", SERIES_OPTIONS),
        Verb(
            "use",
            (_ITEM, Word("N", read=whole())),
            _use,
            "go back (or forth) to a take, without a call",
            SERIES_OPTIONS,
        ),
        Verb(
            "lock", (_ITEM,), _lock, "protect an approved picture: what changes is reported, not made", SERIES_OPTIONS
        ),
        Verb("unlock", (_ITEM,), _unlock, "end that", SERIES_OPTIONS),
    )
