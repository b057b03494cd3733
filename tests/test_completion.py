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

from tests.project import Project
from thumbforge.commands.line.parsing import arguments_of, choose, take_apart

ENTRY_POINTS = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "entry-points"
]["doit.COMMAND"]
COMMANDS = sorted(ENTRY_POINTS)
UNSAFE = re.compile(r"[`$\\]")
"""What a shell would act on inside the double quotes that doit writes an option's help in."""

# What bash-completion brings, as far as the script needs it.
BASH = """
_get_comp_words_by_ref() {
    words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}
}
__ltrim_colon_completions() { :; }
source "$1"
COMP_WORDS=(thumbforge "${@:2}"); COMP_CWORD=$(($# - 1))
thumbforge() { echo thumb; }
_thumbforge
printf '%s\\n' "${COMPREPLY[@]}"
"""


def command(name: str) -> Any:
    module, _, attribute = ENTRY_POINTS[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def script(project: Project, shell: str) -> Path:
    """What `thumbforge tabcompletion` prints where it is installed under that name."""
    code = "import sys; sys.argv[0] = 'thumbforge'; from thumbforge.commands.main import main; sys.exit(main())"
    words = [sys.executable, "-W", "error", "-c", code, "tabcompletion", "--shell", shell]
    told = subprocess.run(
        words, cwd=project.root, env=project.environment(), capture_output=True, text=True, check=True
    )
    assert told.stderr == ""
    path = project.root / f"completion.{shell}"
    path.write_text(told.stdout, encoding="utf-8")
    return path


def test_bash_completes_every_command(project: Project) -> None:
    """Commands and tasks, then the verbs of a command, the options of the verb, values that are few, and files."""
    path = script(project, "bash")

    def completed(*words: str) -> list[str]:
        line = ["bash", "-c", BASH, "bash", str(path), *words]
        told = subprocess.run(line, cwd=project.root, capture_output=True, text=True, check=True, timeout=30)
        assert told.stderr == ""
        return told.stdout.split()

    assert set(COMMANDS) <= set(completed(""))
    assert "thumb" in completed("")
    assert (completed("templ"), completed("conf")) == (["template"], ["config"])
    for name in COMMANDS:
        verbs = [verb.name for verb in command(name).verbs if verb.name]
        assert verbs == [] or completed(name, "") == verbs
    assert completed("hero", "pi") == ["pick"]
    assert completed("runs", "list", "--st") == ["--status"]
    assert completed("runs", "list", "--status", "pa") == ["paused"]
    assert "--max-cost" not in completed("runs", "list", "--")
    assert completed("batch", "--dry") == ["--dry-run"]
    assert completed("batch", "dod") == ["dodo.py"]


def test_zsh_can_read_its_script(project: Project) -> None:
    """Every command with its options; no help text ends the quotes that it stands in."""
    path = script(project, "zsh")
    text = path.read_text(encoding="utf-8")
    described = re.findall(r"^ *'([\w-]+): [^']*'$", text, flags=re.MULTILINE)
    assert set(COMMANDS) <= set(described)
    sections = dict(re.findall(r"^ *\(([\w-]+)\)\n(.*?);;", text, flags=re.MULTILINE | re.DOTALL))
    for name in COMMANDS:
        assert [o.name for o in command(name).every_option() if f"--{o.name}" not in sections[name]] == []
        assert [v.name for v in command(name).verbs if v.name and f'{v.name}\\:"' not in sections[name]] == []
    if zsh := shutil.which("zsh"):
        assert subprocess.run([zsh, "-n", str(path)], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_of_a_command_is_whole(name: str) -> None:
    """Purpose, description, an example that parses, a sentence for each verb and option, and all of it in the help."""
    cls = command(name)
    shown = " ".join(cls().help().split())
    assert cls.name == name
    assert cls.doc_purpose
    assert "\n" not in cls.doc_purpose
    assert "'" not in cls.doc_purpose  # doit writes it between single quotes into the script for zsh
    assert cls.doc_description
    assert all(verb.help and f"doit {name} {verb.usage}".rstrip() in shown for verb in cls.verbs)
    assert all(option.help and not UNSAFE.search(option.help) for option in cls.every_option())
    assert all(option.written in shown for option in cls.every_option())
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
