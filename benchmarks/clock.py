"""Medians of measurements that take turns: A B C, A B C, …, so that a machine that slows down meets all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rounds:
    """Every measurement of every round, by name."""

    measured: Mapping[str, tuple[float, ...]]

    def median(self, name: str) -> float:
        return statistics.median(self.measured[name])

    def ratio(self, name: str, base: str) -> float:
        """The median of the ratios within each round: neighbours in time, which a busy machine slows down alike."""
        pairs = zip(self.measured[name], self.measured[base], strict=True)
        return statistics.median(one / other for one, other in pairs)


def take_turns(measures: Mapping[str, Callable[[], float]], repeats: int) -> Rounds:
    """Each of `measures` once for warming up, then `repeats` rounds of all of them in order."""
    for measure in measures.values():
        measure()
    rounds = [{name: measure() for name, measure in measures.items()} for _ in range(repeats)]
    return Rounds({name: tuple(found[name] for found in rounds) for name in measures})


def timed(run: Callable[[], object]) -> Callable[[], float]:
    """The same as a measurement: wall seconds."""

    def measure() -> float:
        began = time.perf_counter()
        run()
        return time.perf_counter() - began

    return measure
