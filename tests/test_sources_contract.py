"""What every source promises, whichever way a list comes: the Data API, yt-dlp, and files of both."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.data_api_server import DataApi, row, video
from tests.data_api_server import hidden as hidden_row
from tests.recorded_server import RecordedServer, answer, in_turn, message, slow
from thumbforge.errors import NotFound, SourceError, SourceNetwork
from thumbforge.sources import asking as asks
from thumbforge.sources import files, ytdlp
from thumbforge.sources.api_pages import from_pages
from thumbforge.sources.fetched import FetchedPlaylist
from thumbforge.sources.links import PlaylistLink, parse_target
from thumbforge.sources.youtube_api import YouTubeApi

OWNER = "UCtfNeutralChannel00000x"
LISTS = {
    f"https://www.youtube.com/channel/{OWNER}": f"UU{OWNER[2:]}",
    f"https://www.youtube.com/channel/{OWNER}/videos": f"UULF{OWNER[2:]}",
    "https://www.youtube.com/@neutral/shorts": f"UUSH{OWNER[2:]}",
    "https://www.youtube.com/@neutral/streams": f"UULV{OWNER[2:]}",
    "https://www.youtube.com/playlist?list=PLtfNeutral0000000000000000000000x": "PLtfNeutral0000000000000000000000x",
}
LIST = list(LISTS)[-1]


@dataclass(frozen=True)
class Row:
    """An entry as its owner made it."""

    n: int
    title: str
    hidden: str = ""
    is_live: bool = False

    @property
    def duration(self) -> float | None:
        return None if self.is_live else 153


ROWS = (Row(1, "One"), Row(2, "Two", hidden="Private"), Row(3, "Tom & Sam's <day> ☕ é", is_live=True), Row(4, "Four"))


class SourceContract:
    """`read` gives what the source makes of these rows at this address."""

    def read(self, address: str, rows: tuple[Row, ...]) -> FetchedPlaylist:
        raise NotImplementedError

    @pytest.mark.parametrize("address", LISTS)
    def test_a_list_has_one_id_whoever_tells_of_it(self, address: str) -> None:
        """A channel's tabs are lists of their own, and none overwrites another."""
        assert self.read(address, ROWS).playlist.playlist.id == LISTS[address]

    def test_the_same_rows_are_the_same_items(self) -> None:
        """Videos in the list's order with titles as they were written, numbered without a gap."""
        items = self.read(LIST, ROWS).playlist.items
        assert [(item.video, item.title, item.part, item.duration) for item in items] == [
            (video(1), "One", 1, 153),
            (video(3), "Tom & Sam's <day> ☕ é", 2, None),
            (video(4), "Four", 3, 153),
        ]

    def test_what_is_hidden_is_named_with_its_place(self) -> None:
        """A private video is no item, and is told."""
        assert [(skipped.place, skipped.video) for skipped in self.read(LIST, ROWS).skipped] == [(2, video(2))]

    def test_a_video_in_two_places_is_two_items(self) -> None:
        """Its owner put it there twice."""
        items = self.read(LIST, (Row(1, "One"), Row(2, "Two"), Row(1, "One"))).playlist.items
        assert [(item.video, item.part) for item in items] == [(video(1), 1), (video(2), 2), (video(1), 3)]

    @pytest.mark.parametrize("rows", [(), (Row(1, "x", hidden="Private"), Row(2, "y", hidden="Deleted"))])
    def test_a_list_without_a_video_is_an_error(self, rows: tuple[Row, ...]) -> None:
        """Never an empty playlist; one line, and what to do."""
        with pytest.raises(SourceError) as caught:
            self.read(LIST, rows)
        assert "\n" not in caught.value.message
        assert caught.value.hint

    def test_rows_of_no_sense_do_no_harm(self) -> None:
        """A title of blanks is named by the video's id, and that is told."""
        found = self.read(LIST, (Row(1, "  "), Row(2, "Two")))
        assert [item.title for item in found.playlist.items] == [video(1), "Two"]
        assert any(video(1) in warning for warning in found.warnings)


# The Data API


