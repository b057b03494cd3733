"""A provider's parameters: declared as data, checked all at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from thumbforge.errors import UsageError
from thumbforge.redact import redact
from thumbforge.text import nearest


class Param(Protocol):
    """`default` where the profile is silent; `wrong` says what is wanted, or "" where the value is right."""

    @property
    def default(self) -> Any: ...

    def wrong(self, value: Any) -> str: ...


@dataclass(frozen=True, slots=True)
class Choice:
    default: str
    choices: tuple[str, ...]

    def wrong(self, value: Any) -> str:
        return "" if value in self.choices else f"must be one of {', '.join(self.choices)}"


@dataclass(frozen=True, slots=True)
class Palette:
    """One of the names, or a list of colours (`#RRGGBB`)."""

    names: tuple[str, ...]
    default: str = ""

    def wrong(self, value: Any) -> str:
        listed = isinstance(value, (list, tuple)) and 1 <= len(value) <= 12
        colours = listed and all(isinstance(one, str) and re.fullmatch("#[0-9A-Fa-f]{6}", one) for one in value)
        named = isinstance(value, str) and value in self.names
        return "" if named or colours else f"must be {', '.join(self.names)} or a list of up to 12 colours as #RRGGBB"


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number within bounds, both included."""

    default: int
    low: int
    high: int

    def wrong(self, value: Any) -> str:
        right = isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high
        return "" if right else f"must be a whole number from {self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class Number:
    """A number within bounds, both included."""

    default: float
    low: float
    high: float

    def wrong(self, value: Any) -> str:
        right = isinstance(value, (int, float)) and not isinstance(value, bool) and self.low <= value <= self.high
        return "" if right else f"must be a number from {self.low:g} to {self.high:g}"


@dataclass(frozen=True, slots=True)
class Flag:
    default: bool = False

    def wrong(self, value: Any) -> str:
        return "" if isinstance(value, bool) else "must be true or false"


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text that `pattern` matches in full; `wanted` says in words what that is."""

    default: str
    pattern: str = r"[^\x00-\x1f]{1,500}"
    wanted: str = "a text of one line"

    def wrong(self, value: Any) -> str:
        right = isinstance(value, str) and re.fullmatch(self.pattern, value)
        return "" if right else f"must be {self.wanted}"


@dataclass(frozen=True, slots=True)
class Names:
    """A list of names that `pattern` matches in full."""

    default: tuple[str, ...] = ()
    pattern: str = r"[A-Za-z_][A-Za-z0-9_]{0,99}"

    def wrong(self, value: Any) -> str:
        listed = isinstance(value, (list, tuple))
        right = listed and all(isinstance(name, str) and re.fullmatch(self.pattern, name) for name in value)
        return "" if right else "must be a list of names"


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping of names to what the caller checks further."""

    default: Mapping[str, Any] = field(default_factory=dict)

    def wrong(self, value: Any) -> str:
        return "" if isinstance(value, Mapping) and all(isinstance(key, str) for key in value) else "must be a mapping"


def checked(
    provider: str,
    declared: Mapping[str, Param],
    given: Mapping[str, Any],
    also: Callable[[Mapping[str, Any]], Iterable[str]] = lambda own: (),
    hint: str = "",
) -> dict[str, Any]:
    """Every declared parameter with its value; UsageError names each one that is unknown or wrong.

    `also` says what is wrong with values that are right one by one; it is asked only where they are. Without a `hint`
    it lists the parameters.
    """
    problems = [_unknown(name, declared) for name in given if name not in declared]
    problems += [
        f"{name} {wrong}, not {_shown(given[name])}"
        for name, param in declared.items()
        if name in given and (wrong := param.wrong(given[name]))
    ]
    own = {name: given.get(name, param.default) for name, param in declared.items()}
    if not problems:
        problems += also(own)
    if problems:
        known = ", ".join(declared) or "none"
        raise UsageError(
            f"provider {provider}: {'; '.join(problems)}", hint=hint or f"parameters of {provider}: {known}"
        )
    return own


def needs_profile(provider: str, params: str = "{…}", page: str = "") -> str:
    """The hint for a provider that is nothing without a profile; `params` is an example in YAML's flow style."""
    return (
        f"{provider} needs a profile, such as specs/providers/my-{provider}.yaml with "
        f"{{provider: {provider}, params: {params}}}; see docs/{page or f'providers/{provider}.md'}"
    )


def _unknown(name: str, declared: Mapping[str, Param]) -> str:
    near = nearest(str(name), declared)
    return f"unknown parameter {name!r}" + (f" (did you mean {near[0]}?)" if near else "")


def _shown(value: Any) -> str:
    """Short and without what looks like a secret: a message may end in a log."""
    text = str(redact(repr(value)))
    return text if len(text) <= 80 else f"{text[:77]}..."
