"""Texts in messages: one clean line, the word that was meant, a count with its noun."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from thumbforge.text import counted, nearest, one_line, printable


@given(st.text(), st.integers(1, 40))
def test_any_text_becomes_one_printable_line_of_the_wanted_length(text: str, most: int) -> None:
    """No line break, control or direction character and no doubled space is left, and nothing is longer than asked."""
    line = one_line(text, most)
    assert line.isprintable()
    assert "  " not in line
    assert len(line) <= most
    assert one_line(one_line(text)) == one_line(text)


@given(st.text())
def test_every_character_keeps_its_column(text: str) -> None:
    """What cannot be shown is a space, so columns stay; what can be shown stays as it is."""
    shown = printable(text)
    assert len(shown) == len(text)
    assert all(one in (other, " ") for one, other in zip(shown, text, strict=True))


def test_what_is_cut_off_is_told() -> None:
    """A line that is too long ends in an ellipsis; one that fits does not."""
    assert one_line("a\tlong \u202etitle\n", 6) == "a lon…"
    assert one_line("a\tlong \u202etitle\n", 12) == "a long title"


def test_a_slip_finds_its_word() -> None:
    """A typing error names the word that was meant, another word none."""
    known = ["playlist", "template", "provider"]
    assert nearest("templat", known) == ["template"]
    assert nearest("hero", known) == []
    assert nearest("palylist", known, most=3, alike=0.0)[0] == "playlist"


def test_one_is_not_plural() -> None:
    """A count of one has its noun in the singular, every other in the plural."""
    assert [counted(n, "item") for n in (0, 1, 2, 1000)] == ["0 items", "1 item", "2 items", "1000 items"]
