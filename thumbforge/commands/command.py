"""What all commands share: how one is run by its verb table, one way to fail, and the project's place."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doit.cmd_base import Command
from doit.cmdparse import CmdOption

from thumbforge import install, log, settings
from thumbforge.commands.line.parsing import Typed, arguments_of, choose, take_apart
from thumbforge.commands.verbs import EVERYWHERE, JSON, Verb, Word, all_options, usage_hint
from thumbforge.cores import collect_rarely
from thumbforge.errors import (
    SHOWN_PROBLEMS,
    Exit,
    Interrupted,
    NotFound,
    SpecError,
    ThumbforgeError,
    UsageError,
    describe,
)
from thumbforge.named import elsewhere
from thumbforge.redact import redact
from thumbforge.spoken import as_typed, spoken
from thumbforge.streams import prepare
from thumbforge.tasks import variables
from thumbforge.tasks.options import Option
from thumbforge.text import plain_json

if TYPE_CHECKING:
    from thumbforge.planning.project import Project


class ThumbCommand(Command):  # type: ignore[misc]
    """Base of our commands. A subclass is data: its name, what it is for, and the table of its verbs.

    `default` names the verb that is meant where none is given. What doit asks of a command (`doc_usage`,
    `get_options`) is derived.
    """

    verbs: tuple[Verb, ...] = ()
    default = ""
    example = ""
    options: tuple[Option, ...] = (JSON,)
    """What each of the verbs takes besides its own."""

    def __init_subclass__(cls) -> None:
        from dataclasses import replace

        cls.verbs = tuple(replace(verb, options=(*verb.options, *cls.options)) for verb in cls.verbs)
        cls.doc_usage = " | ".join(verb.usage for verb in cls.verbs)

    def get_options(self) -> list[CmdOption]:
        return [
            CmdOption(
                {
                    "name": option.name,
                    "short": option.short,
                    "long": option.name,
                    "type": bool if option.is_flag else str,
                    "default": option.default,
                    "help": option.help,
                }
            )
            for option in self.every_option()
        ]

    @classmethod
    def every_option(cls) -> tuple[Option, ...]:
        """Those of all its verbs, and those of every command."""
        return (*all_options(cls.verbs), *EVERYWHERE)

    def help(self) -> str:
        from thumbforge.commands.line.help import command_help

        return command_help(
            self.bin_name, self.name, self.doc_purpose, self.doc_description, self.example, self.default, self.verbs
        )

    def parse_execute(self, in_args: Sequence[str]) -> int:
        """doit's entry, with the words that it left."""
        return self.perform(variables.typed(self.name, in_args))

    def perform(self, all_words: Sequence[str]) -> int:
        """From all that was typed besides the command's name to an exit status. Never raises, prints no traceback."""
        as_json = "--json" in all_words
        collect_rarely()
        prepare()
        try:
            typed = take_apart(self.name, self.verbs, all_words)
            if said := install.namesake():
                sys.stderr.write(spoken(f"warning: {said}") + "\n")
            if "help" in typed.everywhere or (self.verbs[0].name and typed.words[:1] == ("help",)):
                sys.stdout.write(self._help_on(typed) + "\n")
                return int(Exit.DONE)
            verb, words = choose(self.name, self.verbs, self.default, typed)
            obey(typed.everywhere)
            project = self._project(typed.everywhere)
            arguments = arguments_of(self.name, self.verbs, verb, typed, words)
            if word := verb.missing(words):
                raise self._needs(verb, word, project)
            return int(verb.run(project, arguments))
        except ThumbforgeError as error:
            return fail(error, as_json=as_json)
        except KeyboardInterrupt:
            return fail(Interrupted("interrupted"), as_json=as_json)
        except BrokenPipeError:  # the reader of a pipe has gone: not our failure, and nobody to tell
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return int(Exit.UNEXPECTED)
        except Exception as error:  # noqa: BLE001 - the last line of defence of a command
            log.error("unexpected", exc_info=error)
            return fail(unexpected(error), as_json=as_json)

    def _help_on(self, typed: Typed) -> str:
        """`hero pick --help` is about one verb, `hero --help` about all."""
        from thumbforge.commands.line.help import verb_help

        verb = next((verb for verb in self.verbs if verb.name and verb.name in typed.words[:1]), None)
        return verb_help(self.bin_name, self.name, verb) if verb else self.help()

    def _project(self, everywhere: Mapping[str, Any]) -> Project:
        """The project of the dodo.py that was named or is here or above; else the current directory."""
        from thumbforge.planning.project import Project

        cwd = Path.cwd()
        file = everywhere.get("file") or self.opt_vals.get("dodoFile")
        return Project(find_root(cwd, file, everywhere.get("dir") or self.opt_vals.get("cwdPath")), cwd)

    def _needs(self, verb: Verb, word: Word, project: Project) -> UsageError:
        """For an operand that is missing: what is needed, and what there is to choose from."""
        called = f"{self.name} {verb.name}".rstrip()
        known = ""
        with suppress(ThumbforgeError):  # what is wrong with the project is told once something is asked of it
            known = word.known(project) if word.known else ""
        article = "an" if word.name[0] in "AEI" else "a"
        return UsageError(
            f"{called} needs {article} {word.name}{f'; {known}' if known else ''}", hint=usage_hint(called, verb)
        )


