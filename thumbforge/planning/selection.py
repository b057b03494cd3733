"""`only=`: which items of a plan are meant, by their parts or by how they stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from thumbforge.errors import UsageError
from thumbforge.planning.plan import Row

STATES: Mapping[str, Callable[[Row], bool]] = {
    "failed": lambda row: row.status == "failed",
    "changed": lambda row: bool(row.changes) or row.action == "refinish",
}
"""What an item may be called by: it failed, whether or not it is tried again; or what it is made of has changed since
its last picture."""
_RANGE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")


def select(rows: Sequence[Row], only: str | None) -> tuple[Row, ...]:
    """The rows whose part is listed in `only`, or that stand as it says; an item without a part where its position is
    listed. Without `only`, all.

    Raises UsageError where a number is of no item. That no item stands so is none: then there is nothing.
    """
    if not rows:
        raise UsageError("the playlist has no items")
    if only is None:
        return tuple(rows)
    states, ranges = parse_only(only)
    chosen = tuple(
        row
        for row in rows
        if any(number_of(row) in numbers for numbers in ranges) or any(STATES[state](row) for state in states)
    )
    if not chosen and ranges:
        numbers = [number_of(row) for row in rows]
        raise UsageError(f"only={only} selects no item", hint=f"there are {min(numbers)} to {max(numbers)}")
    return chosen


def parse_only(text: str) -> tuple[tuple[str, ...], tuple[range, ...]]:
    """`failed,3,7-9` as states and ranges. Raises UsageError for anything else."""
    states, ranges = [], []
    for word in (word.strip() for word in text.split(",")):
        if word in STATES:
            states.append(word)
            continue
        match = _RANGE.fullmatch(word)
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if high < low:
            raise UsageError(
                f"only={text}: {word or 'an empty word'} is no number or range, nor failed or changed",
                hint="only=3,7-9",
            )
        ranges.append(range(low, high + 1))
    return tuple(states), tuple(ranges)


def as_only(rows: Iterable[Row]) -> str:
    """What `only=` calls these rows: `1-3,7`."""
    told: list[list[int]] = []
    for number in sorted({number_of(row) for row in rows}):
        if told and told[-1][1] == number - 1:
            told[-1][1] = number
        else:
            told.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in told)


def number_of(row: Row) -> int:
    """What `only=` calls it: its part, or its position where it has none."""
    return row.wanted.position if row.wanted.item.part is None else row.wanted.item.part
