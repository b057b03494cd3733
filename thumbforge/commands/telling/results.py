"""What a batch tells at its end: its plan or its result, as tables for people or as one JSON document."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from thumbforge.commands.command import print_json
from thumbforge.commands.telling.view import print_hints, print_table, write
from thumbforge.errors import Exit
from thumbforge.making.exports import mixture, orphans
from thumbforge.making.exports.orphans import Unwanted, left_by
from thumbforge.making.rollup import ItemResult, Result, tally
from thumbforge.planning.decide import PlannedSeries
from thumbforge.planning.plan import Row, counts
from thumbforge.planning.prices import calls_to_a_service, estimate, price_as_dict
from thumbforge.planning.project import Project, relative
from thumbforge.spoken import spoken
from thumbforge.store.finals import KnownFinal
from thumbforge.store.pictures import StoredPicture
from thumbforge.tasks.reporter import how_to_go_on
from thumbforge.text import counted, one_line


def print_plan(planned: PlannedSeries, rows: Sequence[Row], *, as_json: bool, exit_code: Exit) -> None:
    profile, calls = planned.series.profile, sum(row.calls for row in rows)
    if as_json:
        print_json(
            {
                "dry_run": True,
                "summary": counts(rows),
                "calls": calls_to_a_service(profile, calls),
                "price": price_as_dict(profile, calls),
                "budget": planned.budget and planned.budget.as_dict(),
                "look": _look(planned, rows),
                "plan": [_planned(r) for r in rows],
                "exit_code": exit_code,
            }
        )
        return
    listed = [row for row in rows if not row.is_done or row.remark or row.changes]
    if listed:
        print_table(
            ("part", "title", "key", "action", "reason"),
            [(_part(r), r.wanted.item.title, r.wanted.key[:8], r.action, r.reason) for r in listed],
        )
    told = estimate(profile, calls)
    found = ", ".join(f"{count} {action}" for action, count in counts(rows).items() if count)
    write(f"{counted(len(rows), 'item')}: {found}; {told}. Nothing was changed.")
    if calls and planned.budget:
        write(f"Budget: {planned.budget}.")
    if look := planned.look_of(rows):
        write(f"look: {look}")


def _planned(row: Row) -> dict[str, Any]:
    item = row.wanted.item
    return {
        "part": item.part,
        "position": row.wanted.position,
        "video": item.video,
        "title": item.title,
        "key": row.wanted.key,
        "key_parts": row.wanted.key_parts.as_dict(),
        "action": row.action,
        "reason": row.reason,
    }


def _look(planned: PlannedSeries, rows: Iterable[Row]) -> dict[str, str] | None:
    found = planned.look_of(rows)
    return {"look": found.look, "why": found.why} if found else None


def print_result(result: Result, project: Project, page: str, *, as_json: bool) -> None:
    """`page` is the sheet's path in the project, "" where none was written."""
    rows, left = result.rows or result.planned.rows, left_by(project, [result.planned])
    if as_json:
        print_json(
            {
                "run": result.run_id,
                "summary": summary_of(result),
                "items": [_item(item, project) for item in result.items],
                "reference_ignored": result.reference_ignored,
                "look": _look(result.planned, [item.before for item in result.items]),
                "older": [_older(row) for row in mixture.older(rows)],
                "orphans": [one.path for one in left],
                "unlike": [_unlike(row, result) for row in result.rows if row.wanted.item_key in result.unlike],
                "exit_code": result.exit_code,
            }
        )
        if result.stop:
            sys.stderr.write(spoken(result.stop) + "\n")
        return
    if not result.items:
        write(f"Nothing to do: no item of {result.planned.series.name} stands as only= says.")
        return
    told = [item for item in result.items if item.became != "up to date"]
    if not told and result.exit_code == Exit.DONE:
        total, name = result.summary.total, result.planned.series.name
        those = f"all {total} thumbnails of {name} are" if total > 1 else f"the thumbnail of {name} is"
        write(f"Nothing to do: {those} up to date.")
        _print_locked(result)
        _print_out(result, project, rows, left)
        return
    if result.run_id:
        _print_header(result)
    print_table(("part", "title", "status", "size", "compliant", "file", "error"), [_line(item) for item in told])
    at_the_end = result.reason.hint if result.reason else ""
    print_hints("part", ((_part(item.before), item.hint) for item in told if item.hint != at_the_end))
    write(result.stop or f"{tally(result.items)}: out/{result.planned.series.name}/")
    _print_locked(result)
    _print_out(result, project, rows, left)
    if titles := _hard_to_read(result):
        write(titles)
    if odd := [row for row in result.rows if row.wanted.item_key in result.unlike]:
        parts = ", ".join(f"{_part(row)} ({result.unlike[row.wanted.item_key]})" for row in odd)
        write(f"look at part {parts}")
    if page:
        write(f"Sheet: {page}")
    if hint := how_to_go_on(result):
        write(hint)


