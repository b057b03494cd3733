"""Playlists from files: yt-dlp's JSON and CSV, with everything that goes wrong in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thumbforge.errors import SourceError, SpecError
from thumbforge.sources import files
from thumbforge.sources.files import FetchedPlaylist, from_ytdlp, playlist_id, read_file, read_playlist_file

DATA = Path(__file__).parent / "data" / "playlists"


def ids(fetched: FetchedPlaylist) -> list[str]:
    return [item.video for item in fetched.playlist.items]


def saved(tmp_path: Path, name: str, text: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def entry(n: int, **fields: Any) -> dict[str, Any]:
    return {"id": f"tfVid{n:06d}", "title": f"Lesson {n}", "duration": 60, "channel": "Bench", **fields}


def test_a_flat_list_becomes_a_numbered_playlist() -> None:
    """Head and items are taken over; parts are 1 to n in the order of the list."""
    playlist = read_playlist_file(DATA / "scikit-learn-9.json")
    assert playlist.playlist.id == "PL5-da3qGB5ICeMbQuqbbCOQWcS6OYBr5A"
    assert playlist.playlist.url.startswith("https://www.youtube.com/playlist?list=PL5")
    assert [item.part for item in playlist.items] == list(range(1, 10))
    first = playlist.items[0]
    expected = ("elojMnjn4kk", "What is machine learning, and how does it work?", 620)
    assert (first.video, first.title, first.duration) == expected


def test_hidden_entries_are_skipped_named_and_never_numbered() -> None:
    """Null, private, deleted and untitled entries leave no gap in the parts and are reported with their place."""
    fetched = read_file(DATA / "ytdlp_flat_private_deleted_null.json")
    assert [(item.video, item.part) for item in fetched.playlist.items] == [
        ("tfVid000001", 1),
        ("tfVid000005", 2),
        ("tfVid000006", 3),
    ]
    assert [skipped.place for skipped in fetched.skipped] == [2, 3, 4, 5, 8, 9]
    assert fetched.playlist.playlist.channel == "Neutral Channel"


def test_a_video_that_is_really_called_private_is_kept() -> None:
    """A placeholder's title counts only where owner or duration are missing too."""
    document = {
        "id": "PLx",
        "entries": [entry(1, title="[Private video]"), entry(2, title="[Private video]", channel=None)],
    }
    fetched = from_ytdlp(document, "x")
    assert ids(fetched) == ["tfVid000001"]
    assert [skipped.reason for skipped in fetched.skipped] == ["private video"]


def test_given_numbers_are_not_trusted() -> None:
    """`playlist_index` counts hidden videos, so parts come from the order alone."""
    document = {"id": "PLx", "entries": [entry(1, playlist_index=7), None, entry(2, playlist_index=1)]}
    assert [item.part for item in from_ytdlp(document, "x").playlist.items] == [1, 2]


def test_a_video_listed_twice_is_two_items() -> None:
    """Every place in the list is an item with a part of its own; ids that differ in case or begin with - are kept."""
    fetched = read_file(DATA / "ytdlp_duplicates.json")
    assert (len(ids(fetched)), len(set(ids(fetched)))) == (13, 11)
    assert {"-tfDash0001", "tfCaseTwinA", "tfcasetwina"} <= set(ids(fetched))


def test_live_and_planned_videos_are_items_and_odd_durations_are_dropped() -> None:
    """Streams and premieres are kept; a duration that is negative, a text or a myth is no duration."""
    items = read_file(DATA / "ytdlp_live_upcoming.json").playlist.items
    assert [item.duration for item in items] == [None, None, 7200, None, 0, None, None, None]


def test_a_channels_tabs_are_read_one_after_the_other() -> None:
    """Lists inside the list give their videos, never an item for a tab."""
    fetched = read_file(DATA / "ytdlp_channel_tabs.json")
    assert len(ids(fetched)) == 4
    assert ids(fetched)[:2] == ["tfVid000701", "tfVid000702"]


def test_one_video_is_a_list_of_one() -> None:
    """What `-J` prints for a watch address is read as a playlist of that video."""
    fetched = read_file(DATA / "ytdlp_single_video.json")
    assert ids(fetched) == ["tfVid000011"]
    assert fetched.playlist.playlist.title == "Bread at home, day 1"


def test_bad_entries_are_named_and_the_rest_is_used() -> None:
    """Entries are judged one by one: without title they are named by their id, without id they are skipped."""
    fetched = read_file(DATA / "ytdlp_minimal_fields.json")
    assert ids(fetched) == [f"tfVid00097{n}" for n in (1, 2, 3, 5, 6, 7)]
    assert [item.title for item in fetched.playlist.items][:3] == ["tfVid000971", "tfVid000972", "Only url"]
    assert [(skipped.place, skipped.reason) for skipped in fetched.skipped] == [
        (n, "has no video id") for n in (4, 5, 8)
    ]
    assert len(fetched.warnings) == 4
    assert fetched.playlist.playlist.id == "ytdlp_minimal_fields"


