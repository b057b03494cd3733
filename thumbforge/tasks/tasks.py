"""The doit tasks of a project: one for each item of each series, up to date when the ledger says so."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from inspect import Signature
from pathlib import Path
from typing import Any

from doit import get_initial_workdir
from doit.exceptions import InvalidTask, TaskFailed
from doit.globals import Globals
from doit.task import clean_targets

from thumbforge.cancel import Cancel
from thumbforge.errors import ThumbforgeError, UsageError, describe
from thumbforge.imaging.sheet import PICTURE, page_names
from thumbforge.making.executor import Placement
from thumbforge.making.sheets.previews import remove_beside
from thumbforge.planning.decide import PlannedSeries, plan_series
from thumbforge.planning.plan import Row
from thumbforge.planning.prices import calls_to_a_service, estimate
from thumbforge.planning.project import Project, relative
from thumbforge.planning.selection import select
from thumbforge.planning.series import SeriesRequest, all_series, resolve
from thumbforge.spoken import spoken
from thumbforge.streams import LOOKS, end_with_the_reader, replace_letters
from thumbforge.tasks import session as sessions
from thumbforge.tasks import variables
from thumbforge.tasks.progress import item_name
from thumbforge.tasks.session import Session
from thumbforge.text import clean


def request_of(pairs: variables.Pairs) -> SeriesRequest:
    return SeriesRequest(
        **{option.pair: pairs.get(option.pair) for option in (*variables.SERIES_OPTIONS, *variables.LIMITS)},
        vars=pairs.vars,
    )


def task_thumb() -> Iterator[dict[str, Any]]:
    """thumbnails, one task per playlist item"""
    yield {"basename": "thumb", "name": None, "doc": "thumbnails of every series", "uptodate": [True]}
    try:
        session = _session_of_dodo()
        for name in session.names:
            yield {**thumb_task(session, name), "basename": "thumb", "name": name.removeprefix("thumb:")}
        for name, error in session.lost.items():
            yield lost_task(session, name, error)
    except ThumbforgeError as error:
        raise InvalidTask(spoken(describe(error))) from error


def _session_of_dodo() -> Session:
    """Plans what the command line names (`playlist=… hero=…`, `series=…`), or every series of the project."""
    replace_letters()
    if LOOKS.intersection(sys.argv[1:]):
        end_with_the_reader()
    pairs = variables.of_tasks()
    project = Project(Path.cwd(), Path(get_initial_workdir() or Path.cwd()))
    placement = Placement.of(project.settings, pairs.get("executor"), pairs.get("scheduler"))
    session = sessions.start(
        Session(project, Cancel(), wait=pairs.get("wait", True), placement=placement, is_doits=True)
    )
    request = request_of(pairs)
    with project.reading() as database:
        lookup = project.lookup(database)
        named = request.names_one
        about = [name for name in pairs.values if name not in variables.RUN_NAMES]
        if not named and about:
            raise UsageError(f"{about[0]}= needs a series", hint="series=… or playlist=… hero=…")
        found, session.lost = ([resolve(lookup, request)], {}) if named else all_series(lookup, request.vars)
    for series in found:
        planned = plan_series(project, series, pairs.get("max_retries"))
        add(session, planned, select(planned.rows, pairs.get("only")) if planned.rows else ())
    return session


def add(session: Session, planned: PlannedSeries, rows: Sequence[Row]) -> list[str]:
    """Take a planned series into the session; returns the names of its rows' tasks."""
    name = planned.series.name
    session.planned[name] = planned
    reference = relative(planned.series.hero.path, session.project.root)
    manifests = relative(session.project.store.manifests, session.project.root)
    session.targets[name] = relative(session.project.out / name, session.project.root)
    names = []
    for row in rows:
        task = f"thumb:{name}:{row.wanted.task_name}"
        session.names[task] = (name, row.wanted.item_key)
        session.rows[task] = row
        key = _manifest(session, row)
        session.file_deps[task] = [reference, f"{manifests}/{key}.json"] if key else [reference]
        names.append(task)
    return names


def _manifest(session: Session, row: Row) -> str | None:
    """The final key of the picture that the specs want now, once it has a manifest; doit cannot depend on a missing
    file. The plan of an idle row has seen the file."""
    if row.final:
        key = row.final.final_key
    elif row.art:
        key = row.wanted.final_key(row.art.picture.sha256)
    else:
        return None
    return key if row.is_done or session.project.store.manifest_path(key).is_file() else None


