"""Each command with each kind of wrong word: one error in our words, and a hint that can be pasted and works."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest

from tests.project import Project, Told, make_project
from tests.test_docs_reference import commands
from thumbforge.commands.line.overview import ITS_OWN
from thumbforge.commands.verbs import Verb, all_options
from thumbforge.tasks.options import Option

Case = tuple[str, ...]
FOREIGN = re.compile(r"Traceback|CmdOption|args=\[|kwargs=|pydoit|\b[A-Z][a-z]+[A-Z][a-z]\w+|<class|object at 0x")
"""doit's page and insides, a traceback, and whatever looks like the name of a class."""
OURS = re.compile(r"YouTube|GitHub")
PLACEHOLDER = re.compile(r"\b[A-Z]{1,}(\b|\|)|…|\[")
LOOKS = frozenset({"status", "check", "list", "show", "help", "--help", "info", "path"})
"""Words that make a command of ours one that changes nothing."""
NAMED = {"series", "playlist", "hero", "template", "provider", "run", "hero run", "video", "item"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("wrong") / "project", 3)
    assert project.batch().code == 0
    return project


def words_of(verb: Verb) -> list[str]:
    """Operands that may stand there, as far as the table tells."""
    given = {"series": "show", "playlist": "show", "template": "plain", "provider": "fake", "video": "video-00001"}
    return [given.get(word.names, "1") for word in verb.words if not word.is_optional]


def bad_value(option: Option) -> str:
    """A value that the option refuses, "" for a text that may be anything."""
    try:
        option.take("?!", "")
    except Exception:
        return "?!"
    return ""


def unknown_words() -> Iterator[Case]:
    """Of commands, verbs and options: a slip of one that there is, and nothing like it."""
    yield from (
        ("bacth",),
        ("xyzzy",),
        ("help", "bacth"),
        ("help", "xyzzy"),
        ("xyzzy", "--json"),
        ("series=show", "seris"),
    )
    for name, command in commands().items():
        yield name, "--jsno"
        yield name, "--xyzzy"
        yield name, "-z"
        if command.verbs[0].name:
            yield name, "xyzzy"
            yield name, f"{command.verbs[0].name}x"
            if not command.default:
                yield (name,)
    for name in ITS_OWN:
        yield name, "--xyzzy"


def wrong_operands() -> Iterator[Case]:
    """Missing, one too many, or a name that nothing has."""
    for name, command in commands().items():
        for verb in command.verbs:
            here = [name, verb.name] if verb.name else [name]
            needed = _needed(verb)
            if any(not word.is_optional for word in verb.words):
                yield (*here, *needed)
            if not (verb.words and verb.words[-1].is_repeated):
                many = ["1"] * len(verb.words)
                yield (*here, *many, "more", *needed)
            for at, word in enumerate(verb.words):
                if word.names in NAMED:
                    given = words_of(verb)
                    yield (*here, *given[:at], "nosuch", *given[at + 1 :], *needed)
    yield from (
        ("list", "nosuch"),
        ("info", "nosuch"),
        ("info",),
        ("clean", "nosuch"),
        ("forget", "nosuch"),
        ("ignore",),
    )


def wrong_values() -> Iterator[Case]:
    """Of every option that takes not just any text, as option and pair; of those that name something, no such name."""
    for name, command in commands().items():
        for verb in command.verbs:
            here = (name, verb.name) if verb.name else (name,)
            words = (*here, *words_of(verb))
            for option in (option for option in verb.options if not option.is_flag and option.name != "var"):
                needed = [word for word in _needed(verb) if not word.startswith(f"--{option.name}=")]
                if bad := bad_value(option):
                    yield (*words, f"--{option.name}", bad, *needed)
                    yield (*words, f"{option.pair}={bad}", *needed)
    yield from (
        ("batch", "series=show", "dry_run=yes"),
        ("batch", "series="),
        ("batch",),
        ("takes", "use", "1", "7", "series=show"),
    )
    for option in ("template", "provider", "hero"):
        yield "batch", "series=show", f"{option}=nosuch"
    yield from (
        ("batch", "series=nosuch"),
        ("batch", "nosuch"),
        ("batch", "https://youtu.be/playlist?list=PLnosuch00000000&si=x"),
    )
    yield from (
        ("batch", "series=show", "only=99"),
        ("batch", "series=show", "only=x"),
        ("takes", "list", "99", "series=show"),
    )
    yield from (
        ("runs", "show", "ffff"),
        ("hero", "pick", "ffff", "1"),
    )


def _needed(verb: Verb) -> list[str]:
    return [
        f"--{option.name}={option.choices[0] if option.choices else '1'}"
        for option in verb.options
        if option.is_required
    ]


KINDS = {"unknown words": unknown_words, "operands": wrong_operands, "values": wrong_values}


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_word_is_told_in_our_words_with_a_hint_that_works(kind: str, project: Project) -> None:
    """Exit 2 or 3, nothing on stdout, `code: message` and a hint, nothing foreign; what the hint has to type works."""
    pasted: dict[str, Told] = {}
    for case in dict.fromkeys(KINDS[kind]()):
        told = project.run(*case)
        assert told.code in {2, 3}, (case, told)
        assert told.out == "", (case, told.out)
        lines = [line for line in told.err.splitlines() if not re.match(r"\d\d:\d\d:\d\d ", line)]
        if "--json" in case:
            continue
        assert re.match(r"(usage|not_found|spec_invalid): \S", lines[0]), (case, told.err)
        assert not FOREIGN.search(OURS.sub("", told.err)), (case, told.err)
        assert lines[-1].startswith("hint: "), (case, told.err)
        for command in typed_in(lines[-1]):
            if command not in pasted:
                pasted[command] = project.run(*shlex.split(command))
                is_begun = "did you mean" in lines[-1] and re.search(" needs an? ", pasted[command].err)
                assert pasted[command].code == 0 or is_begun, (case, lines[-1], pasted[command])
    assert project.calls == 3


def typed_in(hint: str) -> Iterator[str]:
    """The commands in a hint that have no placeholder and change nothing, without the tool's name."""
    for found in re.findall(r"thumbforge ((?:'[^']*'|[^;,?()'])+)", hint):
        words: list[str] = []
        for word in shlex.split(found):
            if PLACEHOLDER.search(word) or word in {"or", "shows", "makes", "lists", "tells", "brings"}:
                break
            words.append(word)
        if not PLACEHOLDER.search(found.split(" shows")[0]) and set(words) & LOOKS:
            yield shlex.join(words)


def test_the_hints_are_read_as_a_user_reads_them() -> None:
    """Commands alone, in quotes where a shell needs them; a usage with placeholders is none."""
    assert list(typed_in("thumbforge hero pick RUN N; thumbforge hero pick --help shows all")) == ["hero pick --help"]
    hint = "thumbforge help lists the commands; thumbforge list --all shows the tasks"
    assert list(typed_in(hint)) == ["help", "list --all"]
    assert list(typed_in("did you mean thumbforge status?")) == ["status"]


def test_every_option_that_names_something_is_tried() -> None:
    """The kinds of names that the table knows are the ones that the cases leave out or try."""
    named = {option.names for command in commands().values() for option in all_options(command.verbs)} - {""}
    assert named <= NAMED | {"only"}
