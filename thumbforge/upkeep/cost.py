"""What runs have cost: calls, money and tokens as the attempts recorded them; "nobody knows" is counted, never 0."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from thumbforge.planning.prices import FREE, called_of, calls_of


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
    """Adds up attempts as `runs show` lists them. A call whose process died is a call of unknown price; what `local`
    paints is no call and costs nothing, which is known."""
    called, is_free = called_of(attempts), provider == FREE
    money: defaultdict[str, Decimal] = defaultdict(Decimal)
    for attempt in called:
        if attempt["cost"] is not None:
            money[attempt["currency"]] += Decimal(attempt["cost"])
    tokens = [a["tokens"] for a in called if a["tokens"] is not None]
    return Cost(
        attempts=len(called),
        calls=0 if is_free else sum(map(calls_of, called)),
        perhaps_billed=sum(a["perhaps_billed"] for a in called),
        lost=sum(a["outcome"] == "lost" for a in called),
        money=money,
        unknown=0 if is_free else sum(a["cost"] is None for a in called),
        tokens=sum(tokens) if tokens else None,
        seconds=sum(_seconds(a) for a in called),
        outcomes=Counter(a["outcome"] or "open" for a in called),
    )


def _seconds(attempt: Mapping[str, Any]) -> float:
    """How long a call took; 0 where the clock went back meanwhile."""
    began, ended = attempt["called_at"], attempt["closed_at"]
    return max(0.0, ended - began) if began and ended else 0.0
