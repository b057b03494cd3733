"""`doit batch`: the main job. Plan, refuse or make, then tell."""

from __future__ import annotations

import sys
from typing import Any

from thumbforge import log
from thumbforge.commands.command import JSON_OPTION, VAR_OPTION, Arguments, ThumbCommand
from thumbforge.errors import Exit, LimitReached, UsageError
from thumbforge.tasks import variables


def _option(name: str, kind: type, about: str, short: str = "") -> dict[str, Any]:
    default = False if kind is bool else None
    return {"name": name, "short": short, "long": name, "type": kind, "default": default, "help": about}


class Batch(ThumbCommand):
    name = "batch"
    doc_purpose = "make what is missing of one series, skip what is done"
    doc_usage = "playlist=<id, URL, name or file> [hero=<picture, run or iteration>] | series=<name>"
    doc_description = (
        "Makes one thumbnail per item of the playlist in out/<series>/. What is done is skipped, what failed is tried "
        "again, what only needs other text is drawn again without a call. Options may be written as pairs: template=T "
        "is --template T. var.<name>=<value> sets a variable of the template."
    )
    pair_names = variables.BATCH_NAMES
    cmd_options = (
        _option("series", str, "a series of specs/series"),
        _option("playlist", str, "playlist id, YouTube URL, spec name, or a YAML, JSON or CSV file"),
        _option("hero", str, "the picture that sets the style: an image file, a run id or an iteration id"),
        _option("template", str, "template name"),
        _option("provider", str, "provider profile name"),
        _option("reference", str, "final (default) or raw: which picture of the hero the provider sees"),
        _option("only", str, "parts to make, such as 3,7-9"),
        _option("max-images", str, "refuse to make more pictures than this"),
        _option("max-cost", str, "refuse, or pause, before a call that would cross this amount"),
        _option("max-retries", str, "tries of a failed item across invocations"),
        _option("retake", str, "yes: make a new take of what is done, and keep the old one"),
        _option("wait", str, "no: do not wait for items that another run is making"),
        _option("executor", str, "where pictures are made: local, or dask (with scheduler=tcp://host:8786)"),
        _option("scheduler", str, "address of a Dask cluster's scheduler"),
        VAR_OPTION,
        _option("resume", str, "go on with this run: the same as runs resume"),
        _option("concurrency", int, "items made at once", short="n"),
        _option("dry-run", bool, "print the plan, change nothing"),
        JSON_OPTION,
    )  # fmt: skip

    def run(self, arguments: Arguments) -> int:
        from thumbforge.cancel import Cancel
        from thumbforge.commands import view
        from thumbforge.commands.resuming import resume
        from thumbforge.commands.running import configure_logging, find_series, run_tasks
        from thumbforge.making.executor import Placement
        from thumbforge.making.quiet import conclude
        from thumbforge.making.rollup import ItemResult, Result, roll_up
        from thumbforge.planning.decide import check_limits, plan_series
        from thumbforge.planning.picture_check import check_pictures
        from thumbforge.planning.plan import select
        from thumbforge.planning.prices import estimate
        from thumbforge.planning.reference import check_hero, hero_remark
        from thumbforge.tasks.session import Session, start
        from thumbforge.tasks.tasks import add, request_of

        if arguments.options["resume"]:
            if arguments.pairs.values.keys() - {"max_cost", *variables.RUN_NAMES} or arguments.words:
                raise UsageError("--resume takes a run and nothing that would change it but var.… and max_cost=…")
            return resume(self, arguments.options["resume"], arguments)
        pairs, as_json = self._pairs(arguments), bool(arguments.options["json"])
        project = self.project()
        configure_logging(project, as_json=as_json)
        placement = Placement.of(project.settings, pairs.get("executor"), pairs.get("scheduler"))
        session = start(Session(project, Cancel(), wait=pairs.flag("wait", True), placement=placement))
        series = find_series(project, request_of(pairs))
        planned = plan_series(project, series, pairs.whole("max_retries"))
        rows = select(planned.rows, pairs.get("only"))
        if pairs.flag("retake", False):
            rows = tuple(row.retaken() if row.status == "completed" and row.action == "skip" else row for row in rows)
        for row in rows:
            if row.remark:
                log.warning(row.remark, part=row.wanted.item.part, video=row.wanted.item.video)
        if any(row.action != "skip" for row in rows):  # of what is done it was decoded once; its bytes are the same
            if remark := hero_remark(check_hero(series.hero)):
                log.warning(remark)
            check_pictures(rows)
        if series.hero.lettered and planned.capabilities.takes_reference and any(row.calls for row in rows):
            log.warning("the hero carries its lettering; with reference=raw the provider sees its art alone")
        if arguments.options["dry-run"]:
            try:
                check_limits(series, rows)
                refusal = None
            except LimitReached as error:
                refusal = error
            view.print_plan(rows, as_json=as_json, exit_code=refusal.exit_code if refusal else Exit.DONE)
            if refusal:
                raise refusal
            return Exit.DONE
        check_limits(series, rows)
        if all(row.idle or (row.busy_in and not session.wait) for row in rows):
            items = tuple(ItemResult(row, row, None) for row in rows)
            summary, exit_code = roll_up(items)
            unread = any(row.reference_ignored for row in rows) or not planned.capabilities.takes_reference
            result = Result(planned, None, items, summary, exit_code, reference_ignored=unread)
            page = conclude(project, planned)
        else:
            calls = sum(row.calls for row in rows)
            if series.profile.price and calls and not as_json:
                sys.stderr.write(estimate(series.profile, calls) + "\n")
            names = add(session, planned, rows)
            result = run_tasks(session, names, arguments.options["concurrency"])
            page = session.sheets.get(series.name, "")
        view.print_result(result, project, page, as_json=as_json)
        return result.exit_code

    def _pairs(self, arguments: Arguments) -> variables.Pairs:
        """`thumbforge batch PL` is `playlist=PL`."""
        words, pairs = arguments.words, arguments.pairs
        if not words:
            return pairs
        if len(words) > 1 or "playlist" in pairs.values or "series" in pairs.values:
            raise UsageError(f"batch does not know what to do with {words[-1]!r}", hint=f"thumbforge help {self.name}")
        return variables.Pairs({**pairs.values, "playlist": words[0]}, pairs.vars)
