"""A provider's parameters: declared as data, checked all at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Protocol

from thumbforge.errors import UsageError


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
class Whole:
    """A whole number within bounds, both included."""

    default: int
    low: int
    high: int

    def wrong(self, value: Any) -> str:
        right = isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high
        return "" if right else f"must be a whole number from {self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class Money:
    """A decimal in quotes, so that no cent is lost on the way through YAML."""

    default: str | None = None

    def wrong(self, value: Any) -> str:
        right = value is None or (isinstance(value, str) and re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value))
        return "" if right else 'must be a decimal number in quotes, such as "0.04"'


def checked(provider: str, declared: Mapping[str, Param], given: Mapping[str, Any]) -> dict[str, Any]:
    """Every declared parameter with its value; UsageError names each one that is unknown or wrong."""
    problems = [_unknown(name, declared) for name in given if name not in declared]
    problems += [
        f"{name} {wrong}, not {given[name]!r}"
        for name, param in declared.items()
        if name in given and (wrong := param.wrong(given[name]))
    ]
    if problems:
        known = ", ".join(declared) or "none"
        raise UsageError(f"provider {provider}: {'; '.join(problems)}", hint=f"parameters of {provider}: {known}")
    return {name: given.get(name, param.default) for name, param in declared.items()}


def _unknown(name: str, declared: Mapping[str, Param]) -> str:
    near = get_close_matches(str(name), declared, 1)
    return f"unknown parameter {name!r}" + (f" (did you mean {near[0]}?)" if near else "")
