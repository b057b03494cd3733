"""The calls of one try: how many, when, at what cost, and what is said about them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thumbforge import errors
from thumbforge.cancel import Cancel
from thumbforge.errors import (
    Interrupted,
    OutputMissing,
    ProviderAuth,
    ProviderBadRequest,
    ProviderError,
    ProviderRateLimited,
    ProviderTimeout,
    ProviderTransient,
    UsageError,
)
from thumbforge.providers.base import READABLE, Answer, Call, Capabilities, Request
from thumbforge.providers.fake import FakeProvider
from thumbforge.providers.retry import Answered, Tally, TryFailed, generate_with_retries, tally_of
from thumbforge.testing import a_call, a_request

ANSWER = Answer(b"picture", "image/png")
HERE = Path(__file__).parent


class Scripted:
    """A provider that does what its script says, call by call; the last entry goes on for ever."""

    key = "scripted"

    def __init__(self, *script: object, paid: bool = False) -> None:
        self.script, self.calls = script, 0
        self.capabilities = Capabilities(READABLE, 1, 1, paid=paid)

    def generate(self, request: Request, call: Call) -> Answer:
        step = self.script[min(self.calls, len(self.script) - 1)]
        self.calls += 1
        if isinstance(step, BaseException):
            raise step
        return step  # type: ignore[return-value]


class Waits(Cancel):
    """Notes the waits instead of waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []

    def wait(self, seconds: float) -> None:
        self.check()
        self.seconds.append(seconds)


def tried(provider: Scripted, cancel: Cancel | None = None, base_s: float = 0) -> tuple[Answered, list[TryFailed]]:
    failed: list[TryFailed] = []
    call = a_call(HERE, cancel or Waits())
    return generate_with_retries(provider, a_request(), call, base_s=base_s, on_try=failed.append), failed


def given_up(
    provider: Scripted, cancel: Cancel | None = None, base_s: float = 0
) -> tuple[ProviderError, list[TryFailed]]:
    failed: list[TryFailed] = []
    call = a_call(HERE, cancel or Waits())
    with pytest.raises(ProviderError) as caught:
        generate_with_retries(provider, a_request(), call, base_s=base_s, on_try=failed.append)
    return caught.value, failed


def test_a_picture_at_once_is_one_call() -> None:
    """Where nothing fails there is one call, no wait and no report."""
    assert tried(Scripted(ANSWER)) == (Answered(ANSWER, calls=1, perhaps_billed=0), [])


def test_a_transient_failure_is_tried_three_times() -> None:
    """A failure that never heals is three calls; the third is reported as the last, and its error is raised."""
    error = ProviderTransient("busy")
    raised, failed = given_up(Scripted(error))
    assert raised is error
    assert tally_of(raised) == Tally(calls=3, perhaps_billed=0)
    assert [(each.n, each.of, each.wait_s) for each in failed] == [(1, 3, 0), (2, 3, 0), (3, 3, None)]
    assert all(each.error is error for each in failed)


def test_a_failure_that_heals_gives_the_picture() -> None:
    """An answer on a later call is the answer; the calls before it are counted and reported."""
    outcome, failed = tried(Scripted(ProviderTransient("busy"), ProviderTransient("busy"), ANSWER))
    assert outcome == Answered(ANSWER, calls=3, perhaps_billed=0)
    assert [each.n for each in failed] == [1, 2]


@pytest.mark.parametrize("cls", [cls for cls in errors.error_classes() if issubclass(cls, ProviderError)])
def test_only_retryable_errors_are_tried_again(cls: type[ProviderError]) -> None:
    """Each class of provider error is tried again exactly if it says that it may heal."""
    provider = Scripted(cls("no picture"))
    _, failed = given_up(provider)
    assert provider.calls == (3 if cls.retryable else 1)
    assert (failed[-1].n, failed[-1].of, failed[-1].wait_s) == (provider.calls, provider.calls, None)


