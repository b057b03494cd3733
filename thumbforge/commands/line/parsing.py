"""From the words of a command line to a verb and its arguments, by the verb table. Options stand anywhere."""

from __future__ import annotations

import getopt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thumbforge.commands.verbs import EVERYWHERE, VAR, Arguments, Verb, all_options, find_verb, usage_hint
from thumbforge.errors import UsageError
from thumbforge.tasks import variables
from thumbforge.tasks.options import Option
from thumbforge.text import nearest

_VIDEO = re.compile(r"-[A-Za-z0-9_-]{10}")


@dataclass(frozen=True, slots=True)
class Typed:
    """A command line taken apart, before anything is refused. `everywhere` has what each command takes, by long name;
    a flag's value is how often it stands there. `written` tells of each pair name how it was typed."""

    everywhere: Mapping[str, Any]
    flags: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    written: Mapping[str, str]
    words: tuple[str, ...]


def take_apart(command: str, verbs: Sequence[Verb], words: Sequence[str]) -> Typed:
    """Raises UsageError for an option that no verb of the command has."""
    declared = {option.name: option for option in (*all_options(verbs), *EVERYWHERE)}
    short = {option.short: option for option in declared.values() if option.short}
    shared = {option.name for option in EVERYWHERE}
    found, rest = _getopt(command, _shield(words, declared), declared, short)
    everywhere: dict[str, Any] = {}
    flags, pairs, written = [], [], {}
    for flag, text in found:
        option = declared[flag[2:]] if flag.startswith("--") else short[flag[1:]]
        if option.name in shared:
            everywhere[option.name] = everywhere.get(option.name, 0) + 1 if option.is_flag else text
        elif option.is_flag:
            flags.append(option.name)
        else:
            name, value = (
                (f"var.{text.partition('=')[0]}", text.partition("=")[2]) if option is VAR else (option.pair, text)
            )
            pairs.append((name, value))
            written[name] = f"--{option.name} {text}"
    named, positional = variables.split(rest)
    written = {name: f"{name}={value}" for name, value in named} | written
    return Typed(everywhere, tuple(flags), (*pairs, *named), written, tuple(positional))


def choose(command: str, verbs: Sequence[Verb], default: str, typed: Typed) -> tuple[Verb, Sequence[str]]:
    """The verb that is meant, and the operands that are left for it."""
    if not verbs[0].name:
        return verbs[0], typed.words
    name, *words = typed.words or (default,)
    return find_verb(command, verbs, name), words


def arguments_of(command: str, verbs: Sequence[Verb], verb: Verb, typed: Typed, words: Sequence[str]) -> Arguments:
    """What the verb gets. Raises UsageError for what is not the verb's, stands twice, or has a value it may not have.

    Operands that are missing are the caller's matter: it can say what they may be.
    """
    called = f"{command} {verb.name}".rstrip()
    for option in all_options(verbs):
        if not verb.takes(option) and (told := _as_typed(option, typed)):
            others = ", ".join(f"{command} {other.name}" for other in verbs if other.takes(option))
            raise UsageError(f"{called} takes no {told}", hint=f"it belongs to {others}")
    own = [option for option in verb.options if option is not VAR]
    found = variables.collect(typed.pairs, own, typed.written)
    if found.vars and not verb.takes(VAR):
        raise UsageError(f"{called} takes no variables", hint=usage_hint(called, verb))
    values = {option.name: found.values.get(option.pair, option.default) for option in own}
    for option in own:
        if option.is_required and option.pair not in found.values:
            raise UsageError(f"{called} needs {option.written}", hint=f"{option.written}: {option.help}")
    return Arguments(values | dict.fromkeys(typed.flags, True), found.values, found.vars, verb.read(words, called))


def _as_typed(option: Option, typed: Typed) -> str:
    """How an option stands on the command line, "" where it does not."""
    if option.name in typed.flags:
        return f"--{option.name}"
    for name, _ in typed.pairs:
        if name == option.pair or (option is VAR and name.startswith("var.")):
            return f"--{option.name}" if typed.written[name].startswith("--") else f"{name}=…"
    return ""


def _shield(words: Sequence[str], known: Mapping[str, Option]) -> list[str]:
    """A video id that begins with "-" is a word, not an option."""
    words = [_dashed(word) for word in words]
    return [f"\0{word}" if _VIDEO.fullmatch(word) and word.removeprefix("--") not in known else word for word in words]


def _dashed(word: str) -> str:
    """`--max_images` is `--max-images`, as the pair `max_images=` suggests."""
    name, equals, value = word.partition("=")
    return name.replace("_", "-") + equals + value if name.startswith("--") else word


def _getopt(
    command: str, words: list[str], known: Mapping[str, Option], short: Mapping[str, Option]
) -> tuple[list[tuple[str, str]], list[str]]:
    letters = "".join(name if option.is_flag else f"{name}:" for name, option in short.items())
    names = [name if option.is_flag else f"{name}=" for name, option in known.items()]
    try:
        found, rest = getopt.gnu_getopt(words, letters, names)
    except getopt.GetoptError as error:
        raise _not_an_option(command, error, known) from None
    return [(flag, text.removeprefix("\0")) for flag, text in found], [word.removeprefix("\0") for word in rest]


def _not_an_option(command: str, error: getopt.GetoptError, known: Mapping[str, Option]) -> UsageError:
    name, said = error.opt.replace("\0", ""), str(error).replace("\0", "")
    hint = f"thumbforge {command} --help lists what it takes"
    if "not recognized" not in said:  # no value where one is needed, one where none is, or the start of two names
        return UsageError(said, hint=hint)
    dashes = "--" if len(name) > 1 else "-"
    if near := nearest(name, known):
        hint = f"did you mean --{near[0]}?"
    return UsageError(f"{command} takes no {dashes}{name}", hint=hint)
