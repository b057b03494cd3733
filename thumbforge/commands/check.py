"""`thumbforge check`: every spec of the project read, every series looked up, and all that is wrong told at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from thumbforge.commands.command import ThumbCommand, print_json
from thumbforge.commands.telling.together import together
from thumbforge.commands.verbs import Arguments, Verb
from thumbforge.errors import Exit, ThumbforgeError
from thumbforge.text import counted

if TYPE_CHECKING:
    from thumbforge.planning.project import Project


def _check(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import write

    faults: dict[str, ThumbforgeError] = {}
    found = {"playlist": 0, "template": 0, "profile": 0, "series": 0, "lock": 0}
    for kind, name, read in _everything(project):
        found[kind] += 1
        try:
            read()
        except ThumbforgeError as error:
            faults[f"{kind} {name}"] = error
    if faults:
        raise together(faults)
    if arguments.as_json:
        print_json({"checked": found, "exit_code": Exit.DONE})
    else:
        told = [f"{count} series" if kind == "series" else counted(count, kind) for kind, count in found.items()]
        write(f"Nothing is wrong: {', '.join(told)}.")
    return Exit.DONE


def _everything(project: Project) -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """What there is, with what checks it. Of a series that is all it names, and all that its pictures need."""
    from functools import partial

    from thumbforge.planning.lock import lock_series
    from thumbforge.planning.profile_check import usable
    from thumbforge.planning.template_check import check_unused, sources

    catalog = project.catalog
    for name in catalog.playlist_names():
        yield "playlist", name, partial(catalog.playlist_file, name)
    for source in sources(catalog):
        template = partial(catalog.template, source.name)
        yield "template", source.name, template if source.is_built_in else partial(check_unused, project, source.path)
    for name in catalog.profile_names():
        yield "profile", name, partial(lambda name: usable(project.root, catalog.profile(name)), name)
    for name in sorted(catalog.series_names()):
        yield "series", name, partial(_check_series, project, name)
    for name in lock_series(project.root):
        yield "lock", name, partial(_check_lock, project, name)


def _check_series(project: Project, name: str) -> None:
    from thumbforge import log
    from thumbforge.commands.telling.running import find_series
    from thumbforge.planning.drawable import check_series
    from thumbforge.planning.series import SeriesRequest
    from thumbforge.planning.wishes import without_effect

    series = find_series(project, SeriesRequest(series=name))
    check_series(series)
    for wish in without_effect(series):
        log.warning(wish, series=name)


def _check_lock(project: Project, name: str) -> None:
    """It can be read; what the specs say otherwise by now is worth telling, and no mistake."""
    from thumbforge import log
    from thumbforge.commands.telling.running import find_series
    from thumbforge.errors import LockDiffers
    from thumbforge.planning.lock import find_lock
    from thumbforge.planning.locked import require_told
    from thumbforge.planning.series import SeriesRequest

    lock = find_lock(project.root, name)
    if lock is None or name not in project.catalog.series_names():
        return
    try:
        series = find_series(project, SeriesRequest(series=name))
    except ThumbforgeError:  # told as the series'
        return
    try:
        require_told(series, lock)
    except LockDiffers as error:
        few = counted(len(error.problems), "line")
        log.warning(f"the lock file is out of date in {few}", series=name, first=str(error.problems[0]))


class Check(ThumbCommand):
    name = "check"
    doc_purpose = "read every spec and look every series up; tell at once all that is wrong"
    doc_description = (
        "Makes no call and writes nothing. What it refuses, a batch refuses before any call, and the other way round."
    )
    example = "check; check --json"
    verbs = (Verb("", (), _check, "playlists, templates, provider profiles and series, with the pictures they name"),)
