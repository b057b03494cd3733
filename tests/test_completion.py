"""Shell completion and help: every command is there, whole, and in a form that a shell can read."""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.project import Project, item, make_hero, video
from thumbforge.commands.line.completing import KINDS
from thumbforge.commands.line.parsing import arguments_of, choose, take_apart
from thumbforge.commands.verbs import EVERYWHERE

ENTRY_POINTS = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "entry-points"
]["doit.COMMAND"]
COMMANDS = sorted(ENTRY_POINTS)
# A line is completed as bash does it; `thumbforge` is the one of these sources.
BASH = """
thumbforge() { "$PYTHON" -m thumbforge.commands.main "$@"; }
complete() { :; }
compopt() { printf '%s ' compopt "$@"; echo; }
source "$1"
COMP_LINE=$2 COMP_POINT=${#2}
_thumbforge
printf '%s\\n' "${COMPREPLY[@]}"
"""


def command(name: str) -> Any:
    module, _, attribute = ENTRY_POINTS[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def completed(project: Project, line: str, shell: str = "bash") -> list[str]:
    """What stands behind TAB at the end of a line."""
    words = [line] if shell == "bash" else line.split(" ")
    told = project.run("tabcompletion", "--complete", shell, *words)
    assert (told.code, told.err) == (0, "")
    return told.out.splitlines()


def test_commands_verbs_and_options_are_completed(project: Project) -> None:
    """Every one of the verb table, and of an option what it may be; nothing that the verb does not take."""
    assert set(COMMANDS) < set(completed(project, "thumbforge "))
    assert (completed(project, "thumbforge templ"), completed(project, "thumbforge conf")) == (["template"], ["config"])
    for name in COMMANDS:
        verbs = [verb.name for verb in command(name).verbs if verb.name]
        assert verbs == [] or completed(project, f"thumbforge {name} ") == verbs
        for verb in command(name).verbs:
            found = completed(project, f"thumbforge {name} {verb.name} --".replace("  ", " "))
            assert found == [f"--{option.name}" for option in (*verb.options, *EVERYWHERE)]
    assert completed(project, "thumbforge --json hero pi") == ["pick"]
    assert completed(project, "thumbforge runs list --status pa") == ["paused"]
    assert completed(project, "thumbforge batch retake=") == ["yes", "no"]
    assert completed(project, "thumbforge -d . config ") == ["show", "path"]


def test_names_that_the_project_holds_are_completed(project: Project) -> None:
    """Series, playlists, heroes, templates, providers and parts: as an option, a pair and a word."""
    project.playlist([item(1, title="One"), item(2, part=None), item(3)])
    make_hero(project.root / "specs/heroes/my hero.png")
    assert completed(project, "thumbforge batch series=") == ["show"]
    assert completed(project, "thumbforge batch --series s") == ["show"]
    assert completed(project, "thumbforge batch --series=s") == ["show"]
    assert completed(project, "thumbforge series show ") == ["show"]
    assert completed(project, "thumbforge playlist show ") == ["show"]
    assert completed(project, "thumbforge batch hero=") == ["hero", "'my hero'"]
    assert completed(project, "thumbforge batch hero=my") == ["'my hero'"]
    assert completed(project, "thumbforge batch 'template=pla") == ["plain"]
    assert completed(project, "thumbforge hero generate x --provider f") == ["fake"]
    assert completed(project, "thumbforge batch series=show only=") == ["failed", "changed", "1", "3"]
    assert completed(project, "thumbforge takes list ")[:3] == ["1", "3", video(1)]
    assert completed(project, "thumbforge list thumb:show:video-00003") == ["video-00003"]
    assert "series=" in completed(project, "thumbforge batch s")
    fish = completed(project, "thumbforge batch series=show only=1", "fish")
    assert fish == ["only=1\tOne"]


def test_runs_are_completed_where_a_run_is_meant(finished: Project) -> None:
    """By the start of their ids; hero runs for heroes."""
    [run] = finished.query("SELECT id FROM run WHERE kind = 'batch'")
    assert run["id"][:8] in completed(finished, "thumbforge runs show ")
    assert run["id"][:8] not in completed(finished, "thumbforge hero pick ")


@pytest.mark.parametrize("line", ["", "thumbforge batch 'x", 'thumbforge batch "', "thumbforge nix ", "x y z --"])
def test_a_line_that_means_nothing_is_no_error(line: str, project: Project) -> None:
    """Half a quote, an unknown command, a project whose specs are broken: a shell has nobody to tell it to."""
    project.write("specs/series/broken.yaml", "- [")
    for shell in ("bash", "zsh", "fish"):
        completed(project, line, shell)


def test_every_kind_of_name_is_known(project: Project) -> None:
    """What an option or an operand says that it names can be looked up."""
    said = {
        each.names
        for name in COMMANDS
        for verb in command(name).verbs
        for each in (*verb.words, *verb.options)
        if each.names
    }
    assert said == KINDS.keys()


def script(project: Project, shell: str) -> Path:
    path = project.root / f"completion.{shell}"
    path.write_text(project.run("tabcompletion", "--shell", shell).out, encoding="utf-8")
    return path


def test_bash_puts_the_answer_where_the_cursor_is(project: Project) -> None:
    """The script itself, in bash: a whole word, and one behind the = at which bash breaks words."""
    path = script(project, "bash")

    def answered(line: str) -> list[str]:
        told = subprocess.run(
            ["bash", "-c", BASH, "bash", str(path), line],
            cwd=project.root,
            env={**project.environment(), "PYTHON": sys.executable},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert told.stderr == ""
        return told.stdout.splitlines()

    assert answered("thumbforge hero pi") == ["pick"]
    assert answered("thumbforge batch series=") == ["show"]
    assert answered("thumbforge batch ser") == ["compopt -o nospace ", "series="]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_read_its_script(shell: str, project: Project) -> None:
    """Where it is installed, it finds nothing wrong; the script asks for its own shell."""
    path = script(project, shell)
    assert f"tabcompletion --complete {shell}" in path.read_text(encoding="utf-8")
    if found := shutil.which(shell):
        assert subprocess.run([found, "-n", str(path)], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_of_a_command_is_whole(name: str) -> None:
    """Purpose, description, an example that parses, a sentence for each verb and option, and all of it in the help."""
    cls = command(name)
    shown = " ".join(cls().help().split())
    assert cls.name == name
    assert cls.doc_purpose
    assert "\n" not in cls.doc_purpose
    assert "'" not in cls.doc_purpose  # doit's own script for zsh has it between single quotes
    assert cls.doc_description
    assert all(verb.help and f"doit {name} {verb.usage}".rstrip() in shown for verb in cls.verbs)
    assert all(option.help for option in cls.every_option())
    assert all(option.written in shown for option in cls.every_option())
    assert len(cls.example.split("; ")) > 1
    for example in cls.example.split("; "):
        first, *words = shlex.split(example)
        typed = take_apart(name, cls.verbs, words)
        verb, left = choose(name, cls.verbs, cls.default, typed)
        assert (first, verb.missing(left)) == (name, None)
        arguments_of(name, cls.verbs, verb, typed, left)


def test_help_lists_every_command(project: Project) -> None:
    """`thumbforge help` has a line for each, and `help NAME` shows its usage."""
    listed = project.run("help")
    for name in COMMANDS:
        assert re.search(rf"^  thumbforge {name} +{re.escape(command(name).doc_purpose)}$", listed.out, re.MULTILINE)
    told = project.run("help", "template")
    assert told.code == 0
    assert [verb for verb in command("template").verbs if f"thumbforge template {verb.usage}" not in told.out] == []
    one = project.run("hero", "pick", "--help")
    assert (one.code, "N|ITERATION" in one.out, "--count" in one.out) == (0, True, False)
