"""The series that ships: thirty short lessons on pandas."""

from __future__ import annotations

from pathlib import Path

import pytest

from thumbforge.models import Item
from thumbforge.specs.catalog import Catalog

CATALOG = Catalog(Path(__file__).parent.parent)
ITEMS = CATALOG.playlist_file("pandas-30").items


def test_the_playlist_is_complete_and_in_order() -> None:
    """Thirty videos, each once, are parts 1 to 30 and have a duration."""
    assert [item.part for item in ITEMS] == list(range(1, 31))
    assert len({item.video for item in ITEMS}) == 30
    assert all(item.duration and item.title for item in ITEMS)
    assert ITEMS[28].video == "-Ov1N1_FbP8"


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.video)
def test_every_text_is_short_and_has_one_accent(item: Item) -> None:
    """What is drawn is two to six words of at most 28 characters, one of them in the accent colour."""
    text = item.text or ""
    assert 2 <= len(text.split()) <= 6
    assert len(text) <= 28
    assert text.count("*") == 2
    assert not text.endswith(".")


def test_no_two_items_draw_the_same_text() -> None:
    """Each thumbnail says what its own video answers."""
    assert len({(item.text or "").replace("*", "").lower() for item in ITEMS}) == 30


def test_the_series_names_the_playlist_and_costs_nothing() -> None:
    """The bundled series needs no key: it is painted by the local provider, and bounded."""
    series = CATALOG.series("pandas-30")
    assert (series.playlist, series.provider, series.max_images) == ("pandas-30", "local", 50)
    assert CATALOG.find_playlist("PL5-da3qGB5ICCsgW1MxlZ0Hq8LL5U3u9y") is not None
