"""`doit push`, `doit pull`: the shared store and this machine's, brought to hold the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thumbforge.commands.command import ThumbCommand, print_json
from thumbforge.commands.verbs import Arguments, Verb
from thumbforge.errors import Exit
from thumbforge.tasks.options import flag
from thumbforge.tasks.variables import SERIES_OPTIONS
from thumbforge.text import counted

if TYPE_CHECKING:
    from thumbforge.planning.decide import PlannedSeries
    from thumbforge.planning.project import Project
    from thumbforge.upkeep.shared import Passed

_PUSHED = ("would be sent to", "sent to", "the shared store has all that is here")
_PULLED = ("would come from", "came from", "here is all that the shared store has")
"""What would be done, what was, and that there was nothing to do."""


def _push(project: Project, arguments: Arguments) -> int:
    from contextlib import nullcontext

    from thumbforge.cancel import Cancel
    from thumbforge.commands.telling.running import configure_logging
    from thumbforge.store.shared.place import open_remote, require_writing
    from thumbforge.tasks.progress import counting, interruptible
    from thumbforge.upkeep.shared import push

    dry_run, cancel = arguments.options["dry-run"], Cancel()
    configure_logging(project, as_json=arguments.as_json)
    remote = open_remote(project.settings, project.root)
    if not dry_run:
        require_writing(project.settings)
    series = _series(project, arguments)
    with interruptible(cancel), project.ledger() if project.has_ledger() and not dry_run else nullcontext() as ledger:
        database = ledger.database if ledger else None
        passed = push(project, database, remote, series, cancel, counting, dry_run=dry_run)
    return _tell(passed, remote.shown, arguments, _PUSHED)


def _pull(project: Project, arguments: Arguments) -> int:
    from thumbforge.cancel import Cancel
    from thumbforge.commands.telling.running import configure_logging
    from thumbforge.store.shared.place import open_remote
    from thumbforge.tasks.progress import counting, interruptible
    from thumbforge.upkeep.shared import pull

    dry_run, cancel = arguments.options["dry-run"], Cancel()
    configure_logging(project, as_json=arguments.as_json)
    remote = open_remote(project.settings, project.root)
    series = _series(project, arguments)
    with interruptible(cancel):
        passed = pull(project, remote, series, cancel, counting, dry_run=dry_run)
    return _tell(passed, remote.shown, arguments, _PULLED)


def _series(project: Project, arguments: Arguments) -> list[PlannedSeries] | None:
    """The one that is named; None where all that there is is meant."""
    from thumbforge.commands.telling.running import find_series
    from thumbforge.planning.decide import plan_series
    from thumbforge.tasks.tasks import request_of

    if "series" not in arguments.given:
        return None
    return [plan_series(project, find_series(project, request_of(arguments.pairs)))]


def _tell(passed: Passed, place: str, arguments: Arguments, words: tuple[str, str, str]) -> int:
    from thumbforge.commands.telling.view import write

    dry_run, (would_go, went, nothing) = arguments.options["dry-run"], words
    exit_code = Exit.DONE if not passed.failed else Exit.PARTIAL if passed.arts + passed.finals else Exit.UNEXPECTED
    if arguments.as_json:
        failed = [{"key": key, "error": why} for key, why in sorted(passed.failed.items())]
        counts = {"arts": passed.arts, "finals": passed.finals, "takes": passed.takes}
        print_json({"remote": place, "dry_run": dry_run, **counts, "failed": failed, "exit_code": exit_code})
        return exit_code
    for name, why in sorted(passed.failed.items()):
        write(f"{name[:8]}: {why}")
    if passed.arts or passed.finals:
        what = f"{counted(passed.arts, 'art')} and {counted(passed.finals, 'finished picture')}"
        write(f"{what} {would_go if dry_run else went} {place}.")
    elif not passed.failed:
        write(f"Nothing to do: {nothing}.")
    if passed.takes:
        write(f"{counted(passed.takes, 'art')} went there as a further take: somebody else's was first.")
    return exit_code


_OPTIONS = (SERIES_OPTIONS[0], flag("dry-run", "say what would go over, change nothing"))


class Push(ThumbCommand):
    name = "push"
    doc_purpose = "send to the shared store what is here and not there"
    doc_description = (
        "Pictures, and what they were made from; nothing there is replaced or deleted. It needs store.remote and "
        "THUMBFORGE_STORE__MODE=write. Cut short, the same again goes on."
    )
    example = "push; push series=pandas-30 --dry-run"
    verbs = (Verb("", (), _push, "all that is here, or a series", _OPTIONS),)


class Pull(ThumbCommand):
    name = "pull"
    doc_purpose = "bring from the shared store what is there and not here"
    doc_description = (
        "A batch brings by itself what it lacks; this brings all, or a series, to work without the network."
    )
    example = "pull; pull series=pandas-30"
    verbs = (Verb("", (), _pull, "all that is there, or a series", _OPTIONS),)
