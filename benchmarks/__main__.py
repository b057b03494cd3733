"""`python -m benchmarks` measures everything, `python -m benchmarks startup noop` two things.

`--quick` leaves out 10,000 items and the other tools, `--markdown` prints the table of docs/performance.md, and
`--into docs/performance.md` puts it there. The exit code is 0 whatever the figures are: the table says which targets
are met.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sqlite3
import sys
import time
from importlib import metadata
from pathlib import Path

from benchmarks.figure import Figure, head, line

NAMES = (
    "noop",
    "changed",
    "planning",
    "provider_bound",
    "throughput",
    "finalise",
    "layers",
    "looks",
    "startup",
    "ledger",
    "growth",
    "lock",
    "shared",
    "watch",
)
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"
"""What stands around the figures in a page."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="no 10,000 items, no other tools")
    parser.add_argument("--markdown", action="store_true", help="the table as docs/performance.md has it")
    parser.add_argument("--into", type=Path, metavar="PAGE", help="also put that table into this page")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    if options.into and BEGIN not in options.into.read_text(encoding="utf-8"):
        parser.error(f"{options.into} has no line {BEGIN.strip()}")
    print(f"{versions()}\n\n{head(markdown=options.markdown)}", flush=True)
    began, figures = time.monotonic(), []
    for name in options.names or NAMES:
        print(f"{name} …", file=sys.stderr, flush=True)
        for figure in measured(name, quick=options.quick):
            print(line(figure.cells, markdown=options.markdown), flush=True)
            figures.append(figure)
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    if options.into:
        put(options.into, figures)


def put(page: Path, figures: list[Figure]) -> None:
    """Replace what lies between the two marks of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    rows = "\n".join(line(figure.cells, markdown=True) for figure in figures)
    table = f"{versions()}.\n\n{head(markdown=True)}\n{rows}\n"
    page.write_text(f"{before}{BEGIN}{table}{END}{rest.partition(END)[2]}", encoding="utf-8")


def measured(name: str, *, quick: bool) -> list[Figure]:
    found: list[Figure] = importlib.import_module(f"benchmarks.{name}").measure(quick=quick)
    return found


def versions() -> str:
    """What the figures depend on, in one line."""
    packages = " · ".join(f"{name} {metadata.version(name)}" for name in ("doit", "Pillow"))
    python = f"{platform.python_implementation()} {platform.python_version()}"
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{machine} · {python} · {packages} · SQLite {sqlite3.sqlite_version}"


if __name__ == "__main__":
    main()