@pytest.mark.parametrize(
    ("script", "calls", "perhaps"),
    [
        ([ProviderTimeout("late")], 2, 2),
        ([ProviderTransient("busy"), ProviderTimeout("late")], 3, 2),
        ([ProviderTransient("busy"), ProviderTransient("busy"), ProviderTimeout("late")], 3, 1),
        ([ProviderTimeout("late"), ProviderTransient("busy")], 2, 1),
        ([ProviderTimeout("late"), ProviderAuth("no key")], 2, 1),
        ([ProviderTransient("busy")], 3, 0),
    ],
)
def test_an_unclear_outcome_of_a_paid_call_is_tried_once_more(
    script: list[ProviderError], calls: int, perhaps: int
) -> None:
    """After a paid call that may have been billed there is at most one more, and each such call is counted."""
    provider = Scripted(*script, paid=True)
    raised, failed = given_up(provider)
    assert provider.calls == calls
    assert tally_of(raised) == Tally(calls, perhaps)
    assert failed[-1].n == failed[-1].of == calls


def test_an_unclear_outcome_that_heals_is_still_counted() -> None:
    """The picture that came at last does not hide that an earlier call may have been billed too."""
    outcome, failed = tried(Scripted(ProviderTimeout("late"), ANSWER, paid=True))
    assert outcome == Answered(ANSWER, calls=2, perhaps_billed=1)
    assert [(each.n, each.of) for each in failed] == [(1, 2)]


def test_an_unclear_outcome_costs_nothing_where_nothing_is_paid() -> None:
    """A time-out of a free provider is an ordinary transient failure."""
    raised, _ = given_up(Scripted(ProviderTimeout("late")))
    assert tally_of(raised) == Tally(calls=3, perhaps_billed=0)


@given(base=st.floats(0, 100), seed=st.integers(0, 2**32))
def test_waits_are_drawn_below_a_doubling_ceiling(base: float, seed: int) -> None:
    """The wait after call n lies between 0 and base x 2^(n-1) seconds, and is never above a minute."""
    random.seed(seed)
    waits = Waits()
    given_up(Scripted(ProviderTransient("busy")), waits, base)
    first, second = waits.seconds
    assert 0 <= first <= min(base, 60)
    assert 0 <= second <= min(base * 2, 60)


def test_waits_have_full_jitter() -> None:
    """Waits are spread over the whole range, so that a batch's items do not come back all at once."""
    random.seed(1)
    waits = Waits()
    for _ in range(200):
        given_up(Scripted(ProviderTransient("busy")), waits, 2.0)
    first = waits.seconds[::2]
    assert min(first) < 0.2
    assert max(first) > 1.8


@pytest.mark.parametrize(("asked", "waited"), [(7.5, 7.5), (0, 0), (120, 120), (100_000, 120), (-3, 0)])
def test_a_service_that_names_its_wait_gets_it(asked: float, waited: float) -> None:
    """Retry-After beats the back-off, up to two minutes."""
    waits = Waits()
    _, failed = given_up(Scripted(ProviderRateLimited("slow down", retry_after_s=asked)), waits, 50)
    assert waits.seconds == [waited, waited]
    assert [each.wait_s for each in failed] == [waited, waited, None]


def test_a_rate_limit_without_a_wait_backs_off() -> None:
    """A service that names no wait is met with the back-off."""
    waits = Waits()
    given_up(Scripted(ProviderRateLimited("slow down")), waits, 0.001)
    assert all(0 <= seconds <= 0.002 for seconds in waits.seconds)


def test_a_cancel_ends_the_wait_at_once() -> None:
    """Ctrl-C during a wait of two minutes raises Interrupted at once, and no further call is made."""
    provider, cancel = Scripted(ProviderRateLimited("slow down", retry_after_s=120)), Cancel()
    with pytest.raises(Interrupted) as caught:
        generate_with_retries(provider, a_request(), a_call(HERE, cancel), base_s=2, on_try=lambda _: cancel.set())
    assert provider.calls == 1
    assert tally_of(caught.value) == Tally(calls=1, perhaps_billed=0)


def test_a_cancelled_run_makes_no_call() -> None:
    """A try that begins after Ctrl-C calls nobody."""
    provider, cancel = Scripted(ANSWER), Cancel()
    cancel.set()
    with pytest.raises(Interrupted) as caught:
        tried(provider, cancel)
    assert provider.calls == 0
    assert tally_of(caught.value) == Tally(0, 0)


