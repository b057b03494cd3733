"""`doit hero …`: make candidates for one video, look at them, pick one, refine it, take it along."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thumbforge import log
from thumbforge.build.command import JSON_OPTION, VAR_OPTION, Arguments, ThumbCommand, print_json
from thumbforge.errors import Exit, NotFound, UsageError

if TYPE_CHECKING:
    from thumbforge.runs.hero import Candidate
    from thumbforge.runs.project import Project
    from thumbforge.runs.resume import Resumption
    from thumbforge.runs.rollup import PlannedSeries
    from thumbforge.store.database import Database


def _option(name: str, kind: type, about: str, default: Any = None, short: str = "") -> dict[str, Any]:
    default = False if kind is bool else default
    return {"name": name, "short": short, "long": name, "type": kind, "default": default, "help": about}


class Hero(ThumbCommand):
    name = "hero"
    doc_purpose = "make and pick the picture that sets the style of a series"
    doc_usage = (
        "generate VIDEO | show RUN | pick RUN N | iterate RUN|ITERATION | export RUN|ITERATION --to DIR | import FILE"
    )
    doc_description = (
        "generate makes --count candidates for a video of a playlist; show lists them and writes a contact sheet; pick "
        "chooses one (again, if you like); iterate makes new ones from the art of the pick; export copies finals (or "
        "the art, with --raw); import records a picture file. Then: batch hero=RUN."
    )
    cmd_options = (
        _option("count", int, "candidates to make", 4),
        _option("playlist", str, "the playlist that the video is looked for in"),
        _option("template", str, "generate: template name (series-parts)"),
        _option("provider", str, "generate: provider profile name (local)"),
        _option("seed", str, "seed of the first candidate, where the provider takes one"),
        _option("prompt-append", str, "iterate: what to add to the prompt", ""),
        _option("from-picked", bool, "iterate: start from the run's pick (what a run means anyway)"),
        _option("to", str, "export: the directory to copy to"),
        _option("raw", bool, "export: the provider's art, without text"),
        _option("concurrency", int, "candidates made at once", short="n"),
        VAR_OPTION,
        JSON_OPTION,
    )

    def run(self, arguments: Arguments) -> int:
        verbs = {
            ("generate", 1): self._generate,
            ("iterate", 1): self._iterate,
            ("show", 1): self._show,
            ("pick", 2): self._pick,
            ("export", 1): self._export,
            ("import", 1): self._import,
        }
        verb, *words = arguments.words or ("",)
        if (verb, len(words)) not in verbs:
            said = " ".join(arguments.words)
            raise UsageError(f"hero does not know {said!r}", hint=f"thumbforge hero {self.doc_usage}")
        return verbs[verb, len(words)](words, arguments)

    def _generate(self, words: list[str], arguments: Arguments) -> int:
        from thumbforge.runs.hero import HeroRequest, plan_heroes

        options, project = arguments.options, self.project()
        seed = options["seed"]
        if seed is not None and not re.fullmatch(r"[0-9]{1,18}", seed):
            raise UsageError(f"--seed {seed}: expected a whole number")
        request = HeroRequest(
            video=words[0],
            count=options["count"],
            playlist=options["playlist"],
            template=options["template"] or "series-parts",
            provider=options["provider"] or "local",
            seed=None if seed is None else int(seed),
            vars=arguments.pairs.vars,
        )
        return make(project, plan_heroes(project, request), arguments)

    def _iterate(self, words: list[str], arguments: Arguments) -> int:
        from thumbforge.runs.hero import plan_refinement

        project, options = self.project(), arguments.options
        given = [name for name in ("template", "provider", "seed", "playlist") if options[name] is not None]
        if given or arguments.pairs.vars:
            raise UsageError(
                f"hero iterate takes no {(given or ['var'])[0]}: it goes on with what the pick was made of",
                hint="--prompt-append says what should be different; hero generate begins anew",
            )
        planned = plan_refinement(project, words[0], options["prompt-append"], options["count"])
        return make(project, planned, arguments)

    def _show(self, words: list[str], arguments: Arguments) -> int:
        with self._reading(words[0]) as (project, _, run):
            pass
        return tell(project, run["id"], Exit.DONE, arguments, "")

    def _pick(self, words: list[str], arguments: Arguments) -> int:
        from thumbforge.build.view import write
        from thumbforge.runs.hero import pick
        from thumbforge.store.leases import new_owner
        from thumbforge.store.ledger import Ledger

        if not re.fullmatch(r"[0-9]{1,4}", words[1]):
            raise UsageError(f"{words[1]!r} is no candidate's number")
        with self._reading(words[0]) as (project, _, run):
            pass
        with closing(project.write_ledger()) as database:
            chosen = pick(Ledger(database, new_owner(), 30), run, int(words[1]))
        if arguments.options["json"]:
            print_json({"run": run["id"], "picked": chosen.ordinal, "iteration": chosen.iteration_id})
        else:
            write(f"Candidate {chosen.ordinal} is the pick.")
            write(f"Next: thumbforge batch playlist=… hero={run['id'][:8]} reference=raw")
        return Exit.DONE

    def _export(self, words: list[str], arguments: Arguments) -> int:
        from thumbforge.build.view import write
        from thumbforge.runs.hero import candidates, export_heroes

        to = arguments.options["to"]
        if not to:
            raise UsageError("hero export needs --to DIR")
        with self._reading(words[0]) as (project, database, run):
            found = candidates(database, run)
        if not run["id"].startswith(words[0]):  # an iteration was named
            found = [candidate for candidate in found if candidate.iteration_id.startswith(words[0])]
        else:
            found = [c for c in found if c.picked] or [c for c in found if c.final]
        paths = export_heroes(project, run["id"], found, project.cwd / to, raw=arguments.options["raw"])
        if arguments.options["json"]:
            print_json({"run": run["id"], "files": [str(path) for path in paths]})
        for path in [] if arguments.options["json"] else paths:
            write(str(path))
        return Exit.DONE

    def _import(self, words: list[str], arguments: Arguments) -> int:
        from thumbforge.build.view import write
        from thumbforge.runs.record import record_file_hero
        from thumbforge.runs.reference import check_hero, find_hero, hero_remark, keep_hero
        from thumbforge.store.leases import new_owner
        from thumbforge.store.ledger import Ledger

        project = self.project()
        hero = find_hero(words[0], project.cwd, project.home, None, "final")
        info = check_hero(hero)
        if remark := hero_remark(info):
            log.warning(remark)
        with closing(project.write_ledger()) as database:
            keep_hero(hero, info, project.store)
            record_file_hero(Ledger(database, new_owner(), 30), hero, info)
        if arguments.options["json"]:
            print_json({"run": hero.run_id, "iteration": hero.iteration_id, "sha256": hero.sha256})
        else:
            write(f"{words[0]} is hero run {hero.run_id[:8]}: thumbforge batch playlist=… hero={hero.run_id[:8]}")
        return Exit.DONE

    @contextmanager
    def _reading(self, word: str) -> Iterator[tuple[Project, Database, sqlite3.Row]]:
        """A hero run, by its own id or that of one of its iterations."""
        from thumbforge.store.views import find_run

        project = self.project()
        database = project.read_ledger()
        if database is None:
            raise NotFound(f"there is no hero run {word}", hint="thumbforge hero generate VIDEO makes one")
        with closing(database):
            rows = database.rows("SELECT run_id FROM iteration WHERE substr(id, 1, ?) = ?", (len(word), word))
            yield project, database, find_run(database, rows[0]["run_id"] if len(rows) == 1 else word)


def make(project: Project, planned: PlannedSeries, arguments: Arguments, resumption: Resumption | None = None) -> int:
    """Make what is missing of the candidates, then show them."""
    from thumbforge.build.cmd_batch import configure_logging
    from thumbforge.build.reporter import Progress, interruptible
    from thumbforge.providers.base import Cancel
    from thumbforge.runs.batch import Batch, threads_for
    from thumbforge.runs.executor import Placement
    from thumbforge.runs.hero import make_heroes, run_of

    configure_logging(project, as_json=arguments.options["json"])
    if resumption is None and all(row.idle and row.status == "completed" for row in planned.rows):
        database = project.read_ledger()
        assert database is not None
        with closing(database):
            run_id = run_of(database, planned)
        if run_id:
            return tell(project, run_id, Exit.DONE, arguments, "Nothing to do: these candidates are made.")
    placement = Placement.of(project.settings, arguments.pairs.get("executor"), arguments.pairs.get("scheduler"))
    cancel = Cancel()
    at_once = arguments.options["concurrency"] or project.settings.integer("batch.concurrency")
    progress = Progress(len(planned.rows))
    with interruptible(cancel):
        batch = Batch(
            project, planned, planned.rows, cancel=cancel, at_once=at_once, resumption=resumption, placement=placement
        )
        result = make_heroes(batch, threads_for(planned, planned.rows, at_once, placement))
    progress.close()
    if result.run_id is None:
        raise UsageError("nothing can be tried again: " + "; ".join(i.error or "" for i in result.items if i.error))
    return tell(project, result.run_id, result.exit_code, arguments, result.stop or "")


def tell(project: Project, run_id: str, exit_code: Exit, arguments: Arguments, said: str) -> int:
    from thumbforge.build.view import write
    from thumbforge.runs.hero import candidates
    from thumbforge.store.views import find_run

    database = project.read_ledger()
    assert database is not None
    with closing(database):
        run = find_run(database, run_id)
        found = candidates(database, run)
    sheet = _sheet(project, run, found)
    if arguments.options["json"]:
        print_json({**_document(project, run, found, sheet), "exit_code": exit_code})
        return exit_code
    if said:
        write(said)
    _print_candidates(project, run, found, sheet)
    if exit_code in {Exit.PARTIAL, Exit.INTERRUPTED, Exit.NOTHING_COMPLETED}:
        write(f"Go on with: thumbforge runs resume {run_id[:8]}")
    elif any(c.status == "completed" for c in found) and not any(c.picked for c in found):
        write(f"Next: thumbforge hero pick {run_id[:8]} N")
    return exit_code


def _sheet(project: Project, run: sqlite3.Row, found: list[Candidate]) -> Path | None:
    """The contact sheet of the candidates, made anew whenever it is asked for; a page of the same lies beside it."""
    from thumbforge.runs.sheet import hero_sheet, write_sheet

    if not any(candidate.final for candidate in found):
        return None
    name = f"hero-{run['id'][:8]}"
    page = write_sheet(hero_sheet(project, run, found), project.home / "sheets", (f"{name}.html", f"{name}.png"))
    return page.with_suffix(".png")


def _document(project: Project, run: sqlite3.Row, found: list[Candidate], sheet: Path | None) -> dict[str, Any]:
    from thumbforge.runs.project import relative

    def shown(picture: tuple[str, str] | None) -> dict[str, str] | None:
        if picture is None:
            return None
        return {"sha256": picture[0], "path": relative(project.store.path(*picture), project.root)}

    return {
        "run": run["id"],
        "kind": run["kind"],
        "status": run["status"],
        "parent_run_id": run["parent_run_id"],
        "candidates": [
            {
                "ordinal": c.ordinal,
                "iteration_id": c.iteration_id,
                "status": c.status,
                "picked": c.picked,
                "compliant": c.compliant,
                "error": c.error,
                "art": shown(c.art),
                "final": shown(c.final),
            }
            for c in found
        ],
        "sheet": relative(sheet, project.root) if sheet else None,
    }


def _print_candidates(project: Project, run: sqlite3.Row, found: list[Candidate], sheet: Path | None) -> None:
    from thumbforge.build.view import print_table, write
    from thumbforge.runs.project import relative

    write(f"{run['kind']} run {run['id']} ({run['status']})")
    print_table(
        ("pick", "candidate", "status", "compliant", "iteration", "picture", "error"),
        [
            (
                "★" if c.picked else "",
                str(c.ordinal),
                c.status,
                {True: "yes", False: "no", None: ""}[c.compliant],
                c.iteration_id[:8],
                relative(project.store.path(*c.final), project.root) if c.final else "",
                c.error or "",
            )
            for c in found
        ],
    )
    if sheet:
        write(f"Contact sheet: {relative(sheet, project.root)}")
