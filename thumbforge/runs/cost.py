"""What runs have cost: calls, money and tokens as the attempts recorded them; "nobody knows" is counted, never 0."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from thumbforge.errors import LimitReached, UsageError
from thumbforge.models import Profile
from thumbforge.providers.registry import capabilities_of


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


def price_of(profile: Profile) -> Decimal:
    """What one call is expected to cost, by the profile; 0 where it names no price."""
    return Decimal(profile.price.amount) if profile.price else Decimal(0)


def estimate(profile: Profile, calls: int) -> str:
    """`12 provider calls, about 0.48 USD`; without a price only the calls, and whether they cost what nobody knows."""
    told = f"{calls} provider call{'s' * (calls != 1)}"
    if profile.price is None or not calls:
        return f"{told} of unknown price" if calls and capabilities_of(profile).paid else told
    dated = f" (price of {profile.price.as_of})" if profile.price.as_of else ""
    return f"{told}, about {price_of(profile) * calls} {profile.price.currency}{dated}"


def go_on(run_id: str, max_cost: Decimal) -> str:
    """What to type so that a run goes on under a higher ceiling."""
    return f"thumbforge runs resume {run_id[:8]} max_cost={max_cost}"


def check_max_cost(
    profile: Profile, calls: int, max_cost: Decimal | None, *, spent: Decimal = Decimal(0), run_id: str = ""
) -> None:
    """Raises LimitReached where so many calls would cost more, UsageError where nobody knows what one costs.

    `spent` is what the run has spent that is to be resumed.
    """
    if max_cost is None or not calls:
        return
    if profile.price is None:
        raise UsageError(
            f"max_cost={max_cost}: profile {profile.name} names no price",
            hint="give it one: price: {amount: '0.04', currency: USD, as_of: …}",
        )
    estimate = price_of(profile) * calls
    if spent + estimate <= max_cost:
        return
    told = f"{calls} call{'s' * (calls != 1)} would cost about {estimate} {profile.price.currency}"
    if run_id:
        raise LimitReached(
            f"run {run_id[:8]} has spent {spent}, {told} more, its max_cost is {max_cost}",
            hint=go_on(run_id, spent + estimate),
        )
    raise LimitReached(
        f"{told}, max_cost is {max_cost}", hint=f"raise it (max_cost={estimate}), or make some of them (only=…)"
    )


def _seconds(attempt: Mapping[str, Any]) -> float:
    """How long a call took; 0 where the clock went back meanwhile."""
    began, ended = attempt["called_at"], attempt["closed_at"]
    return max(0.0, ended - began) if began and ended else 0.0


def spent_of(attempts: Iterable[Mapping[str, Any]], profile: Profile) -> Decimal:
    """What a ceiling counts, in the currency of the profile's price: what a picture was told to cost, and the price for
    every other call, whether it failed, was perhaps billed, or its process died."""
    price, currency = price_of(profile), profile.price and profile.price.currency
    spent = Decimal(0)
    for attempt in _called(attempts):
        told = attempt["cost"] is not None and attempt["currency"] == currency
        spent += price * (_calls(attempt) - told) + (Decimal(attempt["cost"]) if told else 0)
    return spent


def _called(attempts: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [a for a in attempts if a["calls"] or a["called_at"]]


def _calls(attempt: Mapping[str, Any]) -> int:
    """Of one that was called: a process that died left no number."""
    return attempt["calls"] or 1


def cost_of(attempts: Iterable[Mapping[str, Any]]) -> Cost:
    """Adds up attempts as `runs show` lists them. A call whose process died is a call of unknown price."""
    called = _called(attempts)
    money: defaultdict[str, Decimal] = defaultdict(Decimal)
    for attempt in called:
        if attempt["cost"] is not None:
            money[attempt["currency"]] += Decimal(attempt["cost"])
    tokens = [a["tokens"] for a in called if a["tokens"] is not None]
    return Cost(
        attempts=len(called),
        calls=sum(map(_calls, called)),
        perhaps_billed=sum(a["perhaps_billed"] for a in called),
        lost=sum(a["outcome"] == "lost" for a in called),
        money=money,
        unknown=sum(a["cost"] is None for a in called),
        tokens=sum(tokens) if tokens else None,
        seconds=sum(_seconds(a) for a in called),
        outcomes=Counter(a["outcome"] or "open" for a in called),
    )
