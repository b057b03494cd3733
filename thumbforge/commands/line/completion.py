"""`thumbforge tabcompletion`: doit's scripts, in which our commands complete verbs, options and their values.

What a shell needs is all in the verb table, so the scripts ask nobody while a line is completed.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from doit.cmd_completion import TabCompletion

from thumbforge.commands.command import ThumbCommand
from thumbforge.commands.verbs import EVERYWHERE, Verb
from thumbforge.tasks.options import Option


class Completion(TabCompletion):  # type: ignore[misc]
    name = "tabcompletion"

    @classmethod
    def _bash_cmd_args(cls, cmd: Any) -> str:
        """The branch of one command in doit's `case`; doit has set cur, prev, words and cword."""
        if not isinstance(cmd, ThumbCommand):
            return str(super()._bash_cmd_args(cmd))
        lines = [f"        {cmd.name})", *(f"            {line}" for line in _bash(cmd.verbs)), "            ;;"]
        return "\n" + "\n".join(lines)

    @classmethod
    def _zsh_arg_list(cls, cmd: Any) -> list[str]:
        """doit's lines for the options, and the verbs as the first word."""
        if not isinstance(cmd, ThumbCommand):
            return list(super()._zsh_arg_list(cmd))
        lines = [cls._zsh_option(option) for option in cmd.every_option()]
        if cmd.verbs[0].name:
            lines.append(f"'1::verb:(({' '.join(_described(verb) for verb in cmd.verbs)}))'")
        return [*lines, "'*:file:_files'"]

    @staticmethod
    def _zsh_option(option: Option) -> str:
        takes = "" if option.is_flag else ": :_files"
        if option.choices:
            takes = f":{option.pair}:({' '.join(option.choices)})"
        told = option.help.replace("[", "(").replace("]", ")").replace("'", "").replace('"', "")
        names = f'"(-{option.short} --{option.name})"{{-{option.short},--{option.name}}}' if option.short else ""
        return f'{names or f"--{option.name}"}"[{told}]{takes}" \\'


def _described(verb: Verb) -> str:
    told = verb.help.replace("'", "").replace("\\", "").replace('"', "").replace("(", "").replace(")", "")
    return f'{verb.name}\\:"{told}"'


def _bash(verbs: tuple[Verb, ...]) -> Iterator[str]:
    """What may come next: the value of an option that has choices, a verb, the options of the verb, or a file."""
    choices = {option: option.choices for verb in verbs for option in verb.options if option.choices}
    yield 'case "${prev}" in'
    for option, values in choices.items():
        yield f"    --{option.name}) {_reply(values)}; return 0;;"
    yield "esac"
    if not verbs[0].name:
        yield f'if [[ "${{cur}}" == -* ]]; then {_reply(_options(verbs[0]))}; return 0; fi'
    else:
        yield f"if [[ ${{cword}} == 2 ]]; then {_reply(verb.name for verb in verbs)}; return 0; fi"
        yield 'if [[ "${cur}" == -* ]]; then'
        yield '    case "${words[2]}" in'
        for verb in verbs:
            yield f"        {verb.name}) {_reply(_options(verb))}; return 0;;"
        yield "    esac"
        yield "fi"
    yield 'COMPREPLY=( $(compgen -f -- "${cur}") ); return 0'


def _options(verb: Verb) -> list[str]:
    return [f"--{option.name}" for option in (*verb.options, *EVERYWHERE)]


def _reply(words: Any) -> str:
    return f'COMPREPLY=( $(compgen -W {shlex.quote(" ".join(words))} -- "${{cur}}") )'
