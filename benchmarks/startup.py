"""(f) Start-up: what a command costs that has next to nothing to do, against doit's own."""

from __future__ import annotations

from benchmarks.clock import take_turns
from benchmarks.commands import DOIT, THUMBFORGE, idle
from benchmarks.figure import Figure, at_most, seconds
from benchmarks.peers import raw_doit
from benchmarks.sample import finished, scratch

ITEMS = 12
TARGET = at_most(2.5)
PAIRS = {"thumbforge --version": "doit --version", "doit list": "doit list of raw doit"}


def measure(*, quick: bool = False) -> list[Figure]:
    ours, raw = finished(ITEMS), raw_doit(ITEMS)
    rounds = take_turns(
        {
            "doit --version": idle(scratch(), *DOIT, "--version", says=bool),
            "thumbforge --version": idle(scratch(), *THUMBFORGE, "--version", says=bool),
            "doit list of raw doit": idle(raw, *DOIT, "list", says=bool),
            "doit list": idle(ours, *DOIT, "list", says=bool),
        },
        3 if quick else 9,
    )
    return [
        Figure(
            letter="f",
            what=f"start-up: `{name}`{f', {ITEMS} items' if 'list' in name else ''}",
            figure=f"{seconds(rounds.median(name))}, raw doit {seconds(rounds.median(base))}",
            ratio=rounds.ratio(name, base),
            of="raw doit",
            target=TARGET,
        )
        for name, base in PAIRS.items()
    ]
