"""The console script: doit's main program with our name, our exit codes, and tasks where there is no dodo.py."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from thumbforge import __version__
from thumbforge.errors import Exit, ThumbforgeError, UsageError
from thumbforge.streams import LOOKS, end_with_the_reader, prepare

# doit's own commands end with its codes (1 failed, 2 error, 3 before start); under `thumbforge` they end with ours.
_NATIVE = {0: 0, 1: 1, 2: 1, 3: 2}
_NO_PLUGIN = re.compile(r"Plugin (\w+) module `([^`]*)` not found")


def main(argv: Sequence[str] | None = None) -> int:
    """`thumbforge …` equals `doit …`; returns the exit code."""
    prepare()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["--version"]:
        sys.stdout.write(f"thumbforge {__version__}\n")
        return 0
    if arguments[:2] == ["tabcompletion", "--complete"]:
        from thumbforge.commands.line.completion import answer

        return answer(arguments[2] if arguments[2:] else "", arguments[3:])
    try:
        Path.cwd()
    except FileNotFoundError:
        sys.stderr.write("not_found: the directory you are in is gone\nhint: cd into the project\n")
        return int(Exit.NOT_FOUND)
    try:
        return _run(arguments)
    except Exception as error:
        if found := _NO_PLUGIN.search(str(error)):
            return fail_for_plugin(*found.groups())
        raise


def fail_for_plugin(kind: str, module: str) -> int:
    """A module that doit.cfg or pyproject.toml names, and that is not installed."""
    from thumbforge.commands.command import fail

    hint = f"install it, or take it out of [{kind}] in doit.cfg, or of tool.doit in pyproject.toml"
    return fail(UsageError(f"the module {module} of a plug-in of doit is not there", hint=hint), as_json=False)


def _run(arguments: list[str]) -> int:
    from doit.cmd_base import ModuleTaskLoader
    from doit.cmd_completion import TabCompletion
    from doit.cmd_info import Info
    from doit.cmd_list import List
    from doit.doit_cmd import DoitMain

    from thumbforge.commands.command import fail, find_root
    from thumbforge.commands.line.native import ItemInfo, ItemList, Refused, in_our_words
    from thumbforge.commands.line.overview import not_a_command

    root = find_root(Path.cwd(), os.environ.get("DOIT_FILE"), _named_folder(arguments))
    names_a_file = any(word in {"-f", "--file"} for word in arguments)
    if not names_a_file and (root / "dodo.py").is_file() and root != Path.cwd():
        os.environ["DOIT_FILE"] = str(root / "dodo.py")  # so that doit's own commands find what ours do
    loader = None if names_a_file or (root / "dodo.py").is_file() else ModuleTaskLoader(_namespace())

    class ThumbforgeMain(DoitMain):  # type: ignore[misc]
        BIN_NAME = "thumbforge"

        def process_args(self, cmd_args: Sequence[str]) -> list[str]:
            """As doit's, but an empty word is a word."""
            empty = [word for word in cmd_args if not word]
            return [*super().process_args([word for word in cmd_args if word]), *empty]

    changed: dict[type, type] = {Info: ItemInfo, List: ItemList}
    if "tabcompletion" in arguments:
        from thumbforge.commands.line.completion import Completion

        changed[TabCompletion] = Completion
    names: list[str] = []
    ThumbforgeMain.DOIT_CMDS = tuple(in_our_words(changed.get(cls, cls), names) for cls in DoitMain.DOIT_CMDS)
    main = ThumbforgeMain(task_loader=loader)
    commands = main.get_cmds()  # looked up once: it reads the entry points of every installed package
    names += list(commands)
    if is_bare(arguments):
        arguments = ["status", *arguments]
    elif arguments == ["help"]:
        _print_overview(commands)
        return int(Exit.DONE)
    elif arguments[0] == "help" and arguments[1:] and arguments[1] in commands and is_ours(commands, arguments[1]):
        arguments = [*arguments[1:], "--help"]
    elif arguments[0] == "help" and len(arguments) == 2 and not _has_a_page(arguments[1], names):
        return fail(not_a_command("thumbforge", arguments[1], names), as_json=False)
    at = place_of_command(arguments, commands)
    if at is None and {"-h", "--help"} & set(arguments):
        _print_overview(commands)
        return int(Exit.DONE)
    command = "run" if at is None else arguments[at]
    if at is not None and is_ours(commands, command):
        words = [*arguments[:at], *arguments[at + 1 :]]
        return int(commands.get_plugin(command)(config=main.config, bin_name="thumbforge").perform(words))
    if at is not None and {"-h", "--help"} & set(arguments):
        arguments, at = ["help", command], 0
        command = "help"
    if arguments[at:] == ["dumpdb"]:
        hint = "thumbforge list --all -s shows what it holds"
        return fail(UsageError("dumpdb cannot read .doit.db: its form is thumbforge's own", hint=hint), as_json=False)
    if command in LOOKS:
        end_with_the_reader()
    try:
        words = arguments if at is None else [command, *arguments[:at], *arguments[at + 1 :]]
        code = int(main.run(_without_ours(words)) or 0)
    except ThumbforgeError as error:
        return fail(error, as_json=False)
    except Refused as refused:
        return fail(refused.error, as_json=False)
    except SystemExit as ended:  # our reporter's way to an exit code of its own
        code = int(ended.code or 0)
    return _ours(command, code)


