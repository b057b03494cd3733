"""(h) How the time of a no-op grows with the items: 1 is in proportion, 2 would be with their square."""

from __future__ import annotations

import math
import statistics

from benchmarks.clock import Rounds, take_turns
from benchmarks.commands import DOIT, idle
from benchmarks.figure import Figure, at_most, seconds
from benchmarks.peers import raw_doit
from benchmarks.sample import finished

START, FEW, MANY = 12, 1000, 10_000
TARGET = at_most(1.05, "")


def measure(*, quick: bool = False) -> list[Figure]:
    """The exponent of the time from 1,000 to 10,000 items, once what 12 items take is off both."""
    start, few, many = (START, 100, FEW) if quick else (START, FEW, MANY)
    ours = {n: idle(finished(n), *DOIT, says=bool) for n in (start, few, many)}
    raw = {n: idle(raw_doit(n), *DOIT, says=bool) for n in (start, few, many)}
    names = {f"{kind} {n}": run for kind, runs in (("ours", ours), ("raw", raw)) for n, run in runs.items()}
    rounds = take_turns(names, 3 if quick else 5)
    sizes = (start, few, many)
    own, theirs = _exponent(rounds, "ours", sizes), _exponent(rounds, "raw", sizes)
    times = ", ".join(seconds(rounds.median(f"ours {n}")) for n in sizes)
    return [
        Figure(
            letter="h",
            what=f"growth: exponent of `doit` from {few:,} to {many:,} items",
            figure=f"{own:.3f}, raw doit {theirs:.3f} ({times})",
            ratio=own / theirs,
            of="raw doit",
            target=None if quick else TARGET,
            value=own,
        )
    ]


def _exponent(rounds: Rounds, kind: str, sizes: tuple[int, int, int]) -> float:
    """Of the medians, not of each round: a difference of two short times is mostly noise."""
    start, few, many = (statistics.median(rounds.measured[f"{kind} {n}"]) for n in sizes)
    return math.log((many - start) / max(few - start, 1e-3)) / math.log(sizes[2] / sizes[1])
