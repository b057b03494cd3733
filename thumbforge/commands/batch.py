"""`doit batch`: the main job. Plan, refuse or make, then tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thumbforge import log
from thumbforge.commands.command import ThumbCommand
from thumbforge.commands.verbs import CONCURRENCY, DRY_RUN, VAR, Arguments, Verb, Word, usage_hint
from thumbforge.errors import LimitReached, UsageError
from thumbforge.tasks.options import Option, flag
from thumbforge.tasks.variables import BATCH_OPTIONS, RUN_NAMES, Pairs

if TYPE_CHECKING:
    from thumbforge.planning.decide import PlannedSeries
    from thumbforge.planning.plan import Row
    from thumbforge.planning.project import Project
    from thumbforge.tasks.session import Session

_WITH_RESUME = {"resume", "max_cost", "concurrency", *RUN_NAMES}


def _batch(project: Project, arguments: Arguments) -> int:
    from thumbforge.cancel import Cancel
    from thumbforge.commands.telling.results import print_plan, print_result
    from thumbforge.commands.telling.resuming import resume
    from thumbforge.commands.telling.running import configure_logging, find_series, make_and_tell
    from thumbforge.making.executor import Placement
    from thumbforge.making.quiet import conclude
    from thumbforge.making.rollup import ItemResult, Result, foreseen, roll_up
    from thumbforge.planning.decide import check_limits, plan_series
    from thumbforge.planning.drawable import check_drawable, require_items
    from thumbforge.planning.reference import check_hero, hero_remark
    from thumbforge.planning.selection import select
    from thumbforge.planning.wishes import without_effect
    from thumbforge.store.shared.place import has_remote
    from thumbforge.tasks.session import Session, start, tell_cost
    from thumbforge.tasks.tasks import request_of

    if arguments.options["resume"]:
        if arguments.given.keys() - _WITH_RESUME or arguments.words[0]:
            raise UsageError("--resume takes a run and nothing that would change it but var.… and max_cost=…")
        return resume(project, arguments.options["resume"], arguments)
    pairs, options, as_json = _pairs(arguments), arguments.options, arguments.as_json
    configure_logging(project, as_json=as_json)
    placement = Placement.of(project.settings, options["executor"], options["scheduler"])
    session = start(Session(project, Cancel(), wait=options["wait"], placement=placement))
    series = find_series(project, request_of(pairs))
    for wish in without_effect(series):
        log.warning(wish)
    planned = plan_series(project, series, options["max-retries"])
    require_items(series, planned.rows)
    rows = select(planned.rows, options["only"])
    if options["locked"]:
        from thumbforge.commands.telling.locked import make_locked

        return make_locked(session, planned, rows, arguments)
    if has_remote(project.settings):
        planned, rows = _with_shared(session, planned, rows, arguments)
    if options["retake"]:
        rows = tuple(row.retaken() if row.status == "completed" and row.action == "skip" else row for row in rows)
    for row in rows:
        if row.remark:
            log.warning(row.remark, part=row.wanted.item.part, video=row.wanted.item.video)
    if any(row.action != "skip" for row in rows):  # of what is done it was decoded once; its bytes are the same
        if remark := hero_remark(check_hero(series.hero)):
            log.warning(remark)
        check_drawable(series, rows)
    if series.hero.lettered and planned.capabilities.takes_reference and any(row.calls for row in rows):
        log.warning("the hero carries its lettering; with reference=raw the provider sees its art alone")
    if options["dry-run"]:
        try:
            check_limits(planned, rows)
            refusal = None
        except LimitReached as error:
            refusal = error
        exit_code = refusal.exit_code if refusal else foreseen(rows, wait=session.wait)
        print_plan(planned, rows, as_json=as_json, exit_code=exit_code)
        if refusal:
            raise refusal
        return exit_code
    check_limits(planned, rows)
    if not all(row.idle or (row.busy_in and not session.wait) for row in rows):
        if not as_json:
            tell_cost(planned, rows)
        return make_and_tell(session, planned, rows, arguments)
    items = tuple(ItemResult(row, row, None) for row in rows)
    summary, exit_code = roll_up(items)
    unread = any(row.reference_ignored for row in rows) or not planned.capabilities.takes_reference
    result = Result(planned, None, items, summary, exit_code, reference_ignored=unread)
    print_result(result, project, conclude(project, planned), as_json=as_json)
    return exit_code


def _with_shared(
    session: Session, planned: PlannedSeries, rows: tuple[Row, ...], arguments: Arguments
) -> tuple[PlannedSeries, tuple[Row, ...]]:
    """What others have shared counts as there; for a plan that is only shown nothing is brought."""
    from thumbforge.making.bringing import foreseen, with_shared
    from thumbforge.tasks.session import tell_shared

    if arguments.options["dry-run"]:
        return planned, foreseen(planned, rows, session.sharing)
    planned, brought = with_shared(session.project, planned, rows, session.sharing)
    if not arguments.as_json:
        tell_shared(rows, brought)
    return planned, brought


def _pairs(arguments: Arguments) -> Pairs:
    """`thumbforge batch PL` is `playlist=PL`."""
    [word], given = arguments.words, arguments.given
    if word is None:
        return arguments.pairs
    if "playlist" in given or "series" in given:
        raise UsageError(f"batch does not know what to do with {word!r}", hint=usage_hint("batch", Batch.verbs[0]))
    return Pairs({**given, "playlist": word}, arguments.vars)


class Batch(ThumbCommand):
    name = "batch"
    doc_purpose = "make what is missing of one series, skip what is done"
    doc_description = (
        "Makes one thumbnail per item of the playlist in out/<series>/. What is done is skipped, what failed is tried "
        "again, what only needs other text is drawn again without a call."
    )
    example = "batch playlist=PL… hero=picture.jpg; batch series=my-series only=3,7-9"
    verbs = (
        Verb(
            "",
            (Word("PLAYLIST", is_optional=True, names="playlist"),),
            _batch,
            "PLAYLIST is --playlist: an id, a YouTube URL, a spec's name or a file; or name a --series",
            (
                *BATCH_OPTIONS,
                VAR,
                Option("resume", "go on with this run: the same as runs resume", value="RUN", names="run"),
                CONCURRENCY,
                DRY_RUN,
                flag("locked", "make exactly what the lock file says, never a call"),
            ),
        ),
    )
