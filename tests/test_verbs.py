"""The verb table: what a command line means by it, and what it refuses."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.project import Project
from thumbforge import log
from thumbforge.commands.line.parsing import arguments_of, choose, take_apart
from thumbforge.commands.main import place_of_command
from thumbforge.commands.verbs import EVERYWHERE, Arguments, Verb, all_options
from thumbforge.errors import UsageError

ENTRY_POINTS: dict[str, str] = tomllib.loads(
    (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
)["project"]["entry-points"]["doit.COMMAND"]


def command(name: str) -> Any:
    module, _, attribute = ENTRY_POINTS[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def parse(name: str, *words: str) -> tuple[Verb, Arguments]:
    verbs, default = command(name).verbs, command(name).default
    typed = take_apart(name, verbs, words)
    verb, left = choose(name, verbs, default, typed)
    return verb, arguments_of(name, verbs, verb, typed, left)


@pytest.mark.parametrize("name", sorted(ENTRY_POINTS))
def test_a_name_means_one_thing_to_the_parser(name: str) -> None:
    """An option that several verbs have is written in one way, none hides one of those that stand everywhere, and only
    the last word of a verb may be left out or repeated."""
    verbs = command(name).verbs
    seen = {option.name: option for option in all_options(verbs)}
    for verb in verbs:
        assert len({option.name for option in verb.options}) == len(verb.options)
        for option in verb.options:
            first = seen[option.name]
            assert (option.is_flag, option.short, option.pair) == (first.is_flag, first.short, first.pair)
        assert [word.name for word in verb.words[:-1] if word.is_optional or word.is_repeated] == []
    shorts = [option.short for option in (*seen.values(), *EVERYWHERE) if option.short]
    assert len(set(shorts)) == len(shorts)
    assert not seen.keys() & {option.name for option in EVERYWHERE}


@pytest.mark.parametrize("name", sorted(ENTRY_POINTS))
def test_an_option_is_refused_by_every_verb_that_has_it_not(name: str) -> None:
    """As an option and as a pair, whatever stands besides; the hint says whose it is."""
    verbs = command(name).verbs
    for verb in verbs:
        for option in (option for option in all_options(verbs) if not verb.takes(option)):
            value = [] if option.is_flag else [option.choices[0] if option.choices else "1=1"]
            with pytest.raises(UsageError, match=f"^{name} {verb.name} takes no --{option.name}$") as caught:
                parse(name, verb.name, *("x" for _ in verb.words), f"--{option.name}", *value)
            assert "it belongs to " in caught.value.hint
            if not option.is_flag:
                pair = "var.x=1" if option.name == "var" else f"{option.pair}={value[0]}"
                with pytest.raises(UsageError, match="takes no"):
                    parse(name, verb.name, pair)


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (
            ["hero"],
            "hero needs a verb: list, look, cutout, generate, show, pick, iterate, export, import",
            "thumbforge hero --help",
        ),
        (["hero", "pikc", "x"], "hero does not know 'pikc'", "did you mean thumbforge hero pick?"),
        (["hero", "pick", "r", "2", "3"], "hero pick does not know what to do with '3'", "thumbforge hero pick RUN"),
        (["hero", "export", "r"], "hero export needs --to DIR", "--to DIR: the directory to copy to"),
        (["hero", "generate", "v", "--count", "none"], "--count none: expected a whole number from 1", ""),
        (["hero", "generate", "v", "count=0"], "count=0: expected a whole number from 1", ""),
        (["runs", "list", "--status", "gone"], "--status gone: expected pending, running, paused, completed, ", ""),
        (["runs", "list", "--limit", "3", "limit=4"], "limit is given twice: '3' and '4'", ""),
        (["runs", "show", "r", "--limit"], "option --limit requires argument", "thumbforge runs --help"),
        (["takes", "use", "7", "two"], "takes use: 'two' is no N: expected a whole number from 0", ""),
        (["prune", "--keep", "-1"], "--keep -1: expected a whole number from 0", ""),
        (["init", "x", "--json"], "init takes no --json", ""),
        (["config", "show", "var.x=1"], "config show takes no variables", ""),
        (["batch", "--dryrun"], "batch takes no --dryrun", "did you mean --dry-run?"),
        (["batch", "-z"], "batch takes no -z", "thumbforge batch --help"),
    ],
)
def test_what_the_table_has_not_is_refused(words: list[str], message: str, hint: str) -> None:
    """With what is allowed instead."""
    with pytest.raises(UsageError) as caught:
        parse(*words)
    assert caught.value.message.startswith(message)
    assert hint in caught.value.hint


def test_a_value_is_read_whether_it_was_typed_as_option_or_pair() -> None:
    """One meaning, with the default where nothing was said."""
    _, as_option = parse("hero", "generate", "v", "--count", "3", "--seed=7")
    _, as_pair = parse("hero", "seed=7", "generate", "count=3", "v")
    assert as_option == as_pair
    assert (as_pair.words, as_pair.options["count"], as_pair.options["template"]) == (["v"], 3, None)
    assert as_pair.given == {"count": 3, "seed": 7}


@given(st.permutations(["list", "--status", "--json", "--limit=7", "kind=batch"]))
def test_options_stand_anywhere(words: list[str]) -> None:
    """Before, between and behind the words, in any order."""
    words = [part for word in words for part in ([word, "paused"] if word == "--status" else [word])]
    verb, arguments = parse("runs", *words)
    assert verb.name == "list"
    assert arguments.options == {"kind": "batch", "status": "paused", "limit": 7, "json": True}


@pytest.mark.parametrize(
    ("words", "at"),
    [
        (["batch"], 0),
        (["--json", "batch", "series=x"], 1),
        (["-v", "--no-color", "batch"], 2),
        (["--config", "batch", "batch"], 2),
        (["--template", "runs", "batch"], 2),
        (["series=x", "https://x.test/?list=PL", "batch"], 2),
        (["-f", "dodo.py", "list"], 2),
        (["thumb:x", "batch"], None),
        (["-n", "4", "thumb:x"], None),
        ([], None),
    ],
)
def test_the_command_is_found_behind_options_and_pairs(words: list[str], at: int | None) -> None:
    """A value that is called as a command is is no command; behind a task's name stand tasks."""
    from doit.doit_cmd import DoitMain

    assert place_of_command(words, DoitMain(config_filenames=()).get_cmds()) == at


