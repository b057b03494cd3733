"""What a measurement gives: one row of the table, with the target that it is judged by."""

from __future__ import annotations

from dataclasses import dataclass

COLUMNS = ("", "what", "figure", "ratio", "target", "met?")
WIDTHS = (2, 64, 34, 20, 10, 4)


@dataclass(frozen=True, slots=True)
class Target:
    """The most (or the least) that a figure may be, in `unit`."""

    limit: float
    unit: str = "x"
    is_least: bool = False

    def __str__(self) -> str:
        return f"{'≥' if self.is_least else '≤'} {self.limit:g}{' ' if self.unit else ''}{self.unit}"

    def is_met_by(self, value: float) -> bool:
        return value >= self.limit if self.is_least else value <= self.limit


def at_most(limit: float, unit: str = "x") -> Target:
    return Target(limit, unit)


def at_least(limit: float, unit: str = "x") -> Target:
    return Target(limit, unit, is_least=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured thing. `letter` is its place in docs/performance.md, `figure` what a reader sees with its unit.

    `ratio` is against `of`, measured in the same run, None where there is nothing to compare with. The target judges
    `value` where there is one, else the ratio.
    """

    letter: str
    what: str
    figure: str
    ratio: float | None = None
    of: str = ""
    target: Target | None = None
    value: float | None = None

    @property
    def is_met(self) -> bool | None:
        """None where there is no target, or nothing was measured."""
        judged = self.ratio if self.value is None else self.value
        return None if self.target is None or judged is None else self.target.is_met_by(judged)

    @property
    def cells(self) -> tuple[str, ...]:
        ratio = "" if self.ratio is None else f"{self.ratio:.2f} x {self.of}"
        met = {None: "", True: "yes", False: "no"}[self.is_met]
        return (self.letter, self.what, self.figure, ratio, str(self.target or ""), met)


def seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.0f} ms"


def megabytes(value: float) -> str:
    return f"{value / 2**20:.0f} MB"


def line(cells: tuple[str, ...], *, markdown: bool) -> str:
    if markdown:
        return f"| {' | '.join(cells)} |"
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)).rstrip()


def head(*, markdown: bool) -> str:
    rule = f"|{'---|' * len(COLUMNS)}" if markdown else "  ".join("-" * width for width in WIDTHS)
    return f"{line(COLUMNS, markdown=markdown)}\n{rule}"
