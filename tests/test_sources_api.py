"""Answers of the YouTube Data API, and the numbers in titles: the parts that need no server."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data_api_server import RESPONSES
from thumbforge.errors import NotFound, SourceError, SourceQuota
from thumbforge.sources.api_errors import error_of, midnight_pacific
from thumbforge.sources.api_pages import duration_of, from_pages
from thumbforge.sources.part_marks import MAX_PART, part_in

DATA = Path(__file__).parent / "data" / "playlists"
EXPECT = json.loads((DATA / "expect.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("PT2M33S", 153), ("PT1H", 3600), ("P1DT2H", 93_600), ("PT1.5S", 1.5), ("PT90M", 5400),
        ("P0D", None), ("PT0S", None), ("", None), ("P", None), ("2:33", None), ("PT", None), (7, None), (None, None),
    ],
)  # fmt: skip
def test_durations_are_iso_8601(text: Any, seconds: float | None) -> None:
    """Zero is what live and planned videos have: no duration."""
    assert duration_of(text) == seconds


@pytest.mark.parametrize(
    ("now", "back"),
    [
        ("2026-01-05T07:59:59", "2026-01-05T08:00"),
        ("2026-01-05T08:00:00", "2026-01-06T08:00"),
        ("2026-07-05T06:59:00", "2026-07-05T07:00"),
        ("2026-07-05T23:00:00", "2026-07-06T07:00"),
        ("2026-03-08T12:00:00", "2026-03-09T07:00"),
        ("2026-11-01T06:00:00", "2026-11-01T07:00"),
        ("2026-11-01T12:00:00", "2026-11-02T08:00"),
    ],
)
def test_the_quota_comes_back_at_midnight_in_california(now: str, back: str) -> None:
    """At any hour of the day and on both sides of summer time; never a fixed number of hours."""
    assert midnight_pacific(datetime.fromisoformat(now).replace(tzinfo=UTC)).strftime("%Y-%m-%dT%H:%M") == back


def test_a_quota_error_says_when() -> None:
    """One line without markup; the time in the hint and as a number."""
    body = (RESPONSES / "yt_403_quota_exceeded.http").read_bytes().partition(b"\r\n\r\n")[2]
    error = error_of(403, body, "playlist PLx", datetime(2026, 1, 5, 10, 0, tzinfo=UTC))
    assert isinstance(error, SourceQuota)
    assert error.resets_at == datetime(2026, 1, 6, 8, 0, tzinfo=UTC).timestamp()
    assert "2026-01-06 08:00 UTC (in 22 h 1 min)" in error.hint


@given(st.integers(300, 599), st.binary(max_size=80) | st.recursive(
    st.none() | st.text(max_size=9), lambda v: st.lists(v, max_size=2) | st.dictionaries(
        st.sampled_from(("error", "errors", "details", "reason", "message")), v, max_size=3), max_leaves=8,
).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_no_answer_breaks_the_reading_of_errors(status: int, body: bytes) -> None:
    """Any status with any body is one of our errors, in one line."""
    error = error_of(status, body, "playlist PLx")
    assert isinstance(error, (SourceError, NotFound))
    assert "\n" not in error.message
    assert error.hint


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("tfVid000001"),
    lambda value: st.lists(value, max_size=2) | st.dictionaries(st.text(max_size=5), value, max_size=2),
    max_leaves=5,
)
ROW = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.just("youtube#playlistItem") | JSON,
        "id": JSON,
        "snippet": st.fixed_dictionaries({}, optional={"title": JSON, "thumbnails": JSON, "resourceId": JSON}) | JSON,
        "contentDetails": st.fixed_dictionaries({}, optional={"videoId": JSON, "duration": JSON}) | JSON,
        "status": JSON,
    },
)
PAGE = st.fixed_dictionaries(
    {"kind": st.just("youtube#x")}, optional={"items": st.lists(ROW | JSON, max_size=3) | JSON, "pageInfo": JSON}
)


@given(st.lists(PAGE, min_size=1, max_size=2))
def test_no_page_breaks_the_reading(pages: list[dict[str, Any]]) -> None:
    """Any JSON in the place of a page is items with parts from 1 on, or a SourceError."""
    try:
        parts = [item.part for item in from_pages(pages, "x").playlist.items]
    except SourceError as error:
        parts, hint = [], error.hint
    else:
        hint = ""
    assert parts == list(range(1, len(parts) + 1))
    assert bool(parts) != bool(hint)


@pytest.mark.parametrize(
    "entry", json.loads((DATA / "ytdlp_part_marks.json").read_text())["entries"], ids=lambda e: e["id"]
)
def test_numbers_said_in_many_ways_are_read(entry: dict[str, Any]) -> None:
    """Each of the examples, and none where the number is a fraction, a range, a year, a time or a count."""
    assert part_in(entry["title"]) == EXPECT["ytdlp_part_marks.json"]["expect"]["number_in_title"][entry["id"]]


@pytest.mark.parametrize(
    ("title", "part"),
    [
        ("Ep. 07 - Winter Part 1", 7),
        ("Part 3: Day 1 in Rome", 3),
        ("Day 100", 100),
        ("103", None),
        ("2024. A year", None),
        ("iPhone 12 review", None),
        ("C# 12 news", None),
        ("#shorts", None),
        ("Part 3,5", None),
        ("Part 10%", None),
        ("Part of it", None),
        ("Part IIII", None),
        ("Teil XIV", 14),
        ("第二十一回", 21),
        ("第百話", 100),
        ("Part 999999", None),
        ("", None),
    ],
)
def test_the_order_of_marks_is_fixed(title: str, part: int | None) -> None:
    """Episode before part before day; a bare number is never taken."""
    assert part_in(title) == part


@given(st.text(max_size=40) | st.from_regex(r"(Part|Ep\.|#|第) ?[0-9IVX十百٣]{1,8}.?", fullmatch=True))
def test_any_title_has_a_part_in_range_or_none(title: str) -> None:
    """No title breaks the reading."""
    part = part_in(title)
    assert part is None or 0 <= part <= MAX_PART