def api_rows(rows: tuple[Row, ...], playlist: str) -> list[dict[str, Any]]:
    found = []
    for place, each in enumerate(rows):
        made = hidden_row(each.n, each.hidden) if each.hidden else row(each.n, each.title.replace("&", "&amp;"))
        made |= {"id": f"row-{place}", **({"duration": "P0D"} if each.is_live else {})}
        made["snippet"] |= {"playlistId": playlist, "position": place}
        found.append(made)
    return found


class TestApi(SourceContract):
    @pytest.fixture(autouse=True)
    def _served(self) -> Iterator[None]:
        with DataApi() as self.server:
            self.server.handles = {"@neutral": f"UU{OWNER[2:]}"}
            yield

    def read(self, address: str, rows: tuple[Row, ...]) -> FetchedPlaylist:
        self.server.lists[LISTS[address]] = api_rows(rows, LISTS[address])
        return self.api().fetch(parse_target(address))

    def api(self, language: str = "") -> YouTubeApi:
        return YouTubeApi("k" * 32, f"{self.server.url}/youtube/v3", retry_base_s=0, language=language)

    def test_titles_come_in_the_language_that_is_asked_for(self) -> None:
        """Where they are translated; the others as they were written."""
        rows = api_rows((Row(1, "One"), Row(2, "Two")), LISTS[LIST])
        rows[0]["snippet"]["localized"] = {"title": "Eins"}
        self.server.lists[LISTS[LIST]] = rows
        found = {told: self.api(told).fetch(parse_target(LIST)).playlist.items for told in ("", "de")}
        assert [item.title for item in found[""]] == ["One", "Two"]
        assert [item.title for item in found["de"]] == ["Eins", "Two"]
        assert self.server.calls("videos")[-1]["hl"] == "de"


class TestApiFile(SourceContract):
    def read(self, address: str, rows: tuple[Row, ...]) -> FetchedPlaylist:
        page = {"kind": "youtube#playlistItemListResponse", "items": api_rows(rows, LISTS[address])}
        for each in page["items"]:
            if "duration" not in each:
                each["contentDetails"]["duration"] = "PT2M33S"
        self.path.write_text(json.dumps([page]))
        return files.read_file(self.path)

    @pytest.fixture(autouse=True)
    def _path(self, tmp_path: Path) -> None:
        self.path = tmp_path / "list.json"


def test_pages_that_overlap_are_joined_by_their_rows() -> None:
    """A video was put on top between two pages: the last row of the first comes again as the first of the second, and
    no part moves for it."""
    rows = api_rows(tuple(Row(n, f"Lesson {n}") for n in range(1, 6)), LISTS[LIST])
    again = {**rows[2], "snippet": {**rows[2]["snippet"], "position": 3}}
    later = [{**each, "snippet": {**each["snippet"], "position": n}} for n, each in enumerate(rows[3:], 4)]
    pages = [
        {"kind": "youtube#playlistItemListResponse", "items": rows[:3]},
        {"kind": "youtube#playlistItemListResponse", "items": [again, *later]},
    ]
    found = from_pages(pages, "x", expected=6)
    assert [(item.video, item.part) for item in found.playlist.items] == [(video(n), n) for n in range(1, 6)]
    assert found.missing == 1


def test_pages_in_another_order_are_put_right_by_position() -> None:
    """A file may hold them in any order."""
    rows = api_rows(tuple(Row(n, f"Lesson {n}") for n in range(1, 5)), LISTS[LIST])
    pages = [{"kind": "youtube#playlistItemListResponse", "items": part} for part in (rows[2:], rows[:2])]
    assert [item.video for item in from_pages(pages, "x").playlist.items] == [video(n) for n in range(1, 5)]


def test_a_long_list_is_read_over_one_connection() -> None:
    """Which is given up when the list is read."""
    with DataApi() as server:
        server.lists[LISTS[LIST]] = api_rows(tuple(Row(n, f"Lesson {n}") for n in range(1, 121)), LISTS[LIST])
        found = YouTubeApi("k" * 32, f"{server.url}/youtube/v3", retry_base_s=0).fetch(parse_target(LIST))
        assert (len(found.playlist.items), len(server.asked), server.connections) == (120, 7, 1)


# yt-dlp


