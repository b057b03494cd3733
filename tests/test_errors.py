"""The error tree: one code and one exit status each, one line, and every problem of the specs at once."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thumbforge import errors
from thumbforge.errors import Exit, LimitReached, Problem, SpecError, ThumbforgeError, error_classes
from thumbforge.providers.retry import Tally, tally_of

EXIT_CODES = {
    "unexpected": 1, "usage": 2, "spec_invalid": 2, "limit_reached": 2, "not_found": 3, "source_failed": 1,
    "picture_unusable": 1, "store_failed": 1, "asset_damaged": 1, "ledger_failed": 1, "ledger_too_new": 1,
    "replay_divergence": 1, "lease_lost": 1, "provider_failed": 4, "provider_transient": 4, "provider_timeout": 4,
    "provider_rate_limited": 4, "provider_auth": 4, "provider_quota": 4, "provider_setup": 4, "provider_refused": 4,
    "provider_bad_request": 4, "output_missing": 4, "output_unusable": 4, "interrupted": 130,
}  # fmt: skip


def test_codes_and_exit_statuses_are_pinned() -> None:
    """What scripts rely on: each code, and the status a command ends with, never change."""
    found = {cls.code: int(cls.exit_code) for cls in error_classes() if cls.__module__ == errors.__name__}
    assert found | EXIT_CODES == found


def test_no_two_errors_share_a_code() -> None:
    """A code names one class."""
    codes = [cls.code for cls in error_classes() if cls.__module__ == errors.__name__]
    assert len(codes) == len(set(codes))


def test_the_tree_is_drawn_in_the_module() -> None:
    """The drawing at the top of errors.py names every class and its exit status or that it has none of its own."""
    drawing = (errors.__doc__ or "").splitlines()
    for cls in error_classes():
        if cls.__module__ == errors.__name__:
            assert any(cls.__name__ in line.split() for line in drawing), cls.__name__


@pytest.mark.parametrize("cls", [cls for cls in error_classes() if not issubclass(cls, SpecError)])
def test_an_error_is_its_message(cls: type[errors.ThumbforgeError]) -> None:
    """`str` is the one line for the user; the hint is apart and may be empty."""
    assert (str(cls("what happened")), cls("x").hint, cls("x", hint="do this").hint) == ("what happened", "", "do this")


def test_only_transient_provider_errors_are_tried_again() -> None:
    """`retryable` holds for ProviderTransient and what derives from it, `unclear` for a time-out alone."""
    provider = [cls for cls in error_classes() if issubclass(cls, errors.ProviderError)]
    ours = [cls for cls in provider if cls.__module__ == errors.__name__]
    assert {c.__name__ for c in ours if c.retryable} == {"ProviderTransient", "ProviderTimeout", "ProviderRateLimited"}
    assert {c.__name__ for c in ours if c.unclear} == {"ProviderTimeout"}


def test_a_rate_limit_keeps_the_wait_that_was_asked_for() -> None:
    """Seconds, or None where the service named none."""
    assert errors.ProviderRateLimited("slow down", retry_after_s=7.5).retry_after_s == 7.5
    assert errors.ProviderRateLimited("slow down").retry_after_s is None


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (Problem("a.yaml", 3, "items.2", "is wrong"), "a.yaml:3: items.2: is wrong"),
        (Problem("a.yaml", 0, "", "is empty"), "a.yaml: is empty"),
        (Problem("a.yaml", 7, "", "is wrong"), "a.yaml:7: is wrong"),
    ],
)
def test_a_problem_says_where_it_is(problem: Problem, text: str) -> None:
    """File and line, the field, then what is wrong with it; what is not known is left out."""
    assert str(problem) == text


def test_problems_are_told_in_the_order_of_files_and_lines() -> None:
    """A SpecError has all of them, sorted; alone, a problem is the message itself."""
    first, second, third = (
        Problem("a.yaml", 2, "", "x"),
        Problem("a.yaml", 10, "", "x"),
        Problem("b.yaml", 1, "", "x"),
    )
    error = SpecError(iter([third, second, first]))
    assert error.problems == (first, second, third)
    assert str(error) == "3 problems in the specs"
    assert str(SpecError([first])) == "a.yaml:2: x"


def test_exit_statuses_are_documented_numbers() -> None:
    """The eight statuses of every command."""
    assert [int(code) for code in Exit] == [0, 1, 2, 3, 4, 5, 6, 130]
    assert LimitReached("too many").exit_code == Exit.USAGE


SECONDS = st.none() | st.floats(min_value=-1e9, max_value=1e12)


@pytest.mark.parametrize("cls", [cls for cls in error_classes() if cls.__module__ == errors.__name__])
@given(message=st.text(), hint=st.text(), seconds=SECONDS, unclear=st.booleans())
def test_an_error_travels_whole(
    cls: type[ThumbforgeError], message: str, hint: str, seconds: float | None, unclear: bool
) -> None:
    """Through a pickle to another process: class, message, hint, the wait or time it names, what was set on it, and
    what the calls until then have cost."""
    own = {name: seconds for name in ("retry_after_s", "resets_at") if name in inspect.signature(cls).parameters}
    problems = [Problem("a.yaml", 3, "items.2", message), Problem("a.yaml", 2, "", message)]
    error = cls(problems if issubclass(cls, SpecError) else message, hint=hint, **own)  # type: ignore[arg-type]
    error.unclear = unclear  # type: ignore[attr-defined]
    error.tally = Tally(3, 1)  # type: ignore[attr-defined]
    for found in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (type(found), str(found), found.args) == (cls, str(error), error.args)
        assert found.__dict__ == error.__dict__
        assert (found.code, found.exit_code, found.hint) == (error.code, error.exit_code, hint)
        assert tally_of(found) == Tally(3, 1)
        assert errors.describe(found) == errors.describe(error)
