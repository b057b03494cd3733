"""`series new`: from a link or a file and a picture to a series in one line, and with --batch to its pictures."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from thumbforge import log
from thumbforge.commands.command import print_json
from thumbforge.errors import Exit, UsageError
from thumbforge.spoken import spoken
from thumbforge.text import counted, one_line

if TYPE_CHECKING:
    from thumbforge.commands.verbs import Arguments
    from thumbforge.models import PlaylistHead
    from thumbforge.planning.project import Project
    from thumbforge.planning.reference import Hero
    from thumbforge.playlists.fetch import FetchOutcome

_ORIGINS = {"from-title": "as the titles say", "source": "as the file says"}
Tell = Callable[[str, str], None]


def new(project: Project, arguments: Arguments) -> int:
    """Whatever can be wrong is found out before a source is asked; whatever is there already stays as it is."""
    from thumbforge.commands.fetch import bring, configure_logging, stoppable
    from thumbforge.commands.init import lay
    from thumbforge.playlists.fetch import FetchRequest, target_of
    from thumbforge.playlists.series_file import slug

    options, tell = _with_look(project, arguments), _teller(to_stderr=arguments.as_json)
    configure_logging(project)
    hero = _usable_hero(project, options["hero"], remarks=not options["batch"])
    _check_look(project, options)

    def name_of(head: PlaylistHead) -> str:
        return options["name"] or slug(head.title)

    request = FetchRequest(arguments.words[0], options["source"], numbering="proposed", name_of=name_of)
    target_of(request, project.cwd)
    is_project = (project.root / "dodo.py").is_file() or (project.root / "specs").is_dir()
    with stoppable():
        outcome = bring(project, request)
    tell("fetched", _counted(outcome))
    if not is_project:
        tell("project", f"made here: {', '.join(name for name, _ in lay(project.root))}, specs/")
    tell("playlist", f"specs/playlists/{outcome.path.name}")
    tell("parts", _parts(outcome))
    project = type(project)(project.root, project.cwd)  # what was read of its specs is out of date
    name = name_of(outcome.playlist.playlist) or outcome.name
    _write(project, name, outcome, hero, options, tell)
    return _batch(project, name, arguments) if options["batch"] else _end(project, name, outcome, arguments)


def _teller(*, to_stderr: bool) -> Tell:
    """Each step in a line as it is done; on stderr where stdout is for a document."""
    stream = sys.stderr if to_stderr else sys.stdout

    def tell(what: str, text: str) -> None:
        stream.write(spoken(f"{what:<9} {one_line(text)}") + "\n")
        stream.flush()

    return tell


def _usable_hero(project: Project, word: str, *, remarks: bool) -> Hero:
    """Raises what `find_hero` and `check_hero` do. A batch makes the remarks itself."""
    from thumbforge.planning.reference import check_hero, find_hero, hero_remark

    with project.reading() as database:
        hero = find_hero(word, project.cwd, project.lookup(database), "final")
    remark = hero_remark(check_hero(hero))
    if remark and remarks:
        log.warning(remark)
    return hero


def _with_look(project: Project, arguments: Arguments) -> dict[str, Any]:
    """The options, with template and provider as the settings have them where nothing was said."""
    said = arguments.options
    return {
        **said,
        **{name: said[name] or project.settings.text(f"series.{name}") for name in ("template", "provider")},
    }


def _check_look(project: Project, options: Mapping[str, Any]) -> None:
    """Template and provider are there; what costs money is not made without a word on how much."""
    from thumbforge.planning.prices import ceiling, costs_money
    from thumbforge.planning.series import find_profile

    project.catalog.template(options["template"])
    profile = find_profile(project.catalog, options["provider"])
    most = ceiling(options["max-cost"], None, project.settings, profile)
    if options["batch"] and most is None and costs_money(profile):
        raise UsageError(
            f"provider {profile.name} costs money: --batch needs --max-cost",
            hint="--max-cost 2.50 is the most that may be spent; without --batch nothing is, and the next step is told",
        )


def _counted(outcome: FetchOutcome) -> str:
    head, items = outcome.playlist.playlist, outcome.playlist.items
    fresh = ", fetched less than 24 hours ago" if outcome.is_fresh else ""
    return f"{head.title or head.id}, {counted(sum(not item.removed for item in items), 'video')}{fresh}"


def _parts(outcome: FetchOutcome) -> str:
    """Which there are, and why these."""
    items = [item for item in outcome.playlist.items if not item.removed]
    parts = [item.part for item in items if item.part is not None]
    if not parts:
        return "none"
    origin = _ORIGINS.get(outcome.numbering, "by place") if outcome.is_new else "as they were"
    without = [item.title for item in items if item.part is None]
    left = f"; {len(without)} without: {one_line(without[0], 30)}{', …' if without[1:] else ''}" if without else ""
    return f"{min(parts)}-{max(parts)} {origin}{left}"


def _write(
    project: Project, name: str, outcome: FetchOutcome, hero: Hero, options: Mapping[str, Any], tell: Tell
) -> None:
    """The series file, unless one is there that says the same. Raises UsageError where it says something else."""
    from thumbforge.models import SeriesSpec
    from thumbforge.playlists.series_file import is_same, place_hero, write_series

    file = f"specs/series/{name}.yaml"
    wanted = SeriesSpec(
        playlist=outcome.name, hero=options["hero"], template=options["template"], provider=options["provider"]
    )
    if name in project.catalog.series_names():
        names = {outcome.name, outcome.playlist.playlist.id}
        if not is_same(project.catalog.series(name), wanted, names, hero, project.root):
            hint = f"add --name {name}-2; or thumbforge batch series={name} makes the one that is there"
            raise UsageError(f"{file} is another series", hint=hint)
        tell("series", f"{file}, which was there and stays as it is")
        return
    if hero.from_file:
        placed = place_hero(hero.path, project.root, name)
        wanted = wanted.model_copy(update={"hero": placed.path})
        tell("hero", f"{placed.path}{f', a copy of {hero.path.name}' if placed.is_copy else ''}")
    write_series(project.root, name, wanted)
    tell("series", file)


def _end(project: Project, name: str, outcome: FetchOutcome, arguments: Arguments) -> int:
    """What comes next, with what it would cost."""
    from thumbforge.commands.telling.running import standing_of
    from thumbforge.commands.telling.series import described
    from thumbforge.commands.telling.view import write

    project = type(project)(project.root, project.cwd)
    standing = standing_of(project, name)
    if arguments.as_json:
        print_json({**described(project, standing), "exit_code": Exit.DONE})
        return Exit.DONE
    cost = f"{counted(standing.calls, 'call')} of provider {standing.planned.series.profile.name}"
    if standing.calls and standing.price:
        cost += f", about {standing.price['amount']} {standing.price['currency']}"
    write("")
    if standing.calls:
        write(f"It takes {cost}.")
    if outcome.is_new:
        write(f"Other parts: thumbforge playlist renumber {outcome.name} --help")
    write(f"Next: {standing.next}" if standing.next else "Everything is up to date.")
    return Exit.DONE


def _batch(project: Project, name: str, arguments: Arguments) -> int:
    """The pictures, as `batch series=NAME` makes them."""
    from thumbforge.commands.batch import Batch

    [verb] = Batch.verbs
    given = {"series": name} | {n: arguments.given[n] for n in ("max_cost", "concurrency") if n in arguments.given}
    if not arguments.as_json:
        sys.stdout.write("\n")
    return verb.run(type(project)(project.root, project.cwd), verb.told(as_json=arguments.as_json, **given))
