"""Secrets: which names and which texts are blanked, wherever they stand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thumbforge.redact import BLANK, SECRET_WORDS, is_secret_name, looks_secret, redact

OPENAI = "sk-" + "Ab1" * 10
GOOGLE = "AIza" + "x1" * 16
GITHUB = "ghp_" + "a1" * 12
SHAPES = [OPENAI, "sk-proj-" + "Zz9_" * 8, GOOGLE, GITHUB]


def wrapped(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, min_size=1, max_size=3) | st.dictionaries(
        st.sampled_from(["prompt", "note", "inner"]), inner, min_size=1, max_size=3
    )


@given(st.recursive(st.just("hunter2-hunter2"), wrapped, max_leaves=6))
def test_a_known_secret_is_blanked_at_any_depth(value: Any) -> None:
    """A secret that is named to `redact` is nowhere in what comes out."""
    cleaned = redact({"top": value}, "hunter2-hunter2")
    assert "hunter2" not in repr(cleaned)
    assert BLANK in repr(cleaned)


@pytest.mark.parametrize("word", SECRET_WORDS)
@pytest.mark.parametrize("shape", ["{}", "X-{}", "my_{}", "{}_2"])
def test_a_secret_named_field_is_blanked_whatever_it_holds(word: str, shape: str) -> None:
    """Its value goes, a structure too; the field stays so that one sees that there was one."""
    for name in (shape.format(word), shape.format(word).upper()):
        cleaned = redact({"deep": [{name: {"value": "plain"}, "other": "plain"}]})
        assert cleaned == {"deep": [{name: BLANK, "other": "plain"}]}


@pytest.mark.parametrize("empty", ["", None, 0, [], {}])
def test_an_empty_secret_stays_visible_as_empty(empty: Any) -> None:
    """That a key is not set is no secret."""
    assert redact({"api_key": empty}) == {"api_key": empty}


@pytest.mark.parametrize("name", ["max_tokens", "tokens", "keyboard", "title", "passage"])
def test_a_harmless_name_is_left_alone(name: str) -> None:
    """Counts of tokens and ordinary words are no secrets."""
    assert not is_secret_name(name)
    assert redact({name: "plain"}) == {name: "plain"}


@pytest.mark.parametrize("secret", SHAPES)
def test_a_text_of_the_shape_of_a_key_is_blanked(secret: str) -> None:
    """Keys of the known services are recognised inside a sentence, under a harmless name."""
    assert looks_secret(f"it said {secret}, twice")
    cleaned = redact(["ok", {"note": f"it said {secret}, twice"}])
    assert cleaned == ["ok", {"note": f"it said {BLANK}, twice"}]


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Authorization: Bearer abcdefgh12345", f"Authorization: Bearer {BLANK}"),
        ("GET https://x.test/v1?key=abcdef&page=2", f"GET https://x.test/v1?key={BLANK}&page=2"),
        ("https://x.test/v1?a=1&key=abcdef", f"https://x.test/v1?a=1&key={BLANK}"),
    ],
)
def test_headers_and_addresses_lose_their_keys(text: str, cleaned: str) -> None:
    """Of a bearer header or an address only the secret goes."""
    assert redact(text) == cleaned


@pytest.mark.parametrize(
    "text", ["sk-learn-in-ten-minutes-a-gentle-introduction", "How to ask-anything", "Bearer of news"]
)
def test_an_ordinary_title_is_left_alone(text: str) -> None:
    """A title is not taken for a key because it begins like one."""
    assert redact(text) == text


@given(st.text(alphabet="abcdefgh ,.", max_size=60) | st.integers() | st.booleans() | st.none())
def test_what_holds_no_secret_is_unchanged(value: Any) -> None:
    """Redaction changes nothing else."""
    assert redact({"title": value}) == {"title": value}


def test_what_secret_variables_hold_is_blanked_whatever_its_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway's token looks like anything. A short word is left: it would blank half a message."""
    monkeypatch.setenv("THUMBFORGE_COMFYUI_API_KEY", "hunter2-hunter2")
    monkeypatch.setenv("SOME_TOKEN", "a")
    monkeypatch.setenv("SOME_NAME", "an ordinary value")
    told = {"error": ["a bug with hunter2-hunter2 and an ordinary value"]}
    assert redact(told) == {"error": [f"a bug with {BLANK} and an ordinary value"]}