def test_a_paid_call_that_was_interrupted_may_have_been_billed() -> None:
    """A paid call in flight when Ctrl-C came is counted, is not repeated and is no failed try."""
    failed: list[TryFailed] = []
    provider = Scripted(Interrupted("interrupted"), paid=True)
    with pytest.raises(Interrupted) as caught:
        generate_with_retries(provider, a_request(), a_call(HERE), base_s=0, on_try=failed.append)
    assert tally_of(caught.value) == Tally(calls=1, perhaps_billed=1)
    assert failed == []


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (TypeError("no such\n  field"), "provider scripted failed: TypeError: no such field"),
        (KeyError("data"), "provider scripted failed: KeyError: 'data'"),
        (UsageError("no key", hint="set one"), "provider scripted failed: UsageError: no key"),
        (
            RuntimeError("at https://x.test/?key=abc123"),
            "provider scripted failed: RuntimeError: at https://x.test/?key=[redacted]",
        ),
    ],
)
def test_a_fault_of_a_plugin_is_a_provider_error(fault: Exception, says: str) -> None:
    """Whatever a plugin raises is told in one line without secrets, keeps its cause, and is not tried again."""
    provider = Scripted(fault)
    raised, failed = given_up(provider)
    assert type(raised) is ProviderError
    assert raised.message == says
    assert raised.hint
    assert raised.__cause__ is fault
    assert provider.calls == len(failed) == 1


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(3)])
def test_what_ends_the_process_passes(stop: BaseException) -> None:
    """KeyboardInterrupt and SystemExit are nobody's failure and are not held up."""
    with pytest.raises(type(stop)):
        tried(Scripted(stop))


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (None, ProviderError, "answered with a NoneType"),
        (b"bytes", ProviderError, "answered with a bytes"),
        (Answer(b"", "image/png"), OutputMissing, "answered without a picture"),
    ],
)
def test_an_answer_that_is_none_is_a_failure(answer: object, error: type[ProviderError], says: str) -> None:
    """A provider that returns no picture has failed, whatever it believes."""
    raised, _ = given_up(Scripted(answer))
    assert type(raised) is error
    assert says in raised.message


@pytest.mark.parametrize(("marker", "calls"), [("[[FAIL_TRANSIENT]]", 3), ("[[FAIL_PERMANENT]]", 1)])
def test_fakes_markers_take_these_ways(marker: str, calls: int) -> None:
    """fake's transient marker is three tries, its permanent one a single try."""
    failed: list[TryFailed] = []
    request = a_request(prompt=marker)
    with pytest.raises((ProviderTransient, ProviderBadRequest)):
        generate_with_retries(FakeProvider({}), request, a_call(HERE), base_s=0, on_try=failed.append)
    assert len(failed) == calls


def test_an_error_from_elsewhere_has_cost_nothing() -> None:
    """Only errors that came out of a try carry calls."""
    assert tally_of(ProviderTransient("busy")) == Tally(0, 0)


@pytest.mark.parametrize("paid", [False, True])
def test_an_error_that_says_so_is_tried_a_single_time_more(paid: bool) -> None:
    """`once_more` bounds the calls whether they are paid or not, and says nothing of the bill."""
    error = OutputMissing("none")
    error.retryable = error.once_more = True
    raised, _ = given_up(Scripted(error, paid=paid))
    assert tally_of(raised) == Tally(calls=2, perhaps_billed=0)
    raised, _ = given_up(Scripted(ProviderTransient("busy"), error, paid=paid))
    assert tally_of(raised).calls == 3


def test_a_wait_that_is_asked_for_holds_for_all_calls_of_the_provider() -> None:
    """Another item's call waits what is left of it before it asks; the one that was told waits only once."""
    provider = Scripted(ProviderRateLimited("slow down", retry_after_s=90), ANSWER)
    first, second, other = Waits(), Waits(), Waits()
    tried(provider, first)
    tried(provider, second)
    tried(Scripted(ANSWER), other)
    assert first.seconds == [90]
    assert len(second.seconds) == 1
    assert 0 < second.seconds[0] <= 90
    assert other.seconds == []


def test_a_provider_that_cannot_be_referred_to_waits_alone() -> None:
    """A plugin's class may forbid weak references or hashing; nothing breaks."""

    class Narrow(Scripted):
        __hash__ = None  # type: ignore[assignment]

    provider, second = Narrow(ProviderRateLimited("slow down", retry_after_s=90), ANSWER), Waits()
    assert tried(provider, Waits())[0].calls == 2
    tried(provider, second)
    assert second.seconds == []
