"""Where a series stands: its plan, counted; what making the rest would cost; and what to type for it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from thumbforge.planning.decide import PlannedSeries
from thumbforge.planning.plan import Row, counts
from thumbforge.planning.prices import calls_to_a_service, price_as_dict, price_of
from thumbforge.planning.selection import as_only

LockState = Literal["none", "current", "stale"]
"""Whether the lock file of a series says what is here: there is none, it does, or a batch would write it anew."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A series with the rows of its plan.

    An item is counted once: by the plan's action, and of those that nothing is done for, failed for good, being made by
    another run, or done. `locked` ones are among the done.
    """

    planned: PlannedSeries
    lock: LockState = "current"

    @property
    def name(self) -> str:
        return self.planned.series.name

    @property
    def rows(self) -> Sequence[Row]:
        return self.planned.rows

    @property
    def used_up(self) -> int:
        """Failed, and nothing is tried again by itself."""
        return sum(row.action == "skip" and row.status == "failed" for row in self.rows)

    @property
    def locked(self) -> int:
        return sum(row.is_locked for row in self.rows)

    @property
    def busy(self) -> int:
        return sum(row.busy_in is not None for row in self.rows)

    @property
    def pictures(self) -> int:
        """To be painted anew."""
        return sum(row.calls for row in self.rows)

    @property
    def calls(self) -> int:
        """Requests to a service: what is painted here is none."""
        return calls_to_a_service(self.planned.series.profile, self.pictures)

    @property
    def done(self) -> int:
        return counts(self.rows)["skip"] - self.used_up - self.busy

    @property
    def price(self) -> dict[str, str] | None:
        """What the calls are expected to cost; None where the profile names no price."""
        return price_as_dict(self.planned.series.profile, self.pictures)

    @property
    def next(self) -> str | None:
        """The command that brings the series on; None where nothing is left to do, or nothing that today's budget has
        room for.

        It carries the ceilings that the plan needs, so that it neither is refused nor spends more than was told.
        """
        if all(row.idle for row in self.rows):
            if self.lock != "current" and self.done:
                return f"thumbforge batch series={self.name}"
            return f"thumbforge batch series={self.name} --dry-run" if self.used_up else None
        series, words = self.planned.series, [f"thumbforge batch series={self.name}"]
        fitting = self._fitting()
        if not fitting:
            return None
        pictures = sum(row.calls for row in fitting)
        if pictures < self.pictures:
            words.append(f"only={as_only(fitting)}")
        if series.max_images is not None and pictures > series.max_images:
            words.append(f"max_images={pictures}")
        price = price_as_dict(series.profile, pictures)
        if pictures and self.calls and price:
            words.append(f"max_cost={price['amount']}")
        return " ".join(words)

    @property
    def waits(self) -> int:
        """New pictures that today's budget has no room for."""
        return self.pictures - sum(row.calls for row in self._fitting())

    def _fitting(self) -> list[Row]:
        """What is to be done, without the pictures that today's budget has no room for."""
        todo = [row for row in self.rows if not row.idle]
        budget, price = self.planned.budget, price_of(self.planned.series.profile)
        if budget is None or not price:
            return todo
        room = max(0, int((budget.most - budget.spent) / price))
        waiting = {id(row) for row in [row for row in todo if row.calls][room:]}
        return [row for row in todo if id(row) not in waiting]

    def as_dict(self) -> dict[str, Any]:
        return {
            "series": self.name,
            "total": len(self.rows),
            **{str(action): count for action, count in counts(self.rows).items()},
            "used_up": self.used_up,
            "locked": self.locked,
            "lock": self.lock,
            "calls": self.calls,
            "price": self.price,
            "next": self.next,
        }
