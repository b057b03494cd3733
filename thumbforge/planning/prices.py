"""What calls are expected to cost, what a ceiling counts as spent, and the refusal above it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from thumbforge.errors import LimitReached, UsageError
from thumbforge.models import Profile
from thumbforge.providers.registry import capabilities_of
from thumbforge.settings import Settings, variable
from thumbforge.store.spending import amount_of

BUDGET = "budget.day"
FREE = "local"
"""The provider whose pictures are painted here."""


@dataclass(frozen=True, slots=True)
class DayBudget:
    """The most that the calls of one local day may cost over all runs, and what today's have cost so far; both in
    `currency`, which is that of the profile's price."""

    most: Decimal
    spent: Decimal
    currency: str

    def __str__(self) -> str:
        return f"{self.spent} of today's {self.most} {self.currency} is spent"

    def as_dict(self) -> dict[str, str]:
        return {"day": str(self.most), "spent": str(self.spent), "currency": self.currency}


def price_of(profile: Profile) -> Decimal:
    """What one call is expected to cost, by the profile; 0 where it names no price."""
    return Decimal(profile.price.amount) if profile.price else Decimal(0)


def calls_to_a_service(profile: Profile, pictures: int) -> int:
    """What is painted here is no call."""
    return 0 if profile.provider == FREE else pictures


def price_as_dict(profile: Profile, pictures: int) -> dict[str, str] | None:
    """What the calls for so many pictures are expected to cost; None where the profile names no price."""
    if profile.price is None:
        return None
    amount = price_of(profile) * calls_to_a_service(profile, pictures)
    return {"amount": str(amount), "currency": profile.price.currency}


def estimate(profile: Profile, calls: int) -> str:
    """`12 provider calls, about 0.48 USD`; without a price only the calls, and whether they cost what nobody knows."""
    calls = calls_to_a_service(profile, calls)
    told = f"{calls} provider call{'s' * (calls != 1)}"
    if profile.price is None or not calls:
        return f"{told} of unknown price" if calls and capabilities_of(profile).paid else told
    dated = f" (price of {profile.price.as_of})" if profile.price.as_of else ""
    return f"{told}, about {price_of(profile) * calls} {profile.price.currency}{dated}"


def ceiling(asked: Decimal | None, spec: str | None, settings: Settings, profile: Profile) -> Decimal | None:
    """The most that a run may cost: what the command asks for, else the lower one of the series' and the setting's. The
    setting holds where money is spent at all: not where a profile has no price and its provider is not paid."""
    if asked is not None:
        return asked
    general = settings.text("batch.max_cost") if costs_money(profile) else ""
    return min((Decimal(each) for each in (spec, general) if each), default=None)


def costs_money(profile: Profile) -> bool:
    """Whether its calls do, as far as anybody knows: by its price, else by its provider."""
    return profile.price is not None or capabilities_of(profile).paid


def go_on(run_id: str, max_cost: Decimal) -> str:
    """What to type so that a run goes on under a higher ceiling."""
    return f"thumbforge runs resume {run_id[:8]} max_cost={max_cost}"


def check_max_cost(
    profile: Profile, calls: int, max_cost: Decimal | None, *, spent: Decimal = Decimal(0), run_id: str = ""
) -> None:
    """Raises LimitReached where so many calls would cost more, UsageError where nobody knows what one costs.

    `spent` is what the run has spent that is to be resumed.
    """
    if max_cost is None or not calls_to_a_service(profile, calls):
        return
    if profile.price is None:
        raise _priceless("max_cost", max_cost, profile)
    estimate = price_of(profile) * calls
    if spent + estimate <= max_cost:
        return
    told = _would_cost(profile, calls)
    if run_id:
        raise LimitReached(
            f"run {run_id[:8]} has spent {spent}, {told} more, its max_cost is {max_cost}",
            hint=go_on(run_id, spent + estimate),
        )
    raise LimitReached(
        f"{told}, max_cost is {max_cost}", hint=f"raise it (max_cost={estimate}), or make some of them (only=…)"
    )


def check_budget(profile: Profile, calls: int, budget: DayBudget | None) -> None:
    """The same for what all runs of today may cost together."""
    if budget is None or not calls:
        return
    if profile.price is None:
        raise _priceless(BUDGET, budget.most, profile)
    estimate = price_of(profile) * calls
    if (needed := budget.spent + estimate) > budget.most:
        raise LimitReached(
            f"{_would_cost(profile, calls)}, and {budget} ({BUDGET})",
            hint=f"make some of them (only=…), go on tomorrow, or raise it ({variable(BUDGET)}={needed})",
        )


def _priceless(name: str, most: Decimal, profile: Profile) -> UsageError:
    return UsageError(
        f"{name} is {most}, and profile {profile.name} names no price",
        hint="give it one: price: {amount: '0.04', currency: USD, as_of: …}",
    )


def _would_cost(profile: Profile, calls: int) -> str:
    currency = profile.price.currency if profile.price else ""
    return f"{calls} call{'s' * (calls != 1)} would cost about {price_of(profile) * calls} {currency}"


def spent_of(attempts: Iterable[Mapping[str, Any]], profile: Profile) -> Decimal:
    """What a ceiling counts, in the currency of the profile's price: what a picture was told to cost, and the price for
    every other call, whether it failed, was perhaps billed, or its process died."""
    price, currency = price_of(profile), profile.price and profile.price.currency
    spent = Decimal(0)
    for attempt in called_of(attempts):
        told = attempt["cost"] is not None and attempt["currency"] == currency
        spent += price * (calls_of(attempt) - told) + (amount_of(attempt["cost"]) if told else 0)
    return spent


def called_of(attempts: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [a for a in attempts if a["calls"] or a["called_at"]]


def calls_of(attempt: Mapping[str, Any]) -> int:
    """Of one that was called: a process that died left no number."""
    return attempt["calls"] or 1
