"""The `name=value` pairs of a command line. The one place that knows how doit takes them away.

doit removes every bare `name=value` argument before a command sees the rest, also a URL with `?list=`, and keeps only
the last of two (`doit.doit_cmd._CMDLINE_VARS`; doit is pinned for it). What was typed, in order, is in `sys.argv`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import doit.doit_cmd

from thumbforge import text
from thumbforge.errors import UsageError
from thumbforge.tasks.options import Option, amount, choice, whole, yes_or_no

NAME = re.compile(r"(?:var\.)?[A-Za-z_][A-Za-z0-9_]*")
SERIES_LOOK = (
    Option(
        "template",
        "template name, NAME@VERSION for this version alone; else the series' or the setting's",
        value="NAME",
        names="template",
    ),
    Option("provider", "provider profile name; else the series' or the setting's", value="NAME", names="provider"),
)
ONE_SERIES = Option("series", "a series of specs/series", value="NAME", names="series")
SERIES_OPTIONS = (
    ONE_SERIES,
    Option(
        "playlist", "playlist id, YouTube URL, spec name, or a YAML, JSON or CSV file", value="LIST", names="playlist"
    ),
    Option(
        "hero",
        "the picture that sets the style: a file, a name in specs/heroes, a run id or an iteration id",
        value="PICTURE",
        names="hero",
    ),
    *SERIES_LOOK,
    choice("reference", "which picture of the hero the provider sees", "final", "raw"),
)
"""Which series is meant, and what it is made of."""
MAX_COST = Option("max-cost", "refuse, or pause, before a call that would cross this amount", amount, "AMOUNT")
LIMITS = (Option("max-images", "refuse to make more pictures than this", whole(), "N"), MAX_COST)
RUN_OPTIONS = (
    choice("executor", "where pictures are made: here, or on a Dask cluster", "local", "dask"),
    Option("scheduler", "address of a Dask cluster's scheduler, such as tcp://host:8786", value="ADDRESS"),
)
"""How a run is carried out; they change no picture."""
BATCH_OPTIONS = (
    *SERIES_OPTIONS,
    *LIMITS,
    Option(
        "only",
        "parts to make, such as 3,7-9; or those that failed, or changed",
        value="PARTS|failed|changed",
        names="only",
    ),
    Option("max-retries", "tries of a failed item across invocations", whole(), "N"),
    Option("retake", "yes: make a new take of what is done, and keep the old one", yes_or_no, "yes|no", False),
    Option("wait", "no: do not wait for items that another run is making", yes_or_no, "yes|no", True),
    *RUN_OPTIONS,
)
RUN_NAMES = frozenset(option.pair for option in RUN_OPTIONS)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Named values as their options read them, without defaults; `vars` are those written `var.<name>`.

    An empty value is a value.
    """

    values: Mapping[str, Any]
    vars: Mapping[str, str]

    def get(self, name: str, default: Any = None) -> Any:
        return self.values.get(name, default)


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


def collect(
    pairs: Iterable[tuple[str, str]], options: Sequence[Option], written: Mapping[str, str] | None = None
) -> Pairs:
    """Raises UsageError for a name that no option has (the nearest in the hint), that stands twice, or a bad value;
    `written` tells how a name was typed, where it was not as a pair."""
    known = {option.pair: option for option in options if not option.is_flag}
    flags = {option.pair: option for option in options if option.is_flag}
    values: dict[str, str] = {}
    variables: dict[str, str] = {}
    for name, value in pairs:
        short = name.removeprefix("var.")
        target = variables if name.startswith("var.") else values
        if target is values and name in flags:
            raise UsageError(f"{name} has no value: it is an option by itself", hint=f"--{flags[name].name}")
        if target is values and name not in known:
            raise UsageError(f"unknown variable {name}", hint=nearest(name, tuple(known)))
        if short in target:
            raise UsageError(f"{name} is given twice: {target[short]!r} and {value!r}")
        target[short] = value
    typed = written or {}
    read = {name: known[name].take(said, typed.get(name, f"{name}={said}")) for name, said in values.items()}
    return Pairs(read, variables)


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
    names = tuple(option.pair for option in BATCH_OPTIONS)
    ours = [(n, v) for n, v in pairs if n in names or n.startswith("var.")]
    for name, _ in pairs:
        if (name, _) not in ours and text.nearest(name, names, alike=0.75):
            raise UsageError(f"unknown variable {name}", hint=nearest(name, names))
    return collect(ours, BATCH_OPTIONS)
