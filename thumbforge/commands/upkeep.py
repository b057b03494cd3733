"""`doit audit`, `doit repair`, `doit prune`: does the ledger tell the truth, and what may go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Literal

from thumbforge.commands.command import JSON_OPTION, Arguments, ThumbCommand, print_json
from thumbforge.errors import Exit, NotFound, UsageError
from thumbforge.text import counted

if TYPE_CHECKING:
    from thumbforge.planning.project import Project
    from thumbforge.upkeep.files import Foreign
    from thumbforge.upkeep.job import Job
    from thumbforge.upkeep.rebuild import Rebuilt
    from thumbforge.upkeep.repair import Removal


def _flag(name: str, about: str) -> dict[str, Any]:
    return {"name": name, "short": "", "long": name, "type": bool, "default": False, "help": about}


class _Upkeep(ThumbCommand):
    """What the three share: a job run in the ledger, with a lease, that can be stopped."""

    def run(self, arguments: Arguments) -> int:
        if arguments.words:
            raise UsageError(f"{self.name} takes no words, got {arguments.words[0]!r}")
        self.check(arguments)
        with self._job(arguments) as (project, job):
            return self.work(project, job, arguments)

    def check(self, arguments: Arguments) -> None:
        """Refuse what cannot be, before a run is recorded."""

    def work(self, project: Project, job: Job, arguments: Arguments) -> int:
        raise AssertionError(f"{type(self).__name__} has no work")

    @contextmanager
    def _job(self, arguments: Arguments, *, anew: bool = False) -> Iterator[tuple[Project, Job]]:
        from thumbforge.cancel import Cancel
        from thumbforge.commands.running import configure_logging
        from thumbforge.tasks.reporter import interruptible
        from thumbforge.upkeep.job import Job

        project = self.project()
        configure_logging(project, as_json=arguments.options["json"])
        if not anew and not project.ledger_path.exists():
            raise NotFound("this project has no ledger yet", hint="thumbforge batch makes one")
        cancel = Cancel()
        kind: Literal["audit", "repair"] = "audit" if self.name == "audit" else "repair"
        with (
            project.ledger() as ledger,
            interruptible(cancel),
            Job(ledger, project.settings, kind, cancel) as job,
        ):
            yield project, job


class Audit(_Upkeep):
    name = "audit"
    doc_purpose = "check that the ledger, the stored pictures and the exports agree"
    doc_usage = ""
    doc_description = "Changes nothing but its own result in the ledger. Exit 0: all is well; 1: there are findings."
    cmd_options = (JSON_OPTION,)

    def work(self, project: Project, job: Job, arguments: Arguments) -> int:
        from thumbforge.commands.view import print_table, write
        from thumbforge.upkeep.audit import audit, table

        found = audit(project, job.database, job.run_id, job.now, job.grace_s, job.check_stop)
        exit_code = Exit.UNEXPECTED if found.findings else Exit.DONE
        job.finish(found.as_dict(), exit_code)
        if arguments.options["json"]:
            print_json({"run": job.run_id, **found.as_dict(), "exit_code": exit_code})
            return exit_code
        for title, entries in (("finding", found.findings), ("note", found.notes)):
            if entries:
                print_table((title, "what", "detail"), table(entries))
        checked = ", ".join(f"{count} {name}s" for name, count in found.checked.items())
        write(f"{counted(len(found.findings), 'finding')}, {counted(len(found.notes), 'note')}; checked {checked}.")
        return exit_code


class Repair(_Upkeep):
    name = "repair"
    doc_purpose = "remove files that nothing needs, or rebuild the ledger from what the store tells"
    doc_usage = "[--apply] [--damaged | --rebuild]"
    doc_description = (
        "Shows what would go; --apply does it. Files younger than repair.grace_s stay. --damaged also removes stored "
        "pictures whose bytes are not what their name says: the next batch makes them anew, at the price of a call. "
        "--rebuild removes nothing: it writes into the ledger, or into a new one where it is damaged or gone, what "
        "manifests and records tell of paid art."
    )
    cmd_options = (
        _flag("apply", "do it, do not only show"),
        _flag("damaged", "also damaged pictures"),
        _flag("rebuild", "write the ledger's rows of paid art back"),
        JSON_OPTION,
    )

    def run(self, arguments: Arguments) -> int:
        if not arguments.options["rebuild"]:
            return super().run(arguments)
        if arguments.words or arguments.options["damaged"]:
            raise UsageError("--rebuild goes with --apply alone", hint="thumbforge repair --rebuild")
        from thumbforge.upkeep.rebuild import damage, rebuild, set_aside

        project, apply = self.project(), arguments.options["apply"]
        broken = damage(project.ledger_path)
        if not apply:
            with nullcontext() if broken else project.reading() as database:
                found = rebuild(project, database, None)
            return _tell_rebuilt(None, found, broken, arguments)
        if broken:
            broken = f"{broken}; it is {set_aside(project.ledger_path).name} now"
        with self._job(arguments, anew=True) as (project, job):
            found = rebuild(project, job.database, job)
            job.finish(found.as_dict(), Exit.DONE)
        return _tell_rebuilt(job.run_id, found, broken, arguments)

    def work(self, project: Project, job: Job, arguments: Arguments) -> int:
        from thumbforge.upkeep.repair import repair

        options = arguments.options
        found = repair(project, job.database, job.now, job.grace_s, damaged=options["damaged"], apply=options["apply"])
        return _tell(project, job, job.stoppable(found), apply=options["apply"], as_json=options["json"])


class Prune(_Upkeep):
    name = "prune"
    doc_purpose = "drop superseded takes and finals"
    doc_usage = "--keep N [--apply]"
    doc_description = (
        "Keeps what is in use and the N newest superseded ones of each item. Shows what would go; --apply does it."
    )
    cmd_options = (
        {"name": "keep", "short": "", "long": "keep", "type": str, "default": None, "help": "superseded ones to keep"},
        _flag("apply", "remove, do not only show"),
        JSON_OPTION,
    )

    def check(self, arguments: Arguments) -> None:
        if not re.fullmatch(r"[0-9]{1,6}", arguments.options["keep"] or ""):
            raise UsageError("prune needs --keep N", hint="--keep 0 keeps only what is in use")

    def work(self, project: Project, job: Job, arguments: Arguments) -> int:
        from thumbforge.upkeep.repair import prune

        found = prune(project, job.database, int(arguments.options["keep"]), apply=arguments.options["apply"])
        return _tell(
            project, job, job.stoppable(found), apply=arguments.options["apply"], as_json=arguments.options["json"]
        )


def _tell(project: Project, job: Job, found: Iterator[Removal | Foreign], *, apply: bool, as_json: bool) -> int:
    from thumbforge.commands.view import print_table, write
    from thumbforge.planning.project import relative
    from thumbforge.upkeep.files import Foreign

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
    if as_json:
        print_json({"run": job.run_id, **document, "exit_code": Exit.DONE})
        return Exit.DONE
    if gone:
        print_table(("kind", "what", "bytes"), [(r.kind, r.subject, str(r.bytes)) for r in gone])
    if foreign:
        write(f"Left alone, because they are not thumbforge's: {', '.join(foreign)}")
    size = f"{counted(len(gone), 'thing')}, {total / 1e6:.1f} MB"
    write(f"Removed {size}." if apply else f"{size} would go; --apply removes them.")
    return Exit.DONE


def _tell_rebuilt(run_id: str | None, found: Rebuilt, broken: str | None, arguments: Arguments) -> int:
    from thumbforge.commands.view import write

    apply = arguments.options["apply"]
    if arguments.options["json"]:
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
