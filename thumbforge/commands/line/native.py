"""doit's own commands as `thumbforge` starts them: what they refuse is told in our words, without doit's insides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from doit.cmd_info import Info
from doit.cmd_list import List
from doit.cmdparse import CmdParseError
from doit.exceptions import InvalidCommand, InvalidDodoFile, InvalidTask

from thumbforge.commands.line.overview import not_a_command
from thumbforge.errors import ThumbforgeError, UsageError
from thumbforge.tasks import session as sessions
from thumbforge.text import nearest

_TASKS = "thumbforge list --all shows the tasks"
_NO_TASK = re.compile(r"(?:Task dependency )?'([^']*)' (?:is not a task|does not exist)")
NEED_A_TASK = frozenset({"info", "ignore", "strace"})
"""doit's commands that do nothing without one."""
_ARGUMENTS = re.compile(r"\s*\(args=\[\], kwargs=\{\}\)")


class Refused(SystemExit):
    """A command line that cannot be carried out. Not an Exception: doit would tell that as a traceback."""

    def __init__(self, error: ThumbforgeError) -> None:
        super().__init__(int(error.exit_code))
        self.error = error


class ItemInfo(Info):  # type: ignore[misc]
    """`info`, which knows an item by its part or its video, too, and takes a word that is no task for an error."""

    name = "info"

    def _execute(self, pos_args: list[str], hide_status: bool = False) -> Any:
        known = {task.name for task in self.task_list}
        return super()._execute([self._task_named(word, known) for word in pos_args], hide_status)

    def _task_named(self, word: str, known: set[str]) -> str:
        if word in known:
            return word
        session = sessions.current()
        rows = session.rows if session else {}
        found = [name for name, row in rows.items() if word in {str(row.wanted.item.part), row.wanted.task_name}]
        if len(found) > 1:
            raise Refused(UsageError(f"{word} may be several", hint=" or ".join(f"thumbforge info {n}" for n in found)))
        if not found:
            raise Refused(not_a_task(word, known))
        return found[0]

    @staticmethod
    def get_reasons(reasons: Any) -> str:
        """doit's, without the arguments of a call that has none."""
        return _ARGUMENTS.sub("", str(Info.get_reasons(reasons)))


class ItemList(List):  # type: ignore[misc]
    """`list`, which shows the items: the groups alone say nothing."""

    name = "list"
    cmd_options = tuple(
        {**option, "default": True, "inverse": "groups", "help": "the items, too (as is usual); --groups: without them"}
        if option["name"] == "subtasks"
        else option
        for option in List.cmd_options
    )


def not_a_task(word: str, known: set[str]) -> UsageError:
    near = nearest(word, known)
    hint = f"did you mean {near[0]}?" if near else _TASKS
    return UsageError(f"{word!r} is no task", hint=hint)


def in_our_words(command: type, names: Sequence[str]) -> type:
    """The command with its refusals told as ours are. `names` are all commands, for the one that was meant."""

    class Native(command):  # type: ignore[misc]
        name = command.get_name()  # type: ignore[attr-defined]

        def parse_execute(self, in_args: list[str]) -> Any:
            words = [word for word in in_args if not word.startswith("-")]
            if self.name in NEED_A_TASK and not words and "--all" not in in_args and "-a" not in in_args:
                raise Refused(UsageError(f"{self.name} needs a TASK", hint=_TASKS))
            try:
                return super().parse_execute(in_args)
            except CmdParseError as error:
                raise Refused(self._not_an_option(str(error), words)) from None
            except InvalidCommand as error:
                if error.not_found is not None:
                    raise Refused(not_a_command("thumbforge", error.not_found, names)) from None
                raise Refused(_told(str(error), self.name)) from None
            except (InvalidTask, InvalidDodoFile) as error:
                cause = error.__cause__
                raise Refused(cause if isinstance(cause, ThumbforgeError) else _told(str(error), self.name)) from None

        def _not_an_option(self, said: str, words: Sequence[str]) -> UsageError:
            said = said.removeprefix("Error parsing Command: ").partition(" (parsing options")[0]
            hint = f"thumbforge help {self.name} lists what it takes"
            long = re.search(r"option --(\S+) not recognized", said)
            if long and (near := nearest(long[1], [option.long for option in self.get_options() if option.long])):
                hint = f"did you mean --{near[0]}?"
            if (
                self.name == "run" and words and words[0].partition(":")[0] == "sheet"
            ):  # a task of that name, no command
                hint = "thumbforge series sheet NAME --pack makes one file of it"
            return UsageError(f"{self.name}: {said}", hint=hint)

    return Native


def _told(said: str, command: str) -> UsageError:
    """doit's sentence in ours; a word that is no task is what it mostly is about."""
    if found := _NO_TASK.search(said):
        return not_a_task(found[1], set(known_tasks()))
    line = said.strip().partition("\n")[0]
    return UsageError(line, hint=f"thumbforge help {command}")


def known_tasks() -> list[str]:
    session = sessions.current()
    return list(session.rows) if session else []
