"""`doit hero …`: make candidates for one video, look at them, pick one, refine it, take it along."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from thumbforge import log
from thumbforge.commands.command import ThumbCommand, print_json
from thumbforge.commands.operands import HERO_RUN_OR_ITERATION, VIDEO
from thumbforge.commands.verbs import CONCURRENCY, DRY_RUN, VAR, Arguments, Verb, Word
from thumbforge.errors import Exit, NotFound, ThumbforgeError, UsageError
from thumbforge.tasks.options import Option, flag, whole
from thumbforge.tasks.variables import MAX_COST, RUN_OPTIONS, SERIES_LOOK

if TYPE_CHECKING:
    from thumbforge.planning.project import Project
    from thumbforge.store.database import Database

_COUNT = Option("count", "candidates to make", whole(1, 999_999), "N", 4)
_MAKING = (MAX_COST, *RUN_OPTIONS, CONCURRENCY, DRY_RUN)


def _list(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.hero_file import tell_heroes

    return tell_heroes(project, as_json=arguments.as_json)


def _look(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.hero_file import look

    return look(project, arguments.words[0], arguments)


def _cutout(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.hero_file import cutout

    return cutout(project, arguments.words[0], arguments)


def _generate(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.candidates import make
    from thumbforge.making.hero import HeroRequest, plan_heroes

    options = arguments.options
    request = HeroRequest(
        video=arguments.words[0],
        count=options["count"],
        playlist=options["playlist"],
        template=options["template"],
        provider=options["provider"],
        seed=options["seed"],
        max_cost=options["max-cost"],
        vars=arguments.vars,
    )
    return make(project, plan_heroes(project, request), arguments)


def _iterate(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.candidates import make
    from thumbforge.making.hero import plan_refinement

    # --from-picked says what a run means anyway.
    [word], options = arguments.words, arguments.options
    planned = plan_refinement(project, word, options["prompt-append"], options["count"], options["max-cost"])
    return make(project, planned, arguments)


def _show(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.candidates import tell

    with _reading(project, arguments.words[0]) as (_, run):
        pass
    return tell(project, run["id"], Exit.DONE, arguments, "")


def _pick(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import write
    from thumbforge.making.hero import pick, save_pick

    word, candidate = arguments.words
    with _reading(project, word) as (_, run):
        pass
    if candidate is None:
        if run["id"].startswith(word):
            raise UsageError("hero pick needs an N", hint=f"thumbforge hero show {word} shows the candidates")
        candidate = word
    with project.ledger() as ledger:
        chosen = pick(ledger, run, candidate)
    to = arguments.options["save"]
    saved = save_pick(project, chosen, to) if to else None
    if arguments.as_json:
        told = {"run": run["id"], "picked": chosen.ordinal, "iteration": chosen.iteration_id, "saved": saved}
        print_json(told)
    elif saved:
        write(f"Candidate {chosen.ordinal} is the pick; its art is {saved}.")
        write(f"For {_series_file(project, run)}, in git with it:")
        write(f"hero: {saved}")
    else:
        write(f"Candidate {chosen.ordinal} is the pick.")
        write(f"Next: thumbforge batch playlist={_list_of(project, run)} hero={run['id'][:8]} reference=raw")
    return Exit.DONE


def _export(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import write
    from thumbforge.making.hero import export_heroes
    from thumbforge.store.heroes import candidates

    [word], to = arguments.words, arguments.options["to"]
    with _reading(project, word) as (database, run):
        found = candidates(database, run)
    if not run["id"].startswith(word):  # an iteration was named
        found = [candidate for candidate in found if candidate.iteration_id.startswith(word)]
    else:
        found = [c for c in found if c.picked] or [c for c in found if c.final]
    if not found:
        short = run["id"][:8]
        raise UsageError(f"run {short} has no picture yet", hint=f"thumbforge hero show {short} tells why")
    paths = export_heroes(project, run["id"], found, project.cwd / to, raw=arguments.options["raw"])
    if arguments.as_json:
        print_json({"run": run["id"], "files": [str(path) for path in paths]})
    for path in [] if arguments.as_json else paths:
        write(str(path))
    return Exit.DONE


def _import(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import write
    from thumbforge.making.record import record_file_hero
    from thumbforge.planning.reference import check_hero, find_hero, hero_remark, keep_hero

    [word] = arguments.words
    hero = find_hero(word, project.cwd, project.lookup(None), "final")
    info = check_hero(hero)
    if remark := hero_remark(info):
        log.warning(remark)
    with project.ledger() as ledger:
        keep_hero(hero, info, project.store)
        record_file_hero(ledger, hero, info)
    if arguments.as_json:
        print_json({"run": hero.run_id, "iteration": hero.iteration_id, "sha256": hero.sha256})
    else:
        write(f"{word} is hero run {hero.run_id[:8]}.")
        write(f"Next: thumbforge batch playlist={_list_of(project, None)} hero={hero.run_id[:8]}")
    return Exit.DONE


def _series_file(project: Project, run: sqlite3.Row) -> str:
    """The series that names this run as its hero, else any."""
    for name in sorted(project.catalog.series_names()):
        with suppress(ThumbforgeError):
            if run["id"].startswith(project.catalog.series(name).hero):
                return f"specs/series/{name}.yaml"
    return "the series"


def _list_of(project: Project, run: sqlite3.Row | None) -> str:
    """The list that a hero run was made for, or the only one there is, as it is typed; `…` where neither is known."""
    with suppress(ThumbforgeError):  # what is wrong with a list is told where it is used
        if run and run["playlist_id"] and (found := project.catalog.find_playlist(run["playlist_id"])):
            return found[0]
    names = project.catalog.playlist_names()
    return names[0] if len(names) == 1 else "…"


@contextmanager
def _reading(project: Project, word: str) -> Iterator[tuple[Database, sqlite3.Row]]:
    """A hero run, by its own id or that of one of its iterations."""
    from thumbforge.store.iterations import runs_of
    from thumbforge.store.views import find_run

    with project.reading() as database:
        if database is None:
            raise NotFound(f"there is no hero run {word}", hint="thumbforge hero generate VIDEO makes one")
        found = runs_of(database, word)
        yield database, find_run(database, found[0] if len(found) == 1 else word)


class Hero(ThumbCommand):
    name = "hero"
    doc_purpose = "make and pick the picture that sets the style of a series"
    doc_description = (
        "RUN is a hero run's id or the start of it, ITERATION that of one candidate. What generate and iterate make "
        "can be gone on with by runs resume, and is a hero for batch: hero=RUN means its pick."
    )
    example = "hero look me.jpg; hero generate dQw4w9WgXcQ --count 4"
    verbs = (
        Verb("list", (), _list, "the pictures of specs/heroes, and the picks of hero runs"),
        Verb(
            "look",
            (Word("FILE", names="hero"),),
            _look,
            "tell what is understood of a picture; writes a sheet of every look and template",
            (Option("to", "the PNG to write", value="FILE"),),
        ),
        Verb(
            "cutout",
            (Word("FILE", names="hero"),),
            _cutout,
            "make the mask that says what of a picture is its subject",
            (
                Option("to", "write a transparent copy there instead of a mask", value="FILE"),
                Option("model", "the model that rembg takes", value="NAME", default="u2net"),
            ),
        ),
        Verb(
            "generate",
            (VIDEO,),
            _generate,
            "make candidates for a video of a playlist",
            (
                _COUNT,
                Option("playlist", "the playlist that the video is looked for in", value="NAME", names="playlist"),
                *SERIES_LOOK,
                Option("seed", "seed of the first candidate, where the provider takes one", whole(0, 10**18 - 1), "N"),
                VAR,
                *_MAKING,
            ),
        ),
        Verb("show", (HERO_RUN_OR_ITERATION,), _show, "the candidates and the pick; writes a contact sheet"),
        Verb(
            "pick",
            (HERO_RUN_OR_ITERATION, Word("N|ITERATION", is_optional=True)),
            _pick,
            "choose a candidate, by its number or its iteration; again, if you like",
            (Option("save", "write its art, without its words, to this file of the project as well", value="FILE"),),
        ),
        Verb(
            "iterate",
            (HERO_RUN_OR_ITERATION,),
            _iterate,
            "make new candidates from the art of the pick, or of that iteration",
            (
                _COUNT,
                Option("prompt-append", "what to add to the prompt", default=""),
                flag("from-picked", "start from the run's pick (what a run means anyway)"),
                *_MAKING,
            ),
        ),
        Verb(
            "export",
            (HERO_RUN_OR_ITERATION,),
            _export,
            "copy the pick, else every candidate that has a picture, or that iteration",
            (
                Option("to", "the directory to copy to", value="DIR", is_required=True),
                flag("raw", "the provider's art, without text"),
            ),
        ),
        Verb("import", (Word("FILE", names="hero"),), _import, "record a picture file as a hero run"),
    )
