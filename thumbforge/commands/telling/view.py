"""What writes to a terminal: lines and tables on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from thumbforge.text import one_line


def when(seconds: float | None) -> str:
    return "" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%SZ}"


def write(line: str) -> None:
    sys.stdout.write(line + "\n")


FEW = 10


def print_hints(what: str, failed: Iterable[tuple[str, str]]) -> None:
    """One line for each hint, with the parts (or what they are) that it is for: (name, hint), where "" is none."""
    named: dict[str, list[str]] = {}
    for name, hint in failed:
        named.setdefault(hint, []).append(name)
    for hint, names in named.items():
        if hint:
            more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
            write(f"hint for {what} {', '.join(names[:FEW])}{more}: {one_line(hint)}")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table that fits a terminal by cutting its widest cells; in a pipe nothing is cut."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _print_fitting(columns, cells)
    else:
        _print_in_full(columns, cells)


def _print_fitting(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=True, overflow="ellipsis", justify="right" if column in _RIGHT else "left")
    for row in rows:
        table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in row))
    Console(file=sys.stdout, highlight=False).print(table)


def _print_in_full(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """By hand: Rich takes four seconds for ten thousand lines."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(columns, *rows, strict=True)]
    for row in (columns, *rows):
        padded = []
        for name, cell, width in zip(columns, row, widths, strict=True):
            room = " " * (width - cell_len(cell))
            padded.append(room + cell if name in _RIGHT else cell + room)
        write("  ".join(padded).rstrip())


_RIGHT = frozenset({"part", "items", "done", "redraw", "retry", "make", "failed", "locked"})
_STYLES: Mapping[str, str] = {
    "failed": "red",
    "completed": "green",
    "pending": "yellow",
    "create": "green",
    "retry": "yellow",
}
