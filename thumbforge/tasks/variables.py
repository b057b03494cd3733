"""The `name=value` pairs of a command line. The one place that knows how doit takes them away.

doit removes every bare `name=value` argument before a command sees the rest, also a URL with `?list=`, and keeps only
the last of two (`doit.doit_cmd._CMDLINE_VARS`; doit is pinned for it). What was typed, in order, is in `sys.argv`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import doit.doit_cmd

from thumbforge import text
from thumbforge.errors import UsageError

NAME = re.compile(r"(?:var\.)?[A-Za-z_][A-Za-z0-9_]*")
SERIES_NAMES = ("series", "playlist", "hero", "template", "provider", "reference", "max_images", "max_cost")
RUN_NAMES = ("executor", "scheduler")
"""How a run is carried out; they change no picture."""
BATCH_NAMES = (*SERIES_NAMES, "only", "max_retries", "wait", "retake", *RUN_NAMES)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Named values; `vars` are those written `var.<name>`. An empty value is a value."""

    values: Mapping[str, str]
    vars: Mapping[str, str]

    def get(self, name: str) -> str | None:
        return self.values.get(name)

    def whole(self, name: str) -> int | None:
        text = self.values.get(name)
        if text is None:
            return None
        if not re.fullmatch(r"[0-9]{1,9}", text):
            raise UsageError(f"{name}={text}: expected a whole number")
        return int(text)

    def amount(self, name: str) -> Decimal | None:
        text = self.values.get(name)
        if text is None:
            return None
        if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
            raise UsageError(f"{name}={text}: expected an amount such as 2.50")
        return Decimal(text)

    def flag(self, name: str, default: bool) -> bool:
        text = self.values.get(name)
        known = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
        if text is None:
            return default
        if text.lower() not in known:
            raise UsageError(f"{name}={text}: expected yes or no")
        return known[text.lower()]


def typed(command: str, seen: Sequence[str]) -> list[str]:
    """Everything that was typed besides the command's name, pairs and URLs in their places.

    `seen` is what doit left for the command: the fallback where the process was not started by its own command line.
    """
    argv = sys.argv[1:]
    left = [arg for arg in argv if arg.startswith("-") or "=" not in arg]
    if command in left and left[left.index(command) + 1 :] == list(seen):
        at = argv.index(command)
        before = [arg for arg in argv[:at] if not arg.startswith("-") and "=" in arg]
        return before + argv[at + 1 :]
    taken = doit.doit_cmd._CMDLINE_VARS or {}
    return [*seen, *(f"{name}={value}" for name, value in taken.items())]


def split(words: Iterable[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Pairs and other words, in order. `https://…?list=PL…` is a word: no name looks like that."""
    pairs, rest = [], []
    for word in words:
        name, equals, value = word.partition("=")
        if equals and NAME.fullmatch(name):
            pairs.append((name, value))
        else:
            rest.append(word)
    return pairs, rest


def collect(pairs: Iterable[tuple[str, str]], names: Sequence[str]) -> Pairs:
    """Raises UsageError for a name that is none of `names` (the nearest in the hint) or stands twice."""
    values: dict[str, str] = {}
    variables: dict[str, str] = {}
    for name, value in pairs:
        short = name.removeprefix("var.")
        target = variables if name.startswith("var.") else values
        if target is values and name not in names:
            raise UsageError(f"unknown variable {name}", hint=nearest(name, names))
        if short in target:
            raise UsageError(f"{name} is given twice: {target[short]!r} and {value!r}")
        target[short] = value
    return Pairs(values, variables)


def nearest(name: str, names: Sequence[str]) -> str:
    near = text.nearest(name, names)
    if near:
        return f"did you mean {near[0]}=…?"
    return f"known: {', '.join(names)}, var.<name>" if names else "this command takes none"


def of_tasks() -> Pairs:
    """The pairs that `doit list`, `doit info` and `doit run` were given for the series tasks of a dodo.py.

    A dodo.py may have variables of its own, so an unknown name is refused only where it looks like one of ours.
    """
    taken = (doit.doit_cmd._CMDLINE_VARS or {}).items()
    pairs = [(name, value) for name, value in taken if NAME.fullmatch(name)]
    ours = [(n, v) for n, v in pairs if n in BATCH_NAMES or n.startswith("var.")]
    for name, _ in pairs:
        if (name, _) not in ours and text.nearest(name, BATCH_NAMES, alike=0.75):
            raise UsageError(f"unknown variable {name}", hint=nearest(name, BATCH_NAMES))
    return collect(ours, BATCH_NAMES)
