"""The help of a command, and of one of its verbs, from the verb table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from thumbforge.commands.verbs import EVERYWHERE, JSON, Verb, all_options
from thumbforge.tasks.options import Option

WIDTH = 100


def command_help(
    tool: str, name: str, purpose: str, description: str, example: str, default: str, verbs: Sequence[Verb]
) -> str:
    """All of a command. `default` is the verb that is meant where none is named."""
    lines = [f"{tool} {name}: {purpose}", ""]
    for verb in verbs:
        meant = f" (or just {tool} {name})" if verb.name and verb.name == default else ""
        lines += [f"  {tool} {name} {verb.usage}".rstrip(), *_wrapped(f"{verb.help}{meant}", 6)]
    options = all_options(verbs)
    if options:
        lines += ["", "Options:", *_told((option, _of(option, verbs)) for option in options)]
    lines += _common(options)
    examples = [f"  {tool} {each}" for each in example.split("; ")]
    lines += ["", *_wrapped(description, 0), "", "Examples:", *examples]
    return "\n".join(lines)


def verb_help(tool: str, name: str, verb: Verb) -> str:
    """One verb of a command."""
    lines = [f"{tool} {name} {verb.usage}".rstrip(), *_wrapped(verb.help, 2)]
    if verb.options:
        lines += ["", "Options:", *_told((option, "") for option in verb.options)]
    return "\n".join([*lines, *_common(verb.options)])


def _common(options: Sequence[Option]) -> list[str]:
    pairs = any(not option.is_flag for option in options)
    note = ["", "An option with a value may be written as a pair: --name-of-it V is name_of_it=V."] if pairs else []
    return ["", "Everywhere:", *_told((option, "") for option in EVERYWHERE), *note]


def _of(option: Option, verbs: Sequence[Verb]) -> str:
    """Which verbs take it, "" where all do."""
    own = [verb.name for verb in verbs if verb.takes(option)]
    return "" if len(own) == len(verbs) or option is JSON else f"{', '.join(own)}: "


def _told(options: Iterator[tuple[Option, str]]) -> Iterator[str]:
    for option, of in options:
        short = f"-{option.short}, " if option.short else ""
        default = (
            ""
            if option.is_flag or option.default in (None, "", frozenset())
            else f" (default: {_plain(option.default)})"
        )
        needed = "; required" if option.is_required else ""
        yield f"  {short}{option.written}"
        yield from _wrapped(f"{of}{option.help}{needed}{default}", 6)


def _plain(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _wrapped(text: str, indent: int) -> list[str]:
    room = " " * indent
    return textwrap.wrap(text, WIDTH, initial_indent=room, subsequent_indent=room, break_on_hyphens=False)
