"""Why a run begins nothing more although nobody interrupted it. What is in flight ends in peace; the run is paused."""

from __future__ import annotations

import threading
import time
from decimal import Decimal

from thumbforge.errors import Interrupted, LimitReached, ProviderError, ThumbforgeError
from thumbforge.providers.base import Cancel

SAME_FAILURES = 5
"""So many equal failures in a row meet every item, whatever they are; 200 of them tell no more than five."""


PROBE_S = 2.0
"""A service refuses a bad key, an unknown model or an empty account well within this. Until the first paid call has
ended, or has lasted so long, no second one is begun: one refusal, not as many as there are threads."""


class Brake:
    """Pulled by a failure that would meet every item, by five equal failures in a row, or before a call that would
    cost more than is left. `price` is what one call costs, `max_cost` what the run may cost in the same currency."""

    def __init__(self, cancel: Cancel, price: Decimal, max_cost: Decimal | None, *, paid: bool) -> None:
        self._cancel, self._price, self._max_cost = cancel, price, max_cost
        self._probing, self._probe_ends = paid, 0.0
        self._lock = threading.Lock()
        self._spent = Decimal(0)
        self._last, self._in_a_row = "", 0
        self.reason: ThumbforgeError | None = None

    @property
    def is_pulled(self) -> bool:
        return self.reason is not None or self._cancel.is_set()

    def wait(self, seconds: float) -> None:
        """Sleep; raises Interrupted once the run begins nothing more."""
        if self.reason is not None:
            raise Interrupted("paused")
        self._cancel.wait(seconds)

    def before_call(self) -> None:
        """Set aside the price of a call. Raises Interrupted where the run may not begin it."""
        while self._must_wait():
            self.wait(0.02)
        with self._lock:
            if self._max_cost is not None and self._spent + self._price > self._max_cost:
                self.reason = self.reason or LimitReached(
                    f"the next call would cross max_cost={self._max_cost}: {self._spent} is spent",
                    hint="go on with a higher max_cost",
                )
            if self.reason is not None:
                raise Interrupted("paused")
            self._spent += self._price

    def _must_wait(self) -> bool:
        """Whether another call is the first and may still be refused at once."""
        with self._lock:
            if not self._probing:
                return False
            if not self._probe_ends:
                self._probe_ends = time.monotonic() + PROBE_S
                return False
            self._probing = time.monotonic() < self._probe_ends
            return self._probing

    def after_call(self, calls: int) -> None:
        """Retries cost as much as the first call did; none at all gives its price back."""
        with self._lock:
            self._probing = False
            self._spent += self._price * (calls - 1)
            self._last, self._in_a_row = "", 0

    def after_failure(self, error: ProviderError, calls: int) -> None:
        text = f"{error.code}: {error}"
        with self._lock:
            self._probing = False
            self._spent += self._price * (calls - 1)
            self._in_a_row = self._in_a_row + 1 if text == self._last else 1
            self._last = text
            if error.meets_every_item or self._in_a_row >= SAME_FAILURES:
                self.reason = self.reason or error
