"""What all commands share: parsing that lets options stand anywhere, one way to fail, and the project's place."""

from __future__ import annotations

import getopt
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doit.cmd_base import Command
from doit.cmdparse import CmdOption

from thumbforge import install, log
from thumbforge.errors import Exit, Interrupted, SpecError, ThumbforgeError, UsageError, describe
from thumbforge.redact import redact
from thumbforge.tasks import variables

if TYPE_CHECKING:
    from thumbforge.planning.project import Project

_VIDEO = re.compile(r"-[A-Za-z0-9_-]{10}")

JSON_OPTION = {
    "name": "json",
    "short": "",
    "long": "json",
    "type": bool,
    "default": False,
    "help": "print one JSON document",
}


VAR_OPTION = {
    "name": "var",
    "short": "",
    "long": "var",
    "type": str,
    "default": None,
    "help": "NAME=VALUE, a variable of the template",
}


@dataclass(frozen=True, slots=True)
class Arguments:
    """A parsed command line: options by long name (True for a flag), pairs, and the words that are left."""

    options: Mapping[str, Any]
    pairs: variables.Pairs
    words: Sequence[str]


class ThumbCommand(Command):  # type: ignore[misc]
    """Base of our commands. A subclass sets `cmd_options` and `pair_names` and writes `run`: its exit code."""

    pair_names: tuple[str, ...] = ()
    base_options = (
        {"name": "file", "short": "f", "long": "file", "type": str, "default": None, "help": "the project's dodo.py"},
        {"name": "dir", "short": "d", "long": "dir", "type": str, "default": None, "help": "the project's directory"},
        {"name": "help", "short": "h", "long": "help", "type": bool, "default": False, "help": "show this help"},
    )

    def get_options(self) -> list[CmdOption]:
        return [CmdOption(option) for option in (*self.cmd_options, *self.base_options)]

    def parse_execute(self, in_args: Sequence[str]) -> int:
        """doit's entry: from the arguments it left to an exit status. Never raises, never prints a traceback."""
        as_json = "--json" in in_args
        try:
            arguments = self._parse(variables.typed(self.name, in_args))
            if said := install.namesake():
                sys.stderr.write(f"warning: {said}\n")
            if arguments.options["help"]:
                sys.stdout.write(self.help() + "\n")
                return int(Exit.DONE)
            self.opt_vals |= {"dodoFile": arguments.options["file"] or self.opt_vals.get("dodoFile")}
            self.opt_vals |= {"cwdPath": arguments.options["dir"] or self.opt_vals.get("cwdPath")}
            return int(self.run(arguments))
        except ThumbforgeError as error:
            return fail(error, as_json=as_json)
        except KeyboardInterrupt:  # before there was anything to pause
            return fail(Interrupted("interrupted before anything was begun"), as_json=as_json)
        except BrokenPipeError:  # the reader of a pipe has gone: not our failure, and nobody to tell
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return int(Exit.UNEXPECTED)
        except Exception as error:  # noqa: BLE001 - the last line of defence of a command
            log.error("unexpected", exc_info=error)
            message = f"{type(error).__name__}: {error}"
            return fail(ThumbforgeError(message, hint="this is a bug; the log file has the details"), as_json=as_json)

    def run(self, arguments: Arguments) -> int:
        raise AssertionError(f"{type(self).__name__} has no run")

    def project(self) -> Project:
        """The project of the dodo.py that was named or is here or above; else the current directory."""
        from thumbforge.planning.project import Project

        cwd = Path.cwd()
        return Project(find_root(cwd, self.opt_vals.get("dodoFile"), self.opt_vals.get("cwdPath")), cwd)

    def _parse(self, words: Sequence[str]) -> Arguments:
        declared = (*self.cmd_options, *self.base_options)
        known = {option["long"]: option for option in declared}
        short = {option["short"]: option for option in declared if option.get("short")}
        options, positional = _getopt(self._shield(words, known), short, known)
        values: dict[str, Any] = {name: option["default"] for name, option in known.items()}
        named: list[tuple[str, str]] = []
        for flag, text in ((flag, text.removeprefix("\0")) for flag, text in options):
            option = known[flag[2:]] if flag.startswith("--") else short[flag[1:]]
            if option["long"] == "var":
                named.append((f"var.{text.partition('=')[0]}", text.partition("=")[2]))
            elif (pair := option["long"].replace("-", "_")) in self.pair_names:
                named.append((pair, text))
            else:
                values[option["long"]] = True if option["type"] is bool else _convert(option, text)
        pairs, rest = variables.split(word.removeprefix("\0") for word in positional)
        return Arguments(values, variables.collect([*named, *pairs], self.pair_names), rest)

    @staticmethod
    def _shield(words: Sequence[str], known: Mapping[str, Any]) -> list[str]:
        """A video id that begins with "-" is a word, not an option."""
        words = [_dashed(word) for word in words]
        return [
            f"\0{word}" if _VIDEO.fullmatch(word) and word.removeprefix("--") not in known else word for word in words
        ]


def _dashed(word: str) -> str:
    """`--max_images` is `--max-images`, as the pair `max_images=` suggests."""
    name, equals, value = word.partition("=")
    return name.replace("_", "-") + equals + value if name.startswith("--") else word


def _getopt(
    words: list[str], short: Mapping[str, Any], known: Mapping[str, Any]
) -> tuple[list[tuple[str, str]], list[str]]:
    letters = "".join(name if option["type"] is bool else f"{name}:" for name, option in short.items())
    names = [name if option["type"] is bool else f"{name}=" for name, option in known.items()]
    try:
        return getopt.gnu_getopt(words, letters, names)
    except getopt.GetoptError as error:
        raise UsageError(str(error).replace("\0", ""), hint="thumbforge help lists what each command takes") from None


def _convert(option: Mapping[str, Any], text: str) -> Any:
    if option["type"] is not int:
        return text
    if not re.fullmatch(r"0*[1-9][0-9]{0,5}", text):
        raise UsageError(f"--{option['long']} {text}: expected a whole number from 1")
    return int(text)


def find_root(cwd: Path, dodo_file: str | None = None, work_dir: str | None = None) -> Path:
    """The project directory: `-d`, else that of the dodo.py named with `-f`, here, or in a parent; else `cwd`."""
    if work_dir:
        return (cwd / work_dir).absolute()
    name = Path(dodo_file or os.environ.get("DOIT_FILE") or "dodo.py")
    if name.is_absolute() or len(name.parts) > 1:
        return (cwd / name).absolute().parent
    return next((folder for folder in (cwd, *cwd.parents) if (folder / name).is_file()), cwd)


def fail(error: ThumbforgeError, *, as_json: bool) -> int:
    """Print an error (`code: message`, `hint: …`, or one JSON object) to stderr; returns its exit code."""
    if as_json:
        document: dict[str, Any] = {"code": error.code, "message": error.message, "hint": error.hint}
        if isinstance(error, SpecError):
            document["problems"] = [str(problem) for problem in error.problems]
        document["exit_code"] = int(error.exit_code)
        sys.stderr.write(json.dumps(redact(document), ensure_ascii=False) + "\n")
    else:
        sys.stderr.write(redact(describe(error)) + "\n")
    return int(error.exit_code)


def print_json(document: Mapping[str, Any]) -> None:
    """The one document of a `--json` command."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()