def task_sheet() -> Iterator[dict[str, Any]]:
    """sheets, one page and one picture per series"""
    yield {"basename": "sheet", "name": None, "doc": "a sheet of every series", "uptodate": [True]}
    session = sessions.current()
    for series, planned in session.planned.items() if session else ():
        names = [name for name, (of_series, _) in session.names.items() if of_series == series] if session else []
        folder = f"out/{series}"
        yield {
            "basename": "sheet",
            "name": series,
            "doc": f"Sheet of {series}",
            "actions": [(make_sheet, [session, series])],
            "task_dep": names,
            "targets": [f"{folder}/{name}" for name in (*page_names(len(planned.rows)), PICTURE)],
            "uptodate": [SheetUpToDate(session, series)] if session else [],
            "clean": [clean_targets, (clean_previews, [folder])],
            "io": {"capture": False},
            "verbosity": 2,
        }


class SheetUpToDate:
    """Whether the sheet shows what the ledger has now; asked after the thumbnails of its series were made."""

    def __init__(self, session: Session, series: str) -> None:
        self.session, self.series = session, series

    def __call__(self) -> bool:
        from thumbforge.making.sheets.kept import is_current
        from thumbforge.making.sheets.series import series_sheet

        project, planned = self.session.project, self.session.now(self.series)
        return is_current(project, self.series, series_sheet(project, planned, planned.rows))

    def __str__(self) -> str:
        return "shows other pictures or states than the ledger has"


def clean_previews(folder: str, dryrun: bool) -> None:
    """What lies beside the page and is no target: doit would ask for each of hundreds."""
    if not dryrun:
        remove_beside(Path(folder))


def make_sheet(session: Session, series: str) -> Any:
    from thumbforge.making.sheets.kept import keep_sheet

    planned = session.now(series)
    try:
        keep_sheet(session.project, planned, planned.rows)
    except ThumbforgeError as error:
        return TaskFailed(describe(error))
    return True


def thumb_task(session: Session, name: str) -> dict[str, Any]:
    """The doit task of one item, under its full name."""
    row = session.rows[name]
    uptodate = ThumbUpToDate(session, name)
    return {
        "name": name,
        "doc": item_name(row),
        "actions": [(make_thumb, [uptodate])],
        "file_dep": session.file_deps[name],
        "targets": [f"{session.targets[row.wanted.series.name]}/{row.wanted.export_name}"],
        "uptodate": [uptodate],
        "clean": True,
        "io": {"capture": False},  # captured stdout with threads loses what is printed afterwards
        "verbosity": 2,
    }


def lost_task(session: Session, name: str, error: ThumbforgeError) -> dict[str, Any]:
    """A series that cannot be planned here, as one task that fails with the reason: its neighbours are made."""
    return {
        "basename": "thumb",
        "name": name,
        "doc": clean(f"cannot be made here: {error}"),
        "actions": [(_fail, [session, name, error])],
        "io": {"capture": False},
        "verbosity": 2,
    }


def _fail(session: Session, name: str, error: ThumbforgeError) -> Any:
    session.faults[name] = error
    return TaskFailed(describe(error))


class ThumbUpToDate:
    """Asks the ledger's plan whether an item is done; as text it says what changed and what that will cost."""

    __signature__ = Signature()  # doit asks for it once per task, and working it out takes longer than the answer

    def __init__(self, session: Session, name: str) -> None:
        self.session, self.name = session, name

    @property
    def row(self) -> Row:
        return self.session.rows[self.name]

    @property
    def is_done(self) -> bool:
        return self.row.is_done

    def __call__(self) -> bool:
        return self.is_done

    def is_forced(self, task: Any) -> bool:
        """Whether the action runs although doit had no reason to: `doit -a`, of which it does not tell an action.

        Anything that doit itself found (a missing target, another dependency, a forgotten record) is a reason.
        """
        return self.is_done and Globals.dep_manager.get_status(task, {}).status == "up-to-date"

    def __str__(self) -> str:
        row, profile = self.row, self.row.wanted.series.profile
        cost = estimate(profile, row.calls) if calls_to_a_service(profile, row.calls) else "no call"
        why = "\n".join(f"      {change}" for change in row.changes) or f"      {row.reason}"
        planned = self.session.planned[row.wanted.series.name]
        look = f"\n      look: {found}" if (found := planned.look_of([row])) else ""
        return clean(f"{row.action} ({cost}):\n{why}{look}\n     ")


def make_thumb(uptodate: ThumbUpToDate, task: Any) -> Any:
    """The action of a thumb task. What became of the item is in the ledger; doit hears success or failure."""
    session, name = uptodate.session, uptodate.name
    try:
        outcome = session.make(name, retake=uptodate.is_forced(task))
    except ThumbforgeError as error:
        return TaskFailed(describe(error))
    if outcome.status != "completed" or outcome.final is None:
        hint = f"\nhint: {outcome.hint}" if outcome.hint else ""
        return TaskFailed(f"{outcome.error or outcome.status}{hint}")
    # The final key was not known before the art was made, so doit hears of this dependency only now.
    manifest = session.project.store.manifest_path(outcome.final_key)
    task.file_dep = {session.file_deps[name][0], relative(manifest, session.project.root)}
    return {"final": outcome.final.sha256}
