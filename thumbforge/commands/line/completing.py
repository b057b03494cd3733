"""What may come next on a command line: commands, verbs, options and their values, and the names a project holds.

All of it is read from the verb table, so there is one answer for every shell; the shells' scripts are in `completion`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thumbforge.commands.command import ThumbCommand
from thumbforge.commands.verbs import EVERYWHERE, Verb, Word, all_options
from thumbforge.errors import ThumbforgeError
from thumbforge.tasks.options import Option
from thumbforge.text import one_line

if TYPE_CHECKING:
    from thumbforge.planning.project import Project
    from thumbforge.specs.catalog import LoadedPlaylist

MOST = 200
"""Names of one kind that are offered: nobody reads more."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A whole word that may stand where the last one is; `help` is a few words on it, "" for none."""

    text: str
    help: str = ""


def complete(
    words: Sequence[str], commands: Mapping[str, type[ThumbCommand]], of_doit: Mapping[str, str], project: Project
) -> list[Candidate]:
    """What the last of `words` may be, which may be empty or a beginning; the tool's own name is not among them.

    `of_doit` are doit's commands with a line on each. A project that cannot be read has no names.
    """
    *before, current = words
    name = next((word for word in before if word in commands or word in of_doit), None)
    if name is None:
        found = [*(Candidate(known, commands[known].doc_purpose) for known in commands), *_of(of_doit)]
    elif name in of_doit:
        found = list(_tasks(project)) if current else [Candidate("thumb:", "an item")]
    else:
        found = list(_in_command(commands[name], before[before.index(name) + 1 :], current, project))
    return [candidate for candidate in found if candidate.text.startswith(current)]


def _of(commands: Mapping[str, str]) -> Iterator[Candidate]:
    return (Candidate(name, says) for name, says in commands.items())


def _in_command(
    command: type[ThumbCommand], before: Sequence[str], current: str, project: Project
) -> Iterator[Candidate]:
    options = {option.name: option for option in (*all_options(command.verbs), *EVERYWHERE)}
    short = {option.short: option for option in options.values() if option.short}
    plain, said = _read(before, options, short)
    last = before[-1] if before else ""
    waiting = options.get(last[2:]) if last.startswith("--") else short.get(last[1:]) if last[:1] == "-" else None
    if waiting and not waiting.is_flag:
        yield from _values(waiting, said, project)
        return
    name, equals, _ = current.partition("=")
    named = name[2:] if name.startswith("--") else name
    if equals and (option := options.get(named.replace("_", "-"))):
        yield from (Candidate(f"{name}={value.text}", value.help) for value in _values(option, said, project))
        return
    verb = _verb(command, plain)
    if current.startswith("-"):
        taken = (*(verb.options if verb else all_options(command.verbs)), *EVERYWHERE)
        yield from (Candidate(f"--{option.name}", option.help) for option in taken)
    elif command.verbs[0].name and not plain:
        yield from (Candidate(each.name, each.help) for each in command.verbs)
    elif verb:
        yield from _operands(verb, plain[1:] if verb.name else plain, said, project)
        yield from (Candidate(f"{option.pair}=", option.help) for option in verb.options if option.names)


def _read(
    words: Sequence[str], options: Mapping[str, Option], short: Mapping[str, Option]
) -> tuple[list[str], dict[str, str]]:
    """The words that are neither option nor value nor pair, and the values of options and pairs by pair name."""
    plain: list[str] = []
    said: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word.startswith("-"):
            option = options.get(name[2:].replace("_", "-")) if name.startswith("--") else short.get(name[1:])
            if option and not option.is_flag:
                said[option.pair] = value if equals else next(rest, "")
        elif equals and name.isidentifier():
            said[name] = value
        else:
            plain.append(word)
    return plain, said


def _verb(command: type[ThumbCommand], plain: Sequence[str]) -> Verb | None:
    if not command.verbs[0].name:
        return command.verbs[0]
    return next((verb for verb in command.verbs if plain and verb.name == plain[0]), None)


def _operands(verb: Verb, given: Sequence[str], said: Mapping[str, str], project: Project) -> Iterator[Candidate]:
    word: Word | None = verb.words[len(given)] if len(given) < len(verb.words) else None
    if word is None and verb.words and verb.words[-1].is_repeated:
        word = verb.words[-1]
    if word and word.names:
        yield from _named(word.names, said, project)