@pytest.mark.parametrize("name", ["ytdlp_part_marks.json", "ytdlp_trailer_first.json"])
def test_numbers_in_titles_are_not_read(name: str) -> None:
    """Titles are data: a number in one makes no part."""
    items = read_file(DATA / name).playlist.items
    assert [item.part for item in items] == list(range(1, len(items) + 1))


def test_a_list_that_is_shorter_than_it_says_is_warned_of() -> None:
    """YouTube at times sends 100 of 206 entries; the reader is told."""
    fetched = from_ytdlp({"id": "PLx", "playlist_count": 206, "entries": [entry(1)]}, "wood")
    assert fetched.warnings == ("wood says it has 206 videos but lists 1: fetch it anew",)


def test_half_an_emoji_becomes_the_replacement_character() -> None:
    """JSON can hold lone surrogates, which no file can; they do not get past the reader."""
    document = json.loads('{"id": "PLx", "title": "\\ud83e", "entries": [{"id": "tfVid000001", "title": "a\\ud83e"}]}')
    fetched = from_ytdlp(document, "x")
    assert (fetched.playlist.playlist.title, fetched.playlist.items[0].title) == ("\ufffd", "a\ufffd")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ytdlp_empty.json", "is an empty playlist"),
        ("ytdlp_all_private.json", "nothing is left of 3 entries"),
        ("ytdlp_truncated.json", "is cut off at line 1"),
        ("ytdlp_flat_lines.jsonl", "use `-J`"),
        ("ytdlp_mix.json", "is a mix"),
        ("api_empty.json", "is an empty playlist"),
    ],
)
def test_what_is_no_whole_playlist_is_refused_with_a_reason(name: str, says: str) -> None:
    """A file that is cut short, empty, a mix or of another program is an error with a hint, never a shorter list."""
    with pytest.raises(SourceError, match=says) as caught:
        read_file(DATA / name)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("null\n", "holds only `null`: yt-dlp failed"),
        ("<!DOCTYPE html><html>", "is a web page or XML"),
        ("[1, 2]", "is JSON, but not what `yt-dlp -J` prints"),
        ('"text"', "is JSON, but not"),
        ("{}", "has no list `entries`"),
        ('{"entries": {"a": 1}}', "has no list `entries`"),
        ('{"entries": [], "playlist_count": 15}', "says it has 15 videos but lists none"),
        ('{"entries": [1, true, [], "x"]}', "nothing is left of 4 entries"),
        ("WARNING: odd\n{}", "begins with 'WARNING:'"),
        ('{"entries": [', "is cut off"),
        ('{"entries": [}', "is not whole JSON"),
        ("[" * 100_000, "is no JSON that yt-dlp prints"),
        ('{"a": ' + "9" * 5_000 + "}", "is no JSON that yt-dlp prints"),
        (b'{"a": "\xff"}', "is not UTF-8"),
        (b'{"a": "\x00"}', "NUL bytes"),
        ("{}".encode("utf-16"), "no list `entries`"),
        ("{}".encode("utf-16")[2:], "NUL bytes"),
    ],
)
def test_text_that_is_no_playlist_is_refused(text: str | bytes, says: str, tmp_path: Path) -> None:
    """Whatever else is in the file is told in one line."""
    with pytest.raises(SourceError, match=says) as caught:
        read_file(saved(tmp_path, "list.json", text))
    assert "\n" not in str(caught.value)
    assert caught.value.hint


def test_missing_and_huge_files_are_refused(tmp_path: Path) -> None:
    """A file that is not there, is a directory or is over 50 MB is not read."""
    with pytest.raises(SourceError, match="cannot be read: No such file"):
        read_file(tmp_path / "none.json")
    with pytest.raises(SourceError, match="is no file"):
        read_file(tmp_path)
    with (tmp_path / "big.json").open("wb") as file:
        file.truncate(files.MAX_BYTES + 1)
    with pytest.raises(SourceError, match="50,000,000 is the most"):
        read_file(tmp_path / "big.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.just("tfVid000001"),
    lambda value: st.lists(value, max_size=3) | st.dictionaries(st.text(max_size=5), value, max_size=3),
    max_leaves=6,
)
ENTRY = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("_type", "id", "url", "title", "duration", "channel", "entries"), JSON)
)
DOCUMENT = st.fixed_dictionaries(
    {"entries": st.lists(ENTRY | JSON, max_size=4)},
    optional=dict.fromkeys(("_type", "kind", "id", "title", "channel", "webpage_url", "playlist_count"), JSON),
)


