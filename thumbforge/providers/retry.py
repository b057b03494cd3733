"""The calls of one try of an item: up to three, with waits between them that end at once when the run is cancelled.

A call of a paid provider whose outcome is unclear (a time-out, a broken connection) may have been billed, so after it
at most one more is made; the same holds for an error that says `once_more`. A wait that a service asks for holds for
all calls of the same provider in this process: the others would only be told the same.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from thumbforge.errors import Interrupted, OutputMissing, ProviderError, ProviderRateLimited, ThumbforgeError
from thumbforge.providers.base import Answer, Call, Provider, Request
from thumbforge.redact import redact
from thumbforge.text import one_line

if TYPE_CHECKING:
    from tenacity import RetryCallState

MAX_CALLS = 3
MAX_BACKOFF_S = 60.0
MAX_ASKED_WAIT_S = 120.0
"""The longest wait that a service's Retry-After is given; beyond it the item had better fail and be resumed."""


@dataclass(frozen=True, slots=True)
class TryFailed:
    """Call `n` of at most `of` failed; `wait_s` seconds until the next, None where there is none."""

    n: int
    of: int
    error: ProviderError
    wait_s: float | None


@dataclass(frozen=True, slots=True)
class Tally:
    """Calls begun, and how many of them may have been billed without an answer."""

    calls: int
    perhaps_billed: int


@dataclass(frozen=True, slots=True)
class Answered:
    answer: Answer
    calls: int
    perhaps_billed: int


def tally_of(error: ThumbforgeError) -> Tally:
    """What was spent until `generate_with_retries` raised this error; nothing for an error from elsewhere."""
    tally = getattr(error, "tally", None)
    return tally if isinstance(tally, Tally) else Tally(0, 0)


def generate_with_retries(
    provider: Provider, request: Request, call: Call, *, base_s: float, on_try: Callable[[TryFailed], None]
) -> Answered:
    """One picture, or the last call's ProviderError, or Interrupted; `tally_of` tells what either has cost.

    Only retryable errors are tried again. The wait is drawn from 0 to `base_s` seconds, doubled with every call, 60 at
    most; a service that names its own wait gets that. Every failed call is reported to `on_try`. What a plugin raises
    that is no ProviderError becomes one.
    """
    from tenacity import Retrying, retry_if_exception, wait_random_exponential

    calls = _Calls(provider, request, call, on_try)
    backoff = wait_random_exponential(multiplier=base_s, max=MAX_BACKOFF_S)
    retrying = Retrying(
        stop=lambda state: state.attempt_number >= calls.limit,
        wait=lambda state: backoff(state) if (asked := _asked_wait(state)) is None else asked,
        retry=retry_if_exception(lambda error: isinstance(error, ProviderError) and error.retryable),
        sleep=call.cancel.wait,
        before_sleep=calls.will_go_on,
        reraise=True,
    )
    try:
        answer = retrying(calls.make)
    except ThumbforgeError as error:
        calls.ended(error)
        raise
    return Answered(answer, calls.made, calls.perhaps_billed)


class _Calls:
    """Counts the calls of one try. `limit` is how many there may be as far as is known."""

    def __init__(self, provider: Provider, request: Request, call: Call, on_try: Callable[[TryFailed], None]) -> None:
        self.provider, self.request, self.call, self.on_try = provider, request, call, on_try
        self.made = self.perhaps_billed = 0
        self.limit = MAX_CALLS
        self.token = object()

    def make(self) -> Answer:
        if (left := _shared.left(self.provider, self.token)) > 0:
            self.call.cancel.wait(left)
        self.call.cancel.check()
        self.made += 1
        try:
            return answer_of(self.provider, self.request, self.call)
        except ProviderError as error:
            self._count_unclear(error.unclear)
            if error.once_more:
                self.limit = min(self.limit, self.made + 1)
            if (asked := _asked(error)) is not None:
                _shared.set(self.provider, asked, self.token)
            raise
        except Interrupted:
            self._count_unclear(True)
            raise

    def _count_unclear(self, unclear: bool) -> None:
        if not (unclear and self.provider.capabilities.paid):
            return
        if not self.perhaps_billed:
            self.limit = min(MAX_CALLS, self.made + 1)
        self.perhaps_billed += 1

    def will_go_on(self, state: RetryCallState) -> None:
        error = state.outcome and state.outcome.exception()
        if isinstance(error, ProviderError):
            self.on_try(TryFailed(self.made, self.limit, error, state.upcoming_sleep))

    def ended(self, error: ThumbforgeError) -> None:
        error.tally = Tally(self.made, self.perhaps_billed)  # type: ignore[attr-defined]
        if isinstance(error, ProviderError):
            self.on_try(TryFailed(self.made, self.made, error, None))


def answer_of(provider: Provider, request: Request, call: Call) -> Answer:
    """One call. Whatever the provider raises comes as ProviderError or Interrupted, and an answer has data."""
    try:
        answer: object = provider.generate(request, call)
    except (ProviderError, Interrupted):
        raise
    except Exception as error:
        raise ProviderError(
            redact(f"provider {provider.key} failed: {type(error).__name__}: {one_line(str(error))}"),
            hint=error.hint if isinstance(error, ThumbforgeError) else "this is a fault of the provider's plugin",
        ) from error
    if not isinstance(answer, Answer):
        raise ProviderError(f"provider {provider.key} answered with a {type(answer).__name__}, not an Answer")
    if not answer.data:
        raise OutputMissing(f"provider {provider.key} answered without a picture")
    return answer


def _asked_wait(state: RetryCallState) -> float | None:
    return _asked(state.outcome.exception() if state.outcome else None)


def _asked(error: BaseException | None) -> float | None:
    """The wait in seconds that the service asks for, within bounds; None where it names none."""
    if not isinstance(error, ProviderRateLimited) or error.retry_after_s is None:
        return None
    return min(max(error.retry_after_s, 0.0), MAX_ASKED_WAIT_S)


class _Shared:
    """Until when a provider's calls are to wait, by the monotonic clock, and the token of who was told so."""

    def __init__(self) -> None:
        self._until: WeakKeyDictionary[Provider, tuple[float, object]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def set(self, provider: Provider, seconds: float, token: object) -> None:
        ends = time.monotonic() + seconds
        with self._lock, suppress(TypeError):  # a plugin's class that cannot be hashed or referred to waits alone
            if ends > self._until.get(provider, (0.0, None))[0]:
                self._until[provider] = (ends, token)

    def left(self, provider: Provider, token: object) -> float:
        """Seconds; 0 for the one who was told, who waits by itself."""
        with self._lock, suppress(TypeError):
            ends, told = self._until.get(provider, (0.0, None))
            return 0.0 if told is token else max(ends - time.monotonic(), 0.0)
        return 0.0


_shared = _Shared()