def _values(option: Option, said: Mapping[str, str], project: Project) -> Iterator[Candidate]:
    if option.choices:
        return (Candidate(value) for value in option.choices)
    if option.value == "yes|no":
        return (Candidate(value) for value in ("yes", "no"))
    return _named(option.names, said, project) if option.names else iter(())


def _named(kind: str, said: Mapping[str, str], project: Project) -> Iterator[Candidate]:
    found = KINDS[kind](project, said)
    with suppress(ThumbforgeError):
        for _, candidate in zip(range(MOST), found, strict=False):
            yield candidate


# What a project holds, by kind: each is given the project and what else was said.


def _series(project: Project, said: Mapping[str, str]) -> Iterator[Candidate]:
    yield from map(Candidate, project.catalog.series_names())


def _playlists(project: Project, said: Mapping[str, str]) -> Iterator[Candidate]:
    yield from map(Candidate, project.catalog.playlist_names())


def _heroes(project: Project, said: Mapping[str, str]) -> Iterator[Candidate]:
    from thumbforge.planning.hero_files import hero_files

    for path in hero_files(project.root):
        yield Candidate(path.stem, "specs/heroes")
    yield from _runs_of(project, "hero", "iterate")


def _templates(project: Project, said: Mapping[str, str]) -> Iterator[Candidate]:
    yield from map(Candidate, project.catalog.template_names())


def _providers(project: Project, said: Mapping[str, str]) -> Iterator[Candidate]:
    yield from map(Candidate, project.catalog.profile_names())


def _runs(project: Project, said: Mapping[str, str]) -> Iterator[Candidate]:
    yield from _runs_of(project, None)


def _hero_runs(project: Project, said: Mapping[str, str]) -> Iterator[Candidate]:
    yield from _runs_of(project, "hero", "iterate")


def _runs_of(project: Project, *kinds: str | None) -> Iterator[Candidate]:
    from thumbforge.store.views import list_runs

    with project.reading() as database:
        if database is None:
            return
        for kind in kinds:
            for run in list_runs(database, kind=kind, status=None, limit=20):
                yield Candidate(run["id"][:8], f"{run['kind']}, {run['status']}")


def _lists(project: Project, said: Mapping[str, str]) -> Iterator[LoadedPlaylist]:
    """The list of the series or playlist that was named; where none was, all of them."""
    catalog = project.catalog
    named = said.get("playlist", "")
    if said.get("series"):
        named = catalog.series(said["series"]).playlist
    for name in (named,) if named else catalog.playlist_names():
        if hit := catalog.find_playlist(name):
            yield catalog.load_playlist(hit[1])


def _parts(project: Project, said: Mapping[str, str]) -> Iterator[Candidate]:
    for loaded in _lists(project, said):
        for item in loaded.spec.items:
            if item.part is not None and not item.removed:
                yield Candidate(str(item.part), one_line(item.title, 60))


def _only(project: Project, said: Mapping[str, str]) -> Iterator[Candidate]:
    yield Candidate("failed", "those that failed")
    yield Candidate("changed", "those that have changed since their last picture")
    yield from _parts(project, said)


def _videos(project: Project, said: Mapping[str, str]) -> Iterator[Candidate]:
    for loaded in _lists(project, said):
        for item in loaded.spec.items:
            if not item.removed:
                yield Candidate(item.video, one_line(item.title, 60))


def _items(project: Project, said: Mapping[str, str]) -> Iterator[Candidate]:
    yield from _parts(project, said)
    yield from _videos(project, said)


def _tasks(project: Project) -> Iterator[Candidate]:
    with suppress(ThumbforgeError):
        for name in project.catalog.series_names():
            for candidate in _videos(project, {"series": name}):
                yield Candidate(f"thumb:{name}:{candidate.text}", candidate.help)


KINDS: Mapping[str, Callable[[Project, Mapping[str, str]], Iterator[Candidate]]] = {
    "series": _series,
    "playlist": _playlists,
    "hero": _heroes,
    "template": _templates,
    "provider": _providers,
    "run": _runs,
    "hero run": _hero_runs,
    "only": _only,
    "video": _videos,
    "item": _items,
}
"""Every `names` that an option or an operand may have."""