@given(DOCUMENT | JSON)
def test_no_document_breaks_the_reading(document: Any) -> None:
    """Any JSON is a playlist with parts from 1 on, or a SourceError."""
    try:
        fetched = from_ytdlp(document, "x")
    except SourceError as error:
        parts, message = [], str(error)
    else:
        parts, message = [item.part for item in fetched.playlist.items], ""
    assert parts == list(range(1, len(parts) + 1))
    assert bool(parts) != bool(message)


CSV = "title,video,part\nTools,tfVid000001,1\nTrailer,tfVid000002,\nJoints,https://youtu.be/tfVid000003?list=PLx,2\n"


@pytest.mark.parametrize(
    "text",
    [
        CSV,
        "\ufeff" + CSV,
        CSV.replace(",", ";"),
        CSV.replace(",", "\t"),
        CSV.replace("\n", "\r\n"),
        "\n" + CSV.replace("Tools", '"Tools"') + "\n,,\n",
        CSV.replace("title,video,part", "Title, URL ,PART"),
        "note,title,video,part\nx,Tools,tfVid000001,1\ny,Trailer,tfVid000002\n,Joints,tfVid000003,02,more\n",
    ],
)
def test_a_csv_says_titles_videos_and_parts(text: str, tmp_path: Path) -> None:
    """Commas, semicolons or tabs, a byte order mark, extra columns and addresses for ids make no difference."""
    playlist = read_playlist_file(saved(tmp_path, "my list.csv", text))
    assert [(item.title, item.video, item.part) for item in playlist.items] == [
        ("Tools", "tfVid000001", 1),
        ("Trailer", "tfVid000002", None),
        ("Joints", "tfVid000003", 2),
    ]
    assert (playlist.playlist.id, playlist.playlist.title) == ("my-list", "my list")


@pytest.mark.parametrize(
    ("raw", "warned"),
    [
        (b"\xef\xbb\xbfsep=;\r\ntitle;video;part\r\nSch\xc3\xb6n;tfVid000001;1\r\n", False),
        ('"sep=,"\nTitle,Video ID,Part\nSchön,tfVid000001,1\n'.encode(), False),
        ("Video Title,video_url\nSchön,https://youtu.be/tfVid000001\n".encode(), False),
        ("title\tvideo\tpart\r\nSchön\ttfVid000001\t1\r\n".encode("utf-16"), False),
        ("title;video;part\r\nSchön;tfVid000001;1\r\n".encode("cp1252"), True),
    ],
)
def test_a_csv_is_read_as_spreadsheets_save_it(raw: bytes, warned: bool, tmp_path: Path) -> None:
    """With the line for Excel, names of their own, in UTF-16, or as Windows does, which is told."""
    path = tmp_path / "list.csv"
    path.write_bytes(raw)
    found = read_file(path)
    assert [(item.title, item.video, item.part) for item in found.playlist.items] == [("Schön", "tfVid000001", 1)]
    assert any("Windows-1252" in warning for warning in found.warnings) is warned


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('title,video\n"One,tfVid000001\nTwo,tfVid000002\nThree,tfVid000003\n', 2),
        ('sep=,\ntitle,video\nOne,tfVid000001\n"Two,tfVid000002\nThree,tfVid000003\n', 4),
        ('title,video\n"One\nmore",tfVid000001\n"Two\nmore",wrong\n', 4),
    ],
)
def test_a_row_of_several_lines_is_told_where_it_begins(text: str, line: int, tmp_path: Path) -> None:
    """There the quote was opened."""
    with pytest.raises(SpecError) as caught:
        read_file(saved(tmp_path, "list.csv", text))
    assert [problem.line for problem in caught.value.problems] == [line]


def test_a_list_without_titles_says_where_they_come_from(tmp_path: Path) -> None:
    """As Takeout writes it."""
    with pytest.raises(SpecError) as caught:
        read_file(saved(tmp_path, "list.csv", "Video ID,Playlist Video Creation Timestamp\ntfVid000001,2026-01-01\n"))
    assert "fetch the playlist by its address" in caught.value.hint
    about = "Playlist Id,Title,Visibility\nPLx0000000000,Mine,Public\n\n"
    with pytest.raises(SpecError) as caught:
        read_file(saved(tmp_path, "old.csv", f"{about}Video Id,Time Added\ntfVid000001,2026-01-01\n"))
    assert "names no column title" in str(caught.value)
    assert "fetch the playlist by its address" in caught.value.hint