def test_a_verb_without_its_word_names_what_there_is(finished: Project) -> None:
    """The newest run, the playlists, the videos; where there is none yet, that."""
    newest = finished.query("SELECT id FROM run WHERE kind = 'batch'")[0]["id"][:8]
    told = finished.run("runs", "show")
    assert (told.code, told.err.splitlines()[0]) == (2, f"usage: runs show needs a RUN; the newest is {newest}")
    assert finished.run("playlist", "show").err.startswith("usage: playlist show needs a NAME; there is show\n")
    assert "there are video-00001, video-00002" in finished.run("hero", "generate").err
    assert finished.run("takes", "list").err.startswith("usage: takes list needs an ITEM\n")


def test_options_before_the_command_hold(finished: Project, tmp_path: Path) -> None:
    """--json, --config, -v and --quiet, before or behind it; doit's own commands take --config and --no-color."""
    own = tmp_path / "own.toml"
    own.write_text("[batch]\nmax_retries = 7\n", encoding="utf-8")
    for words in (["--json", "--config", str(own), "config", "show"], ["config", "--config", str(own), "--json"]):
        shown = {row["name"]: row for row in finished.run(*words).document["settings"]}
        found = shown["batch.max_retries"]
        assert (found["value"], found["origin"], shown["output.width"]["value"]) == (7, "own.toml", 1920)
    missing = finished.run("--config", "nope.toml", "runs")
    assert (missing.code, missing.err.splitlines()[0]) == (3, "not_found: there is no settings file nope.toml")
    assert finished.run("--no-color", "list", "--all").out.count("thumb:show:") == 12
    assert finished.run("-q", "-v", "runs").code == 2


def test_quiet_leaves_errors_alone_on_stderr(project: Project) -> None:
    """No line for each item and no warning, but the error of a batch that cannot be."""
    told = project.run("--quiet", "batch", "series=show")
    assert (told.code, told.err, "3 made" in told.out) == (0, "", True)
    assert project.run("-q", "batch", "series=none").err.startswith("not_found: ")


def test_a_level_that_was_asked_for_goes_before_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before and after a command sets its own."""
    monkeypatch.setattr(log, "_sinks", log._Sinks())
    log.insist("error")
    log.configure(level="debug", file=None)
    assert log.is_quiet()