def _print_out(result: Result, project: Project, rows: Sequence[Row], left: Sequence[Unwanted]) -> None:
    """What else lies in out/ than this series as its specs are."""
    if mixed := mixture.told(result.planned.series.name, rows):
        write(f"{mixed}; the same batch without only= makes them anew" if len(result.items) < len(rows) else mixed)
    for line in orphans.told(project, left):
        write(line)


def _older(row: Row) -> dict[str, Any]:
    item = row.wanted.item
    fields = [change.field for change in row.changes]
    return {"part": item.part, "position": row.wanted.position, "video": item.video, "fields": fields}


def _unlike(row: Row, result: Result) -> dict[str, Any]:
    item = row.wanted.item
    reason = result.unlike[row.wanted.item_key]
    return {"part": item.part, "position": row.wanted.position, "video": item.video, "reason": reason}


def _print_locked(result: Result) -> None:
    for item in result.items:
        if item.before.is_locked and item.before.changes:
            write(f"part {_part(item.before)} is {item.before.reason}")


def _line(item: ItemResult) -> tuple[str, ...]:
    picture, compliant = final_of(item)
    return (
        _part(item.before),
        item.before.wanted.item.title,
        item.became,
        size_of(picture),
        {True: "yes", False: "no", None: ""}[compliant],
        item.after.file if item.after.is_in_place else "",
        item.error or "",
    )


def _print_header(result: Result) -> None:
    series = result.planned.series
    ignored = ", ignored by the provider" if result.reference_ignored else ""
    for name, value in (
        ("run", result.run_id and result.run_id[:8]),
        ("playlist", f"{series.playlist.playlist.title or series.playlist_name} ({series.playlist.playlist.id})"),
        ("template", f"{series.template.name} v{series.template.version}"),
        ("provider", series.profile.name),
        ("reference", f"{series.hero.path.name} ({series.hero.sha256[:12]}{ignored})"),
        ("parent run", series.hero.run_id and series.hero.run_id[:8]),
    ):
        if value:
            write(f"{name:<11} {one_line(value)}")
    write("")


def _hard_to_read(result: Result) -> str:
    """One line with the parts whose title is cut or small, and what helps; "" where all can be read."""
    found = {"text.truncated": "cut", "text.height": "too small to read at 168x94"}
    said = []
    for rule, what in found.items():
        parts = [_part(item.before) for item in result.items if any(w.startswith(rule) for w in item.warnings)]
        if parts:
            said.append(f"{what}: part {', '.join(parts)}")
    return f"Titles that are {'; '.join(said)}. Set a shorter `text` for these items in the playlist." if said else ""


def final_of(item: ItemResult) -> tuple[StoredPicture | None, bool | None]:
    """The picture that the ledger has for the item now, and whether it keeps the rules."""
    final = item.after.final
    if final:
        return final.picture, final.compliant
    return None, None


def _item(item: ItemResult, project: Project) -> dict[str, Any]:
    wanted = item.before.wanted
    picture, compliant = final_of(item)
    return {
        "part": wanted.item.part,
        "position": wanted.position,
        "video": wanted.item.video,
        "title": wanted.item.title,
        "action": item.before.action,
        "iteration_id": item.after.iteration_id,
        "status": item.status,
        "compliant": compliant,
        "subject": item.after.final and subject_of(item.after.final),
        "final_asset": picture and asset(picture, project),
        "exported": exported(item.after, project),
        "error": item.error,
        "hint": item.hint or None,
    }


def subject_of(final: KnownFinal) -> dict[str, Any] | None:
    """What the report says of the subject, in figures; None where it was made before there were any."""
    found: dict[str, Any] | None = final.report.get("subject")
    return found


def exported(row: Row, project: Project) -> str | None:
    """The item's file in out/, counted from the project directory; None where its picture is not there."""
    return relative(project.out / row.wanted.series.name / row.file, project.root) if row.is_in_place else None


def asset(picture: StoredPicture, project: Project) -> dict[str, Any]:
    """An asset as JSON shows it; the path counts from the project directory."""
    path = relative(project.store.path(picture.sha256, picture.suffix), project.root)
    return {
        "sha256": picture.sha256,
        "path": path,
        "width": picture.width,
        "height": picture.height,
        "bytes": picture.bytes,
    }


def summary_of(result: Result) -> dict[str, int]:
    summary = result.summary
    return {name: getattr(summary, name) for name in ("total", "completed", "failed", "pending")}


def size_of(picture: StoredPicture | None) -> str:
    return f"{picture.width}x{picture.height} {picture.bytes / 1000:.0f} kB" if picture else ""


def _part(row: Row) -> str:
    part = row.wanted.item.part
    return f"#{row.wanted.position}" if part is None else str(part)
