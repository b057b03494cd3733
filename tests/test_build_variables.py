"""`name=value` pairs: which words are some, what they say, and how doit's own reading of them is undone."""

from __future__ import annotations

import doit.doit_cmd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thumbforge.errors import UsageError
from thumbforge.tasks import variables
from thumbforge.tasks.options import Option, amount, choice, whole, yes_or_no
from thumbforge.tasks.variables import BATCH_OPTIONS, Pairs, collect, split, typed

NAMES = st.from_regex(r"(var\.)?[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True)


@given(st.lists(st.tuples(NAMES, st.text(max_size=12)), max_size=6))
def test_a_pair_is_a_name_and_all_the_rest(pairs: list[tuple[str, str]]) -> None:
    """The first = separates; a value may hold more of them, spaces, line breaks, or nothing."""
    assert split(f"{name}={value}" for name, value in pairs) == (pairs, [])


@pytest.mark.parametrize(
    "word",
    [
        "show",
        "",
        "=x",
        "https://youtube.com/playlist?list=PL1",
        "youtu.be/x?list=PL1",
        "a-b=c",
        "var.=x",
        "1a=x",
        "a.b=c",
    ],
)
def test_what_has_no_name_is_a_word(word: str) -> None:
    """Above all a URL with ?list=, which doit itself takes for a pair."""
    assert split([word]) == ([], [word])


def test_values_and_variables_are_kept_apart() -> None:
    """`var.template` is a variable called template, and a variable may have any name."""
    found = collect([("template", "plain"), ("var.template", "x"), ("var.anything", "")], BATCH_OPTIONS)
    assert found == Pairs({"template": "plain"}, {"template": "x", "anything": ""})


@pytest.mark.parametrize(
    ("pairs", "message", "hint"),
    [
        ([("templat", "x")], "unknown variable templat", "did you mean template=…?"),
        ([("zzz", "x")], "unknown variable zzz", "known: series, playlist"),
        ([("only", "1"), ("only", "2")], "only is given twice: '1' and '2'", ""),
        ([("var.x", "1"), ("var.x", "2")], "var.x is given twice: '1' and '2'", ""),
    ],
)
def test_an_unknown_or_doubled_pair_is_refused(pairs: list[tuple[str, str]], message: str, hint: str) -> None:
    """The nearest name is in the hint."""
    with pytest.raises(UsageError, match=message) as caught:
        collect(pairs, BATCH_OPTIONS)
    assert caught.value.hint.startswith(hint)


def test_a_command_without_pairs_says_so() -> None:
    """Instead of naming nothing."""
    with pytest.raises(UsageError) as caught:
        collect([("x", "1")], ())
    assert caught.value.hint == "this command takes none"


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("7", 7), ("007", 7), ("999999999", 999_999_999)])
def test_a_whole_number_is_read(text: str, number: int) -> None:
    """Absent is absent: a default is the option's matter."""
    assert collect([("max_images", text)], BATCH_OPTIONS) == Pairs({"max_images": number}, {})
    assert collect([], BATCH_OPTIONS).get("max_images") is None


@pytest.mark.parametrize("text", ["", " 1", "-1", "1.0", "one", "1e3", "9999999999", "9" * 5000, "１"])
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    """The message has what was typed."""
    with pytest.raises(UsageError, match=r"max_images=.*: expected a whole number"):
        collect([("max_images", text)], BATCH_OPTIONS)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_whole_number_has_its_lowest(low: int, number: int) -> None:
    """What is below is refused with the bound, what is not is the number."""
    if number >= low:
        assert whole(low)(str(number)) == number
    else:
        with pytest.raises(ValueError, match=f"expected a whole number from {low}"):
            whole(low)(str(number))


@pytest.mark.parametrize(("text", "value"), [("yes", True), ("No", False), ("TRUE", True), ("0", False)])
def test_yes_and_no_have_several_names(text: str, value: bool) -> None:
    """In any case of letters; anything else is refused."""
    assert yes_or_no(text) is value
    assert collect([("wait", text)], BATCH_OPTIONS).get("wait", not value) is value
    with pytest.raises(UsageError, match=f"wait={text}!: expected yes or no"):
        collect([("wait", f"{text}!")], BATCH_OPTIONS)


@pytest.mark.parametrize("text", ["", "-1", "1,50", "1.", ".5", "1e2", "NaN"])
def test_an_amount_is_digits_with_a_point(text: str) -> None:
    """As money is written, never a float's other spellings."""
    with pytest.raises(ValueError, match=r"expected an amount such as 2\.50"):
        amount(text)
    assert str(amount("2.50")) == "2.50"


def test_an_option_says_what_it_may_be() -> None:
    """A choice that is none is refused with all there are; the pair has underscores."""
    option = choice("how-big", "size", "small", "large", "huge")
    assert (option.pair, option.written) == ("how_big", "--how-big small|large|huge")
    with pytest.raises(UsageError, match="how_big=tiny: expected small, large or huge"):
        collect([("how_big", "tiny")], [option, Option("other", "another")])


@pytest.mark.parametrize(
    ("argv", "seen", "words"),
    [
        (["batch", "a=1", "PL", "a=2"], ["PL"], ["a=1", "PL", "a=2"]),
        (["a=1", "batch", "--json", "b=2"], ["--json"], ["a=1", "--json", "b=2"]),
        (["batch", "https://x.test/?list=PL"], [], ["https://x.test/?list=PL"]),
        (["-f", "x.py", "batch", "PL"], ["PL"], ["PL"]),
        (["batch", "--var=a=b", "batch"], ["--var=a=b", "batch"], ["--var=a=b", "batch"]),
    ],
)
def test_what_doit_took_away_comes_back_in_its_place(
    monkeypatch: pytest.MonkeyPatch, argv: list[str], seen: list[str], words: list[str]
) -> None:
    """Order and doubles are those of the command line."""
    monkeypatch.setattr("sys.argv", ["doit", *argv])
    assert typed("batch", seen) == words


def test_without_its_own_command_line_doits_reading_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the program was started from another one, what doit has taken is put behind the words."""
    monkeypatch.setattr("sys.argv", ["pytest", "-q"])
    monkeypatch.setattr(doit.doit_cmd, "_CMDLINE_VARS", {"playlist": "show"})
    assert typed("batch", ["--json"]) == ["--json", "playlist=show"]


def test_a_dodo_file_may_have_pairs_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names like none of ours are left to it; what looks like a slip of ours is refused."""
    monkeypatch.setattr(doit.doit_cmd, "_CMDLINE_VARS", {"colour": "red", "series": "show", "var.x": "1"})
    assert variables.of_tasks() == Pairs({"series": "show"}, {"x": "1"})
    monkeypatch.setattr(doit.doit_cmd, "_CMDLINE_VARS", {"serie": "show"})
    with pytest.raises(UsageError, match="unknown variable serie"):
        variables.of_tasks()
