"""What runs have cost: calls, money and tokens as the attempts recorded them; "nobody knows" is counted, never 0."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from thumbforge.planning.prices import FREE, called_of, calls_of
from thumbforge.store.spending import amount_of


@dataclass(frozen=True, slots=True)
class Cost:
    """`money` by currency; `unknown` calls have no price; `perhaps_billed` ones had no clear end; seconds of calls."""

    attempts: int
    calls: int
    perhaps_billed: int
    lost: int
    money: Mapping[str, Decimal]
    unknown: int
    tokens: int | None
    seconds: float
    outcomes: Mapping[str, int]

    def as_dict(self) -> dict[str, Any]:
        return {
            "attempts": self.attempts,
            "calls": self.calls,
            "perhaps_billed": self.perhaps_billed,
            "lost": self.lost,
            "money": {currency: str(amount) for currency, amount in self.money.items()},
            "no_data": self.unknown,
            "tokens": self.tokens,
            "seconds": round(self.seconds, 3),
            "outcomes": dict(self.outcomes),
        }


def cost_of(attempts: Iterable[Mapping[str, Any]], provider: str = "") -> Cost:
    """Adds up attempts as `runs show` lists them, by `provider` where they do not name their own. A call whose process
    died is a call of unknown price; what `local` paints is no call and costs nothing, which is known."""
    called = called_of(attempts)
    asked = [a for a in called if a.get("provider", provider) != FREE]
    money: defaultdict[str, Decimal] = defaultdict(Decimal)
    for attempt in called:
        if attempt["cost"] is not None:
            money[attempt["currency"]] += amount_of(attempt["cost"])
    tokens = [a["tokens"] for a in called if a["tokens"] is not None]
    return Cost(
        attempts=len(called),
        calls=sum(map(calls_of, asked)),
        perhaps_billed=sum(a["perhaps_billed"] for a in called),
        lost=sum(a["outcome"] == "lost" for a in called),
        money=money,
        unknown=sum(a["cost"] is None for a in asked),
        tokens=sum(tokens) if tokens else None,
        seconds=sum(_seconds(a) for a in called),
        outcomes=Counter(a["outcome"] or "open" for a in called),
    )


GROUPS = ("month", "series", "profile")
"""What costs are summed by. The month is that of the local time at which the call began."""


@dataclass(frozen=True, slots=True)
class Group:
    """What the attempts of a sum have in common; None where they are not told apart by it, "" where they have none."""

    month: str | None = None
    series: str | None = None
    profile: str | None = None


def sums(attempts: Iterable[Mapping[str, Any]], by: Sequence[str] = GROUPS) -> dict[Group, Cost]:
    """Costs of attempts as `views.paid_attempts` lists them, by these of `GROUPS`, in their order."""
    found: defaultdict[Group, list[Mapping[str, Any]]] = defaultdict(list)
    for attempt in attempts:
        month = time.strftime("%Y-%m", time.localtime(attempt["called_at"] or attempt["closed_at"]))
        values = {"month": month, "series": attempt["series"], "profile": attempt["profile"]}
        found[Group(**{name: values[name] for name in by})].append(attempt)
    ordered = sorted(found, key=lambda group: [getattr(group, name) for name in by])
    return {group: cost_of(found[group]) for group in ordered}


def _seconds(attempt: Mapping[str, Any]) -> float:
    """How long a call took; 0 where the clock went back meanwhile."""
    began, ended = attempt["called_at"], attempt["closed_at"]
    return max(0.0, ended - began) if began and ended else 0.0