def _has_a_page(word: str, commands: Sequence[str]) -> bool:
    """Whether doit's help knows the word: a command, a task's name, or "task", how they are written."""
    return word in commands or word in {"task", "thumb", "sheet"} or ":" in word or word.startswith("-")


def _named_folder(words: Sequence[str]) -> str | None:
    """What stands behind -d or --dir."""
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if word in {"-d", "--dir"}:
            return following or None
        if word.startswith("--dir="):
            return word.partition("=")[2] or None
    return None


def _print_overview(commands: Any) -> None:
    from thumbforge.commands.line.overview import overview

    ours = [name for name in commands if is_ours(commands, name)]
    sys.stdout.write(overview("thumbforge", {name: commands.get_plugin(name).doc_purpose for name in ours}) + "\n")


def is_bare(words: Sequence[str]) -> bool:
    """Whether nothing was asked for: no command, no task, no pair, no option of doit's `run`. Then it is `status`, so
    that a series that costs money never runs by accident."""
    from thumbforge.commands.line.parsing import take_apart
    from thumbforge.commands.status import Status

    try:
        typed = take_apart("status", Status.verbs, words)
    except ThumbforgeError:
        return False
    return not typed.words and not typed.pairs and "help" not in typed.everywhere


def place_of_command(words: Sequence[str], commands: Any) -> int | None:
    """Where the command stands: the first word that is neither an option, nor its value, nor a pair, if it names one.
    None where it does not: then doit runs the tasks that are named."""
    doubtful = None
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        maybe_a_value = before.startswith("-") and "=" not in before
        if word in commands:
            if not maybe_a_value or _stands_alone(before, commands, word):
                return at
            doubtful = at if doubtful is None else doubtful
        elif not (maybe_a_value or word.startswith("-") or "=" in word):
            break
    return doubtful


def _stands_alone(option: str, commands: Any, command: str) -> bool:
    """Whether `option`, were it one of `command`, has no value: then the word behind it is not that."""
    if not is_ours(commands, command):
        return option not in {"-f", "--file", "-d", "--dir", "--config"}
    name = option.lstrip("-").replace("_", "-")
    found = commands.get_plugin(command).every_option()
    return any(known.is_flag for known in found if name in {known.name, known.short})


def _without_ours(words: Sequence[str]) -> list[str]:
    """The command line as doit's own command gets it: --config and --no-color are ours for these, too."""
    from thumbforge.commands.command import obey

    left: list[str] = []
    found: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        name, _, value = word.partition("=")
        if name == "--config":
            found["config"] = value or next(rest, "")
        elif word == "--no-color":
            found["no-color"] = 1
        else:
            left.append(word)
    obey(found)
    return left


def _namespace() -> dict[str, Any]:
    """What the dodo.py of a new project has."""
    from thumbforge.tasks.dodo import DOIT_CONFIG, task_sheet, task_thumb

    return {"DOIT_CONFIG": DOIT_CONFIG, "task_sheet": task_sheet, "task_thumb": task_thumb}


def is_ours(commands: Any, command: str) -> bool:
    from doit.plugin import PluginEntry

    entry = commands[command]
    return isinstance(entry, PluginEntry) and entry.location.startswith("thumbforge.")


def _ours(command: str, code: int) -> int:
    """doit's code as ours. `info` says 1 for "would run", no failure; a run that failed says how far it got."""
    if command == "info" and code == 1:
        return 0
    if command == "run" and code in {1, 2, 130}:
        from thumbforge.tasks import session

        found = session.current()
        if found and found.exit_code is not None:
            return int(found.exit_code)
    return _NATIVE.get(code, code)


if __name__ == "__main__":
    sys.exit(main())
