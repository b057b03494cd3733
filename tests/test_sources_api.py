"""Answers of the YouTube Data API, and the numbers in titles: the parts that need no server."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data_api_server import RESPONSES
from tests.recorded_server import Play, RecordedServer, answer, in_turn, message, raw, slow, stalled
from tests.stubs.http_kit import SOON_S, until
from thumbforge.cancel import Cancel
from thumbforge.errors import Interrupted, NotFound, SourceAuth, SourceError, SourcePrivate, SourceQuota
from thumbforge.sources import asking
from thumbforge.sources.api_errors import Again, error_of, inside
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


def test_a_quota_error_says_when() -> None:
    """One line without markup; the time in the hint and as a number."""
    body = (RESPONSES / "yt_403_quota_exceeded.http").read_bytes().partition(b"\r\n\r\n")[2]
    error = error_of(403, body, "playlist PLx", datetime(2026, 1, 5, 10, 0, tzinfo=UTC))
    assert isinstance(error, SourceQuota)
    assert error.resets_at == datetime(2026, 1, 6, 8, 0, tzinfo=UTC).timestamp()
    assert "2026-01-06 08:00 UTC (in 22 h 1 min)" in error.hint


KEY_BLOCKED = [
    ("API_KEY_HTTP_REFERRER_BLOCKED", "Requests from referer <empty> are blocked.", "restricted"),
    ("", "Requests from referer <empty> are blocked.", "restricted"),
    ("API_KEY_IP_ADDRESS_BLOCKED", "The provided API key has an IP address restriction.", "restricted"),
    ("API_KEY_SERVICE_BLOCKED", "Requests to this API youtube method a.b.C.List are blocked.", "restricted"),
    ("CONSUMER_SUSPENDED", "Permission denied: Consumer 'project_number:1' has been suspended.", "suspended"),
]


@pytest.mark.parametrize(("reason", "words", "says"), KEY_BLOCKED)
@pytest.mark.parametrize("general", ["forbidden", ""])
def test_a_blocked_key_is_told_as_that_and_never_as_a_private_list(
    reason: str, words: str, says: str, general: str
) -> None:
    """The precise reason comes before `forbidden`, which stands beside it; what is in angles may be a word."""
    error: dict[str, Any] = {"code": 403, "message": words, "status": "PERMISSION_DENIED"}
    error["errors"] = [{"message": words, "reason": general}] if general else []
    error["details"] = [{"@type": "x", "reason": reason}] if reason else []
    found = error_of(403, json.dumps({"error": error}).encode(), "playlist PLx")
    assert type(found) is SourceAuth
    assert says in found.message
    assert ("<empty>" in words) is ("<empty>" in found.message)


def test_an_error_in_an_answer_200_keeps_its_reason() -> None:
    """It is no JSON of another shape."""
    document = {"error": {"code": 403, "message": "no", "errors": [{"reason": "playlistItemsNotAccessible"}]}}
    assert type(inside(document, json.dumps(document).encode(), "playlist PLx")) is SourcePrivate
    assert inside({"items": []}, b"{}", "playlist PLx") is None


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


# Asking


def test_drops_do_not_stretch_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is that of the whole exchange: a server that sends a byte now and then is given up all the same."""
    monkeypatch.setattr(asking, "TIMEOUT_S", 0.5)
    drops = slow(message(200, b"x" * 400), parts=400, pause_s=0.05)
    with RecordedServer(in_turn(drops)) as server, pytest.raises(Again, match="no whole answer in time"):
        asking.get(server.url, cancel=Cancel(), most=1000)


def test_a_longer_answer_than_wanted_is_refused() -> None:
    """While it comes; to ask again would not make it shorter."""
    long = raw(message(200, b"x" * 3_000_000))
    with RecordedServer(in_turn(long)) as server, pytest.raises(SourceError, match="more than 2 MB") as caught:
        asking.get(server.url, cancel=Cancel(), most=2 * 2**20)
    assert not isinstance(caught.value, Again)


@pytest.mark.parametrize("play", [stalled(), answer({}, 500)])
def test_a_call_and_the_wait_after_it_end_with_ctrl_c(play: Play) -> None:
    """Also in a thread, where no signal arrives: an answer that does not come and a wait of a minute are left."""
    cancel, raised = Cancel(), []

    def ask() -> None:
        if asking.get(server.url, cancel=cancel, most=1000).status == 500:
            raise Again("busy")

    def run() -> None:
        try:
            asking.with_retries(ask, 60, cancel)
        except BaseException as error:
            raised.append(error)

    with RecordedServer(in_turn(play)) as server:
        worker = threading.Thread(target=run, daemon=True)
        worker.start()
        until(lambda: server.requests)
        cancel.set()
        worker.join(SOON_S)
        assert not worker.is_alive()
    assert [type(error) for error in raised] == [Interrupted]
