"""`thumbforge watch`: what a saved spec changes is drawn again, from art that is here. Nobody is ever called."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thumbforge import install
from thumbforge.commands.command import ThumbCommand
from thumbforge.commands.operands import SERIES
from thumbforge.commands.verbs import Arguments, Verb
from thumbforge.errors import Exit, NotFound, ThumbforgeError, UsageError, describe
from thumbforge.spoken import spoken
from thumbforge.tasks.variables import ONE_SERIES
from thumbforge.text import counted

if TYPE_CHECKING:
    from thumbforge.making.rollup import ItemResult, Result
    from thumbforge.planning.decide import PlannedSeries
    from thumbforge.planning.plan import Row
    from thumbforge.planning.project import Project

Watcher = Callable[..., Iterator[set[tuple[Any, str]]]]
QUIET_MS = 150
"""What is saved with shorter pauses than this is one change."""
MOST_FOLDERS = 500
"""Of a project; more are somebody's home directory."""
_OTHERS = frozenset({"out", "locks", "node_modules", "__pycache__"})
"""What we write ourselves, and what nobody keeps pictures in."""


def _watch(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.running import configure_logging

    try:
        from watchfiles import watch
    except ImportError:
        raise UsageError("watchfiles is not installed", hint=install.command("watch")) from None
    names = list(dict.fromkeys((*arguments.words, *filter(None, [arguments.options["series"]]))))
    known = project.catalog.series_names()
    for name in names:
        if name not in known:
            raise NotFound(f"no series {name}", hint="thumbforge series list shows the series")
    if not known:
        raise NotFound("there is no series to watch", hint="thumbforge series new LINK --hero PICTURE makes one")
    configure_logging(project, as_json=False)
    try:
        follow(project, names, _saves(project.root, watch))
    except KeyboardInterrupt:
        sys.stderr.write("The watch has ended.\n")
    return Exit.INTERRUPTED


def follow(project: Project, names: Sequence[str], bursts: Iterable[Collection[Path]]) -> None:
    """Redraw these series, or all there are, at each burst of saves, of which the first stands for how things are. A
    spec that cannot be read is told, and its series stays as it is until the next save. Raises KeyboardInterrupt,
    also where it came in the middle of a drawing."""
    told: dict[str, list[str]] = {}
    for number, _ in enumerate(bursts):
        _redraw_all(project, names, told, is_first=number == 0)
        if number == 0:
            _say("Watching. Ctrl-C ends it.")


def _saves(root: Path, watch: Watcher) -> Iterator[Collection[Path]]:
    """Each burst of changes below the project, but for what we write. Whenever a watcher has begun, too, so that
    nothing is lost of what was saved before: at first, and when folders have come or gone."""
    while True:
        folders, has_begun = set(islice(_folders(root), MOST_FOLDERS)), False
        with suppress(FileNotFoundError):  # gone before it was watched
            for changes in watch(
                *folders,
                watch_filter=None,
                step=QUIET_MS,
                rust_timeout=2 * QUIET_MS,
                yield_on_timeout=True,
                recursive=False,
            ):
                found = {path for _, name in changes if _is_a_spec(root, path := Path(name))}
                if found or not has_begun:
                    yield found
                has_begun = True
                if changes and set(islice(_folders(root), MOST_FOLDERS)) != folders:
                    break


def _folders(root: Path) -> Iterator[Path]:
    """The folders in which something lies that specs may name, the specs' own first."""
    for folder, below, _ in os.walk(root):
        yield Path(folder)
        kept = [name for name in below if not (name in _OTHERS or name.startswith("."))]
        kept = [name for name in kept if not Path(folder, name, "pyvenv.cfg").exists()]
        below[:] = sorted(kept, key=lambda name: (name != "specs", name))


def _is_a_spec(root: Path, path: Path) -> bool:
    """Not an editor's, and nothing that we write beside the specs."""
    return not (path.name.startswith(".") or path.name.endswith("~") or path == root / "out")


def _redraw_all(project: Project, names: Sequence[str], told: dict[str, list[str]], *, is_first: bool) -> None:
    from thumbforge.planning.project import Project

    here = Project(project.root, project.cwd)  # the specs as they are now
    faults: list[str] = []
    has_said = False
    for name in names or sorted(here.catalog.series_names()):
        began = time.monotonic()
        try:
            planned, result = _redraw(here, name)
        except ThumbforgeError as error:
            faults.append(describe(error))
            continue
        if result:
            has_said = True
            for line in _drawn(name, result, time.monotonic() - began):
                _say(line)
        left = [*_waiting(planned, result), *_failed(planned, result)]
        for line in left:
            if line not in told.get(name, ()):
                has_said = True
                _say(line)
        told[name] = left
    for fault in dict.fromkeys(faults):  # a list that two series share is told once
        sys.stderr.write(spoken(fault) + "\n")
    if not (faults or has_said or is_first):
        _say("Nothing to draw.")


def _redraw(project: Project, name: str) -> tuple[PlannedSeries, Result | None]:
    """Draw what can be drawn without a call; None where that is nothing."""
    from thumbforge.cancel import Cancel
    from thumbforge.commands.telling.running import find_series, run_tasks
    from thumbforge.making.quiet import conclude
    from thumbforge.planning.decide import plan_series
    from thumbforge.planning.drawable import check_drawable
    from thumbforge.planning.series import SeriesRequest
    from thumbforge.tasks.session import Session, start
    from thumbforge.tasks.tasks import add

    planned = plan_series(project, find_series(project, SeriesRequest(series=name)))
    rows = [row for row in planned.rows if is_free(row)]
    if not rows:
        conclude(project, planned)
        return planned, None
    check_drawable(planned.series, rows)
    session = start(Session(project, Cancel()))
    result = run_tasks(session, add(session, planned, rows), None)
    if session.cancel.is_set():  # perhaps after the last picture, while the sheet was written: no result tells of it
        raise KeyboardInterrupt
    return planned, result


def is_free(row: Row) -> bool:
    """Whether the art is there, so that all there is to do is a drawing, or putting a file back."""
    return row.action == "refinish" or (row.action == "skip" and bool(row.restore))


def _drawn(name: str, result: Result, seconds: float) -> Iterator[str]:
    done = [item for item in result.items if item.status == "completed"]
    if done:
        yield f"{name}: {counted(len(done), 'picture')} in {seconds:.1f} s: {_files(done)}"
    for item in result.items:
        if item.status != "completed":
            yield f"{name}: {item.after.wanted.export_name}: {item.error or item.status}"


def _files(items: Sequence[ItemResult], most: int = 4) -> str:
    names = [item.after.wanted.export_name for item in items]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _waiting(planned: PlannedSeries, result: Result | None) -> Iterator[str]:
    """What needs a call, which a watch never makes, and the command that does."""
    from thumbforge.planning.standing import Standing

    rows = result.rows if result else planned.rows
    if calls := sum(row.calls for row in rows):
        name, needs = planned.series.name, "needs" if calls == 1 else "need"
        makes = Standing(replace(planned, rows=rows)).next or f"thumbforge batch series={name}"
        yield f"{name}: {counted(calls, 'item')} {needs} a new picture, which watch does not make: {makes}"


def _failed(planned: PlannedSeries, result: Result | None) -> Iterator[str]:
    """What a drawing cannot help; what the drawing itself failed at, it has told."""
    own = {item.after.wanted.item_key for item in result.items} if result else set()
    for row in planned.rows:
        if row.action == "skip" and row.status == "failed" and row.wanted.item_key not in own:
            yield f"{planned.series.name}: {row.wanted.export_name}: {row.reason}"


def _say(line: str) -> None:
    sys.stdout.write(spoken(line) + "\n")
    sys.stdout.flush()


class Watch(ThumbCommand):
    name = "watch"
    doc_purpose = "redraw what a saved text, template or brand changes, never a call"
    doc_description = (
        "Draws from the art that is here, within a second of a save, and goes on until Ctrl-C. What would need a new "
        "picture is told with the command that makes it. Needs the extra watch."
    )
    example = "watch; watch series=my-series"
    options = ()
    verbs = (Verb("", (SERIES,), _watch, "these series, or all", (ONE_SERIES,)),)