def test_what_ytdlp_was_asked_for_is_told_as_that(tmp_path: Path) -> None:
    """Two addresses in one call, a list of lists, and a part of a list are no broken files."""
    one = json.dumps({"id": "PLx0000000000", "entries": [{"id": "tfVid000001", "title": "One"}]})
    with pytest.raises(SourceError, match="holds 2 lists or videos, one a line"):
        read_file(saved(tmp_path, "two.json", f"{one}\n{one}\n"))
    video = json.dumps({"id": "tfVid000002", "_type": "video", "title": "Two"})
    with pytest.raises(SourceError, match="save each address in a file of its own"):
        read_file(saved(tmp_path, "list and video.json", f"{one}\n{video}\n"))
    lists = {"entries": [{"_type": "url", "ie_key": "YoutubeTab", "url": "https://www.youtube.com/playlist?list=PLx"}]}
    with pytest.raises(SourceError, match="is a list of its own"):
        read_file(saved(tmp_path, "lists.json", json.dumps(lists)))
    part = {**json.loads(one), "playlist_count": 6, "requested_entries": [3]}
    found = read_file(saved(tmp_path, "part.json", json.dumps(part)))
    assert found.warnings == ("part holds video 3 of the list's 6, as yt-dlp was asked (-I)",)


@pytest.mark.parametrize("more", [{}, {"kind": "youtube#playlistItemListResponse", "items": []}])
def test_a_saved_error_of_the_data_api_keeps_its_reason(more: dict[str, Any], tmp_path: Path) -> None:
    """It is no file of yt-dlp's, and says what YouTube said."""
    document = {"error": {"code": 403, "message": "The request cannot be completed."}, **more}
    with pytest.raises(SourceError, match="an error of the YouTube Data API, not a list: The request cannot") as caught:
        read_file(saved(tmp_path, "list.json", json.dumps(document)))
    assert "yt-dlp" not in caught.value.hint


def test_a_csv_without_parts_is_numbered(tmp_path: Path) -> None:
    """Without the column `part` the rows are parts 1 to n; label, text and topic are read where they are."""
    text = 'video,title,text,label\ntfVid000001,"A, ""b""\nc",*A*,\ntfVid000002,=1+1,,BONUS\n'
    items = read_playlist_file(saved(tmp_path, "list.csv", text)).items
    assert [(i.title, i.part, i.text, i.label) for i in items] == [
        ('A, "b"\nc', 1, "*A*", None),
        ("=1+1", 2, None, "BONUS"),
    ]


def test_every_wrong_row_of_a_csv_is_named_at_once(tmp_path: Path) -> None:
    """Wrong rows are problems with file, line and column, all reported together."""
    text = "title,video,part\n,tfVid000001,1\nB,short,2\nC,,x\nD,tfVid000004,1\n" + "E" * 1001 + ",tfVid000005,\n"
    path = saved(tmp_path, "list.csv", text)
    with pytest.raises(SpecError) as caught:
        read_file(path)
    assert [(p.file, p.line, p.where) for p in caught.value.problems] == [
        (str(path), 2, "title"),
        (str(path), 3, "video"),
        (str(path), 4, "part"),
        (str(path), 4, "video"),
        (str(path), 5, "part"),
        (str(path), 6, "title"),
    ]
    assert caught.value.problems[4].message == "part 1 is already in line 2"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("Tools,tfVid000001\n", 1, "names no column title and no column video"),
        ("title,part\nTools,1\n", 1, "names no column video"),
        ('title,video\n"Tools,tfVid000001\n', 2, "not valid CSV"),
        ("title,video\n" + "x" * 200_000 + ",tfVid000001\n", 2, "not valid CSV"),
    ],
)
def test_a_csv_that_cannot_be_read_says_where(text: str, line: int, says: str, tmp_path: Path) -> None:
    """A missing header and broken quotes are problems of a line."""
    with pytest.raises(SpecError, match=says) as caught:
        read_file(saved(tmp_path, "list.csv", text))
    assert (caught.value.problems[0].line, "title,video,part" in caught.value.hint) == (line, True)


def test_a_csv_without_rows_is_no_playlist(tmp_path: Path) -> None:
    """A header alone is a source error, as an empty list is."""
    with pytest.raises(SourceError, match="has a header but no rows"):
        read_file(saved(tmp_path, "list.csv", "title,video,part\n"))


@given(st.text(max_size=200))
def test_no_csv_breaks_the_reading(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Any text after a good header is rows, or an error of ours."""
    path = saved(tmp_path_factory.getbasetemp(), "any.csv", "title,video,part\n" + text)
    try:
        count = len(read_playlist_file(path).items)
    except (SourceError, SpecError) as error:
        count, message = 0, str(error)
    else:
        message = ""
    assert bool(count) != bool(message)


@pytest.mark.parametrize(
    ("name", "expected"), [("My list!", "My-list"), ("é", "list"), ("a", "list-a"), ("x" * 99, "x" * 64)]
)
def test_a_list_without_an_id_is_named_after_its_file(name: str, expected: str) -> None:
    """Ids made from file names hold letters, digits, - and _ only."""
    assert playlist_id(name) == expected
