"""Shell completion and help: every command is there, whole, and in a form that a shell can read."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.project import Project

ENTRY_POINTS = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "entry-points"
]["doit.COMMAND"]
COMMANDS = sorted(ENTRY_POINTS)
UNSAFE = re.compile(r"[`$\\]")
"""What a shell would act on inside the double quotes that doit writes an option's help in."""

# What bash-completion brings, as far as the script needs it.
BASH = """
_get_comp_words_by_ref() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${COMP_WORDS[COMP_CWORD]}; prev=; }
__ltrim_colon_completions() { :; }
source "$1"
COMP_WORDS=(thumbforge "$2"); COMP_CWORD=1
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
    """The first word of a command line is completed to each command and to the group of tasks."""
    path = script(project, "bash")

    def completed(start: str) -> list[str]:
        words = ["bash", "-c", BASH, "bash", str(path), start]
        told = subprocess.run(words, capture_output=True, text=True, check=True, timeout=30)
        assert told.stderr == ""
        return told.stdout.split()

    assert set(COMMANDS) <= set(completed(""))
    assert "thumb" in completed("")
    assert (completed("templ"), completed("conf")) == (["template"], ["config"])


def test_zsh_can_read_its_script(project: Project) -> None:
    """Every command with its options; no help text ends the quotes that it stands in."""
    path = script(project, "zsh")
    text = path.read_text(encoding="utf-8")
    described = re.findall(r"^ *'([\w-]+): [^']*'$", text, flags=re.MULTILINE)
    assert set(COMMANDS) <= set(described)
    sections = dict(re.findall(r"^ *\(([\w-]+)\)\n(.*?);;", text, flags=re.MULTILINE | re.DOTALL))
    for name in COMMANDS:
        assert all(f"--{option['long']}" in sections[name] for option in command(name).cmd_options), name
    if zsh := shutil.which("zsh"):
        assert subprocess.run([zsh, "-n", str(path)], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_is_whole(name: str) -> None:
    """Purpose, usage, description, and a sentence for each option; each verb of the usage is explained."""
    cls = command(name)
    shown = cls().help()
    assert cls.name == name
    assert cls.doc_purpose
    assert "\n" not in cls.doc_purpose
    assert "'" not in cls.doc_purpose  # doit writes it between single quotes into the script for zsh
    assert cls.doc_description
    assert all(option["help"] and not UNSAFE.search(option["help"]) for option in cls.cmd_options)
    assert all(f"--{option['long']}" in shown for option in cls.cmd_options)
    verbs = re.findall(r"(?:^|\| )([a-z]+)\b(?!=)", cls.doc_usage)
    told = f"{cls.doc_purpose} {cls.doc_description} {' '.join(option['help'] for option in cls.cmd_options)}"
    assert [verb for verb in verbs if not re.search(rf"\b{verb}", told)] == []


def test_help_lists_every_command(project: Project) -> None:
    """`thumbforge help` has a line for each, and `help NAME` shows its usage."""
    listed = project.run("help")
    for name in COMMANDS:
        assert re.search(rf"^  thumbforge {name} +{re.escape(command(name).doc_purpose)}$", listed.out, re.MULTILINE)
    told = project.run("help", "template")
    assert told.code == 0
    assert "thumbforge template list | show NAME | new NAME" in " ".join(told.out.split())
