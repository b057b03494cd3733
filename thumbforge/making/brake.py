"""Why a run begins nothing more although nobody interrupted it. What is in flight ends in peace; the run is paused."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from decimal import Decimal

from thumbforge.cancel import Cancel
from thumbforge.errors import Interrupted, LimitReached, ProviderError, ThumbforgeError
from thumbforge.planning.prices import go_on

SAME_FAILURES = 5
"""So many equal failures in a row meet every item, whatever they are; 200 of them tell no more than five."""


PROBE_S = 2.0
"""A service refuses a bad key, an unknown model or an empty account well within this. Until the first paid call has
ended, or its request is out so long, no second one is begun: one refusal, not as many as there are threads."""
UNSENT_S = 20.0
"""The same for a provider that does not tell when its request goes out: what it prepares before is part of it."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The money of a run, all in one currency: what a call costs, what all of them may cost (None: whatever they do),
    what the run `spent` before it was resumed, and the `calls` that it plans now."""

    run_id: str
    price: Decimal
    max_cost: Decimal | None
    spent: Decimal = Decimal(0)
    calls: int = 0


class Brake:
    """Pulled by a failure that would meet every item, by five equal failures in a row, before a call that would cost
    more than is left of the budget, or by whoever keeps the day's. `paid`: the first call goes alone, to see whether it
    is refused."""

    def __init__(self, cancel: Cancel, budget: Budget, *, paid: bool) -> None:
        self._cancel, self._budget = cancel, budget
        self._probing, self._is_out, self._probe_ends = paid, False, 0.0
        self._lock = threading.Lock()
        self._spent, self._missing = budget.spent, budget.calls
        self._last, self._in_a_row = "", 0
        self._reason: ThumbforgeError | None = None
        self._is_crossed = False

    @property
    def reason(self) -> ThumbforgeError | None:
        """Where that is `max_cost`, its hint is the command that goes on to the end, by what is known so far."""
        if self._is_crossed and self._reason:
            self._reason.hint = go_on(self._budget.run_id, self._spent + self._budget.price * self._missing)
        return self._reason

    @property
    def is_pulled(self) -> bool:
        return self._reason is not None or self._cancel.is_set()

    def pull(self, reason: ThumbforgeError) -> None:
        """Begin nothing more, for this reason if there is none yet."""
        with self._lock:
            self._reason = self._reason or reason

    def wait(self, seconds: float) -> None:
        """Sleep; raises Interrupted once the run begins nothing more."""
        if self._reason is not None:
            raise Interrupted("paused")
        self._cancel.wait(seconds)

    def before_call(self) -> None:
        """Set aside the price of an item's first call. Raises Interrupted where the run may not begin it."""
        while self._must_wait():
            self.wait(0.02)
        self.before_retry()

    def before_retry(self) -> None:
        """The same for each further call of the item."""
        price, most = self._budget.price, self._budget.max_cost
        with self._lock:
            if most is not None and self._spent + price > most and self._reason is None:
                self._reason = LimitReached(f"the next call would cross max_cost={most}: {self._spent} is spent")
                self._is_crossed = True
            if self._reason is not None:
                raise Interrupted("paused")
            self._spent += price

    def _must_wait(self) -> bool:
        """Whether another call is the first and may still be refused at once."""
        with self._lock:
            if not self._probing:
                return False
            if not self._probe_ends:
                self._probe_ends = time.monotonic() + UNSENT_S
                return False
            self._probing = time.monotonic() < self._probe_ends
            return self._probing

    def sent(self) -> None:
        """A call's request goes out now; that of the first one starts the clock."""
        with self._lock:
            if self._probing and not self._is_out:
                self._is_out, self._probe_ends = True, time.monotonic() + PROBE_S

    def after_call(self, calls: int) -> None:
        """A picture came after so many calls; none at all gives the price back."""
        with self._lock:
            self._ended(calls)
            self._missing -= 1
            self._last, self._in_a_row = "", 0

    def after_failure(self, error: ProviderError, calls: int) -> None:
        text = f"{error.code}: {error}"
        with self._lock:
            self._ended(calls)
            self._in_a_row = self._in_a_row + 1 if text == self._last else 1
            self._last = text
            if error.meets_every_item or self._in_a_row >= SAME_FAILURES:
                self._reason = self._reason or error

    def _ended(self, calls: int) -> None:
        self._probing = False
        if not calls:
            self._spent -= self._budget.price