def unexpected(error: Exception) -> ThumbforgeError:
    """An error that nothing foresaw. What the system says (no permission, no space) is told as it is, and is no bug."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
        hint = "check who owns these files, and the space that is left"
        return ThumbforgeError(f"{where}{error.strerror}", hint=hint)
    return ThumbforgeError(f"{type(error).__name__}: {error}", hint="this is a bug; the log file has the details")


def obey(everywhere: Mapping[str, Any]) -> None:
    """What holds for the whole process: colours, how much is told on stderr, and which file has the settings."""
    if "no-color" in everywhere:
        os.environ["NO_COLOR"] = "1"
    if "quiet" in everywhere and "verbose" in everywhere:
        raise UsageError("--quiet and --verbose say opposite things", hint="leave one of them out")
    if "quiet" in everywhere:
        log.insist("error")
    elif "verbose" in everywhere:
        log.insist("info" if everywhere["verbose"] == 1 else "debug")
    if "config" in everywhere:
        path = Path.cwd() / everywhere["config"]
        if not path.is_file():
            raise NotFound(
                f"there is no settings file {everywhere['config']}", hint=elsewhere(everywhere["config"], Path.cwd())
            )
        os.environ[settings.FILE_VARIABLE] = str(path)


def find_root(cwd: Path, dodo_file: str | None = None, work_dir: str | None = None) -> Path:
    """The project directory: `-d`, else that of the dodo.py named with `-f`, here, or in a parent; else `cwd`."""
    if work_dir:
        return (cwd / work_dir).absolute()
    name = Path(dodo_file or os.environ.get("DOIT_FILE") or "dodo.py")
    if name.is_absolute() or len(name.parts) > 1:
        return (cwd / name).absolute().parent
    return next((folder for folder in _same_owners(cwd) if (folder / name).is_file()), cwd)


def _same_owners(cwd: Path) -> Iterator[Path]:
    """The directory and those above it, up to one that is somebody else's: a dodo.py is code, and what lies in a shared
    folder is nobody's word on what to run."""
    owner = cwd.stat().st_uid
    for folder in (cwd, *cwd.parents):
        if folder.stat().st_uid != owner:
            return
        yield folder


def fail(error: ThumbforgeError, *, as_json: bool) -> int:
    """Print an error (`code: message`, `hint: …`, or one JSON object) to stderr; returns its exit code."""
    if as_json:
        document: dict[str, Any] = {
            "code": error.code,
            "message": as_typed(error.message),
            "hint": as_typed(error.hint),
        }
        if isinstance(error, SpecError):
            document["problems"] = [str(problem) for problem in error.problems[:SHOWN_PROBLEMS]]
            if (left := error.more + max(0, len(error.problems) - SHOWN_PROBLEMS)) > 0:
                document["more_problems"] = left
        document["exit_code"] = int(error.exit_code)
        sys.stderr.write(plain_json(json.dumps(redact(document), ensure_ascii=False)) + "\n")
    else:
        sys.stderr.write(spoken(redact(describe(error))) + "\n")
    return int(error.exit_code)


def print_json(document: Mapping[str, Any]) -> None:
    """The one document of a `--json` command."""
    sys.stdout.write(plain_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n")
    sys.stdout.flush()
