"""`doit hero …`: make candidates for one video, look at them, pick one, refine it, take it along."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from thumbforge import log
from thumbforge.commands.command import JSON_OPTION, VAR_OPTION, Arguments, ThumbCommand, print_json
from thumbforge.errors import Exit, NotFound, UsageError

if TYPE_CHECKING:
    from thumbforge.planning.project import Project
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
        from thumbforge.commands.candidates import make
        from thumbforge.making.hero import HeroRequest, plan_heroes

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
        from thumbforge.commands.candidates import make
        from thumbforge.making.hero import plan_refinement

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
        from thumbforge.commands.candidates import tell

        with self._reading(words[0]) as (project, _, run):
            pass
        return tell(project, run["id"], Exit.DONE, arguments, "")

    def _pick(self, words: list[str], arguments: Arguments) -> int:
        from thumbforge.commands.view import write
        from thumbforge.making.hero import pick

        if not re.fullmatch(r"[0-9]{1,4}", words[1]):
            raise UsageError(f"{words[1]!r} is no candidate's number")
        with self._reading(words[0]) as (project, _, run):
            pass
        with project.ledger() as ledger:
            chosen = pick(ledger, run, int(words[1]))
        if arguments.options["json"]:
            print_json({"run": run["id"], "picked": chosen.ordinal, "iteration": chosen.iteration_id})
        else:
            write(f"Candidate {chosen.ordinal} is the pick.")
            write(f"Next: thumbforge batch playlist=… hero={run['id'][:8]} reference=raw")
        return Exit.DONE

    def _export(self, words: list[str], arguments: Arguments) -> int:
        from thumbforge.commands.view import write
        from thumbforge.making.hero import export_heroes
        from thumbforge.store.heroes import candidates

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
        from thumbforge.commands.view import write
        from thumbforge.making.record import record_file_hero
        from thumbforge.planning.reference import check_hero, find_hero, hero_remark, keep_hero

        project = self.project()
        hero = find_hero(words[0], project.cwd, project.home, None, "final")
        info = check_hero(hero)
        if remark := hero_remark(info):
            log.warning(remark)
        with project.ledger() as ledger:
            keep_hero(hero, info, project.store)
            record_file_hero(ledger, hero, info)
        if arguments.options["json"]:
            print_json({"run": hero.run_id, "iteration": hero.iteration_id, "sha256": hero.sha256})
        else:
            write(f"{words[0]} is hero run {hero.run_id[:8]}: thumbforge batch playlist=… hero={hero.run_id[:8]}")
        return Exit.DONE

    @contextmanager
    def _reading(self, word: str) -> Iterator[tuple[Project, Database, sqlite3.Row]]:
        """A hero run, by its own id or that of one of its iterations."""
        from thumbforge.store.iterations import runs_of
        from thumbforge.store.views import find_run

        project = self.project()
        with project.reading() as database:
            if database is None:
                raise NotFound(f"there is no hero run {word}", hint="thumbforge hero generate VIDEO makes one")
            found = runs_of(database, word)
            yield project, database, find_run(database, found[0] if len(found) == 1 else word)
