"""Tables that fit: each column has a rank, so that what one must see and type is never cut. Pure: text in, lines out.

What gives way, in this order: the titles, down to a few words; then columns that say nothing, and those that only
describe (`LEAVES`, the first one first); then the titles altogether. Every other column is whole, or, where even these
do not fit, its cells flow over several lines. An error, and a reason that is long, stand under their row.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

GAP = "  "
TITLES = frozenset({"title", "text", "says", "playlist"})
"""Free text, of which the beginning is enough."""
LEAVES = (
    "reads", "exit", "size", "compliant", "bytes", "key", "hash", "package", "art", "picture", "asset", "removed",
    "template", "provider", "kind", "started", "fetched", "made", "from", "extends", "file", "iteration",
)  # fmt: skip
"""What only describes; the first one goes first."""
BELOW = frozenset({"error", "problem"})
"""Always on a line of its own, under the row."""
REASONS = frozenset({"reason", "note", "warnings", "skipped because", "was", "detail"})
"""In the row where it is short, else under it."""
SHORT = 24
COUNTS = frozenset(
    {
        *("items", "done", "redraw", "retry", "make", "failed", "locked"),
        *("calls", "without a price", "perhaps billed"),
    }
)
"""Numbers of things, of which none is worth no word where there is no column for it."""
RIGHT = COUNTS | {"part", "position", "place", "before", "after"}
"""Numbers, which say what they are where there is no column for them."""
FLOORS = (24, 12, 6)
"""Cells that a title keeps: at first, when there is nothing left that only describes, and before it goes itself."""
STYLES: Mapping[str, str] = {
    "failed": "31",
    "completed": "32",
    "done": "32",
    "made": "32",
    "create": "32",
    "pending": "33",
    "paused": "33",
    "retry": "33",
    "drawn again": "36",
    "refinish": "36",
}
"""Colours (SGR) by state."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line; `style` is an SGR parameter, "" for none."""

    text: str
    style: str = ""


Line = tuple[Span, ...]


def lay_out(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[Line]:
    """The table's lines, head first, none of which is wider than `width` where a word does not force it."""
    inline = [at for at, name in enumerate(columns) if name not in BELOW]
    cells = [[_inline(columns[at], row[at]) for at in inline] for row in rows]
    below = [[(name, cell) for name, cell in zip(columns, row, strict=True) if _is_below(name, cell)] for row in rows]
    names = [columns[at] for at in inline]
    shown = [at for at, name in enumerate(names) if name not in REASONS or any(row[at] for row in cells)]
    names, cells = [names[at] for at in shown], [[row[at] for at in shown] for row in cells]
    wanted = [max(map(cell_len, column)) for column in zip(names, *cells, strict=True)]
    nothing = [at for at in range(len(names)) if all(row[at] in {"", "0"} for row in cells)]
    widths = _fit(names, wanted, nothing, width)
    lines: list[Line] = [_row(names, names, widths, "1")] if widths else []
    for row, notes in zip(cells, below, strict=True):
        lines += [_row(names, row, widths)] if widths else _flowed(names, row, width)
        for name, note in notes:
            lines += [(Span(text, STYLES["failed"] if name in BELOW else ""),) for text in _wrapped(note, width)]
    return lines


def _is_below(name: str, cell: str) -> bool:
    return bool(cell) and (name in BELOW or (name in REASONS and cell_len(cell) > SHORT))


def _inline(name: str, cell: str) -> str:
    return "" if _is_below(name, cell) else cell


def _fit(names: Sequence[str], wanted: Sequence[int], nothing: Sequence[int], width: int) -> dict[int, int]:
    """The columns that are shown and their widths; empty where what has to be whole does not fit. `nothing` are columns
    that say nothing, which go before all others."""
    left = dict(enumerate(wanted))
    leaving = [*nothing, *(at for gone in LEAVES for at, name in enumerate(names) if name == gone)]
    for floor, may_leave in ((FLOORS[0], leaving), (FLOORS[1], ()), (FLOORS[2], ())):
        for at in (None, *may_leave):
            if at is not None:
                left.pop(at, None)
            if found := _shrunk(names, left, width, floor):
                return found
    titles = [at for at in left if names[at] in TITLES]
    for gone in (titles[1:], titles):
        if found := _shrunk(names, {at: wide for at, wide in left.items() if at not in gone}, width, FLOORS[2]):
            return found
    return {}


def _shrunk(names: Sequence[str], widths: Mapping[int, int], width: int, floor: int) -> dict[int, int]:
    """The widths with titles cut until all fits, none below `floor`; empty where that is not enough."""
    found = dict(widths)
    over = sum(found.values()) + len(GAP) * (len(found) - 1) - width
    for at in sorted((at for at in found if names[at] in TITLES), key=lambda at: -found[at]):
        if over > 0 and found[at] > floor:
            cut = min(over, found[at] - floor)
            found[at] -= cut
            over -= cut
    return found if over <= 0 else {}


def _row(names: Sequence[str], cells: Sequence[str], widths: Mapping[int, int], style: str = "") -> Line:
    spans: list[Span] = []
    for at, wide in widths.items():
        cell = cells[at]
        text = cell if cell_len(cell) <= wide else f"{set_cell_size(cell, wide - 1).rstrip()}…"
        room = " " * (wide - cell_len(text))
        spans += [Span(GAP if spans else "")]
        spans += [Span(room), Span(text, style or STYLES.get(cell, ""))]
        if names[at] not in RIGHT:
            spans[-2:] = spans[:-3:-1]
    while spans and not spans[-1].text.strip():
        spans.pop()
    return tuple(span for span in spans if span.text)


def _flowed(names: Sequence[str], cells: Sequence[str], width: int) -> Iterator[Line]:
    """A row for which there is no room: its cells one after another, none of them cut, and no title."""
    line: list[Span] = []
    for name, cell in zip(names, cells, strict=True):
        if not cell or name in TITLES or name in LEAVES or (name in COUNTS and cell == "0"):
            continue
        text = f"{name} {cell}" if name in RIGHT else cell
        if line and sum(cell_len(span.text) for span in line) + len(GAP) + cell_len(text) > width:
            yield tuple(line)
            line = [Span(GAP)]
        line += [*([Span(GAP)] if line and line[-1].text != GAP else []), Span(text, STYLES.get(cell, ""))]
    yield tuple(line)


def _wrapped(note: str, width: int) -> list[str]:
    """No word is broken: it may have to be typed."""
    wrapper = textwrap.TextWrapper(max(width, 12), GAP * 2, GAP * 2, break_long_words=False, break_on_hyphens=False)
    return wrapper.wrap(note)
