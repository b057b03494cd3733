"""What writes to a terminal: lines and tables on stdout."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from thumbforge.spoken import as_typed, spoken
from thumbforge.text import one_line


def when(seconds: float | None) -> str:
    return "" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%SZ}"


def write(line: str) -> None:
    sys.stdout.write(spoken(line) + "\n")


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
    """A table. On a terminal it fits (see `table`), in the state's colours; in a pipe it has one form: each row one
    line, each column in its place, nothing cut."""
    cells = [[as_typed(one_line(cell)) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _print_fitting(columns, cells)
    else:
        _print_in_full(columns, cells)


def _print_fitting(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from thumbforge.commands.telling.table import lay_out

    is_coloured = has_colours(os.environ)
    for line in lay_out(columns, rows, width_of_terminal()):
        styled = (f"\x1b[{span.style}m{span.text}\x1b[0m" if is_coloured and span.style else span.text for span in line)
        sys.stdout.write("".join(styled) + "\n")  # the cells are clean, and the colours are ours


def width_of_terminal() -> int:
    """Columns of the terminal that stdout is; `COLUMNS` goes before it. 80 where nobody knows."""
    try:
        known = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        known = 0
    told = os.environ.get("COLUMNS", "")
    return (int(told) if told.isdecimal() and len(told) < 6 else 0) or known or 80


def has_colours(environ: Mapping[str, str]) -> bool:
    """Of a terminal: not where it cannot, or where nobody wants them."""
    return not environ.get("NO_COLOR") and environ.get("TERM", "dumb") not in {"dumb", "unknown", ""}


def _print_in_full(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.cells import cell_len

    from thumbforge.commands.telling.table import RIGHT

    widths = [max(map(cell_len, column)) for column in zip(columns, *rows, strict=True)]
    for row in (columns, *rows):
        padded = []
        for name, cell, width in zip(columns, row, widths, strict=True):
            room = " " * (width - cell_len(cell))
            padded.append(room + cell if name in RIGHT else cell + room)
        write("  ".join(padded).rstrip())
