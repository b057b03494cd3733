"""An option as data: its name, how its text is read, what it may be, and one line on what it says.

Whatever reads a command line reads it by these: our commands, and the pairs that doit's own commands are given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from thumbforge.errors import UsageError

Read = Callable[[str], Any]
"""From text to the value; raises ValueError with what was expected."""


@dataclass(frozen=True, slots=True)
class Option:
    """`--max-images 3`, `--max-images=3` and the pair `max_images=3` say the same; a flag has no value and no pair.

    `value` is what a reader is told the value is (N, DIR); where there are `choices` it is one of them. `names` is the
    kind of thing that it names (series, hero …), for a shell that completes it.
    """

    name: str
    help: str
    read: Read = str
    value: str = "TEXT"
    default: Any = None
    short: str = ""
    choices: tuple[str, ...] = ()
    is_flag: bool = False
    is_required: bool = False
    names: str = ""

    @property
    def pair(self) -> str:
        return self.name.replace("-", "_")

    @property
    def written(self) -> str:
        """`--count N`, as usages and help show it."""
        if self.is_flag:
            return f"--{self.name}"
        return f"--{self.name} {'|'.join(self.choices) or self.value}"

    def take(self, text: str, typed: str) -> Any:
        """The value. Raises UsageError that begins with what was `typed` and says what is allowed."""
        try:
            if self.choices and text not in self.choices:
                raise ValueError(f"expected {alternatives(self.choices)}")
            return self.read(text)
        except ValueError as error:
            raise UsageError(f"{typed}: {error}", hint=f"{self.written}: {self.help}") from None


def flag(name: str, about: str, short: str = "") -> Option:
    return Option(name, about, default=False, is_flag=True, short=short)


def choice(name: str, about: str, *choices: str, default: str | None = None) -> Option:
    return Option(name, about, choices=choices, default=default)


def alternatives(words: Sequence[str]) -> str:
    """`a, b or c`."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def whole(low: int = 0, high: int = 999_999_999) -> Read:
    """Digits alone: no sign, no blank, no point. The length is bounded before it is read."""
    expected = f"expected a whole number from {low}"

    def read(text: str) -> int:
        if not re.fullmatch(r"0*[0-9]{1,19}", text[:64]) or len(text) > 64 or int(text) < low:
            raise ValueError(expected)
        if int(text) > high:
            raise ValueError(f"{expected} to {high}")
        return int(text)

    return read


def moment(is_end: bool = False) -> Read:
    """A day or a time in ISO's notation, as epoch seconds; local where it names no zone. A day alone is its first
    instant, or with `is_end` its last one."""

    def read(text: str) -> float:
        try:
            at = datetime.fromisoformat(text)
            last = timedelta(days=1, microseconds=-1) if is_end and len(text) <= len("2026-03-07") else timedelta()
            return (at + last).timestamp()
        except (ValueError, OverflowError):
            raise ValueError("expected a date such as 2026-03-07, or a time such as 2026-03-07T18:30") from None

    return read


def amount(text: str) -> Decimal:
    """An amount of money, not below zero."""
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        raise ValueError("expected an amount such as 2.50")
    return Decimal(text)


def yes_or_no(text: str) -> bool:
    known = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if text.lower() not in known:
        raise ValueError("expected yes or no")
    return known[text.lower()]
