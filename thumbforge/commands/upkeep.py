"""`doit audit`, `doit repair`, `doit prune`: does the ledger tell the truth, and what may go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Literal

from thumbforge.commands.command import ThumbCommand, print_json
from thumbforge.commands.verbs import Arguments, Verb
from thumbforge.errors import Exit, NotFound, UsageError
from thumbforge.tasks.options import Option, flag, whole
from thumbforge.text import counted

if TYPE_CHECKING:
    from thumbforge.planning.project import Project
    from thumbforge.upkeep.files import Foreign
    from thumbforge.upkeep.job import Job
    from thumbforge.upkeep.rebuild import Rebuilt
    from thumbforge.upkeep.repair import Removal


DAYS = 30
"""Days that something in the shared store is left alone although no lock file here names it: others may be about to."""
_LONG_ID = re.compile(r"[0-9a-f]{64}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _short(subject: str) -> str:
    """A key or an id as tables have it; a path is whole."""
    return subject[:8] if _LONG_ID.fullmatch(subject) else subject


@contextmanager
def _job(
    project: Project, arguments: Arguments, kind: Literal["audit", "repair"], *, anew: bool = False
) -> Iterator[Job]:
    """A run of its own in the ledger, with a lease, that can be stopped."""
    from thumbforge.cancel import Cancel
    from thumbforge.commands.telling.running import configure_logging
    from thumbforge.tasks.progress import interruptible
    from thumbforge.upkeep.job import Job

    configure_logging(project, as_json=arguments.as_json)
    if not anew and not project.has_ledger():
        raise NotFound("this project has no ledger yet", hint="thumbforge batch makes one")
    cancel = Cancel()
    with (
        project.ledger() as ledger,
        interruptible(cancel),
        Job(ledger, project.settings, kind, cancel) as job,
    ):
        yield job


def _audit(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import print_table, write
    from thumbforge.store.shared.place import open_remote
    from thumbforge.upkeep.audit import audit, table
    from thumbforge.upkeep.shared_care import compare

    with _job(project, arguments, "audit") as job:
        found = audit(project, job.database, job.run_id, job.now, job.grace_s, job.check_stop)
        if arguments.options["remote"]:
            found = found.joined(*compare(project, open_remote(project.settings, project.root), job.cancel))
        exit_code = Exit.UNEXPECTED if found.findings else Exit.DONE
        job.finish(found.as_dict(), exit_code)
    if arguments.as_json:
        print_json({"run": job.run_id, **found.as_dict(), "exit_code": exit_code})
        return exit_code
    for title, entries in (("finding", found.findings), ("note", found.notes)):
        if entries:
            print_table((title, "what", "detail"), table(entries))
    checked = ", ".join(f"{count} {name}s" for name, count in found.checked.items())
    write(f"{counted(len(found.findings), 'finding')}, {counted(len(found.notes), 'note')}; checked {checked}.")
    return exit_code


def _repair(project: Project, arguments: Arguments) -> int:
    from thumbforge.upkeep.repair import repair

    options = arguments.options
    if options["rebuild"]:
        return _rebuild(project, arguments)
    with _job(project, arguments, "repair") as job:
        found = repair(project, job.database, job.now, job.grace_s, damaged=options["damaged"], apply=options["apply"])
        return _tell(project, job, job.stoppable(found), arguments)


def _rebuild(project: Project, arguments: Arguments) -> int:
    from thumbforge.upkeep.rebuild import damage, rebuild, set_aside

    if arguments.options["damaged"]:
        raise UsageError("--rebuild goes with --apply alone", hint="thumbforge repair --rebuild")
    broken = damage(project.ledger_path)
    if not arguments.options["apply"]:
        with nullcontext() if broken else project.reading() as database:
            found = rebuild(project, database, None)
        return _tell_rebuilt(None, found, broken, arguments)
    if broken:
        broken = f"{broken}; it is {set_aside(project.ledger_path).name} now"
    with _job(project, arguments, "repair", anew=True) as job:
        found = rebuild(project, job.database, job)
        job.finish(found.as_dict(), Exit.DONE)
    return _tell_rebuilt(job.run_id, found, broken, arguments)


def _prune(project: Project, arguments: Arguments) -> int:
    from itertools import chain

    from thumbforge.upkeep.out import prune_out
    from thumbforge.upkeep.repair import prune

    options = arguments.options
    if options["remote"]:
        return _prune_there(project, arguments)
    if options["keep"] is None and not options["orphans"]:
        hint = "thumbforge prune --keep 1; --orphans is about out/ alone, --remote about the shared store"
        raise UsageError("prune needs --keep N", hint=hint)
    if options["days"] is not None:
        raise UsageError("--days goes with --remote", hint="thumbforge prune --remote --days 30")
    with _job(project, arguments, "repair") as job:
        found = prune_out(project, job.database, apply=options["apply"])
        if options["keep"] is not None:
            found = chain(found, prune(project, job.database, options["keep"], apply=options["apply"]))
        return _tell(project, job, job.stoppable(found), arguments)


def _prune_there(project: Project, arguments: Arguments) -> int:
    from thumbforge.store.shared.place import open_remote, require_writing
    from thumbforge.upkeep.shared_care import prune_there

    options = arguments.options
    if options["keep"] is not None or options["orphans"]:
        told = "--keep is about this machine's store" if options["keep"] is not None else "--orphans is about out/"
        raise UsageError(told, hint="thumbforge prune --remote --days 30")
    days = DAYS if options["days"] is None else options["days"]
    remote = open_remote(project.settings, project.root)
    if options["apply"]:
        require_writing(project.settings)
    with _job(project, arguments, "repair", anew=True) as job:
        found = prune_there(project, job.database, remote, days, job.now, job.cancel, apply=options["apply"])
        return _tell(project, job, job.stoppable(found), arguments)


def _tell(project: Project, job: Job, found: Iterator[Removal | Foreign], arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import print_table, write
    from thumbforge.planning.project import relative
    from thumbforge.upkeep.files import Foreign

    apply = arguments.options["apply"]
    things = list(found)
    foreign = [relative(thing.path, project.home) for thing in things if isinstance(thing, Foreign)]
    gone = [thing for thing in things if not isinstance(thing, Foreign)]
    total = sum(r.bytes for r in gone)
    document = {
        "applied": apply,
        "removed": [{"kind": r.kind, "subject": r.subject, "bytes": r.bytes} for r in gone],
        "bytes": total,
        "foreign": foreign,
    }
    job.finish(document, Exit.DONE)
    if arguments.as_json:
        print_json({"run": job.run_id, **document, "exit_code": Exit.DONE})
        return Exit.DONE
    if gone:
        print_table(("kind", "what", "bytes"), [(r.kind, _short(r.subject), str(r.bytes)) for r in gone])
    if foreign:
        write(f"Left alone, because they are not thumbforge's: {', '.join(foreign)}")
    size = f"{counted(len(gone), 'thing')}, {total / 1e6:.1f} MB"
    write(f"Removed {size}." if apply else f"{size} would go; --apply removes them.")
    return Exit.DONE


def _tell_rebuilt(run_id: str | None, found: Rebuilt, broken: str | None, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import write

    apply = arguments.options["apply"]
    if arguments.as_json:
        told = {"applied": apply, "damage": broken, **found.as_dict()}
        print_json({"run": run_id, **told, "exit_code": Exit.DONE})
        return Exit.DONE
    if broken:
        write(f"{broken}." if apply else f"{broken}; --apply puts it aside.")
    for names, why in (
        (found.unread, "whose keys do not follow from what they hold"),
        (found.without_art, "whose art is gone, damaged or no picture"),
    ):
        if names:
            write(f"Left out: {counted(len(names), 'manifest')} {why}: {', '.join(names[:3])}{' …' * (len(names) > 3)}")
    what = f"{counted(found.arts, 'paid art')} in the ledger, {counted(found.records, 'record')} in the store"
    write(f"Written back: {what}." if apply else f"Would write back: {what}; --apply does it.")
    if apply and found.arts:
        write("thumbforge batch draws their pictures anew, without a call.")
    return Exit.DONE


_APPLY = flag("apply", "do it, do not only show")


class Audit(ThumbCommand):
    name = "audit"
    doc_purpose = "check that the ledger, the stored pictures and the exports agree"
    doc_description = "Exit 0: all is well; 1: there are findings."
    example = "audit; audit --json; audit --remote"
    verbs = (
        Verb(
            "",
            (),
            _audit,
            "changes nothing but its own result in the ledger",
            (flag("remote", "compare with the shared store, too"),),
        ),
    )


class Repair(ThumbCommand):
    name = "repair"
    doc_purpose = "remove files that nothing needs, or rebuild the ledger from what the store tells"
    doc_description = "Files younger than the setting repair.grace_s stay."
    example = "repair; repair --apply"
    verbs = (
        Verb(
            "",
            (),
            _repair,
            "shows what would go",
            (
                _APPLY,
                flag(
                    "damaged",
                    "also stored pictures whose bytes are not what their name says: the next batch makes them anew, at "
                    "the price of a call",
                ),
                flag(
                    "rebuild",
                    "remove nothing, but write into the ledger, or into a new one where it is damaged or gone, what "
                    "manifests and records tell of paid art",
                ),
            ),
        ),
    )


class Prune(ThumbCommand):
    name = "prune"
    doc_purpose = "drop superseded takes and finals, and what nothing wants in out/"
    doc_description = (
        "Keeps what is in use, and of each item the newest superseded ones. --keep 0 keeps what is in use. What lies "
        "in out/ of items and series that are gone goes as well. "
        "With --remote it is about the shared store alone."
    )
    example = "prune --keep 1; prune --orphans --apply; prune --remote --days 30"
    verbs = (
        Verb(
            "",
            (),
            _prune,
            "shows what would go",
            (
                Option("keep", "superseded ones of each item to keep", whole(0, 999_999), "N"),
                flag("orphans", "without --keep: only what nothing wants in out/"),
                flag("remote", "in the shared store, what no lock file of this project names, instead"),
                Option("days", f"with --remote: what is younger stays (default {DAYS})", whole(0, 36_500), "N"),
                _APPLY,
            ),
        ),
    )