def ytdlp_document(address: str, rows: tuple[Row, ...], **fields: Any) -> dict[str, Any]:
    """As `-J --flat-playlist` prints it, in the shape of yt-dlp 2026.10.26."""
    entries = [
        {
            "_type": "url", "ie_key": "Youtube", "id": video(each.n),
            "url": f"https://www.youtube.com/watch?v={video(each.n)}",
            "title": f"[{each.hidden} video]" if each.hidden else each.title,
            "duration": None if each.hidden else each.duration, "channel": None if each.hidden else "Neutral Channel",
        }
        for each in rows
    ]  # fmt: skip
    own = LISTS[address] if "playlist?" in address else OWNER
    return {
        "_type": "playlist", "id": own, "channel_id": OWNER, "channel": "Neutral Channel", "title": "Neutral Channel",
        "webpage_url": address, "entries": entries, "playlist_count": len(rows), **fields,
    }  # fmt: skip


class TestYtdlpFile(SourceContract):
    def read(self, address: str, rows: tuple[Row, ...]) -> FetchedPlaylist:
        self.path.write_text(json.dumps(ytdlp_document(address, rows)))
        return files.read_file(self.path)

    @pytest.fixture(autouse=True)
    def _path(self, tmp_path: Path) -> None:
        self.path = tmp_path / "list.json"


class TestYtdlp(SourceContract):
    @pytest.fixture(autouse=True)
    def _installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[Mapping[str, Any]] = []
        self.never = threading.Event()
        contract = self

        class YoutubeDL:
            def __init__(self, options: Mapping[str, Any]) -> None:
                contract.asked.append(options)

            def __enter__(self) -> YoutubeDL:
                return self

            def __exit__(self, *_: object) -> None: ...

            def extract_info(self, url: str, download: bool) -> Any:
                return contract.told(url)

            @staticmethod
            def sanitize_info(found: Any) -> Any:
                return found

        package = ModuleType("yt_dlp")
        vars(package)["YoutubeDL"] = YoutubeDL
        vars(package)["utils"] = SimpleNamespace(DownloadError=type("DownloadError", (Exception,), {}))
        monkeypatch.setitem(sys.modules, "yt_dlp", package)

    def told(self, url: str) -> Any:
        """The page that is asked for, or YouTube's own list of it."""
        known = {f"https://www.youtube.com/playlist?list={own}": own for own in LISTS.values()}
        return ytdlp_document(self.address, self.rows) | (
            {"id": known[url], "webpage_url": url} if url in known else {}
        )

    def read(self, address: str, rows: tuple[Row, ...]) -> FetchedPlaylist:
        self.address, self.rows = address, rows
        return ytdlp.fetch(parse_target(address), 0)

    def test_titles_are_asked_for_in_a_language(self) -> None:
        """As yt-dlp is told: `youtube:lang`."""
        self.address, self.rows = LIST, ROWS
        ytdlp.fetch(parse_target(LIST), 0, "de")
        assert self.asked[-1]["extractor_args"]["youtube"] == {"lang": ["de"]}

    def test_a_list_without_an_end_is_given_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """yt-dlp limits the wait for a byte, not the whole."""
        monkeypatch.setattr(ytdlp, "LIMIT_S", 0.2)
        monkeypatch.setattr(TestYtdlp, "told", lambda self, url: self.never.wait(20))
        with pytest.raises(SourceNetwork, match="no answer after"):
            self.read(LIST, ROWS)
        self.never.set()


# Whatever is answered


@pytest.mark.parametrize("status", [404, 410])
def test_a_list_that_there_is_not_is_not_found(status: int) -> None:
    """One line, with a hint."""
    error = {"error": {"code": status, "message": "no", "errors": [{"reason": "playlistNotFound"}]}}
    with RecordedServer(in_turn(answer(error, status))) as server, pytest.raises(NotFound) as caught:
        YouTubeApi("k" * 32, server.url, retry_base_s=0).fetch(PlaylistLink(LISTS[LIST]))
    assert caught.value.hint


def test_a_source_that_trickles_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte by byte, each in time, and never the whole."""
    monkeypatch.setattr(asks, "TIMEOUT_S", 0.3)
    monkeypatch.setattr(asks, "TRIES", 1)
    drops = slow(message(200, b'{"items": [' + b" " * 400), parts=400, pause_s=0.05)
    with RecordedServer(in_turn(drops)) as server, pytest.raises(SourceNetwork, match="no whole answer in time"):
        YouTubeApi("k" * 32, server.url, retry_base_s=0).fetch(PlaylistLink(LISTS[LIST]))
